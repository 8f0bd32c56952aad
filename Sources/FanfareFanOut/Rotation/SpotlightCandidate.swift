/// A topic as a lineup's rotation sees it, which may give it the spotlight.
package struct SpotlightCandidate: Sendable, Hashable, BitwiseCopyable {
    package enum Life: Sendable, BitwiseCopyable {
        /// The topic has a state to show, and has not begun.
        case upcoming
        case live
        /// The topic is over, and is shown until its dismissal.
        case ended
        /// The topic was dismissed, or never published: nothing of it is shown.
        case gone
    }

    package var life: Life
    /// Time for which the topic is scheduled, in seconds since 1970: the lowest is the first row. It is the same for all topics of lineups
    /// in the person's own order, and `unscheduled` while it is not known.
    package var scheduledAt: UInt32
    /// Weight of the topic while nothing happens, 0–100, compared with the lineup's other topics.
    package var importance: Int

    package static let unscheduled = UInt32.max

    package init(_ life: Life, importance: Int = 0, scheduledAt: UInt32 = 0) {
        self.life = life
        self.scheduledAt = scheduledAt
        self.importance = importance
    }
}
