import FanfareModel
import FanfareQueues

/// Order in which starts get claims. With a store, a start leaves only after the store has a claim that names its activity, so that after a
/// crash no card is started twice, and each start that has not left leaves then.
///
/// A start is claimed when it is about to leave: it goes from its audience's line to the end of this one, and back once its claim is durable.
struct StartClaims {
    /// Starts that no claim names, in order. Some of them may be gone, or no longer wait.
    private var unnamed = Queue<ActivitySlot>()
    /// Starts of requests without an answer, in the order of their tickets.
    private var requests: [(ticket: UInt64, slots: [ActivitySlot])] = []
    /// Number of starts in `requests`.
    private var requestedCount = 0

    /// Number of entries in the line, among them those of starts that have gone.
    var unnamedCount: Int { unnamed.count }

    mutating func append(_ slot: ActivitySlot) { unnamed.append(slot) }

    /// Removes and returns the next starts to be named.
    ///
    /// - Parameters:
    ///   - countMax: number of names from which on no start is claimed, because a crash loses starts that are claimed and have not left.
    ///   - unusedCount: number of starts that have not been visited since their claims became durable.
    ///   - waits: returns whether the start still waits.
    mutating func takeNext(
        upTo countMax: Int, beside unusedCount: Int, ticket: UInt64, waits: (ActivitySlot) -> Bool
    ) -> [ActivitySlot] {
        var taken: [ActivitySlot] = []
        while requestedCount + unusedCount + taken.count < countMax, let slot = unnamed.popFirst() {
            if waits(slot) { taken.append(slot) }
        }
        guard !taken.isEmpty else { return [] }
        requests.append((ticket, taken))
        requestedCount += taken.count
        return taken
    }

    /// Removes and returns the requests up to this ticket, each with its own ticket and its starts.
    mutating func takeDurable(through ticket: UInt64) -> [(ticket: UInt64, slots: [ActivitySlot])] {
        let durable = Array(requests.prefix { $0.ticket <= ticket })
        requests.removeFirst(durable.count)
        requestedCount -= durable.reduce(0) { $0 + $1.slots.count }
        return durable
    }

    /// Describes requests out of order, or a wrong count of their starts; `nil` if there are none.
    func violation() -> String? {
        let requested = requests.reduce(0) { $0 + $1.slots.count }
        guard requested == requestedCount, zip(requests, requests.dropFirst()).allSatisfy({ $0.ticket <= $1.ticket })
        else { return "\(requestedCount) starts are counted in requests for claims, there are \(requested)" }
        return nil
    }

    /// Returns whether a request with this ticket has no answer.
    func isRequested(_ ticket: UInt64) -> Bool { requests.contains { $0.ticket == ticket } }
}
