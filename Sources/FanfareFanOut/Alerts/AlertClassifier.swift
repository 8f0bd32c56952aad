import FanfareModel

/// Determines the outcome of each alert that activities had missed, after the push that was to carry it has been answered or proved
/// unnecessary. The outcomes go into the counts, and into the memory (`AlertMemory`) that answers later questions.
struct AlertClassifier {
    /// The missed alerts, the oldest first.
    private let alerts: ArraySlice<PendingAlert>
    /// Index of the alert that led the push, or would have led it.
    private let lead: Int?
    /// Indices of the alerts that the push carried besides the lead.
    private let additional: [Int]

    /// - Parameter lead: index of the alert that led, or would have led; `nil` when there was no alert to carry.
    init(_ alerts: ArraySlice<PendingAlert>, led lead: Int?, at moment: Moment) {
        self.alerts = alerts
        self.lead = lead
        additional = lead.flatMap { alerts[...$0].selection(at: moment)?.additional } ?? []
    }

    /// - Parameter selected: the outcome of the alerts that the push carried, or would have carried.
    func outcome(of index: Int, ofSelection selected: AlertOutcome) -> AlertOutcome {
        if index == lead || additional.contains(index) { return selected }
        if alerts[index].isRevoked { return .revoked }
        if let lead, (alerts[index].alert.class, index) < (alerts[lead].alert.class, lead) { return .superseded }
        return .stale
    }

    /// - Parameter activities: the number of activities that had missed the alerts.
    func count(outcome selected: AlertOutcome, activities: Int, in counts: inout AlertCounts) {
        for index in alerts.indices { counts.add(outcome(of: index, ofSelection: selected), activities) }
    }

    /// Returns the outcomes of the alerts that have a number in the audience, for the memory. An alert that an activity carried along from another
    /// audience has none in this one.
    func numbered(outcome selected: AlertOutcome) -> [(number: UInt32, outcome: AlertOutcome)] {
        alerts.indices.compactMap {
            alerts[$0].number > 0 ? (alerts[$0].number, outcome(of: $0, ofSelection: selected)) : nil
        }
    }
}

extension AlertCounts {
    /// Adds `count` alerts with this outcome.
    mutating func add(_ outcome: AlertOutcome, _ count: Int) {
        switch outcome {
        case .cameLater: break
        case .accepted: accepted += count
        case .uncertain: uncertain += count
        case .superseded: superseded += count
        case .revoked: revoked += count
        case .stale: stale += count
        case .refused: refused += count
        case .silenced(.masked), .silenced(.quietHours): silenced += count
        case .silenced(.tooMany), .silenced(.budget): limited += count
        }
    }
}
