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

    /// An activity's use of its limits, as seconds until its buckets are full again. They count from the activity's stamp, which is kept
    /// anyway, marks the last push, and never goes back. So nothing is rounded away, and nothing is refilled twice.
    struct BudgetUse: Equatable {
        // One word, because it is compared for every push of a sweep.
        private var word: UInt32 = 0

        init() {}

        fileprivate init(immediate: UInt32, alerts: UInt32) {
            word[bits: 16..<32] = immediate
            word[bits: 0..<16] = alerts
        }

        fileprivate var immediate: UInt32 { word[bits: 16..<32] }
        /// Seconds until the alert bucket is full. They exceed the bucket after an essential alert that found it empty, so that a return of
        /// that alert's charge refills nothing.
        fileprivate var alerts: UInt32 { word[bits: 0..<16] }

        fileprivate func immediate(after seconds: UInt32) -> UInt32 { immediate.less(seconds) }
        fileprivate func alerts(of meter: Meter, after seconds: UInt32) -> UInt32 {
            min(alerts, meter.most).less(seconds)
        }
    }

    /// A bucket's size in whole seconds.
    fileprivate struct Meter {
        let cost: UInt32
        let most: UInt32

        /// A refill counts as a second at least, and a bucket as nine hours at most: with as much again for overdrafts it fits into the
        /// two bytes of `BudgetUse`.
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
        var alerts = use.alerts(of: self.alerts, after: seconds)
        if request.alert != nil, decision.silence == nil { alerts += self.alerts.cost }
        return BudgetUse(immediate: immediate, alerts: alerts)
    }

    /// Returns the activity's use of its limits without the charge of the last push, which was certainly not processed: the phone has
    /// heard no alert, and its own budget is as it was.
    func returned(_ attempt: AlertAttempt, _ use: BudgetUse, _ effect: Preferences.Effect) -> BudgetUse {
        let immediate = attempt.isAtTen ? (effect.frequentUpdates ? immediateFrequent : self.immediate).cost : 0
        return BudgetUse(
            immediate: use.immediate.less(immediate), alerts: use.alerts.less(attempt.isPaid ? alerts.cost : 0))
    }

    private func silence(
        _ alert: AlertClass, _ use: BudgetUse, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> Silence? {
        if !effect.mask.passes(alert) { return .masked }
        if !effect.quietMask.passes(alert) { return .quietHours }
        if alert == .ordinary, use.alerts(of: alerts, after: seconds) + alerts.cost > alerts.most { return .tooMany }
        return nil
    }

    private func affords(_ meter: Meter, _ use: BudgetUse, after seconds: UInt32, overdraft: UInt32) -> Bool {
        use.immediate(after: seconds) + meter.cost <= meter.most + overdraft
    }
}

extension UInt32 {
    fileprivate func less(_ other: UInt32) -> UInt32 { self - Swift.min(self, other) }
}

/// The alert that a push carries or had to leave out, by version, the reason for leaving it out, and the charge for the push. Zero
/// means none of these.
struct AlertAttempt: Equatable {
    /// Bits 0–27: the version, with room for one a second for eight years. 28: the push was charged at priority 10. 29–31: the reason for
    /// leaving the alert out, or one of the numbers below.
    private var word: UInt32 = 0

    /// The push carries the alert.
    private static let sent: UInt32 = 5
    private static let refusal: UInt32 = 7

    static var none: AlertAttempt { AlertAttempt(reason: 0) }
    /// The push was refused, and its version is not to be sent again.
    static var refused: AlertAttempt { AlertAttempt(reason: refusal) }
    /// The push is charged for an alert that belongs to no version.
    static var paid: AlertAttempt { AlertAttempt(reason: sent) }

    private init(version: UInt32 = 0, reason: UInt32) {
        word[bits: 0..<28] = version
        word[bits: 29..<32] = reason
    }

    init(version: UInt32, silence: Silence?) {
        self.init(
            version: version, reason: silence.map { UInt32($0.rawValue) } ?? (version == 0 ? 0 : AlertAttempt.sent))
    }

    private var reason: UInt32 { word[bits: 29..<32] }

    var version: UInt32 { word[bits: 0..<28] }
    var silence: Silence? { Silence(rawValue: UInt8(reason)) }
    var isSent: Bool { version != 0 && isPaid }
    /// Is `true` when there is no alert.
    var isNone: Bool { version == 0 && silence == nil }

    /// Is `true` when the activity was charged for an alert.
    var isPaid: Bool { reason == AlertAttempt.sent }
    var isAtTen: Bool { word[bits: 28..<29] != 0 }

    /// This alert, in a push that was charged at priority 10.
    var chargedAtTen: AlertAttempt {
        var charged = self
        charged.word[bits: 28..<29] = 1
        return charged
    }
    /// The charge of a push in flight to an activity that has left the audience, without its alert.
    var withoutAlert: AlertAttempt {
        let charge = AlertAttempt(reason: isPaid ? AlertAttempt.sent : 0)
        return isAtTen ? charge.chargedAtTen : charge
    }
}
