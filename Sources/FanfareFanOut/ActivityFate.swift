public import FanfareModel

/// What has become of an activity without anybody having asked for it.
public enum ActivityFate: Sendable, Hashable {
    /// No card appears, and the activity is gone.
    case notStarted(StartFailure)
    /// It has lasted eight hours, or almost, and is gone. Nothing goes on in its place: of whatever was to, `notStarted` is told.
    case expired
    /// It is gone, and its id means this one, which goes on in its place: its start was taken, or may have been, or its token is
    /// known. The id means it before, too; but nobody has that card as long as its start has not left, or comes back.
    case renewed(as: ActivityID)
    /// It was followed again, with the same token, when its end was on its way: that card is gone, another one has a token of its own.
    case ended
    /// Its end was refused for good: the card stays until the system ends it.
    case notEnded
    /// What was asked for it was not done.
    case refused(CommandRefusal)
}

/// Why no card appeared that was to be started by a push.
public enum StartFailure: Sendable, Hashable, CustomStringConvertible {
    /// APNs knows the start token no more; the app's next one is needed.
    case deadToken
    /// For good: a configuration fault, or attributes and state that do not fit into a push.
    case refused
    /// For the time being, again and again.
    case gaveUp
    /// For seven days nothing was published that it could show, or it was not its turn.
    case waitedTooLong
    /// What it was to show has ended.
    case over
    /// The one that has this name is on its way out.
    case nameTaken

    /// The failure in a few words for people.
    public var description: String {
        switch self {
        case .deadToken: "its start token is dead"
        case .refused: "APNs refuses its start"
        case .gaveUp: "its start was put off \(PendingStart.refusalsMax) times"
        case .waitedTooLong: "in seven days there was nothing to start it with"
        case .over: "what it was to show has ended"
        case .nameTaken: "the activity of this name is still being ended: start it under another one"
        }
    }
}
