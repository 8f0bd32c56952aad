import FanfareDecisions
import FanfareFanOut
package import FanfareModel
import FanfareQueues
import Synchronization

/// Entrance for other threads: a mailbox, and lines of callers that wait for room in it.
///
/// Changes of cards may come faster than a store takes rows, and then have a line of their own: they fill half of the mailbox at most,
/// so that no event waits behind them.
package final class Inbox: Sendable {
    let requests: ManyToOneMailbox<CoreRequest>
    let capacity: Int
    /// Callers that wait for room in the mailbox.
    let line = RoomLine<CoreRequest>()
    /// Callers that wait until the store has rows of others.
    let lineOfChanges = RoomLine<CoreRequest>()
    /// Callers that wait until there is room for some change. They take none, and so hold up no caller.
    let watchers = RoomLine<CoreRequest>()
    /// Changes of cards that a store keeps, from the mailbox until they are carried out.
    private let changes = Atomic(0)
    /// Number of these changes. Any thread.
    var changesWaiting: Int { changes.load(ordering: .relaxed) }
    private let changesMax: Int
    /// Nanoseconds of `stopsBy`, which is separate from the mailbox, so that a full one cannot prevent a stop.
    private let stopNanoseconds = Atomic(MonotonicTime.never.nanoseconds)
    private let topicIDSizeMax: ByteCount
    /// Is `true` if requests that change decisions go through a log.
    let hasStore: Bool

    private static let capacityMax = 1 << 20

    package init(capacity: Int, topicIDSizeMax: ByteCount, hasStore: Bool = false) {
        requests = ManyToOneMailbox(capacity: capacity)
        self.capacity = capacity
        changesMax = capacity / 2
        self.topicIDSizeMax = topicIDSizeMax
        self.hasStore = hasStore
    }

    /// Returns the least power of two that is not below the wanted capacity.
    static func capacity(for wanted: Int) -> Int {
        let wanted = max(2, min(wanted, capacityMax))
        return 1 << (Int.bitWidth - (wanted - 1).leadingZeroBitCount)
    }

    /// Durability of a request that has just been taken.
    private func durability(of request: CoreRequest) -> Receipt.Durability {
        hasStore && request.isLogged ? .prompt : .memory
    }

    private func isChange(_ request: CoreRequest) -> Bool { hasStore && request.changesCard }

    package func post(_ request: CoreRequest) -> Admission {
        if let fault = request.fault(topicIDSizeMax: topicIDSizeMax) { return .refused(Refusal(fault)) }
        let position = isChange(request) ? pushChange(request) : requests.push(request)
        guard let position else { return requests.isClosed ? .stopped : .full }
        return .taken(Receipt(position: position + 1, durability: durability(of: request)))
    }

    private func pushChange(_ request: CoreRequest) -> UInt64? {
        // The count never exceeds the bound, not even for a moment: the core would see no room, and sleep.
        var count = changes.load(ordering: .relaxed)
        repeat {
            guard count < changesMax else { return nil }
            let (hasRoom, current) = changes.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if hasRoom { break }
            count = current
        } while true
        let position = requests.push(request)
        if position == nil { noteChanged() }
        return position
    }

    /// Notes that a change of a card is carried out, or not to be.
    func noteChanged() { changes.subtract(1, ordering: .relaxed) }

    /// Posts a request behind callers that wait for room already; waits in line with them if there is no room.
    ///
    /// - Parameters:
    ///   - until: deadline of the wait.
    ///   - wake: makes the core take a turn.
    func post(
        _ request: CoreRequest, until: MonotonicTime, wake: @Sendable () -> Void
    ) async throws(EngineError) -> Receipt {
        let isChange = isChange(request)
        if line.count == 0, !isChange || lineOfChanges.count == 0 || requests.isClosed {
            switch post(request) {
            case .full: break
            case let admission:
                let receipt = try admission.get()
                wake()
                return receipt
            }
        } else if let fault = request.fault(topicIDSizeMax: topicIDSizeMax) {
            throw .refused(Refusal(fault))
        }
        switch await (isChange ? lineOfChanges : line).wait(with: request, until: until, wake: wake) {
        case .admitted(let position):
            return Receipt(position: (position ?? 0) + 1, durability: durability(of: request))
        case .late: throw .full
        case .stopped: throw .stopped
        case .cancelled: throw .cancelled
        }
    }

    private var isFull: Bool { line.count > 0 || requests.isFull }
    /// Room for changes of cards.
    private var roomForChanges: Int { changesMax - changesWaiting }

    /// Waits until there is room for a request; returns at once if there is. Any thread.
    ///
    /// - Parameter request: `nil`: there is to be room for a change of a card, and so for every request.
    func room(for request: CoreRequest? = nil, wake: @Sendable () -> Void) async -> RoomLine<CoreRequest>.Answer {
        guard isFull || request.map(isChange) ?? true && roomForChanges <= 0 else { return .admitted(nil) }
        return await (isFull ? line : watchers).wait(with: nil, until: .never, wake: wake)
    }

    // MARK: The core

    /// Is `true` if callers wait for room.
    var hasCallers: Bool { line.count > 0 || lineOfChanges.count > 0 || watchers.count > 0 }

    var arrivals: CallerArrivals { CallerArrivals(requests: line.arrivals, changes: lineOfChanges.arrivals) }

    /// Returns whether one of these callers still waits.
    func hasCaller(among arrivals: CallerArrivals) -> Bool {
        line.hasCaller(amongFirst: arrivals.requests) || lineOfChanges.hasCaller(amongFirst: arrivals.changes)
    }

    /// Admits callers in order while there is room.
    ///
    /// - Returns: `true` if any caller was admitted.
    func admit() -> Bool {
        // Events that fill the mailbox leave some of it to changes.
        let share = lineOfChanges.count > 0 ? max(1, requests.room / 4 * 3) : requests.room
        var hasAdmitted = line.admit(room: min(requests.room, share), push: requests.push)
        let room = min(requests.room, roomForChanges)
        if room > 0, watchers.admit(room: .max, push: requests.push) { hasAdmitted = true }
        return lineOfChanges.admit(room: room, push: pushChange) || hasAdmitted
    }

    /// Answers callers whose deadline has passed.
    ///
    /// - Returns: latest time for the next call; `nil` if no caller has a deadline.
    func withdraw(at now: MonotonicTime) -> MonotonicTime? {
        // Watchers have no deadline.
        let next = min(line.withdraw(at: now) ?? .never, lineOfChanges.withdraw(at: now) ?? .never)
        return next == .never ? nil : next
    }

    /// Deadline of a stop; `never` while no stop is requested.
    var stopsBy: MonotonicTime {
        MonotonicTime(nanoseconds: stopNanoseconds.load(ordering: .sequentiallyConsistent))
    }

    /// Closes the inbox. The work for everything taken before ends by the deadline.
    package func stop(by deadline: MonotonicTime) {
        // The deadline is stored first, because the core may end as soon as the inbox is closed, and takes the time that is left from this deadline.
        stopNanoseconds.min(deadline.nanoseconds, ordering: .sequentiallyConsistent)
        requests.close()
        line.close()
        lineOfChanges.close()
        watchers.close()
    }
}
