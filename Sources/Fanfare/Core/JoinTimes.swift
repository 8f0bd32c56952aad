import FanfareModel

/// What the shards are told of joiners: the log time before which all have joined whose commands they were sent. A shard without followers of a topic
/// then says of a version that all of these have it.
struct JoinTimes {
    /// Log time before which all cards joined that are still to be sent; `nil` if none are on their way.
    var pending: FeedTime?
    /// Log time of the last joiner whom the shards do not know to be sent; `nil` if they know all.
    private var sentAt: FeedTime?
    /// Time that the shards were told last.
    private var told = FeedTime.plausible.lowerBound

    /// Notes that joiners were sent.
    mutating func noteSent(at now: FeedTime) { sentAt = now }

    /// Returns what the shards are to be told; `nil` if they know all.
    ///
    /// - Parameter now: log time.
    mutating func next(at now: FeedTime) -> (before: FeedTime, sent: FeedTime)? {
        guard let sentAt else { return nil }
        // Others may join at that log time, and those whose rows are being written have joined before that of the newest entry.
        let before = min(now, pending ?? now)
        if before > sentAt { self.sentAt = nil }
        guard before > told else { return nil }
        told = before
        return (before, sentAt)
    }
}
