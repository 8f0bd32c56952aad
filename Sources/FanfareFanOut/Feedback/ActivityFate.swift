public import FanfareModel

/// The end of an activity, or a change of its card, that the program did not request, as the shard reports it.
public enum ActivityFate: Sendable, Hashable {
    /// No card appears, and the activity is gone.
    case notStarted(StartFailure)
    /// The activity has lasted eight hours, or up to ten minutes less, and is gone without a successor. The engine reports `notStarted` for a
    /// successor that was pending.
    case expired
    /// The activity is gone, and its id now means `as`, its successor: APNs accepted the successor's start, may have accepted it, or the successor's
    /// token is known. The id may mean the successor even before this report, while the successor's card cannot exist yet: its start has not left, or
    /// was not accepted.
    case renewed(as: ActivityID)
    /// A `follow` repeated the activity's token while its end was in flight: that card is gone, and a new card has its own token.
    case ended
    /// APNs refused the activity's end for good: the card stays until the system ends it.
    case notEnded
    /// The shard refused a command for this activity.
    case refused(CommandRefusal)
}
