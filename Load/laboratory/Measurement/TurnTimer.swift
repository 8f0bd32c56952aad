import FanfareLoop

/// Finds the longest turns of a loop: a timer that fires late was held up by the turn before. Confined to the loop's thread.
final class TurnTimer {
    private var timer: LoopTimer?
    private var due: Int64 = 0
    private let note: (_ nanoseconds: Int64, _ now: Int64) -> Void

    private static let period = Duration.milliseconds(10)
    /// libuv rounds to milliseconds, so an idle loop's timer is late by as much.
    private static let rounding: Int64 = 1_000_000

    /// - Parameter note: receives the lateness every ten milliseconds; a turn of that length may have been longer by the period.
    init(_ loop: Loop, note: @escaping (_ nanoseconds: Int64, _ now: Int64) -> Void) {
        self.note = note
        timer = LoopTimer(loop: loop) { [unowned self] in fire() }
        start(at: Clock.monotonicNanoseconds())
    }

    private func start(at now: Int64) {
        due = now + TurnTimer.period.wholeNanoseconds
        timer?.start(after: TurnTimer.period)
    }

    private func fire() {
        let now = Clock.monotonicNanoseconds()
        note(max(0, now - due - TurnTimer.rounding), now)
        start(at: now)
    }

    func close() { timer?.close() }
}
