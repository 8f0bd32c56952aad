import FanfareFanOut
import FanfareModel

/// A push at the moment at which it leaves, with what its judges compare it with.
struct Sight {
    let payload: Payload
    let token: [UInt8]
    /// The phone before the push.
    let phone: Phone
    /// What was pushed to the phone before.
    let history: PushHistory
    let published: PublishedTopics
    /// True time, and that of the engine's clock.
    let moment: Moment
    let engine: Moment
    /// Time for which the system keeps a card.
    let lifetime: Duration
    /// Is `true` if the service takes nothing at this moment: phones drop nothing that APNs has not accepted.
    let isUnseen: Bool
    /// What is wrong with the JWT of the push.
    let faultOfJWT: String?
    /// Alerts that the push names, the leading one first; `nil` for a text that belongs to none.
    let told: [AlertText]?
    /// The leading one of these, and its topic.
    let carried: (topic: TopicID, alert: Alert)?
    let lineupRules: LineupRules
    let succession: Succession
    /// Is `true` if the world has no other activity at the same time.
    let isAlone: Bool

    var now: MonotonicTime { moment.monotonic }
    /// Serial of the newest publication that the phone is to see.
    var newestSerial: UInt64 { published.newestSerial(for: phone.following) }
    var age: CardAge { CardAge(passed: now - phone.life.beganAt, lifetime: lifetime) }
    /// The judge of states at this moment.
    var states: StateJudge {
        StateJudge(lineups: LineupJudge(rules: lineupRules, published: published, now: now))
    }
    /// Is `true` if the push ends a card that still shows an audience, and says nothing of it.
    var isEndWithoutState: Bool { payload.event == .end && payload.state.isEmpty && phone.served != nil }
    /// Is `true` if the card leaves the screen at once.
    var isDismissed: Bool { payload.dismissalDate ?? .max < moment.wallSeconds }
}

/// Judges one rule of pushes by the phone's history, and knows neither the world nor other judges. Numbers in the texts are the design's
/// invariants.
protocol PushJudge: Sendable {
    /// - Returns: the fault of a push; `nil` if the rule allows it.
    func seen(_ sight: Sight) -> String?
}

/// What the cards before and after a card mean for its start and its end.
struct Succession {
    /// Is `true` if the person has ended the card that this one replaces.
    var isUnwanted = false
    /// Is `true` if the start of this card's successor may have arrived, and its token has not.
    var isUnderWay = false
}
