import FanfareFanOut
import FanfareModel

/// Judges what a shard says of an activity's fate.
struct FateJudge {
    let phone: Phone
    let age: CardAge
    /// The phone with the card that has replaced this one's, or is to replace it.
    let successor: Phone?

    /// - Returns: the fault of the fate; `nil` if it is right.
    func seen(_ fate: ActivityFate) -> String? {
        switch fate {
        case .expired: return age.isAlmostOver ? nil : "it has expired, they say, and has not (L1)"
        case .renewed(let id):
            guard let successor, successor.id == id else {
                return "it goes on as another one, they say, which it does not (L1)"
            }
            return successor.card?.isOut == true ? nil : "it goes on, they say, by a start that was not taken (L1)"
        case .notStarted(.gaveUp) where phone.card.map { $0.putOffs < 12 } ?? false:
            return "it is not started, for the service's trouble"
        case .notStarted(.deadToken) where !phone.life.isRemoved:
            return "its start token is dead, they say, and that was replaced (L7)"
        case .notStarted: return phone.hasToken ? "it has not started, they say, and has a token (L7)" : nil
        case .ended, .notEnded: return nil
        case .refused(let refusal):
            // The activity may have gone before a command reached it.
            return refusal == .unknownActivity ? nil : "what was asked for it was refused: \(refusal)"
        }
    }
}
