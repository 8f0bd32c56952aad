import FanfareModel

/// The end of an interrupted live replay. Its feed cannot be read again, so the events taken
/// are decided and sent first, within a time limit.
struct LiveEnding {
    /// Deadline; `nil` before the interruption.
    private var stopsBy: MonotonicTime?
    private var limit = Duration.zero
    private var isHurried = false

    /// Supervisors grant ten seconds, Docker for example; the store and the outputs need some of them.
    static let limitMax = Duration.seconds(8)

    /// - Returns: `true` at the first interruption: the replay goes on until everything is sent. `false` at the second one.
    mutating func begin(at now: MonotonicTime, patience: Duration?) -> Bool {
        isHurried = stopsBy != nil
        if stopsBy == nil {
            limit = min(LiveEnding.limitMax, patience ?? LiveEnding.limitMax)
            stopsBy = now + limit
        }
        return !isHurried
    }

    /// Is `true` after the deadline; `nil` before the interruption.
    func isLate(at now: MonotonicTime) -> Bool? { stopsBy.map { now >= $0 } }

    /// Time left for pushes in flight to be answered, zero after a second interruption; `nil` before the first one.
    func timeLeft(at now: MonotonicTime) -> Duration? {
        stopsBy.map { isHurried ? .zero : max(.zero, $0 - now) }
    }

    /// Events or pushes left undone, in one line for people; `nil` before the interruption.
    ///
    /// - Parameter isDecided: `true` if every event taken has been decided.
    func unsent(undelivered: Int, isDecided: Bool) -> String? {
        guard stopsBy != nil else { return nil }
        let when = isHurried ? "stopped at once" : "stopped after \(limit.milliseconds / 1000) s"
        let lacking = undelivered == 1 ? "1 activity lacks its" : "\(undelivered) activities lack their"
        let what = undelivered > 0 ? "\(lacking) newest state" : "not all that was decided has been sent"
        return "\(when): \(what)" + (isDecided ? "" : ", and not all that was read has been decided")
    }
}
