/// Decides at the moment of a push what a subscriber's preferences and the activity's limits leave of what its audience is owed:
/// whether the alert rides, and whether the push goes at priority 10. No state is ever held back.
///
/// A pure function of a few bytes per activity, so that all who stand alike are served alike, by one payload.
struct SubscriberGovernor {
    /// What the audience has for a member.
    struct Wish {
        /// Of the alert it missed.
        let alert: AlertClass?
        /// Asked for by the topic's rules, for a push without alert.
        let priority: Priority
        /// Never blocked: it goes at priority 10 and counts for nothing.
        let isEnd: Bool
    }

    struct Grant: Equatable {
        let priority: Priority
        /// What keeps the alert from riding; `nil` when it rides, or when there is none.
        let silence: Silence?
    }

    /// What an activity has used up, as seconds until its buckets are full again, counted from its stamp: that is kept anyway, says
    /// when the last push was, and never goes back. So nothing is rounded away, and nothing is refilled twice.
    struct Spent: Equatable {
        // One word, because it is compared for every push of a sweep.
        private var bits: UInt32 = 0

        init() {}

        fileprivate init(immediate: UInt32, alerts: UInt32) { bits = immediate << 16 | alerts }

        fileprivate func immediate(after seconds: UInt32) -> UInt32 { Spent.left(bits >> 16, seconds) }
        fileprivate func alerts(after seconds: UInt32) -> UInt32 { Spent.left(bits & 0xffff, seconds) }

        private static func left(_ spent: UInt32, _ seconds: UInt32) -> UInt32 { spent - min(spent, seconds) }
    }

    /// A bucket's size in whole seconds.
    private struct Meter {
        let cost: UInt32
        let most: UInt32

        /// A refill counts as a second at least, and a bucket as nine hours at most: with as much again for loans it fits into the
        /// two bytes of `Spent`.
        init(_ size: TokenBucket.Size) {
            cost = UInt32(min(max(1, size.refill.milliseconds / 1000), Int64(Meter.mostMax)))
            most = min(cost * UInt32(size.burst), Meter.mostMax)
        }

        static let mostMax: UInt32 = 32_400
    }

    private let immediate: Meter
    private let immediateFrequent: Meter
    private let alerts: Meter
    private let loan: UInt32

    init(_ limits: ActivityLimits) {
        immediate = Meter(limits.immediate)
        immediateFrequent = Meter(limits.immediateFrequent)
        alerts = Meter(limits.alerts)
        loan = UInt32(min(max(0, limits.essentialLoan), 1000))
    }

    /// - Parameter seconds: from the activity's last stamp to the push's.
    func grant(_ wish: Wish, to spent: Spent, _ effect: Preferences.Effect, after seconds: UInt32) -> Grant {
        let meter = effect.frequentUpdates ? immediateFrequent : immediate
        var silence: Silence?
        if let alert = wish.alert {
            silence = self.silence(alert, spent, effect, after: seconds)
            if silence == nil {
                let loan = alert == .essential ? min(loan * meter.cost, Meter.mostMax) : 0
                if wish.isEnd || affords(meter, spent, after: seconds, loan: loan) {
                    return Grant(priority: .immediate, silence: nil)
                }
                silence = .budget
            }
        }
        let isImmediate =
            wish.isEnd || wish.priority == .immediate && affords(meter, spent, after: seconds, loan: 0)
        return Grant(priority: isImmediate ? .immediate : .conserving, silence: silence)
    }

    /// What is used up once the push leaves as it was granted.
    func charged(
        _ wish: Wish, _ grant: Grant, _ spent: Spent, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> Spent {
        var immediate = spent.immediate(after: seconds)
        if grant.priority == .immediate, !wish.isEnd {
            immediate += (effect.frequentUpdates ? immediateFrequent : self.immediate).cost
        }
        var alerts = spent.alerts(after: seconds)
        if wish.alert != nil, grant.silence == nil { alerts = min(alerts + self.alerts.cost, self.alerts.most) }
        return Spent(immediate: immediate, alerts: alerts)
    }

    private func silence(
        _ alert: AlertClass, _ spent: Spent, _ effect: Preferences.Effect, after seconds: UInt32
    ) -> Silence? {
        if !effect.mask.passes(alert) { return .masked }
        if !effect.quietMask.passes(alert) { return .quietHours }
        if alert == .ordinary, spent.alerts(after: seconds) + alerts.cost > alerts.most { return .tooMany }
        return nil
    }

    private func affords(_ meter: Meter, _ spent: Spent, after seconds: UInt32, loan: UInt32) -> Bool {
        spent.immediate(after: seconds) + meter.cost <= meter.most + loan
    }
}

/// The alert that a push was the chance of: its version, and what silenced it. Zero where there was none.
struct AlertChance: Equatable {
    private let bits: UInt32
    static let none = AlertChance(version: 0, silence: nil)
    /// The push has come back refused, and its version is not to be sent again.
    static let refused = AlertChance(bits: 7 << versionBits)

    // A version a second for seventeen years fits beside the reason.
    private static let versionBits: UInt32 = 29

    private init(bits: UInt32) { self.bits = bits }

    init(version: UInt32, silence: Silence?) {
        bits = version | UInt32(silence?.rawValue ?? 0) << AlertChance.versionBits
    }

    var version: UInt32 { bits & (1 << AlertChance.versionBits - 1) }
    var silence: Silence? { Silence(rawValue: UInt8(bits >> AlertChance.versionBits)) }
    var rides: Bool { version != 0 && silence == nil }
}
