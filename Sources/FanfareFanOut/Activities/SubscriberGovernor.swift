import FanfareModel

/// Decides at the moment of a push, from a subscriber's preferences and the activity's limits, whether the alert rides on it and
/// whether it goes at priority 10. The governor never holds a state back.
///
/// The decision is a pure function of a few bytes per activity, so that activities in the same state share one payload.
struct SubscriberGovernor {
    /// A push that the audience has for a member.
    struct PushRequest {
        /// Class of the alert that the member missed.
        let alert: AlertClass?
        /// Priority that the topic's rules request for a push without alert.
        let priority: Priority
        /// Is `true` for a push that is never blocked: it goes at priority 10 and counts for nothing.
        let isEnd: Bool
    }

    struct PushDecision: Equatable {
        let priority: Priority
        /// The reason for which the alert does not ride; `nil` if it rides, or if there is none.
        let silence: Silence?
    }

    /// A bucket's size in whole seconds.
    fileprivate struct Meter {
        let cost: UInt32
        let most: UInt32

        /// A refill counts as a second at least, and a bucket as nine hours at most: a bucket and an overdraft of its size then fit into the two
        /// bytes of `BudgetUse`.
        init(_ size: TokenBucket.Size) {
            cost = UInt32(min(max(1, size.refill.milliseconds / 1000), Int64(Meter.mostMax)))
            most = min(cost * UInt32(size.burst), Meter.mostMax)
        }

        static let mostMax: UInt32 = 32_400
    }

    private let immediate: Meter
    private let immediateFrequent: Meter
    private let alerts: Meter
    private let overdraft: UInt32

    init(_ limits: ActivityLimits) {
        immediate = Meter(limits.immediate)
        immediateFrequent = Meter(limits.immediateFrequent)
        alerts = Meter(limits.alerts)
        overdraft = UInt32(min(max(0, limits.essentialOverdraft), 1000))
    }

    /// - Parameter seconds: from the activity's last stamp to the push's.
    func decision(
        on request: PushRequest, for use: BudgetUse, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> PushDecision {
        let meter = effect.frequentUpdates ? immediateFrequent : immediate
        var silence: Silence?
        if let alert = request.alert {
            silence = self.silence(alert, use, effect, after: seconds)
            if silence == nil {
                let overdraft = alert == .essential ? min(overdraft * meter.cost, Meter.mostMax) : 0
                if request.isEnd || affords(meter, use, after: seconds, overdraft: overdraft) {
                    return PushDecision(priority: .immediate, silence: nil)
                }
                silence = .budget
            }
        }
        let isImmediate =
            request.isEnd || request.priority == .immediate && affords(meter, use, after: seconds, overdraft: 0)
        return PushDecision(priority: isImmediate ? .immediate : .conserving, silence: silence)
    }

    /// Returns the activity's use of its limits after the push leaves as decided.
    func charged(
        _ request: PushRequest, _ decision: PushDecision, _ use: BudgetUse, _ effect: Preferences.Effect,
        after seconds: UInt32
    ) -> BudgetUse {
        var immediate = use.immediate(after: seconds)
        if decision.priority == .immediate, !request.isEnd {
            immediate += (effect.frequentUpdates ? immediateFrequent : self.immediate).cost
        }
        var alerts = use.alerts(atMost: self.alerts.most, after: seconds)
        if request.alert != nil, decision.silence == nil { alerts += self.alerts.cost }
        return BudgetUse(immediate: immediate, alerts: alerts)
    }

    /// Returns the activity's use of its limits without the charge of the last push, which was certainly not processed: the phone has
    /// heard no alert, and its own budget is as it was.
    func returned(_ attempt: AlertAttempt, _ use: BudgetUse, _ effect: Preferences.Effect) -> BudgetUse {
        let immediate = attempt.isAtTen ? (effect.frequentUpdates ? immediateFrequent : self.immediate).cost : 0
        return use.returning(immediate: immediate, alerts: attempt.isPaid ? alerts.cost : 0)
    }

    private func silence(
        _ alert: AlertClass, _ use: BudgetUse, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> Silence? {
        if !effect.mask.passes(alert) { return .masked }
        if !effect.quietMask.passes(alert) { return .quietHours }
        if alert == .ordinary, use.alerts(atMost: alerts.most, after: seconds) + alerts.cost > alerts.most {
            return .tooMany
        }
        return nil
    }

    private func affords(_ meter: Meter, _ use: BudgetUse, after seconds: UInt32, overdraft: UInt32) -> Bool {
        use.immediate(after: seconds) + meter.cost <= meter.most + overdraft
    }
}
