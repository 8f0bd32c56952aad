import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareRules

/// The program that runs: the apps to which it pushes, the edition that its reducer shows beside the feed's number, and the decision version that it
/// counts.
struct CrashBuild {
    var apps = [AppID(bundleID: "one")]
    var edition = 0
    var decisionVersion: UInt32 = 0
    var minimumInterval: Duration = .zero
    var lineups = LineupRules()
    /// Silence after which a topic ends, if it is not the default.
    var endsAfterSilence: Duration?
    var reopens = Reopening.never
    /// Dismissal of ended cards, if it is not the default.
    var dismissal: Dismissal?
    /// Priority of versions without an alert, if it is not the default.
    var priority: Priority?
    var limits = ActivityLimits()
    /// Time after which alerts leave without their claims.
    var claimPatience = WorldNode.endlessPatience
    /// Limits of the passes that look for topics which all lineups show.
    var completionLimits = CompletionLimits()

    var rules: Rules {
        var kind = TopicRules(
            reducer: EditionReducer(edition: edition),
            alerts: .init(
                requested: AlertRule(.essential, burst: 1000, refill: .seconds(1), freshFor: .seconds(300))))
        kind.pace.minimumInterval = minimumInterval
        kind.lifetime.reopens = reopens
        if let endsAfterSilence { kind.lifetime.endsAfterSilence = endsAfterSilence }
        if let priority { kind.priority = priority }
        if let dismissal { kind.lifetime.dismissal = dismissal }
        return Rules(kinds: [:], other: kind, lineups: lineups)
    }
    var logged: LogRules { LogRules(rules, program: decisionVersion) }
}

/// Reducer that keeps no facts and shows which edition of it runs, so that another build decides otherwise by the same rules file.
struct EditionReducer: Reducer {
    let edition: Int
    var memory: [UInt8]? { [] }
    var state: JSONObject { ["edition": .int(Int64(edition))] }
    var isPresentable: Bool { false }
    var ending: String? { nil }

    func understands(factKind: String) -> Bool { false }
    func fault(in fact: Fact) -> String? { nil }
    mutating func fold(_ entry: LedgerEntry) {}
    mutating func restore(_ memory: [UInt8]) -> Bool { memory.isEmpty }
    func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
}
