import FanfareModel

/// `aps.timestamp`, Unix seconds, by which devices order pushes. They drop a push that is not newer than the last one, lies in the
/// past, or lies too far ahead (spec §3.3). So a stamp is the second of a time that does not go back with the wall clock, or the
/// second after the activity's last stamp if that is later: every state is newer than the one before. After a restart the last stamps are
/// not known, but the engine's store has a bound on them (`StampBounds`).
enum Stamp {
    static var aheadMax: Int64 { StampBounds.aheadMax }

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
    /// - Returns: `nil` if devices would drop every stamp newer than the last one, or the store has not reserved it yet. The former results from
    ///   hours with more than one state a second. Both pass with the next seconds of the clock.
    static func next(after last: Int64, shared: Int64 = 0, at moment: Moment) -> Int64? {
        let stamp = max(moment.stampSecond, mayBeTaken(shared, at: moment) ? shared : 0, last + 1)
        guard mayBeTaken(stamp, at: moment) else { return nil }
        // The present second needs no ceiling: the next process begins with a later one, because its clock does.
        let reserved = max(moment.stampSecond, moment.stamps.ceiling)
        return stamp <= reserved ? stamp : nil
    }
}

extension Moment {
    /// The least stamp of a push that leaves now.
    var stampSecond: Int64 {
        let time = Stamp.second(stampMilliseconds)
        // Devices drop stamps that lie further ahead. The clock has been set back since the store reserved such stamps.
        return stamps.floor <= Stamp.second(wallMilliseconds) + StampBounds.floorAheadMax
            ? max(time, stamps.floor) : time
    }
}

/// Stamps that a shard has used, for a store that reserves them.
struct StampUse {
    private var greatest: Int64 = 0
    /// The ceiling that was requested last.
    private var asked: Int64 = .max

    /// Begins to request ceilings beyond the one that the store has.
    mutating func reserve(beyond ceiling: Int64) { asked = ceiling }

    mutating func note(_ stamp: Int64) { greatest = max(greatest, stamp) }

    /// Returns the ceiling that the store is to have before stamps come near the last one; `nil` if that is not soon.
    mutating func takeRequest(at moment: Moment) -> Int64? {
        guard asked < .max else { return nil }
        let (time, ceiling) = (Stamp.second(moment.stampMilliseconds), max(asked, moment.stamps.ceiling))
        guard greatest > ceiling - StampCeiling.reserve / 2 || time > ceiling - StampCeiling.timeReserve / 2 else {
            return nil
        }
        asked = max(greatest + StampCeiling.reserve, time + StampCeiling.timeReserve)
        return asked
    }
}
