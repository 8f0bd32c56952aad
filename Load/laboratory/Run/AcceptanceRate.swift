/// Accepted pushes per second, measured over a second or more.
struct AcceptanceRate {
    private var before: (accepted: Int, at: Int64) = (0, 0)
    private(set) var perSecond = 0.0

    /// - Parameters:
    ///   - accepted: pushes accepted so far.
    ///   - now: monotonic nanoseconds.
    mutating func note(_ accepted: Int, at now: Int64) {
        guard now - before.at >= 1_000_000_000 else { return }
        perSecond = Double(accepted - before.accepted) * 1e9 / Double(now - before.at)
        before = (accepted, now)
    }
}
