import FanfareDecisions
package import FanfareLog
import FanfareModel
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
    }

    /// Decides again what earlier engines have decided. The shards get what each topic shows now, without an alert.
    func recall(_ log: any Log, under rules: Rules) throws(LogError) {
        beginRecall()
        let rules = LogRules(text: rules.toml, decisionVersion: DecisionCore.version)
        try log.recall(under: rules) { _, entry in apply(entry) }
        endRecall()
    }
}
