package import FanfareModel

/// Deliveries to an activity by the process before this one.
package struct EarlierDelivery: Sendable, Hashable {
    /// Alerts of the earlier process that were granted up to this log time do not concern the activity.
    package var settledThrough: FeedTime?
    /// Is `true` if the activity has the newest version of its audience, provided that `ResumedPublication.isComplete`.
    package var hasNewest: Bool
    /// Is `true` if the activity joined at the log time of the last entry, at which other activities may still join.
    package var hasJoinedLast: Bool
    /// Is `true` if the activity was being ended. Its end follows at once, and no alert concerns it.
    package var isLeaving = false

    package init(settledThrough: FeedTime? = nil, hasNewest: Bool = false, hasJoinedLast: Bool = false) {
        (self.settledThrough, self.hasNewest, self.hasJoinedLast) = (settledThrough, hasNewest, hasJoinedLast)
    }
}
