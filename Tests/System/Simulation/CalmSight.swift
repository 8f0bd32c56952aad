import FanfareModel

/// A phone while its world is calm, with what its judges compare it with.
struct CalmSight {
    let phone: Phone
    /// What was pushed to the phone.
    let history: PushHistory
    /// The judge of the states that the phone's node shows.
    let states: StateJudge
    let age: CardAge
    /// Is `true` when the system has ended the card and no start of its successor was taken: the outcome is reported once one has been.
    let isBetweenCards: Bool
    /// Is `true` when the system has ended the card and the person has let go of its successor: neither is reported.
    let isOutlivedAndLetGo: Bool
    /// Is `true` if another phone has the name that this one has lost.
    let hasNamesake: Bool
    /// Is `true` if an alert of the phone waits for the disk.
    let awaitsClaim: Bool
    let trouble: NodeTrouble

    var now: MonotonicTime { states.lineups.now }
    var hasNews: Bool { states.published.hasNews(for: phone.following) }
    /// Is `true` if the card can still be shown something.
    var isThere: Bool { !phone.life.isGone && !phone.life.isExpired }

    /// - Parameter state: a state that the phone has.
    /// - Returns: what is not the newest in it.
    func stale(_ state: [UInt8], beside served: AudienceKey) -> String? {
        states.stale(state, for: phone.following, beside: served)
    }
}

/// Trouble of a node that delays all its phones.
struct NodeTrouble {
    /// Is `true` while dead tokens are held.
    var isGuardShut = false
    /// Is `true` while a token is sick.
    var isSick = false
    /// Is `true` while the shard has no room for feedback.
    var isFull = false
}

/// Judges one rule of what holds in a calm, and knows neither the world nor other judges. Numbers in the texts are the design's invariants.
protocol CalmJudge: Sendable {
    /// - Returns: the fault of what a phone has got; `nil` if the rule allows it.
    func seen(_ sight: CalmSight) -> String?
}
