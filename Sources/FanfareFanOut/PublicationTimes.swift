/// When an audience's versions have come, for the figures of its kind.
struct PublicationTimes {
    /// Where the shard keeps those figures.
    private(set) var freshness = 0
    /// Monotonic nanoseconds at which the newest version arrived.
    private(set) var newest: Int64 = 0
    /// The same of the oldest version since the last push left; `nil` once one has.
    private var waitingSince: Int64?

    /// - Parameter hasMembers: somebody waits for it.
    mutating func note(_ time: Int64, freshness: Int, hasMembers: Bool) {
        self.freshness = freshness
        newest = time
        if waitingSince == nil, hasMembers { waitingSince = time }
    }

    /// Since when a push has been due, once: for the first of them.
    mutating func takeWaiting() -> Int64? {
        guard waitingSince != nil else { return nil }
        return waitingSince.take()
    }
}
