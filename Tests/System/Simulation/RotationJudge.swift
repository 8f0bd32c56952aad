import FanfareFanOut
import FanfareModel

/// Judges the pushes to a phone that only the rotation of its lineup can have caused: they are silent and at priority 5, something is live,
/// and they keep to a budget.
struct RotationJudge {
    private var pushes: Int64 = 0

    /// - Parameters:
    ///   - isLive: `true` if a topic of the lineup goes on.
    ///   - passed: time since the phone joined the lineup.
    ///   - size: budget of these pushes.
    mutating func seen(
        _ payload: Payload, isLive: Bool, after passed: Duration, granting size: TokenBucket.Size
    ) -> String? {
        if payload.alert != nil || payload.priority != .conserving { return "the rotation's push is loud" }
        guard isLive else { return "nothing is live, and it rotates" }
        pushes += 1
        let granted = Int64(size.burst) + passed.nanoseconds / size.refill.nanoseconds
        return pushes > granted ? "\(pushes) pushes of the rotation's own, \(granted) granted" : nil
    }
}
