/// Which alerts a person wants.
public enum AlertMask: UInt8, Sendable, Hashable, CaseIterable {
    // From the mildest to the strictest, each with the raw value of the lowest class that passes.
    /// Every alert that the topic's rules grant.
    case all = 0
    /// Only alerts of class `essential`: goals, an arrival.
    case essential = 1
    /// No alert at all. Updates still come, silently.
    case none = 2

    @inlinable package func passes(_ class: AlertClass) -> Bool { `class`.rawValue >= rawValue }
}

/// What a person has chosen for an activity (rule A5): which alerts it may give, when it should be quiet, and whether the app's
/// frequent updates are on. An activity has it in four bytes.
public struct Preferences: Sendable, Hashable {
    /// A part of every day in which only some alerts, or none, are given. Updates come all the same, silently.
    ///
    /// It stands still in UTC: where clocks are put forward or back, the app tells the new offset.
    public struct QuietHours: Sendable, Hashable {
        /// Minutes since midnight UTC, 0…1439. A window with `from` after `until` goes over midnight.
        public let from: Int
        /// The first minute that is not quiet any more.
        public let until: Int
        /// What is given in spite of them.
        public let breakthrough: AlertMask

        static let minutesPerDay = 1440

        /// - Parameters:
        ///   - from: the first quiet minute: local minutes since midnight, 0…1439.
        ///   - until: the first one that is not quiet any more, 0…1439; equal to `from` it makes no window.
        ///   - utcOffset: minutes that local time is ahead of UTC, −720…840; negative in the west.
        ///   - breakthrough: what is given in spite of them.
        /// - Returns: `nil` for minutes outside their ranges.
        public init?(from: Int, until: Int, utcOffset: Int = 0, breakthrough: AlertMask = .essential) {
            let day = 0..<QuietHours.minutesPerDay
            guard day.contains(from), day.contains(until), from != until, (-720...840).contains(utcOffset) else {
                return nil
            }
            func utc(_ local: Int) -> Int {
                (local - utcOffset + QuietHours.minutesPerDay) % QuietHours.minutesPerDay
            }
            self.init(utc(from), utc(until), breakthrough)
        }

        /// Where the window begins and ends by a clock that is so many minutes ahead of UTC: with the offset that `init` was given, what
        /// it was given.
        ///
        /// - Parameter utcOffset: any number; whole days make no difference.
        public func local(utcOffset: Int) -> (from: Int, until: Int) {
            func local(_ utc: Int) -> Int {
                let minute = (utc + utcOffset % QuietHours.minutesPerDay) % QuietHours.minutesPerDay
                return minute < 0 ? minute + QuietHours.minutesPerDay : minute
            }
            return (local(from), local(until))
        }

        @usableFromInline init(_ from: Int, _ until: Int, _ breakthrough: AlertMask) {
            self.from = from
            self.until = until
            self.breakthrough = breakthrough
        }

        @usableFromInline func contains(minute: Int) -> Bool {
            from < until ? (from..<until).contains(minute) : minute >= from || minute < until
        }
    }

    // Bits 0–1 the mask, 2–3 what breaks through, 4 frequent updates, 5 whether there are quiet hours, 6–16 their begin, 17–27
    // their end. All zero is the default. Asked for each push: other modules see what is inlined.
    @usableFromInline var bits: UInt32 = 0

    /// `frequentUpdates`: what the phone says of `frequentPushesEnabled`; its budget for urgent pushes is larger then.
    public init(alerts: AlertMask = .all, quietHours: QuietHours? = nil, frequentUpdates: Bool = false) {
        bits = UInt32(alerts.rawValue) | (frequentUpdates ? 1 << 4 : 0)
        if let quietHours {
            bits |= UInt32(quietHours.breakthrough.rawValue) << 2 | 1 << 5
            bits |= UInt32(quietHours.from) << 6 | UInt32(quietHours.until) << 17
        }
    }

    /// Which alerts the activity may give outside quiet hours.
    @inlinable public var alerts: AlertMask { mask(at: 0) }
    /// Whether the phone allows frequent pushes; it decides between `ActivityLimits.immediate` and `immediateFrequent`.
    @inlinable public var frequentUpdates: Bool { bits & 1 << 4 != 0 }

    /// The daily window in UTC; `nil` where there is none.
    @inlinable public var quietHours: QuietHours? {
        guard bits & 1 << 5 != 0 else { return nil }
        return QuietHours(Int(bits >> 6 & 0x7ff), Int(bits >> 17 & 0x7ff), mask(at: 2))
    }

    /// What they come to at a minute of the day, UTC.
    @inlinable package func effect(atMinute minute: Int) -> Effect {
        let quiet = quietHours.map { $0.contains(minute: minute) ? $0.breakthrough : .all } ?? .all
        return Effect(mask: alerts, quietMask: quiet, frequentUpdates: frequentUpdates)
    }

    @inlinable func mask(at bit: UInt32) -> AlertMask { AlertMask(rawValue: UInt8(bits >> bit & 3)) ?? .none }

    @usableFromInline package struct Effect {
        @usableFromInline package var mask: AlertMask
        /// Of the quiet hours, if it is one.
        @usableFromInline package var quietMask: AlertMask
        @usableFromInline package var frequentUpdates: Bool

        @inlinable package init(mask: AlertMask = .all, quietMask: AlertMask = .all, frequentUpdates: Bool = false) {
            self.mask = mask
            self.quietMask = quietMask
            self.frequentUpdates = frequentUpdates
        }
    }
}

/// What kept an alert from an activity, whose update came silently instead.
public enum Silence: UInt8, Sendable, Hashable, CaseIterable {
    /// The person wants no alerts of this class.
    case masked = 1
    /// The person's quiet hours let no alert of this class through.
    case quietHours = 2
    /// The activity has had as many as it may (rule A2).
    case tooMany = 3
    /// The activity's budget for pushes at priority 10 is spent.
    case budget = 4
}
