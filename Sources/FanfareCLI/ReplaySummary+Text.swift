import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareReplay

extension ReplaySummary {
    /// The summary for people: one subject per line.
    var text: String {
        var lines: [(String, String)] = []
        if recall.entries > 0 { lines.append(("from the store", "\(recall.entries.grouped) entries")) }
        lines.append(("events in", events.grouped))
        lines.append(("updates out", "\(decisions.updates.grouped)\(alerts)"))
        lines.append(("not sent", notSent))
        if let whatIf {
            for (name, value) in zip(DecisionTally.Figures.names, whatIf.values) {
                lines.append((name.text, name.format(value)))
            }
        }
        if counts.activities > 0 || counts.pushes.sent > 0 {
            lines.append(("pushes", pushes))
            if !activityAlerts.isEmpty { lines.append(("alerts", activityAlerts)) }
            if lineups.activities > 0 { lines.append(("lineups", lineupsShared)) }
            if !fateTexts.isEmpty { lines.append(("activities", fateTexts.joined(separator: "; "))) }
            let refused = counts.refusedStates > 0 ? ", of which \(counts.refusedStates.grouped) were refused" : ""
            lines.append(("undelivered", undelivered.grouped + refused))
            lines.append(("goals", timeToLastActivity))
            if !freshness.kinds.isEmpty {
                lines.append(("state age at send", byKind { $0.stateAge.text }))
                lines.append(("sweep", byKind { $0.sweep.text }))
                lines.append(("lane delay, p99", byKind { $0.laneDelay.map(\.p99).joined(separator: " / ") }))
                lines.append(("oldest undelivered", "\(oldestUndelivered.fixed(3)) s at most"))
            }
            let seconds = resources.deliverySeconds
            let rate = seconds > 0 ? Int(Double(counts.pushes.sent) / seconds).grouped : "-"
            lines.append(("pushes per second", rate))
            lines.append(("CPU per push", resources.cpuMicrosecondsPerPush.map { "\($0.fixed(2)) µs" } ?? "-"))
        }
        lines.append(("peak memory", "\((Double(resources.peakMemory.bytes) / 1_048_576).fixed(0)) MiB"))
        lines.append(("time", "\(resources.seconds.fixed(1)) s"))
        if !skippedFiles.isEmpty { lines.append(("no feeds", skippedFiles.joined(separator: ", "))) }
        let width = lines.map(\.0.count).max() ?? 0
        let table = lines.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }
        return (interrupted ? "stopped before the end; so far:\n" : "") + table.joined()
    }

    /// The figures of each kind, in alphabetical order so that equal runs read alike.
    private func byKind(_ figures: (Freshness) -> String) -> String {
        freshness.kinds.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key) \(figures($0.value))" }.joined(separator: "; ")
    }

    private var alerts: String {
        let (granted, demoted) = (decisions.alertsGranted, decisions.alertsDemoted)
        guard granted + demoted > 0 else { return "" }
        return "  (alerts: \(granted.grouped) granted, \(demoted.grouped) demoted to silent)"
    }

    private var notSent: String {
        let reasons = Outcome.allCases.filter { $0 != .published }.compactMap { outcome -> String? in
            let count = decisions.outcomes[outcome, default: 0]
            return count > 0 ? "\(outcome.rawValue) \(count.grouped)" : nil
        }
        return reasons.isEmpty ? "nothing" : reasons.joined(separator: ", ")
    }

    private var pushes: String {
        let pushes = counts.pushes
        let rest = [
            ("dead", pushes.dead), ("throttled", pushes.throttled), ("failed", pushes.refused),
            ("uncertain", pushes.uncertain), ("not processed", pushes.notProcessed),
        ]
        // Rare: the dead-token guard has closed and has reported that.
        let held = pushes.held > 0 ? ", \(pushes.held.grouped) held" : ""
        return "\(pushes.sent.grouped) sent: \(pushes.accepted.grouped) accepted"
            + rest.map { ", \($0.1.grouped) \($0.0)" }.joined() + held
    }

    /// Alerts by their outcome. Each alert of each activity has exactly one.
    private var activityAlerts: String {
        let alerts = counts.alerts
        let figures = [
            (alerts.accepted, "accepted"), (alerts.superseded, "superseded"), (alerts.revoked, "revoked"),
            (alerts.stale, "stale"), (alerts.uncertain, "uncertain"), (alerts.refused, "refused"),
            (alerts.silenced, "silenced"), (alerts.limited, "limited"),
        ]
        return figures.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
    }

    /// Lineups of activities, and the number of different ones, each of which is visited once for all its activities.
    private var lineupsShared: String {
        let each = Double(lineups.activities) / Double(max(1, lineups.distinct))
        return "\(lineups.activities.grouped), of which \(lineups.distinct.grouped) differ: "
            + "\(each.fixed(1)) activities to each"
    }

    private var fateTexts: [String] {
        var texts: [String] = []
        if fates.expired > 0 { texts.append("\(fates.expired.grouped) over after eight hours") }
        if fates.notEnded > 0 { texts.append("\(fates.notEnded.grouped) whose end was refused") }
        texts += fates.refused.map { "\($1.grouped) refused, \($0)" }.sorted()
        return texts
    }

    private var timeToLastActivity: String {
        let times = goals.compactMap(\.secondsToLast).sorted()
        let nobodys = goals.count { !$0.isAwaited }
        let missed = goals.count - times.count - nobodys
        let before = goalsLeftOut > 0 ? " after \(goalsLeftOut.grouped) that are not told of" : ""
        let count = "\(goals.count)" + before + (nobodys > 0 ? ", \(nobodys) with nobody to tell" : "")
        guard let most = times.last else {
            return goals.isEmpty ? "none" : count + (missed > 0 ? ", none to everybody" : "")
        }
        // Percentile by nearest rank.
        func percentile(_ share: Double) -> Double { times[Int((share * Double(times.count)).rounded(.up)) - 1] }
        return count + ", seconds to the last activity: p50 \(percentile(0.5).fixed(3)), "
            + "p99 \(percentile(0.99).fixed(3)), max \(most.fixed(3))"
            + (missed > 0 ? "; \(missed) not to everybody" : "")
    }
}

extension Histogram {
    fileprivate var text: String {
        guard let p50 = nanoseconds(at: 0.5), let p99 = nanoseconds(at: 0.99) else { return "-" }
        return "p50 \(p50.seconds), p99 \(p99.seconds), max \(maxNanoseconds.seconds)"
    }

    fileprivate var p99: String { nanoseconds(at: 0.99)?.seconds ?? "-" }
}

extension Int64 {
    /// Text of a number of nanoseconds, in seconds.
    fileprivate var seconds: String { (Double(self) / 1e9).fixed(3) }
}
