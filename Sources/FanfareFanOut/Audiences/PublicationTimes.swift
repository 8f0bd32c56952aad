import FanfareModel

/// Arrival times of an audience's versions, for the figures of its kind.
struct PublicationTimes {
    /// Index of those figures in the shard's `FreshnessTable`.
    private(set) var freshness: Int
    /// Arrival of the newest version.
    private(set) var newest = MonotonicTime(nanoseconds: 0)
    /// Arrival of the first version after the last push; `nil` after a push.
    private var dueSince: MonotonicTime?

    init(freshness: Int = 0) { self.freshness = freshness }

    /// Is `true` from the arrival of a version until the first push after it.
    var isDue: Bool { dueSince != nil }

    /// - Parameter hasMembers: whether the audience has members, which then wait for the version.
    mutating func note(_ time: MonotonicTime, freshness: Int, hasMembers: Bool) {
        self.freshness = freshness
        newest = time
        if dueSince == nil, hasMembers { dueSince = time }
    }

    /// Takes the time since which a push has been due, for the first push after it; `nil` for later pushes.
    mutating func takeDueSince() -> MonotonicTime? {
        guard dueSince != nil else { return nil }
        return dueSince.take()
    }
}
