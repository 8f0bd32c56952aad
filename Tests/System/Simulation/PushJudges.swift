import FanfareFanOut
import FanfareLineup
import FanfareModel

extension Sight {
    /// The judges of every push, in the order in which they are asked.
    static let judges: [any PushJudge] = [
        FlightJudge(), TokenJudge(), JWTJudge(), StampJudge(), RetryJudge(), RepetitionJudge(), RefusalJudge(),
        AgeJudge(), UpdateTokenJudge(),
    ]
    /// The judges of alerts and priorities, of all pushes but starts.
    static let attentionJudges: [any PushJudge] = [AlertJudge(), AttentionJudge()]

    func violation(of judges: [any PushJudge]) -> String? {
        for judge in judges { if let violation = judge.seen(self) { return violation } }
        return nil
    }
}

/// A phone gets one push at a time, and none after its end.
struct FlightJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        if sight.history.last.flying > 0 { return "two pushes in flight" }
        return sight.phone.life.isGone ? "a push after its end (3)" : nil
    }
}

/// A push goes to the token that the shard was given last, unless that one is held as dead.
struct TokenJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        if sight.history.health.isHeld { return "a push to somebody who is held" }
        return sight.token == sight.phone.tokens.served ? nil : "a push to a token that was replaced before"
    }
}

/// A push has a JWT of the right time, as soon as the engine can know that.
struct JWTJudge: PushJudge {
    func seen(_ sight: Sight) -> String? { sight.faultOfJWT }
}

/// Stamps never go back, and no phone drops a push for its stamp. Dropped pushes do not count for the order.
struct StampJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        let stamp = sight.payload.stamp
        if stamp < sight.history.last.stamp { return "stamp \(stamp) after \(sight.history.last.stamp) (2)" }
        if !sight.isUnseen, !Screen.takes(stamp, at: sight.moment) {
            return "stamp \(stamp) at \(sight.moment.wallSeconds), which phones drop (12)"
        }
        return nil
    }
}

/// A token in trouble is left alone for a while.
struct RetryJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        sight.now < sight.history.health.waitsUntil ? "it is tried again at once (10)" : nil
    }
}

/// One stamp belongs to one state, and a state is sent once unless it may have been lost.
struct RepetitionJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        let (payload, last) = (sight.payload, sight.history.last)
        if payload.stamp == last.stamp, !last.mayRepeat || !isRepeat(sight) {
            return "two states with stamp \(payload.stamp) (2)"
        }
        if payload.event == .update, payload.alert == nil, payload.state == last.state, !last.mayRepeat {
            return "the same state twice (5)"
        }
        return nil
    }

    /// Is `true` if the payload is the version sent last. A lineup's version may be older than the last publication.
    private func isRepeat(_ sight: Sight) -> Bool {
        guard case .lineup = sight.phone.served else { return sight.newestSerial == sight.history.last.serial }
        return LineupContentState<Match>(sight.payload)?.withoutHighlight == sight.history.lineup.last?.withoutHighlight
    }
}

/// What the service has refused for good is not sent again.
struct RefusalJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard sight.payload.event == .update, case .topic = sight.phone.served,
            let refused = sight.history.states.refusedSerial, refused == sight.newestSerial
        else { return nil }
        return "what was refused is sent again"
    }
}

/// No card gets updates after the system's time for it. A push that is in flight then delays the end.
struct AgeJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        let outlived = sight.now - max(sight.phone.life.beganAt + sight.lifetime, sight.history.last.answeredAt)
        return outlived > .seconds(15) && sight.payload.event == .update ? "it has outlived its limit (L1)" : nil
    }
}

/// A push names the newest of the highest class among the alerts that the phone has missed, none of them twice; a lineup's push also names
/// the newest of each other topic.
struct AlertJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        guard let text = sight.payload.alert else { return nil }
        if sight.payload.priority != .immediate { return "an alert at priority 5" }
        guard let told = sight.told else { return "alert \(text) of nothing (4)" }
        let missed = sight.history.alerts.stillMissed(at: sight.now)
        for text in told {
            if sight.history.alerts.tried.contains(text) { return "alert \(text.title) twice (4)" }
            if !missed.contains(where: { $0.alert.text == text }) {
                return "alert \(text.title) that this activity did not miss, or that was revoked (4)"
            }
        }
        let pending = missed.filter { !$0.mayBeSettled || told.contains($0.alert.text) }
        guard let highest = pending.map(\.alert.class).max() else { return nil }
        var wanted: [TopicID: AlertText] = [:]
        for missed in pending where missed.alert.class == highest { wanted[missed.topic] = missed.alert.text }
        guard Set(told) == Set(wanted.values) else {
            return "alerts \(wanted.values.map(\.title)) were missed, and told are \(told.map(\.title)) (4)"
        }
        return nil
    }
}

/// The newest missed alert of the highest class rides unless preferences or limits forbid it, and priority 10 keeps to its budget. Who has
/// been unfollowed has no attention to spend.
struct AttentionJudge: PushJudge {
    func seen(_ sight: Sight) -> String? {
        let (payload, phone, history) = (sight.payload, sight.phone, sight.history)
        guard phone.served != nil, !phone.naming.isDetached else { return nil }
        func mayAlert(_ alert: AlertClass) -> Bool {
            history.budget.mayAlert(alert, stamp: payload.stamp, isEnd: payload.event == .end, at: sight.engine)
        }
        let missed = history.alerts.stillMissed(at: sight.now)
        if payload.alert != nil {
            guard let highest = missed.map(\.alert.class).max(), mayAlert(highest) else {
                return "an alert to somebody who wants none, or has had as many as may be (A2, A5)"
            }
            return nil
        }
        if let highest = missed.filter({ !$0.mayBeSettled }).map(\.alert.class).max(), mayAlert(highest) {
            return "silent though alert \(missed.last?.alert.text.title ?? "") was missed (4)"
        }
        guard payload.event == .update else { return nil }
        let affords = history.budget.affordsImmediate(stamp: payload.stamp)
        if payload.priority == .immediate, !affords { return "priority 10 on a spent budget" }
        if case .topic(let topic) = phone.served, payload.priority == .conserving, affords,
            sight.published.newest(topic, for: phone.following)?.priority == .immediate
        {
            return "priority 5 though the budget is not spent"
        }
        return nil
    }
}
