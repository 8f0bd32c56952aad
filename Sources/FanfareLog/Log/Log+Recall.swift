package import FanfareModel

/// Receiver of the log of earlier runs.
package protocol RecallTarget {
    /// Adopts rules for the following entries, at the end the present ones.
    func adopt(_ rules: LogRules, at position: LogPosition, now: FeedTime) throws(LogError)
    /// Takes the next row of the checkpoint from which the recall goes on, before anything else but its rules.
    func restore(_ row: [UInt8]) throws(SerialError)
    /// Ends the checkpoint.
    func endRestoring() throws(SerialError)
    /// Decides an entry again.
    func decide(_ entry: LogEntry, at position: LogPosition) throws(LogError)
    /// - Parameter line: for operators.
    func report(_ line: String)
}

extension Log {
    /// Reads the log of earlier runs before anything is appended: the newest checkpoint, and the entries after it. Rules precede the entries that
    /// they decide, so rules other than the last ones, or another decision version, become the last entry.
    package func recall(under rules: LogRules, into target: some RecallTarget) throws(LogError) {
        for notice in notices { target.report(notice) }
        var newest: LogRules?
        var now = FeedTime.plausible.lowerBound
        var position: LogPosition = 0
        if let head = try restore(into: target) {
            (newest, now, position) = (head.rules, head.now, head.position)
            for notice in noticesOfSkipped(through: position) { target.report(notice) }
        }
        if end > position {
            try read(from: position + 1) { (position, entry) throws(LogError) in
                now = entry.now
                if case .rules(let text, let version) = entry.body {
                    let rules = LogRules(text: text, decisionVersion: version)
                    newest = rules
                    try target.adopt(rules, at: position, now: entry.now)
                } else {
                    guard newest != nil else {
                        throw LogError("the store's first entry is not its rules; use a new folder", .damaged)
                    }
                    if let notice = entry.skippedNotice { target.report(notice) }
                    noteDeciding(position)
                    defer { noteDeciding(nil) }
                    try target.decide(entry, at: position)
                }
                return true
            }
        }
        guard newest != rules else { return }
        try append([LogEntry(now: now, .rules(rules.text, decisionVersion: rules.decisionVersion))])
        try target.adopt(rules, at: end, now: now)
    }

    /// Restores the newest good checkpoint, and disregards the bad ones.
    ///
    /// - Returns: its head; `nil` if all entries are to be decided again.
    private func restore(into target: some RecallTarget) throws(LogError) -> CheckpointHead? {
        let (found, unusable) = try newestCheckpoint { target.report("\($0); the restart does without it") }
        guard found != nil || start == 1 else {
            throw LogError(
                "the store's entries before \(start) were trimmed, and no checkpoint of what they led to can be read; restore the "
                    + "folder from a backup", .damaged)
        }
        // A bad checkpoint would count among the two that are kept, and trim the log.
        checkpoints.disregard(unusable)
        guard let head = found else { return nil }
        try target.adopt(head.rules, at: head.position, now: head.now)
        try checkpoints.read(at: head.position) { (row) throws(LogError) in
            do throws(SerialError) { try target.restore(row) } catch { throw fault(of: head, error) }
        }
        do throws(SerialError) { try target.endRestoring() } catch { throw fault(of: head, error) }
        return head
    }

    /// Returns the newest good checkpoint of this log's entries, read as a whole, and the positions of the unusable ones.
    ///
    /// - Parameter report: called with the fault of each unusable one, except one that the log no longer reaches.
    package func newestCheckpoint(
        report: (LogError) -> Void
    ) throws(LogError) -> (head: CheckpointHead?, unusable: [LogPosition]) {
        var found: CheckpointHead?
        var unusable: [LogPosition] = []
        for position in try checkpoints.positions() {
            // The log was trimmed up to a newer one.
            if found != nil, position < start {
                unusable.append(position)
                continue
            }
            do throws(LogError) {
                let head = try checkpoints.head(at: position)
                guard start...max(start, end) ~= position, try checksum(at: position) == head.checksum else {
                    throw LogError("the store's checkpoint of entry \(position) is not of this log", .damaged)
                }
                guard found == nil else { continue }
                try checkpoints.read(at: position) { _ in }
                found = head
            } catch {
                guard error.cause != .newerRelease else { throw error }
                report(error)
                unusable.append(position)
            }
        }
        return (found, unusable)
    }

    private func fault(of head: CheckpointHead, _ error: SerialError) -> LogError {
        LogError(
            "the store's checkpoint of entry \(head.position): \(error); use the program that wrote it, or remove that file, so that the "
                + "one before it is used", error.isOfNewerRelease ? .newerRelease : .damaged)
    }
}
