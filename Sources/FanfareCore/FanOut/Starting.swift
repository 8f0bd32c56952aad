/// What a shard knows of an activity that has no update token yet. Some 100 bytes, its request and its start token, until the
/// token registers, or for eight hours after its start has left.
struct Starting {
    enum Phase {
        /// Stands among its audience's `starts`.
        case due
        /// Stands in the timing wheel, or is held by the dead-token guard.
        case waiting
        /// The start is on its way, or was taken, or nobody knows: never to be sent again (rule L7).
        case sent
    }

    /// The newest one: until the start has left, its token may be replaced.
    var request: StartRequest
    /// 1, and one more for each renewal.
    let edition: Int
    /// The activity whose place this one takes: it ends when this one's token has registered. Whoever has ended it before does not
    /// want this one either. `nil` once it was told that it goes on as this one.
    var renews: ActivityID?
    /// It was the system that has ended that one, after its eight hours.
    var outlivesOld = false
    /// Index of the audience whose state it shows.
    var audience: Int
    var phase = Phase.due
    /// Starts that were certainly not taken, and may be by another time: 429s, and errors between which others were served.
    var refusals = 0
    var shown: Shown?

    /// What a card shows since its start.
    struct Shown {
        /// Of its audience.
        let version: UInt32
        /// Hash of what that version shows; `nil` when the activity came from another audience.
        let display: UInt64?
    }

    /// With waits from one second to about a minute these are some ten minutes: who follows something now looks for the card now.
    static let refusalsMax = 12

    /// How long a start waits for something to show, or for leave to be sent, nanoseconds: seven days, as long as a topic is awaited
    /// that has not begun (`TopicRules.beginsWithin`).
    static let patience: Int64 = 7 * 86_400 * 1_000_000_000
}

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

public enum StartFailure: Sendable, Hashable, CustomStringConvertible {
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

    public var description: String {
        switch self {
        case .deadToken: "its start token is dead"
        case .refused: "APNs refuses its start"
        case .gaveUp: "its start was put off \(Starting.refusalsMax) times"
        case .waitedTooLong: "in seven days there was nothing to start it with"
        case .over: "what it was to show has ended"
        case .nameTaken: "the activity of this name is still being ended: start it under another one"
        }
    }
}
