import FanfareFanOut
import FanfareModel

/// A person's preferences and the activity's limits, written independently of the engine: by the wall clock and in the terms of the rules
/// (A2, A5, and the budget for priority 10).
struct Subscriber {
    /// Quiet hours in local minutes of the day; the person's clock is ahead of UTC by `offset` minutes.
    struct Quiet {
        let from: Int
        let until: Int
        let offset: Int
        let breakthrough: AlertMask
    }

    var mask = AlertMask.all
    var quiet: Quiet?
    var frequentUpdates = false

    /// Draws preferences. Quiet hours begin or end within minutes, so that worlds see both.
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

/// A token bucket counted independently of the engine: by the time until it is full again.
struct PhoneBucket {
    private var seconds = 0.0
    private var asOf: Int64 = 0

    /// Returns the tokens at a time in Unix seconds, which never goes back.
    private func tokens(_ size: TokenBucket.Size, at now: Int64) -> Double {
        let left = max(0, seconds - Double(now - asOf))
        return Double(size.burst) - left / (Double(size.refill.milliseconds) / 1000)
    }

    func has(_ size: TokenBucket.Size, at now: Int64, overdraft: Int = 0) -> Bool {
        // The margin allows for thirds, which do not add up exactly.
        tokens(size, at: now) + Double(overdraft) > 1 - 1e-6
    }

    mutating func take(_ size: TokenBucket.Size, at now: Int64, atLeast least: Double = -.infinity) {
        let left = max(least, tokens(size, at: now) - 1)
        seconds = (Double(size.burst) - left) * Double(size.refill.milliseconds) / 1000
        asOf = now
    }

    /// Returns the token taken last.
    mutating func giveBack(_ size: TokenBucket.Size) {
        seconds = max(0, seconds - Double(size.refill.milliseconds) / 1000)
    }
}

extension ActivityLimits {
    /// Limits so small that every world exhausts them, and refilled so fast that they recover.
    static let tight: ActivityLimits = {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 3, refill: .seconds(20))
        limits.immediateFrequent = TokenBucket.Size(burst: 6, refill: .seconds(10))
        limits.essentialOverdraft = 1
        limits.alerts = TokenBucket.Size(burst: 2, refill: .seconds(30))
        return limits
    }()
}
