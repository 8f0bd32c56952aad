package import FanfareDecisions
package import FanfareLog
package import FanfareModel
import FanfareRules

extension EngineCore {
    /// Decides an entry of a log: one that has become durable, or one of an earlier run.
    package func apply(_ entry: LogEntry) {
        switch entry.body {
        case .event(let event, let wall): apply(event, now: entry.now, wall: wall)
        case .rejection(let rejection): reject(rejection, now: entry.now)
        case .tick: advance(to: entry.now)
        case .feedEnd: finish()
        case .rules: break
        }
        // Phones may have what the entry said, and would go back to what came before it.
        if let topic = entry.pausedTopic { forgetPublication(of: topic) }
    }

    /// Decides again what earlier engines have decided. The shards get what each topic shows now, without an alert.
    ///
    /// - Parameter report: receives lines for operators.
    package func recall(
        _ log: any Log, under rules: Rules, report: (String) -> Void = { _ in }
    ) throws(LogError) {
        beginRecall()
        let logged = LogRules(text: rules.toml, decisionVersion: DecisionCore.version)
        try log.recall(
            under: logged,
            adopt: { (position, text, now) throws(LogError) in
                try adopt(text, at: position, now: now, present: (logged.text, rules))
            },
            report: report, { _, entry in apply(entry) })
        endRecall()
    }

    /// Decides by the rules of an entry from now on.
    ///
    /// - Parameter present: the program's own rules, and their text: rules of this text are these.
    package func adopt(
        _ text: String, at position: LogPosition, now: FeedTime, present: (text: String, rules: Rules)
    ) throws(LogError) {
        guard text != present.text else { return adopt(present.rules, now: now) }
        do throws(UnreadableRules) {
            adopt(try Rules(written: text, like: present.rules), now: now)
        } catch {
            throw LogError(
                "entry \(position) of the store has rules that this program cannot read, so it cannot go on under others: \(error). Use "
                    + "the rules and the program that wrote it, or a new folder", .otherRules)
        }
    }
}
