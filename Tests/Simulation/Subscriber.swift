import FanfareFanOut
import FanfareModel

/// What a person of the world wants, and what the activity's limits leave: written apart from the engine, by the clock on the wall
/// and with the words of the rules (A2, A5, and the budget for priority 10).
struct Subscriber {
    /// Local minutes of the day; the person's clock is ahead of UTC by `offset`.
    struct Quiet {
        let from: Int
        let until: Int
        let offset: Int
        let breakthrough: AlertMask
    }

    var mask = AlertMask.all
    var quiet: Quiet?
    var frequentUpdates = false

    /// Somebody with wishes of their own; quiet hours begin or end within minutes, so that worlds see both.
    init(atMinute utc: Int, using random: inout SplitMix64) {
        mask = [.all, .all, .essential, .none].randomElement(using: &random)!
        frequentUpdates = random.chance(0.3)
        guard random.chance(0.5) else { return }
        let offset = [-720, -300, 0, 330, 840].randomElement(using: &random)!
        let from = (utc + offset + Int.random(in: -5...5, using: &random) + 2880) % 1440
        let length = [1, 3, 10, 720, 1430].randomElement(using: &random)!
        quiet = Quiet(
            from: from, until: (from + length) % 1440, offset: offset,
            breakthrough: AlertMask.allCases.randomElement(using: &random)!)
    }

    init() {}

    var preferences: Preferences {
        Preferences(
            alerts: mask,
            quietHours: quiet.flatMap {
                Preferences.QuietHours(
                    from: $0.from, until: $0.until, utcOffset: $0.offset, breakthrough: $0.breakthrough)
            }, frequentUpdates: frequentUpdates)
    }

    func wants(_ alert: AlertClass, at moment: Moment) -> Bool {
        var masks = [mask]
        if let quiet {
            let local = (Int(moment.wallSeconds / 60) + quiet.offset) % 1440
            let minutes = (local - quiet.from + 1440) % 1440
            if minutes < (quiet.until - quiet.from + 1440) % 1440 { masks.append(quiet.breakthrough) }
        }
        return masks.allSatisfy { $0 == .all || $0 == .essential && alert == .essential }
    }
}

/// A bucket as a phone's owner would count it: how long it takes to be full again.
struct PhoneBucket {
    private var seconds = 0.0
    private var asOf: Int64 = 0

    /// Tokens at a time in Unix seconds, which never goes back.
    private func tokens(_ size: TokenBucket.Size, at now: Int64) -> Double {
        let left = max(0, seconds - Double(now - asOf))
        return Double(size.burst) - left / (Double(size.refill.milliseconds) / 1000)
    }

    func has(_ size: TokenBucket.Size, at now: Int64, loan: Int = 0) -> Bool {
        // A little less than one is one: thirds do not add up.
        tokens(size, at: now) + Double(loan) > 1 - 1e-6
    }

    mutating func take(_ size: TokenBucket.Size, at now: Int64, atLeast least: Double = -.infinity) {
        let left = max(least, tokens(size, at: now) - 1)
        seconds = (Double(size.burst) - left) * Double(size.refill.milliseconds) / 1000
        asOf = now
    }

    /// What was taken last has been of no use.
    mutating func giveBack(_ size: TokenBucket.Size) {
        seconds = max(0, seconds - Double(size.refill.milliseconds) / 1000)
    }
}

extension World {
    /// Whether the phone may be given this alert in an update, or an end, with this stamp.
    private func mayAlert(_ alert: AlertClass, _ phone: Phone, stamp: Int64, isEnd: Bool = false) -> Bool {
        guard phone.subscriber.wants(alert, at: nodes[phone.node].clock.moment) else { return false }
        if alert == .ordinary, !phone.alertBucket.has(phone.limits.alerts, at: stamp) { return false }
        return isEnd
            || phone.budget.has(
                phone.budgetSize, at: stamp, loan: alert == .essential ? phone.limits.essentialLoan : 0)
    }

    /// Before a pull. Whoever was sent something before the node's clock was put right may not have taken it, and gets it again.
    func noteClockStep(of node: Node) {
        guard !node.shard.isHeldUp, node.stampEpoch != node.clock.moment.stampEpoch else { return }
        node.stampEpoch = node.clock.moment.stampEpoch
        for index in phones.indices where nodes[phones[index].node] === node {
            phones[index].lastMayRepeat = true
            let isOver = phones[index].served.map { self.isOver($0, for: phones[index], node: node) } ?? true
            if !isOver { phones[index].isOwedWhatItRefused() }
        }
    }

    /// Before a pull. Who may be given no alert now, and shows the newest state already, is settled without a push.
    func noteSettled(by node: Node) {
        let now = moment.monotonicNanoseconds
        for index in phones.indices
        where !phones[index].missed.isEmpty && nodes[phones[index].node] === node && phones[index].flying == 0 {
            guard let highest = phones[index].stillMissed(at: now).map(\.alert.class).max(),
                phones[index].sickness != nil
                    || !mayAlert(
                        highest, phones[index],
                        stamp: max(node.clock.moment.stampMilliseconds / 1000, phones[index].lastStamp))
            else { continue }
            phones[index].noteSettled()
        }
    }

    /// Of those that it missed, the newest of the highest class rides, unless the subscriber or the limits are against it.
    func judgeAttention(of payload: Payload, for phone: Phone, from node: Node) -> String? {
        if phone.isNameless { return nil }
        let isEnd = payload.event == .end
        let missed = phone.stillMissed(at: moment.monotonicNanoseconds)
        if payload.alert != nil {
            guard let highest = missed.map(\.alert.class).max(),
                mayAlert(highest, phone, stamp: payload.stamp, isEnd: isEnd)
            else {
                return "an alert to somebody who wants none, or has had as many as may be (A2, A5)"
            }
            return nil
        }
        if let highest = missed.filter({ !$0.mayBeSettled }).map(\.alert.class).max(),
            mayAlert(highest, phone, stamp: payload.stamp, isEnd: isEnd)
        {
            return "silent though alert \(missed.last?.alert.text.title ?? "") was missed (4)"
        }
        guard payload.event == .update else { return nil }
        let affords = phone.budget.has(phone.budgetSize, at: payload.stamp)
        if payload.priority == .immediate, !affords { return "priority 10 on a spent budget" }
        if case .topic(let topic) = phone.served, payload.priority == .conserving, affords,
            node.newest(topic, for: phone)?.priority == .immediate
        {
            return "priority 5 though the budget is not spent"
        }
        return nil
    }
}

extension ActivityLimits {
    /// So little that every world comes to the end of it, and so short that it comes back.
    static let tight: ActivityLimits = {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 3, refill: .seconds(20))
        limits.immediateFrequent = TokenBucket.Size(burst: 6, refill: .seconds(10))
        limits.essentialLoan = 1
        limits.alerts = TokenBucket.Size(burst: 2, refill: .seconds(30))
        return limits
    }()
}
