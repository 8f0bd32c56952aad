import FanfareModel

/// Arrival times of an audience's versions, for the figures of its kind.
struct PublicationTimes {
    /// Index of those figures in the shard's `FreshnessTable`.
    private(set) var freshness: Int
    /// Arrival of the newest version.
    private(set) var newest = MonotonicTime(nanoseconds: 0)
    /// Arrival of the first version after the last push; `nil` after a push.
    private var waitingSince: MonotonicTime?

    init(freshness: Int = 0) { self.freshness = freshness }

    /// Is `true` from the arrival of a version until the first push after it.
    var isWaiting: Bool { waitingSince != nil }

    /// - Parameter hasMembers: whether the audience has members, which then wait for the version.
    mutating func note(_ time: MonotonicTime, freshness: Int, hasMembers: Bool) {
        self.freshness = freshness
        newest = time
        if waitingSince == nil, hasMembers { waitingSince = time }
    }

    /// Takes the time since which a push has been due, for the first push after it; `nil` for the others.
    mutating func takeWaiting() -> MonotonicTime? {
        guard waitingSince != nil else { return nil }
        return waitingSince.take()
    }
}
