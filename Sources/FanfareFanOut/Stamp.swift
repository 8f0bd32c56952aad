import FanfareModel

/// `aps.timestamp`, Unix seconds, by which devices order pushes. They drop a push that is not newer than the last one, lies in the
/// past, or lies too far ahead (spec §3.3). So a stamp is the second of a time that does not go back with the wall clock, or the
/// second after the activity's last stamp if that is later: every state is newer than the one before.
enum Stamp {
    /// Maximum by which a stamp may be ahead; devices drop later ones (spec §3.3, Apple staff).
    static let aheadMax: Int64 = 8 * 3600

    /// Returns whether a device may have accepted a push with this stamp. A stamp too far ahead came from a clock that has been corrected
    /// since, and was dropped.
    ///
    /// - Parameter last: the greatest stamp used so far.
    static func mayBeTaken(_ last: Int64, at moment: Moment) -> Bool {
        last <= Stamp.second(moment.wallMilliseconds) + aheadMax
    }

    /// Returns the second, bounded so that every stamp is positive and fits into four bytes, however wrong the clock is.
    static func second(_ milliseconds: Int64) -> Int64 {
        min(max(2, milliseconds / 1000), Int64(UInt32.max) - aheadMax)
    }

    /// Returns the next stamp of an activity.
    ///
    /// - Parameters:
    ///   - last: the greatest stamp that a device may have accepted with another state.
    ///   - shared: the minimum, if devices may accept it: the stamp of other activities that get the same state.
    /// - Returns: `nil` if devices would drop every stamp newer than the last one. That results from hours with more than one state a
    ///   second, and passes with the next second of the clock.
    static func next(after last: Int64, shared: Int64 = 0, at moment: Moment) -> Int64? {
        let stamp = max(moment.stampSecond, mayBeTaken(shared, at: moment) ? shared : 0, last + 1)
        return mayBeTaken(stamp, at: moment) ? stamp : nil
    }
}

extension Moment {
    /// The least stamp of a push that leaves now.
    var stampSecond: Int64 { Stamp.second(stampMilliseconds) }
}

extension Activity {
    /// Forgets a last stamp that no device can have accepted. The activity's use of its limits counts from now on.
    mutating func forgetUnusedStamp(at moment: Moment) {
        if !Stamp.mayBeTaken(Int64(stamp), at: moment) { stamp = UInt32(moment.stampSecond - 1) }
    }
}
