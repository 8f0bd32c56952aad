import FanfareFanOut
import FanfareLineup
import FanfareModel

/// What was pushed to one phone and what it lacks, as the judges of pushes remember it. Each part is the oracle of one promise and knows nothing
/// of the others or of the phone; the world hands the history what happens to the phone.
struct PushHistory {
    var health = TokenHealth()
    var states = AnsweredStates()
    var last = LastPush()
    var lineup = ShownLineup()
    var alerts = LackedAlerts()
    var budget: AttentionBudget

    init(_ subscriber: Subscriber, _ limits: ActivityLimits) { budget = AttentionBudget(subscriber, limits) }

    /// Makes the history of a card's successor.
    init(renewing old: PushHistory) {
        self.init(old.budget.subscriber, old.budget.limits)
        health.wasHeld = old.health.wasHeld
    }

    // MARK: What the shard is told

    /// Notes that the shard knows the phone's new audience.
    ///
    /// - Parameters:
    ///   - shown: topics of which the phone takes the missed alerts along.
    ///   - isWaited: `true` if nothing is published for the audience yet.
    mutating func joined(showing shown: Set<TopicID>, isWaited: Bool) {
        isOwedWhatItRefused()
        lineup = ShownLineup()
        // The person changed something, so one push is allowed even if the content is the same.
        last.mayRepeat = true
        alerts.join(shown, isWaited: isWaited)
    }

    /// Notes that the shard knows the card's first token: the state that started the card counts as accepted.
    mutating func registered() { states.accepted = states.accepted ?? last.state }

    /// Makes the newest state due once more after any answer to the push in flight.
    mutating func isOwedWhatItRefused() { states.oweAgain(isFlying: last.flying > 0) }

    /// Notes that an alert is published of what the phone shows.
    ///
    /// - Parameter hasToken: `true` if pushes can go to an update token.
    mutating func noteAlert(of publication: Publication, hasToken: Bool, at now: MonotonicTime) {
        guard let alert = publication.alert else { return }
        alerts.note(
            alert, of: publication.topicID, at: now, leavesAtOnce: last.flying == 0 && !health.isThrottled && hasToken)
        if last.flying > 0 { last.alertStandsAlone = false }
    }

    /// Takes over from a card that shows the same: alerts that the old card was given, or is being given, are not repeated.
    ///
    /// - Parameters:
    ///   - goesOn: `true` if the old card is neither gone nor being ended: the successor then gets the alerts that the old card has not been given.
    ///   - isThere: `true` if the old card certainly exists and was not let go of.
    mutating func takesOver(from old: PushHistory, goesOn: Bool, isThere: Bool) {
        alerts.excuse(what: old.alerts)
        // The successor gets a push for those alerts even if it shows the same as before.
        if goesOn, alerts.inherit(from: old.alerts, surely: isThere) { last.mayRepeat = true }
    }

    // MARK: Pushes

    /// - Parameter showsLineup: `true` if the push goes to a lineup's member.
    mutating func sent(
        _ payload: Payload, telling told: [AlertText], newest serial: UInt64, showsLineup: Bool, at moment: Moment
    ) {
        last.sent(payload, newest: serial, at: moment)
        health.sent()
        states.sent()
        alerts.sent(told)
        budget.charge(payload)
        if showsLineup { lineup.last = LineupContentState<Match>(payload) }
    }

    /// - Parameters:
    ///   - isServed: `true` if the push went to the token that the shard has.
    ///   - isLast: `true` if nothing follows the push, though it was refused.
    mutating func answered(_ flight: Flight, isServed: Bool, isHeld: Bool, isLast: Bool, at now: MonotonicTime) {
        states.answered(flight, of: last.serial, isLast: isLast)
        last.answered(flight.outcome, isLast: isLast, at: now)
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
