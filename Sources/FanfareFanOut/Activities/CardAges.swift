import FanfareModel

/// The time at which a card appeared, as far as is known, in seconds: a reading of the monotonic clock, or a date.
struct CardStart: Equatable {
    /// The top bit marks a date. The seconds wrap around after 68 years.
    private let bits: UInt32
    private static let dateBit: UInt32 = 1 << 31
    /// Maximum age: 34 years; a difference beyond it is that of a start in the future.
    static let longest = Int64(dateBit / 2 - 1)

    /// Creates a start of the monotonic clock's first second, for slots without a tenant.
    init() { bits = 0 }

    /// - Parameter seconds: of the monotonic clock; negative for a card that is older than the machine's start.
    init(monotonic seconds: Int64) { bits = UInt32(truncatingIfNeeded: seconds) & ~CardStart.dateBit }

    init(date: FeedTime) {
        bits = UInt32(truncatingIfNeeded: date.milliseconds / 1000) & ~CardStart.dateBit | CardStart.dateBit
    }

    var isDate: Bool { bits & CardStart.dateBit != 0 }

    /// Returns the seconds from the start to a time of the start's own clock; 0 if that time is earlier.
    func seconds(until now: Int64) -> Int64 {
        let difference = (UInt32(truncatingIfNeeded: now) &- bits) & ~CardStart.dateBit
        return difference <= CardStart.longest ? Int64(difference) : 0
    }
}

/// Ages of cards. A card whose start is a date counts as new while the wall clock awaits its proof: a machine that boots eight hours
/// ahead must not end every card.
struct CardAges {
    /// Unix seconds at the start of the monotonic clock, by which dates are read.
    private var origin: Int64 = 0
    private var trust: WallTrust?

    /// Goes by the moment's wall clock if there are better grounds for it than for the one before.
    ///
    /// - Returns: whether cards may have become older.
    mutating func follow(_ moment: Moment) -> Bool {
        let former = trust
        guard former.map({ $0 < moment.trust }) ?? true else { return false }
        trust = moment.trust
        origin = moment.wallSeconds - moment.monotonicSeconds
        return former != nil
    }

    /// Returns the start of a card. A date that a trusted clock reads becomes a time of the monotonic clock, which is never set.
    func start(_ date: FeedTime?, at moment: Moment) -> CardStart {
        guard let date else { return CardStart(monotonic: moment.monotonicSeconds) }
        guard moment.trust > .awaitsProof else { return CardStart(date: date) }
        let age = min(max(0, moment.wallSeconds - date.milliseconds / 1000), CardStart.longest)
        return CardStart(monotonic: moment.monotonicSeconds - age)
    }

    /// Returns the age of a card in nanoseconds.
    func age(of start: CardStart, at moment: Moment) -> Int64 {
        let now = moment.monotonicSeconds
        guard start.isDate else { return start.seconds(until: now) * 1_000_000_000 }
        guard let trust, trust > .awaitsProof else { return 0 }
        return start.seconds(until: now + origin) * 1_000_000_000
    }
}

extension Moment {
    /// Seconds of the monotonic clock.
    var monotonicSeconds: Int64 { monotonic.nanoseconds / 1_000_000_000 }
}
