/// Alerts that a person wants.
public enum AlertMask: UInt8, Sendable, Hashable, CaseIterable {
    // In order of strictness; each raw value is that of the lowest class that passes.
    /// Every alert that the topic's rules grant.
    case all = 0
    /// Only alerts of class `essential`: goals, an arrival.
    case essential = 1
    /// No alerts. Updates still come, silently.
    case none = 2

    @inlinable package func passes(_ class: AlertClass) -> Bool { `class`.rawValue >= rawValue }
}

/// A person's choices for an activity (rule A5): wanted alerts, quiet hours, and the app's frequent updates. Preferences take four bytes per
/// activity.
public struct Preferences: Sendable, Hashable, BitwiseCopyable {
    /// A daily window in which only some alerts, or none, are given. Updates still come, silently.
    ///
    /// The window is fixed in UTC: the app reports the new offset at daylight-saving changes. A program gives and gets the window's limits in local
    /// minutes, and each time with the offset that they are for (`local(utcOffset:)`).
    public struct QuietHours: Sendable, Hashable {
        /// Start of the window, in minutes since midnight UTC, 0…1439. A window with `utcFrom` after `utcUntil` spans midnight.
        let utcFrom: Int
        /// End of the window, in minutes since midnight UTC: the first minute that is not quiet.
        let utcUntil: Int
        /// Alerts that are given in spite of the quiet hours.
        public let breakthrough: AlertMask

        static let minutesPerDay = 1440

        /// Creates a window. A window with `from` after `until` spans midnight.
        ///
        /// - Parameters:
        ///   - from: first quiet minute, in local minutes since midnight, 0…1439.
        ///   - until: first minute that is no longer quiet, 0…1439.
        ///   - utcOffset: minutes by which local time is ahead of UTC, −720…840; negative in the west.
        ///   - breakthrough: alerts that are given even in quiet hours.
        /// - Returns: `nil` for minutes outside their ranges, and for an empty window (`from` equals `until`).
        public init?(from: Int, until: Int, utcOffset: Int, breakthrough: AlertMask = .essential) {
            let day = 0..<QuietHours.minutesPerDay
            guard day.contains(from), day.contains(until), from != until, (-720...840).contains(utcOffset) else {
                return nil
            }
            func utc(_ local: Int) -> Int {
                (local - utcOffset + QuietHours.minutesPerDay) % QuietHours.minutesPerDay
            }
            self.init(utc(from), utc(until), breakthrough)
        }

        /// Returns the window's limits by a clock that is `utcOffset` minutes ahead of UTC. The offset given to `init` returns the limits
        /// given to `init`.
        ///
        /// - Parameter utcOffset: any number; whole days make no difference.
        public func local(utcOffset: Int) -> (from: Int, until: Int) {
            func local(_ utc: Int) -> Int {
                let minute = (utc + utcOffset % QuietHours.minutesPerDay) % QuietHours.minutesPerDay
                return minute < 0 ? minute + QuietHours.minutesPerDay : minute
            }
            return (local(utcFrom), local(utcUntil))
        }

        @usableFromInline init(_ utcFrom: Int, _ utcUntil: Int, _ breakthrough: AlertMask) {
            self.utcFrom = utcFrom
            self.utcUntil = utcUntil
            self.breakthrough = breakthrough
        }

        @usableFromInline func contains(minute: Int) -> Bool {
            utcFrom < utcUntil
                ? (utcFrom..<utcUntil).contains(minute) : minute >= utcFrom || minute < utcUntil
        }
    }

    // Bits 0–1: mask. 2–3: breakthrough of the quiet hours. 4: frequent updates. 5: has quiet hours. 6–16: their start. 17–27:
    // their end. All zero is the default. Inlinable, because every push reads it.
    @usableFromInline var word: UInt32 = 0

    /// Creates preferences. `frequentUpdates` is the phone's `frequentPushesEnabled`, which raises its budget for urgent pushes.
    public init(alerts: AlertMask = .all, quietHours: QuietHours? = nil, frequentUpdates: Bool = false) {
        word[bits: 0..<2] = UInt32(alerts.rawValue)
        word[bits: 4..<5] = frequentUpdates ? 1 : 0
        if let quietHours {
            word[bits: 2..<4] = UInt32(quietHours.breakthrough.rawValue)
            word[bits: 5..<6] = 1
            word[bits: 6..<17] = UInt32(quietHours.utcFrom)
            word[bits: 17..<28] = UInt32(quietHours.utcUntil)
        }
    }

    /// Alerts that the activity may give outside quiet hours.
    @inlinable public var alerts: AlertMask { mask(in: 0..<2) }
    /// Is `true` if the phone allows frequent pushes; selects `ActivityLimits.immediate` or `immediateFrequent`.
    @inlinable public var frequentUpdates: Bool { word[bits: 4..<5] != 0 }

    /// Daily window; `nil` without quiet hours.
    @inlinable public var quietHours: QuietHours? {
        guard word[bits: 5..<6] != 0 else { return nil }
        return QuietHours(Int(word[bits: 6..<17]), Int(word[bits: 17..<28]), mask(in: 2..<4))
    }

    /// Returns the effect of the preferences at a minute of the day in UTC.
    @inlinable package func effect(atMinute minute: Int) -> Effect {
        let quiet = quietHours.map { $0.contains(minute: minute) ? $0.breakthrough : .all } ?? .all
        return Effect(mask: alerts, quietMask: quiet, frequentUpdates: frequentUpdates)
    }

    @inlinable func mask(in bits: Range<Int>) -> AlertMask { AlertMask(rawValue: UInt8(word[bits: bits])) ?? .none }

    @usableFromInline package struct Effect {
        @usableFromInline package var mask: AlertMask
        /// Breakthrough of the quiet hours while they last, otherwise `all`.
        @usableFromInline package var quietMask: AlertMask
        @usableFromInline package var frequentUpdates: Bool

        @inlinable package init(mask: AlertMask = .all, quietMask: AlertMask = .all, frequentUpdates: Bool = false) {
            self.mask = mask
            self.quietMask = quietMask
            self.frequentUpdates = frequentUpdates
        }
    }
}

/// Reason why an activity got an update silently, without its alert.
public enum Silence: UInt8, Sendable, Hashable, CaseIterable {
    /// The person wants no alerts of this class.
    case masked = 1
    /// The person's quiet hours suppress alerts of this class.
    case quietHours = 2
    /// The activity has had the maximum number of alerts (rule A2).
    case tooMany = 3
    /// The activity's budget for pushes at priority 10 is spent.
    case budget = 4
}
