import FanfareFanOut
import FanfareQueues

/// Feedback of a shard's thread itself, beside the shard's: figures, and lines for operators. It waits here for room in the ring; there is little
/// while the core takes feedback.
struct ShardReports {
    private var unsent: [ShardFeedback] = []
    private var leftOut = 0
    /// Limit on lines that wait for a core that takes no feedback; figures do not count.
    static let linesMax = 256

    var isEmpty: Bool { unsent.isEmpty }

    mutating func append(_ fact: ShardFeedback) { unsent.append(fact) }

    /// Adds a line for operators, unless the same one waits already.
    mutating func append(_ line: String) {
        for case .report(line) in unsent { return }
        if unsent.count < ShardReports.linesMax { append(.report(line)) } else { leftOut += 1 }
    }

    /// Removes and returns what waits.
    mutating func takeAll() -> [ShardFeedback] {
        defer { unsent = [] }
        return unsent
    }

    /// Sends what there is room for. Lines that were left out are told in one line behind the others.
    ///
    /// - Returns: `true` if anything was sent.
    mutating func send(to ring: inout RingProducer<ShardFeedback>) -> Bool {
        guard !unsent.isEmpty else { return false }
        let sent = ring.push(unsent.span)
        unsent.removeFirst(sent)
        if unsent.isEmpty, leftOut > 0 {
            append(.report("\(leftOut) more lines of a shard were left out: the core was at work for too long"))
            leftOut = 0
        }
        return sent > 0
    }
}
