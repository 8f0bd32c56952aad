/// The reason for which a start by push produced no card.
public enum StartFailure: Sendable, Hashable, CustomStringConvertible {
    /// The start token is dead; the app has to supply its next one.
    case deadToken
    /// APNs refused the start for good: a configuration fault, or attributes and state that do not fit into a push.
    case refused
    /// APNs refused the start for the time being, again and again.
    case gaveUp
    /// The start waited seven days: nothing was published that the card could show, or the start was held back, for example by its device's budget.
    case waitedTooLong
    /// The topic that the card was to show has ended, or each topic of its lineup.
    case over
    /// The activity that has this name is still being ended.
    case nameTaken
    /// An engine with the same store stopped when the start might have left and its card's token had not been reported. The start does not leave
    /// again, and a card may exist.
    case uncertain

    /// Refusals after which a start is given up. They take some ten minutes, with waits from one second to about a minute: people who
    /// follow something now look for the card now.
    static let refusalsMax = 12

    /// The failure in a few words for people.
    public var description: String {
        switch self {
        case .deadToken: "its start token is dead"
        case .refused: "APNs refuses its start"
        case .gaveUp: "its start was put off \(StartFailure.refusalsMax) times"
        case .waitedTooLong: "in seven days there was nothing to start it with"
        case .over: "what it was to show has ended"
        case .nameTaken: "the activity of this name is still being ended: start it under another one"
        case .uncertain: "its start may have left before the engine was started anew"
        }
    }
}
