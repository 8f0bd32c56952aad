import FanfareModel

/// Settles that wait until all changes from before them have been published, which a topic's minimum interval may delay by hours.
///
/// The table returns settles instead of answering them, so that a receiver of an answer may ask the next question.
struct UnflushedSettles {
    struct Waiting {
        /// Time of the last flush among the changes taken before the settle.
        let flush: FeedTime
        /// Deadline of the answer.
        let until: MonotonicTime
        let settled: @Sendable (Settlement) -> Void
    }

    private var waiting: [Waiting] = []

    mutating func append(_ settle: Waiting) { waiting.append(settle) }

    /// Returns the earlier one of a time and the first flush; `nil` if there is neither.
    func nextFlush(orEarlier time: FeedTime?) -> FeedTime? {
        waiting.reduce(time) { min($0 ?? $1.flush, $1.flush) }
    }

    /// Earliest deadline; `never` without any.
    var nextDeadline: MonotonicTime { waiting.reduce(.never) { min($0, $1.until) } }

    /// Removes and returns the settles whose changes have been published by that log time.
    mutating func takeFlushed(by now: FeedTime) -> [Waiting] { take { $0.flush <= now } }

    /// Removes and returns the settles whose time is over.
    mutating func takeLate(at now: MonotonicTime) -> [Waiting] { take { $0.until <= now } }

    /// Removes and returns all settles.
    mutating func takeAll() -> [Waiting] {
        defer { waiting = [] }
        return waiting
    }

    private mutating func take(_ isTaken: (Waiting) -> Bool) -> [Waiting] {
        guard waiting.contains(where: isTaken) else { return [] }
        defer { waiting.removeAll(where: isTaken) }
        return waiting.filter(isTaken)
    }
}
