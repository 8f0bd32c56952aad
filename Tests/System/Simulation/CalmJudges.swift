import FanfareModel

extension CalmSight {
    /// The judges of phones for which everything has settled, in the order in which they are asked.
    static let settledJudges: [any CalmJudge] = [LossJudge(), DeathJudge()]
}

/// Once everything has settled, a phone has what it is to see.
struct LossJudge: CalmJudge {
    func seen(_ sight: CalmSight) -> String? {
        let (phone, history) = (sight.phone, sight.history)
        guard sight.isThere, !sight.isBetweenCards, !sight.isOutlivedAndLetGo else { return nil }
        guard phone.hasToken else {
            guard let card = phone.card, !card.isOut, sight.hasNews else { return nil }
            return "\(card.name) was never started (L7)"
        }
        // A phone that left with an end in flight stays where it was until the end is taken or the card is gone.
        if phone.life.hasLeft, sight.age.isLetGo { return nil }
        guard let served = phone.served else { return "activity \(phone.id.rawValue) left and was never ended (3)" }
        guard sight.hasNews else { return nil }
        // A refused state is not due again before a newer one.
        if history.states.refusedSerial != nil { return nil }
        if history.states.accepted == nil { return "activity \(phone.id.rawValue) never got a state (1)" }
        for state in [history.states.accepted, phone.screen.state].compactMap(\.self) {
            if let violation = sight.stale(state, beside: served) {
                return "activity \(phone.id.rawValue) shows \(violation) (1)"
            }
        }
        // A silenced phone may have been settled without a push if it had the newest state.
        if let lost = history.alerts.stillMissed(at: sight.now).last(where: { !$0.mayBeSettled }) {
            return "activity \(phone.id.rawValue) never got alert \(lost.alert.text.title) (4)"
        }
        return nil
    }
}

/// The death of a phone is reported once.
struct DeathJudge: CalmJudge {
    func seen(_ sight: CalmSight) -> String? {
        let (phone, life) = (sight.phone, sight.phone.life)
        guard life.isRemoved || life.isDead && life.isGone, phone.naming.isIntroduced,
            !reports(expectedIn: sight).contains(life.deathReports)
        else { return nil }
        // The start of a card that was let go of in the meantime is not reported.
        guard phone.hasToken || !life.hasLeft else { return nil }
        return "the death of activity \(phone.id.rawValue) was reported \(life.deathReports) times"
    }

    /// Returns how many reports a removed phone must have. A nameless phone has none, because its name means another card; a renewed
    /// card that has lost its first name may still be reported under the name that it alone has.
    private func reports(expectedIn sight: CalmSight) -> ClosedRange<Int> {
        guard sight.phone.naming.isDetached else { return 1...1 }
        return sight.phone.card == nil || sight.hasNamesake ? 0...0 : 0...1
    }
}

/// A phone without trouble of its own has what it is to see, once the feed has been quiet for longer than any wait: it does not wait for
/// another phone's trouble or for a clock.
struct NeglectJudge: CalmJudge {
    /// Longest wait of a token after its own trouble: 64 seconds and half as much, with a margin.
    static let patience = Duration.seconds(110)

    func seen(_ sight: CalmSight) -> String? {
        let (phone, history) = (sight.phone, sight.history)
        guard sight.isThere, !sight.isBetweenCards, phone.hasToken || !sight.isOutlivedAndLetGo else { return nil }
        if history.health.isHeld, sight.trouble.isGuardShut { return nil }
        guard history.health.sickness == nil, history.last.flying == 0, history.states.refusedSerial == nil,
            history.health.troubledAt.map({ $0 + NeglectJudge.patience < sight.now }) ?? true
        else { return nil }
        guard phone.hasToken else {
            guard let card = phone.card, !card.isOut, sight.hasNews else { return nil }
            return "\(card.name) waits for its start, for another's trouble or a clock (10)"
        }
        guard let served = phone.served else {
            return sight.age.isLetGo ? nil : "activity \(phone.id.rawValue) left and waits for its end (10)"
        }
        guard sight.hasNews else { return nil }
        guard let accepted = history.states.accepted, sight.stale(accepted, beside: served) == nil else {
            return "activity \(phone.id.rawValue) waits for the newest state, for another's trouble or a clock (10)"
        }
        return nil
    }
}

/// A phone with a new token and without trouble since has what it is to see, on a node without other trouble.
struct NewTokenJudge: CalmJudge {
    func seen(_ sight: CalmSight) -> String? {
        let (phone, history) = (sight.phone, sight.history)
        guard phone.tokens.isNew, sight.isThere, phone.hasToken, !sight.trouble.isSick, !sight.trouble.isFull,
            history.health.troubledAt == nil, history.last.flying == 0, history.states.refusedSerial == nil,
            !sight.isBetweenCards, !sight.age.isLetGo
        else { return nil }
        guard let served = phone.served else {
            return "activity \(phone.id.rawValue) has a new token and waits for its end (10)"
        }
        // Nothing is wrong with the token: its alert waits for the disk.
        guard sight.hasNews, !sight.awaitsClaim else { return nil }
        guard let accepted = history.states.accepted, sight.stale(accepted, beside: served) == nil else {
            return "activity \(phone.id.rawValue) has a new token and waits for the newest state (10)"
        }
        return nil
    }
}
