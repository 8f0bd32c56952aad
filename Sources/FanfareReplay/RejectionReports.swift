import FanfareModel

/// Limits reports of rejected lines to ten a minute and counts the rest. A file in a wrong format would
/// otherwise fill the log with one line after another.
struct RejectionReports {
    static let reportedMax = 10
    private static let interval = Duration.seconds(60)

    private var since: MonotonicTime?
    private var reported = 0
    private var suppressed = 0

    /// - Returns: lines to report now.
    mutating func admit(_ line: String, at now: MonotonicTime) -> [String] {
        var lines: [String] = []
        if let since, now - since < RejectionReports.interval {
            guard reported < RejectionReports.reportedMax else {
                suppressed += 1
                return []
            }
        } else {
            lines += [finish()].compactMap(\.self)
            since = now
            reported = 0
        }
        reported += 1
        return lines + [line]
    }

    /// - Returns: a line with the number of rejections that were not reported one by one since the last such line; `nil` if there are none.
    mutating func finish() -> String? {
        defer { suppressed = 0 }
        return suppressed == 0 ? nil : "\(suppressed) more rejected; the decision log has all of them"
    }
}
