import FanfareModel

/// Says what has become of each alert that activities had missed, once the push that was their chance has been answered, or none is
/// needed: for the figures, and for whoever asks later.
struct AlertClassifier {
    /// The oldest first.
    private let alerts: ArraySlice<PendingAlert>
    /// The alert that led the push, or would have.
    private let lead: Int?
    /// Those that the push told of beside the lead.
    private let additional: [Int]

    /// - Parameter lead: index of the alert that led, or would have; `nil` when there was none to tell of.
    init(_ alerts: ArraySlice<PendingAlert>, led lead: Int?, at moment: Moment) {
        self.alerts = alerts
        self.lead = lead
        additional = lead.flatMap { alerts[...$0].told(at: moment)?.beside } ?? []
    }

    /// - Parameter told: what has become of those that the push told of, or would have.
    func outcome(of index: Int, told: AlertOutcome) -> AlertOutcome {
        if index == lead || additional.contains(index) { return told }
        if alerts[index].isRevoked { return .revoked }
        if let lead, (alerts[index].alert.class, index) < (alerts[lead].alert.class, lead) { return .superseded }
        return .stale
    }

    /// - Parameter activities: how many had missed them.
    func count(told: AlertOutcome, activities: Int, in counts: inout ShardCounts.Alerts) {
        for index in alerts.indices { counts.add(outcome(of: index, told: told), activities) }
    }

    /// - Parameter slots: the activities that had missed them.
    func note(told: AlertOutcome, of slots: some Sequence<ActivitySlot>, in memory: inout AlertMemory) {
        guard memory.isKept, !alerts.isEmpty else { return }
        let outcomes = alerts.indices.map { outcome(of: $0, told: told) }
        for slot in slots {
            // What was carried along has no number in this audience.
            for (alert, outcome) in zip(alerts, outcomes) where alert.number > 0 {
                memory.note(outcome, number: alert.number, of: slot)
            }
        }
    }
}

extension ShardCounts.Alerts {
    /// `count` more alerts have come to this outcome.
    mutating func add(_ outcome: AlertOutcome, _ count: Int) {
        switch outcome {
        case .cameLater: break
        case .accepted: accepted += count
        case .uncertain: uncertain += count
        case .superseded: superseded += count
        case .revoked: revoked += count
        case .stale: stale += count
        case .refused: refused += count
        default:
            switch outcome.silence {
            case .masked, .quietHours: silenced += count
            case .tooMany, .budget: limited += count
            case nil: break
            }
        }
    }
}
