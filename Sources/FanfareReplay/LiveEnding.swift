import Fanfare
import FanfareModel

/// How a live replay comes to its end when somebody wants it to: nobody can have its feed again, so what was taken is decided and sent
/// first, within a time.
struct LiveEnding {
    /// Monotonic nanoseconds; `nil`: nobody wants it to end.
    private var stopsBy: Int64?
    private var limit = Duration.zero
    private var isHurried = false

    /// - Returns: whether to go on until everything is sent: the second time it is not.
    mutating func begin(at now: Int64, patience: Duration?) -> Bool {
        isHurried = stopsBy != nil
        if stopsBy == nil {
            limit = min(Engine.stopTimeout, patience ?? Engine.stopTimeout)
            stopsBy = now + limit.milliseconds * 1_000_000
        }
        return !isHurried
    }

    /// Its time is over; `nil`: nobody wants it to end.
    func isLate(at now: Int64) -> Bool? { stopsBy.map { now >= $0 } }

    /// For what is on its way to come back; `nil`: nobody is in a hurry.
    func timeLeft(at now: Int64) -> Duration? {
        stopsBy.map { isHurried ? .zero : .nanoseconds(max(0, $0 - now)) }
    }

    /// What could not be done, in one line for people.
    ///
    /// - Parameter isDecided: everything that was taken.
    func unsent(undelivered: Int, isDecided: Bool) -> String? {
        guard stopsBy != nil else { return nil }
        let when = isHurried ? "stopped at once" : "stopped after \(limit.milliseconds / 1000) s"
        let lacking = undelivered == 1 ? "1 activity lacks its" : "\(undelivered) activities lack their"
        let what = undelivered > 0 ? "\(lacking) newest state" : "not all that was decided has been sent"
        return "\(when): \(what)" + (isDecided ? "" : ", and not all that was read has been decided")
    }
}
