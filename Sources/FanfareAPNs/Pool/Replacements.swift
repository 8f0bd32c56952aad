import FanfareModel

/// Decides when a replacement for a connection may open, whatever ended the connection: two per slot at once, and beyond that ten per second for all
/// pools of an app. A peer that rejects our load would otherwise be dialled as fast as it answers.
///
/// The replacement of a connection that has earned it by its pushes (`AnswerRecord.hasEarnedAnother`) does not count.
struct Replacements {
    static let interval = Duration.milliseconds(100)
    static let freePerSlot = 2
    /// Maximum wait between connections that opened and were of little use.
    static let waitMax = ConnectionOpening.lastingTime

    /// Time at which the next replacement is due; before the present while there were few.
    private var due = MonotonicTime.always

    /// Schedules a replacement.
    ///
    /// - Parameters:
    ///   - wait: minimum wait for another reason.
    ///   - slots: number of slots of this pool.
    ///   - pools: number of pools that share the peer.
    /// - Returns: the time at which the replacement may open.
    mutating func next(after wait: Duration, slots: Int, pools: Int, at now: MonotonicTime) -> MonotonicTime {
        let interval = Replacements.interval * max(1, pools)
        let opens = max(now + wait, due)
        let free = Replacements.freePerSlot * max(1, slots)
        due = max(due, now - interval * (free - 1)) + interval
        return opens
    }

    /// Takes back the last replacement: the connection in doubt has answered well, or is counted anew.
    mutating func giveBack(pools: Int) {
        due = due - Replacements.interval * max(1, pools)
    }

    /// Forgets earlier replacements, because the peer does not cause the next ones.
    mutating func forget() { due = .always }
}
