/// What is rejected, as people are told of it: ten lines in any minute, of the others how many. A file in a wrong format is one line after
/// the other of it, and a log that they fill tells of nothing else.
struct RejectionReports {
    static let toldMax = 10
    private static let interval: Int64 = 60_000_000_000

    private var since: Int64?
    private var told = 0
    private var held = 0

    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: lines to tell.
    mutating func admit(_ line: String, at now: Int64) -> [String] {
        var lines: [String] = []
        if let since, now - since < RejectionReports.interval {
            guard told < RejectionReports.toldMax else {
                held += 1
                return []
            }
        } else {
            lines += [finish()].compactMap(\.self)
            since = now
            told = 0
        }
        told += 1
        return lines + [line]
    }

    /// - Returns: how many were not told one by one since the last time this was said; `nil`: all were.
    mutating func finish() -> String? {
        defer { held = 0 }
        return held == 0 ? nil : "\(held) more rejected; the decision log has all of them"
    }
}
