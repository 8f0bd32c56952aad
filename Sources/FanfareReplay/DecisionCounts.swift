package import FanfareModel

/// Decisions of a replay, by outcome.
package struct DecisionCounts: Sendable {
    /// Number of decisions with each outcome.
    package var outcomes: [Outcome: Int] = [:]
    package var updates = 0
    package var alertsGranted = 0
    package var alertsDemoted = 0

    /// - Parameter isUpdate: `true` if the decision published a version.
    mutating func note(_ record: DecisionRecord, isUpdate: Bool) {
        outcomes[record.outcome, default: 0] += 1
        if isUpdate { updates += 1 }
        switch record.alert {
        case .granted: alertsGranted += 1
        case .demoted: alertsDemoted += 1
        case nil: break
        }
    }
}
