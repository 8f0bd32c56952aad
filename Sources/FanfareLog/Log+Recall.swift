package import FanfareModel

/// What entries are decided by: the newest rules at or before their position.
package struct LogRules: Sendable, Equatable {
    /// Rules file.
    package let text: String
    package let decisionVersion: UInt64

    package init(text: String, decisionVersion: UInt64) {
        self.text = text
        self.decisionVersion = decisionVersion
    }

    fileprivate func check(_ version: UInt64) throws(LogError) {
        guard version == decisionVersion else {
            throw LogError(
                "the store was written under decision version \(version), and this release decides by "
                    + "\(decisionVersion); use the release that wrote it, or a new folder", .otherDecisions)
        }
    }
}

extension Log {
    /// Reads what earlier runs have taken, before anything else is appended. Rules precede everything that is decided by them, so rules other than
    /// the last ones become the last entry.
    ///
    /// - Parameters:
    ///   - adopt: called with each rules file that the following entries were decided by, and with the present rules at the end.
    ///   - report: called with lines for operators.
    ///   - body: called with each other entry, in order.
    package func recall(
        under rules: LogRules, adopt: (LogPosition, String, FeedTime) throws(LogError) -> Void,
        report: (String) -> Void,
        _ body: (LogPosition, LogEntry) throws(LogError) -> Void
    ) throws(LogError) {
        for notice in notices { report(notice) }
        var newest: String?
        var now = FeedTime.plausible.lowerBound
        if end > 0 {
            try read(from: 1) { (position, entry) throws(LogError) in
                now = entry.now
                if case .rules(let text, let version) = entry.body {
                    try rules.check(version)
                    newest = text
                    try adopt(position, text, entry.now)
                } else {
                    guard newest != nil else {
                        throw LogError("the store's first entry is not its rules; use a new folder", .damaged)
                    }
                    if let notice = entry.skippedNotice { report(notice) }
                    noteDeciding(position)
                    defer { noteDeciding(nil) }
                    try body(position, entry)
                }
                return true
            }
        }
        guard newest != rules.text else { return }
        try append([LogEntry(now: now, .rules(rules.text, decisionVersion: rules.decisionVersion))])
        try adopt(end, rules.text, now)
    }
}
