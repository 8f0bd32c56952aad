package import FanfareDecisions
package import FanfareLog
package import FanfareModel
import FanfareRules

extension EngineCore {
    /// Creates a core without shards. It decides, and has for checkpoints what the core of an engine with a store has.
    ///
    /// - Parameter isLive: `true` if log time follows the wall clock; `false` if it is that of a recorded feed.
    package convenience init(deciding rules: Rules, isLive: Bool) {
        self.init(rules: rules, shards: [], perApp: 1, isLive: isLive)
        keepAlerts()
    }

    /// Notes the key of the call that made an entry, before the entry is decided.
    func note(_ entry: LogEntry, at position: LogPosition) {
        if let key = entry.key { keys.noteDecided(key, at: entry.now, entry: position) }
    }

    /// Decides an entry of a log: one that has become durable, or one of an earlier run.
    package func apply(_ entry: LogEntry) {
        recalling?.hasDecided = true
        switch entry.body {
        case .event(let event, let wall): apply(event, now: entry.now, wall: wall)
        case .rejection(let rejection): reject(rejection, now: entry.now)
        case .tick: advance(to: entry.now)
        case .feedEnd: finish()
        case .rules: break
        }
        // Phones may have the entry's state, and would go back to an earlier one.
        if let topic = entry.pausedTopic { forgetPublication(of: topic) }
    }

    /// Decides the entries of earlier engines again. The shards get each topic's present state, without an alert.
    ///
    /// - Parameter report: receives lines for operators.
    package func recall(
        _ log: any Log, under rules: Rules, report: @escaping (String) -> Void = { _ in }
    ) throws(LogError) {
        _ = try recall(log, under: rules, LogRules(rules), within: nil, report: report)
    }

    /// - Parameters:
    ///   - logged: the same rules for the log.
    ///   - horizon: bounds on the alerts that go on to activities without a claim; `nil`: none goes on.
    /// - Returns: the alerts that go on.
    package func recall(
        _ log: any Log, under rules: Rules, _ logged: LogRules, within horizon: AlertHorizon?,
        report: @escaping (String) -> Void
    ) throws(LogError) -> [RecentAlert] {
        beginRecall()
        let target = CoreRecall(core: self, rules: rules, logged: logged, report: report)
        try log.recall(under: target.logged, into: target)
        return endRecall(within: horizon)
    }
}

/// Recall into a core.
package struct CoreRecall: RecallTarget {
    private let core: EngineCore
    private let rules: Rules
    /// The program's own rules.
    package let logged: LogRules
    private let onReport: (String) -> Void

    /// - Parameter logged: the rules for the log.
    package init(core: EngineCore, rules: Rules, logged: LogRules, report: @escaping (String) -> Void) {
        self.core = core
        self.rules = rules
        self.logged = logged
        onReport = report
    }

    package func adopt(_ adopted: LogRules, at position: LogPosition, now: FeedTime) throws(LogError) {
        do throws(UnreadableRules) {
            let rules = adopted.text == logged.text ? rules : try Rules(written: adopted.text, like: rules)
            core.adopt(rules, adopted, at: position, now: now)
        } catch {
            throw LogError(
                "entry \(position) of the store has rules that this program cannot read, so it cannot go on under others: \(error). Use "
                    + "the rules and the program that wrote it, or a new folder", .otherRules)
        }
    }

    package func restore(_ row: [UInt8]) throws(SerialError) { try core.restore(row) }
    package func endRestoring() throws(SerialError) { try core.endRestoring() }
    package func decide(_ entry: LogEntry, at position: LogPosition) {
        core.note(entry, at: position)
        core.apply(entry)
    }
    package func report(_ line: String) { onReport(line) }
}

extension LogRules {
    /// - Parameter program: version of the program's own decisions.
    package init(_ rules: Rules, program: UInt32 = 0) { self.init(text: rules.toml, program: program) }

    /// - Parameters:
    ///   - text: rules file.
    ///   - program: version of the program's own decisions.
    package init(text: String, program: UInt32 = 0) {
        self.init(text: text, decisionVersion: UInt64(program) << 32 | UInt64(DecisionCore.version))
    }
}
