public import FanfareModel

/// The end of an activity, or a change of its card, that the program did not request, as the shard reports it.
public enum ActivityFate: Sendable, Hashable {
    /// No card appears, and the activity is gone.
    case notStarted(StartFailure)
    /// The activity has lasted eight hours, or up to ten minutes less, and is gone without a successor. If one was pending, `notStarted`
    /// is reported for it.
    case expired
    /// The activity is gone, and its id now means `as`, its successor: APNs accepted the successor's start, may have accepted it, or the
    /// successor's token is known. The id may mean the successor before this is reported, while that card cannot exist yet: its start has
    /// not left, or was not accepted.
    case renewed(as: ActivityID)
    /// The activity was followed again with the same token while its end was in flight: that card is gone, and a new card has its own token.
    case ended
    /// APNs refused the activity's end for good: the card stays until the system ends it.
    case notEnded
    /// The shard refused a command for this activity.
    case refused(CommandRefusal)
}

/// The reason for which a start by push produced no card.
public enum StartFailure: Sendable, Hashable, CustomStringConvertible {
    /// The start token is dead; the app has to supply its next one.
    case deadToken
    /// APNs refused the start for good: a configuration fault, or attributes and state that do not fit into a push.
    case refused
    /// APNs refused the start for the time being, again and again.
    case gaveUp
    /// The start waited seven days: nothing was published that the card could show, or the start was held back, by its device's budget
    /// for example.
    case waitedTooLong
    /// The topic, or each topic of the lineup, that the card was to show has ended.
    case over
    /// The activity that has this name is still being ended.
    case nameTaken
    /// An engine with the same store stopped after the start may have left and before its card's token was reported. The start does not leave
    /// again, and a card may be there.
    case uncertain

    /// The failure in a few words for people.
    public var description: String {
        switch self {
        case .deadToken: "its start token is dead"
        case .refused: "APNs refuses its start"
        case .gaveUp: "its start was put off \(PendingStart.refusalsMax) times"
        case .waitedTooLong: "in seven days there was nothing to start it with"
        case .over: "what it was to show has ended"
        case .nameTaken: "the activity of this name is still being ended: start it under another one"
        case .uncertain: "its start may have left before the engine was started anew"
        }
    }
}
