import FanfareModel

/// What every entry of a log was decided by. The log's first entry says it.
package struct LogRules: Sendable, Equatable {
    /// Rules file.
    package let text: String
    package let decisionVersion: UInt64

    package init(text: String, decisionVersion: UInt64) {
        self.text = text
        self.decisionVersion = decisionVersion
    }

    fileprivate func check(_ entry: LogEntry) throws(LogError) {
        guard case .rules(let text, let version) = entry.body else {
            throw LogError("the store's first entry is not its rules; use a new folder", .damaged)
        }
        guard version == decisionVersion else {
            throw LogError(
                "the store was written under decision version \(version), and this release decides by "
                    + "\(decisionVersion); use the release that wrote it, or a new folder", .otherDecisions)
        }
        guard text == self.text else {
            throw LogError(
                "the store was written under other rules; `fanfare log show` prints them. Use these, or a new folder",
                .otherRules)
        }
    }
}

extension Log {
    /// Reads what earlier runs have taken, before anything else is appended. A log without entries gets the rules as its first one.
    ///
    /// - Parameter body: called with each entry behind the rules, in order.
    package func recall(
        under rules: LogRules, _ body: (LogPosition, LogEntry) throws(LogError) -> Void
    ) throws(LogError) {
        guard end > 0 else {
            // The rules precede everything that is decided by them.
            return try append([
                LogEntry(
                    now: FeedTime.plausible.lowerBound,
                    .rules(rules.text, decisionVersion: rules.decisionVersion))
            ])
        }
        try read(from: 1) { (position, entry) throws(LogError) in
            if position == 1 { try rules.check(entry) } else { try body(position, entry) }
            return true
        }
    }
}
