import FanfareModel

/// Lines for operators; equal ones leave once a minute.
final class OperatorReports {
    private var log = ReportLog()
    private let onReport: (String) -> Void

    init(_ onReport: @escaping (String) -> Void) { self.onReport = onReport }

    func report(_ text: String, at now: MonotonicTime) {
        // The callee may report, too.
        if let line = log.admit(text, at: now) { onReport(line) }
    }
}
