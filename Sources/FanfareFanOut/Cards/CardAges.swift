import FanfareModel

/// Ages of cards. A card whose start is a date counts as new while the wall clock awaits its proof: a machine that boots eight hours
/// ahead must not end every card.
struct CardAges {
    /// Unix seconds at the start of the monotonic clock, by which dates are read.
    private var origin: Int64 = 0
    private var trust: WallTrust?

    /// Adopts the moment's wall clock if it is trusted more than the one adopted before.
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
