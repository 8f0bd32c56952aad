import FanfareModel

/// Log time before which the shards have been sent all joiners. A shard without followers of a topic then reports that all of these joiners have a
/// version.
struct JoinTimes {
    /// Log time of the earliest joiner that is still to be sent; `nil` if none are on their way.
    var pending: FeedTime?
    /// Log time of the last joiner that the shards do not know of; `nil` if they know all.
    private var sentAt: FeedTime?
    /// Last `before` that the shards were sent.
    private var sentBefore = FeedTime.plausible.lowerBound

    /// Notes that joiners were sent.
    mutating func noteSent(at now: FeedTime) { sentAt = now }

    /// Returns the next times for the shards; `nil` if they know all.
    ///
    /// - Parameter now: log time.
    mutating func next(at now: FeedTime) -> (before: FeedTime, sent: FeedTime)? {
        guard let sentAt else { return nil }
        // Other activities may join at that log time, and joiners whose rows are being written joined before the newest entry's.
        let before = min(now, pending ?? now)
        if before > sentAt { self.sentAt = nil }
        guard before > sentBefore else { return nil }
        sentBefore = before
        return (before, sentAt)
    }

    /// Describes a joiner that the shards do not know of, although they were told that they know all of its time; `nil` if there is none.
    func violation() -> String? {
        guard let sentAt, sentAt < sentBefore else { return nil }
        return "a joiner was sent at \(sentAt), and the shards are to know all joiners before \(sentBefore)"
    }
}
