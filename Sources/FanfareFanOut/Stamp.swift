import FanfareModel

/// `aps.timestamp`, Unix seconds: devices order what they get by it. They drop what is not newer than what they have, what lies in the
/// past, and what lies too far ahead (spec §3.3). So a stamp is the second of a time that does not go back with the wall clock, or
/// the one after the activity's last stamp where that is later: every state is newer than the one before.
enum Stamp {
    /// Devices drop what is stamped further ahead than this (spec §3.3, Apple staff).
    static let aheadMax: Int64 = 8 * 3600

    /// - Parameter last: the greatest stamp used so far.
    /// - Returns: whether a device may have taken it. What lies further ahead was stamped by a clock that has been put right since, and
    ///   was dropped.
    static func mayBeTaken(_ last: Int64, at moment: Moment) -> Bool {
        last <= Stamp.second(moment.wallMilliseconds) + aheadMax
    }

    /// In a range in which every stamp is positive and has room in four bytes, however wrong the clock is.
    static func second(_ milliseconds: Int64) -> Int64 {
        min(max(2, milliseconds / 1000), Int64(UInt32.max) - aheadMax)
    }

    /// - Parameters:
    ///   - last: the greatest stamp that a device may have taken with another state.
    ///   - shared: the least that is wanted, if devices may take it: that of others who get the same.
    /// - Returns: `nil` where devices would drop every stamp that is newer than the last one. That comes of hours with more than a state
    ///   a second, and passes with the next second of the clock.
    static func next(after last: Int64, shared: Int64 = 0, at moment: Moment) -> Int64? {
        let stamp = max(moment.stampSecond, mayBeTaken(shared, at: moment) ? shared : 0, last + 1)
        return mayBeTaken(stamp, at: moment) ? stamp : nil
    }
}

extension Moment {
    /// The least that is stamped now.
    var stampSecond: Int64 { Stamp.second(stampMilliseconds) }
}

extension Activity {
    /// Forgets a last stamp that no device can have taken. What the activity has used up of its limits counts from now on.
    mutating func forgetStampNobodyTook(at moment: Moment) {
        if !Stamp.mayBeTaken(Int64(stamp), at: moment) { stamp = UInt32(moment.stampSecond - 1) }
    }
}
