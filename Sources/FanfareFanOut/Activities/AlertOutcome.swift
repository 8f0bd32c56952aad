import FanfareModel

/// The outcome of an alert.
enum AlertOutcome: Equatable {
    case cameLater
    case accepted
    case uncertain
    case superseded
    case revoked
    case stale
    case refused
    case silenced(Silence)

    var disposition: AlertDisposition {
        switch self {
        case .cameLater: .silenced(.cameLater)
        case .accepted: .accepted
        case .uncertain: .uncertain
        case .superseded: .silenced(.superseded)
        case .revoked: .silenced(.revoked)
        case .stale: .silenced(.stale)
        case .refused: .silenced(.refused)
        case .silenced(let silence): .silenced(.preferences(silence))
        }
    }
}
