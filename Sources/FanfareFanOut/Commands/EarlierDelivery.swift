package import FanfareModel

/// Deliveries to an activity by the process before this one.
package struct EarlierDelivery: Sendable, Hashable {
    /// Alerts of the earlier process that were granted up to this log time do not concern the activity.
    package var settledThrough: FeedTime?
    /// Number of topics of the activity's audience whose newest versions it has, provided that `ResumedPublication.isComplete`, or
    /// `isCompleteInLineups`.
    package var topicsShown: Int
    /// Is `true` if the activity joined at the log time of the last entry, at which other activities may still join.
    package var hasJoinedLast: Bool
    /// Is `true` if the activity was being ended. Its end follows at once, and no alert concerns it.
    package var isLeaving = false
    /// Is `true` if the store had the activity, so that the earlier process may have used its limits.
    package var isStored = false

    package var hasNewest: Bool { topicsShown > 0 }

    package init(settledThrough: FeedTime? = nil, topicsShown: Int, hasJoinedLast: Bool = false) {
        (self.settledThrough, self.topicsShown, self.hasJoinedLast) = (settledThrough, topicsShown, hasJoinedLast)
    }

    /// - Parameter hasNewest: whether the activity has the newest version of its only topic.
    package init(settledThrough: FeedTime? = nil, hasNewest: Bool = false, hasJoinedLast: Bool = false) {
        self.init(settledThrough: settledThrough, topicsShown: hasNewest ? 1 : 0, hasJoinedLast: hasJoinedLast)
    }
}
