package import FanfareFanOut

/// Outcomes of activities that no command asked for. A replay starts and renews no activities.
package struct FateCounts: Sendable {
    /// Activities that ended after eight hours.
    package var expired = 0
    /// Activities whose end was refused for good; their cards stay until the system removes them.
    package var notEnded = 0
    /// Refused follow and move commands, by reason.
    package var refused: [CommandRefusal: Int] = [:]

    mutating func note(_ fate: ActivityFate) {
        switch fate {
        case .expired: expired += 1
        case .notEnded: notEnded += 1
        case .refused(let refusal): refused[refusal, default: 0] += 1
        case .notStarted, .renewed, .ended: break
        }
    }
}
