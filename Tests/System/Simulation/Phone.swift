import FanfareFanOut
import FanfareLineup
import FanfareModel

/// One activity as the world sees it: what its device shows, and what pushes to it may contain. The screen is the truth; each other part is the
/// oracle of one specification. Parts know nothing of each other; the phone tells them what happens.
struct Phone {
    let id: ActivityID
    let node: Int
    /// Audience that the person chose last.
    var audience: AudienceKey
    var screen = Screen()
    var following = Following()
    var tokens: Tokens
    /// The card of an activity started by a push; `nil` if the app started the activity.
    var card: Card?
    var naming = Naming()
    var life = Life()
    var health = Health()
    var states = States()
    var last = LastPush()
    var lineup = LineupCard()
    var alerts = Alerts()
    var budget: Budget

    /// Audience that the shard knows; `nil` before the follow and after an unfollow.
    var served: AudienceKey? { following.served }
    /// Is `true` if the person looks at a card that somebody still cares for.
    var isLive: Bool { life.goesOn && !screen.hasEnded }

    init(
        id: ActivityID, node: Int, audience: AudienceKey, subscriber: Subscriber, limits: ActivityLimits,
        using random: inout SplitMix64
    ) {
        self.id = id
        self.node = node
        self.audience = audience
        budget = Budget(subscriber, limits)
        tokens = Tokens(Tokens.make(using: &random))
    }

    /// Makes the successor of a card.
    init(renewing old: Phone, id: ActivityID) {
        self.id = id
        node = old.node
        audience = old.audience
        budget = Budget(old.budget.subscriber, old.budget.limits)
        tokens = Tokens(old.tokens.start)
        naming.isIntroduced = true
        naming.wasUsed = old.naming.wasUsed
        health.wasHeld = old.health.wasHeld
    }

    // MARK: What the shard is told

    /// Notes that the shard has the new token, which frees the phone from the trouble of the old one.
    mutating func serves(_ token: [UInt8]) {
        if tokens.serve(token) { health.recover() }
    }

    /// Notes that the shard knows the phone's new audience.
    ///
    /// - Parameters:
    ///   - tenure: tenure of the topic that it follows.
    ///   - isWaited: `true` if nothing is published for the audience yet.
    mutating func joined(_ audience: AudienceKey?, tenure: Int, isWaited: Bool, at now: MonotonicTime) {
        // An activity whose end is in flight does not move yet; but it leaves.
        guard !life.isGone, !life.isEnding || audience == nil, served != audience else { return }
        following.join(audience, tenure: tenure, at: now)
        isOwedWhatItRefused()
        lineup = LineupCard()
        // The person changed something, so one push is allowed even if the content is the same.
        last.mayRepeat = true
        // Alerts missed of a topic that stays are still due; but a card without a token takes none along.
        var shown = hasToken ? Set(audience?.topics ?? []) : []
        // A joiner has missed nothing of a topic yet to come. A lineup may exist already, with members whose state is unknown.
        if isWaited, case .topic = audience { shown = [] }
        alerts.join(shown, isWaited: isWaited)
    }

    /// Makes the newest state due once more after any answer to the push in flight.
    mutating func isOwedWhatItRefused() { states.oweAgain(isFlying: last.flying > 0) }

    mutating func noteAlert(of publication: Publication, at now: MonotonicTime) {
        guard !naming.isDetached, let alert = publication.alert else { return }
        alerts.note(
            alert, of: publication.topicID, at: now, leavesAtOnce: last.flying == 0 && !health.isThrottled && hasToken)
        if last.flying > 0 { last.alertStandsAlone = false }
    }

    /// Notes that another card has its name: it is still to be ended under its own token.
    mutating func partsFromName() {
        naming.detach()
        following.postponed = nil
        alerts.removeMissed()
    }

    /// Takes over from a card that shows the same: alerts that the old card was given, or is being given, are not repeated.
    ///
    /// - Parameter isThere: `true` if the old card certainly exists and was not let go of.
    mutating func takesOver(from old: Phone, isThere: Bool) {
        guard served == old.served, following.tenure == old.following.tenure else { return }
        alerts.excuse(what: old.alerts)
        // The successor gets the alerts that the old card has not been given.
        guard !old.life.isGone, !old.life.isEnding else { return }
        // The successor gets a push for those alerts even if it shows the same as before.
        if alerts.inherit(from: old.alerts, surely: isThere) { last.mayRepeat = true }
    }

    // MARK: Pushes

    mutating func sent(_ payload: Payload, telling told: [AlertText], newest serial: UInt64, at moment: Moment) {
        last.sent(payload, newest: serial, at: moment)
        life.sent(payload.event)
        health.sent()
        states.sent()
        alerts.sent(told)
        budget.charge(payload)
        if case .lineup = served { lineup.last = LineupContentState<Match>(payload) }
    }

    mutating func answered(_ flight: Flight, isHeld: Bool, at now: MonotonicTime) {
        let isServed = flight.token == tokens.served
        let isPrivateEnd = flight.payload.event == .end && (served == nil || naming.isDetached)
        let isLast = flight.outcome == .refused && isPrivateEnd
        screen.answered(flight)
        states.answered(flight, of: last.serial, isLast: isLast)
        last.answered(flight.outcome, isLast: isLast, at: now)
        life.answered(flight, isServed: isServed, isHeld: isHeld, isLast: isLast)
        health.answered(flight.outcome, isServed: isServed, isHeld: isHeld, at: now)
        switch flight.outcome {
        case .accepted, .uncertain: break
        case .deadToken, .throttled, .serviceError, .notProcessed:
            alerts.untry(flight.told)
            budget.refund(flight)
        case .refused: if !isLast { budget.refund(flight) }
        }
    }
}
