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

    // In seconds, as debts are stored (`BudgetUse`).
    private let immediate: RateLimit<UInt32>
    private let immediateFrequent: RateLimit<UInt32>
    private let alerts: RateLimit<UInt32>
    private let overdraft: UInt32

    init(_ limits: ActivityLimits) {
        immediate = RateLimit(limits.immediate)
        immediateFrequent = RateLimit(limits.immediateFrequent)
        alerts = RateLimit(limits.alerts)
        overdraft = UInt32(min(max(0, limits.essentialOverdraft), 1000))
    }

    /// - Parameter seconds: from the activity's last stamp to the push's.
    func decision(
        on request: PushRequest, for use: BudgetUse, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> PushDecision {
        let limit = effect.frequentUpdates ? immediateFrequent : immediate
        var silence: Silence?
        if let alert = request.alert {
            silence = self.silence(alert, use, effect, after: seconds)
            if silence == nil {
                let overdraft =
                    alert == .essential ? min(overdraft * limit.period, RateLimit<UInt32>.capacityMax) : 0
                if request.isEnd || limit.allowsUse(at: use.immediate(after: seconds), overdraft: overdraft) {
                    return PushDecision(priority: .immediate, silence: nil)
                }
                silence = .budget
            }
        }
        let isImmediate =
            request.isEnd || request.priority == .immediate && limit.allowsUse(at: use.immediate(after: seconds))
        return PushDecision(priority: isImmediate ? .immediate : .conserving, silence: silence)
    }

    /// Returns the activity's use of its limits after the push leaves as decided.
    func charged(
        _ request: PushRequest, _ decision: PushDecision, _ use: BudgetUse, _ effect: Preferences.Effect,
        after seconds: UInt32
    ) -> BudgetUse {
        var immediate = use.immediate(after: seconds)
        if decision.priority == .immediate, !request.isEnd {
            immediate = (effect.frequentUpdates ? immediateFrequent : self.immediate).charged(immediate)
        }
        var alerts = use.alerts(atMost: self.alerts.capacity, after: seconds)
        if request.alert != nil, decision.silence == nil { alerts = self.alerts.charged(alerts) }
        return BudgetUse(immediate: immediate, alerts: alerts)
    }

    /// Returns the use of an activity's limits after a restart: half of each, because nothing tells what the process before this one has used.
    func halfSpent(_ preferences: Preferences) -> BudgetUse {
        BudgetUse(
            immediate: (preferences.frequentUpdates ? immediateFrequent : immediate).halfSpent,
            alerts: alerts.halfSpent)
    }

    /// Returns the activity's use of its limits without the charge of the last push, which was certainly not processed: the phone has
    /// heard no alert, and its own budget is as it was.
    func returned(_ attempt: AlertAttempt, _ use: BudgetUse, _ effect: Preferences.Effect) -> BudgetUse {
        let immediate = attempt.isAtTen ? (effect.frequentUpdates ? immediateFrequent : self.immediate).period : 0
        return use.returning(immediate: immediate, alerts: attempt.isPaid ? alerts.period : 0)
    }

    private func silence(
        _ alert: AlertClass, _ use: BudgetUse, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> Silence? {
        if !effect.mask.passes(alert) { return .masked }
        if !effect.quietMask.passes(alert) { return .quietHours }
        if alert == .ordinary, !alerts.allowsUse(at: use.alerts(atMost: alerts.capacity, after: seconds)) {
            return .tooMany
        }
        return nil
    }
}

extension RateLimit<UInt32> {
    /// Nine hours.
    fileprivate static var capacityMax: UInt32 { 32_400 }

    /// Creates the limit of a bucket in whole seconds. A refill counts as a second at least, and a bucket as nine hours at most: a bucket and an
    /// overdraft of its size then fit into the two bytes of `BudgetUse`.
    fileprivate init(_ size: TokenBucket.Size) {
        let period = UInt32(min(max(1, size.refill.milliseconds / 1000), Int64(Self.capacityMax)))
        self.init(period: period, capacity: min(period * UInt32(size.burst), Self.capacityMax))
    }
}
