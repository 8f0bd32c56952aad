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
        private var bits: UInt32 = 0

        init() {}

        fileprivate init(immediate: UInt32, alerts: UInt32) { bits = immediate << 16 | alerts }

        fileprivate var immediate: UInt32 { bits >> 16 }
        /// Seconds until the alert bucket is full. They exceed the bucket after an essential alert that found it empty, so that a return of
        /// that alert's charge refills nothing.
        fileprivate var alerts: UInt32 { bits & 0xffff }

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
    private var bits: UInt32
    static let none = AlertAttempt(bits: 0)
    /// The push was refused, and its version is not to be sent again.
    static let refused = AlertAttempt(bits: 7 << reasonPlace)

    /// The push is charged for an alert that belongs to no version.
    static let paid = AlertAttempt(bits: sent << reasonPlace)

    // Room for a version a second for eight years.
    private static let versionMask: UInt32 = 1 << 28 - 1
    private static let atTen: UInt32 = 1 << 28
    private static let reasonPlace: UInt32 = 29
    /// Value in place of a reason: the push carries the alert.
    private static let sent: UInt32 = 5

    private init(bits: UInt32) { self.bits = bits }

    init(version: UInt32, silence: Silence?) {
        let reason = version == 0 ? 0 : AlertAttempt.sent
        bits = version | (silence.map { UInt32($0.rawValue) } ?? reason) << AlertAttempt.reasonPlace
    }

    var version: UInt32 { bits & AlertAttempt.versionMask }
    var silence: Silence? { Silence(rawValue: UInt8(bits >> AlertAttempt.reasonPlace)) }
    var isSent: Bool { version != 0 && isPaid }
    /// Is `true` when there is no alert.
    var isNone: Bool { version == 0 && silence == nil }

    /// Is `true` when the activity was charged for an alert.
    var isPaid: Bool { bits >> AlertAttempt.reasonPlace == AlertAttempt.sent }
    var isAtTen: Bool { bits & AlertAttempt.atTen != 0 }

    /// This alert, in a push that was charged at priority 10.
    var chargedAtTen: AlertAttempt { AlertAttempt(bits: bits | AlertAttempt.atTen) }
    /// The charge of a push in flight to an activity that has left the audience, without its alert.
    var withoutAlert: AlertAttempt {
        AlertAttempt(bits: bits & AlertAttempt.atTen | (isPaid ? AlertAttempt.sent << AlertAttempt.reasonPlace : 0))
    }
}
