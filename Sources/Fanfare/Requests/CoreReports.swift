import FanfareModel

/// Lines of the core for operators; equal ones leave once a minute. Confined to the core's thread.
final class CoreReports {
    private let clock: ThreadClock
    private var log = ReportLog()
    private let onReport: (String) -> Void

    /// - Parameter onReport: receives the lines that leave.
    init(clock: ThreadClock, _ onReport: @escaping (String) -> Void) { (self.clock, self.onReport) = (clock, onReport) }

    /// Reports a line to operators. Equal lines are reported once a minute, with the number of repetitions.
    ///
    /// - Parameter figures: text after the line; lines that differ only in it count as equal.
    func report(_ line: String, with figures: String = "") {
        if let line = log.admit(line, at: clock.now().monotonic) { onReport(line + figures) }
    }

    /// Reports that the machine's clock was set, and what follows from it.
    func report(step: Duration) {
        let seen = "the machine's clock was set \(step > .zero ? "ahead" : "back")"
        let meaning =
            if clock.isRefuted {
                "APNs goes by the time before, and so do pushes and their dates; check the clock"
            } else if !WallEstimate.stampsBear(step) {
                "pushes and their dates follow it. Where it is wrong now, phones drop them, whatever APNs answers; check the clock"
            } else {
                "pushes go on, and their dates follow it as far as phones bear that"
            }
        report("\(seen); \(meaning)", with: ": by \(abs(step.milliseconds) / 1000) s")
    }
}
