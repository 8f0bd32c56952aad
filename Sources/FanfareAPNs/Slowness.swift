/// Whether a connection's answers take far longer than those of the others, and have again and again.
///
/// A slow connection carries what the others have no room for. So it soon has no new answers, and is no longer called slow: then it is
/// given pushes as the others are, and is seen to be slow again, or not. All times are monotonic nanoseconds.
struct Slowness {
    /// An answer that is older says nothing of now.
    static let memory: Int64 = 2 * 1_000_000_000
    /// Without one between them that was in time, and over so long: one late answer is no reason for a handshake.
    static let verdictsMax = 8
    static let time: Int64 = 10 * 1_000_000_000

    private(set) var isSlow = false
    /// How many times as long as in the middle of the connections an answer takes; 1 where that is not known.
    private(set) var lag = 1
    private var verdicts = 0
    private var since: Int64 = 0
    private var judgedAt = Int64.min

    /// What comes sooner than this differs by chance.
    private static let tellingTime: Int64 = 20_000_000

    /// - Parameter middle: of the connections' paces; `nil`: there are too few to tell.
    mutating func compare(_ pace: RoundTrip, to middle: Int64?, at now: Int64) {
        guard let middle, let least = pace.least, let noted = pace.notedAt, now - noted < Slowness.memory else {
            return lag = 1
        }
        lag = max(1, Int(max(least, Slowness.tellingTime) / max(middle, Slowness.tellingTime)))
    }

    /// - Parameters:
    ///   - pace: of the connection's last answers.
    ///   - limit: what takes longer is slow; `nil`: there are too few others to tell.
    mutating func judge(_ pace: RoundTrip, limit: Int64?, at now: Int64) {
        guard let limit, let least = pace.least, let noted = pace.notedAt, now - noted < Slowness.memory else {
            return isSlow = false
        }
        isSlow = least > limit
        guard isSlow else { return verdicts = 0 }
        guard noted > judgedAt else { return }
        judgedAt = now
        if verdicts == 0 { since = now }
        verdicts += 1
    }

    /// Another connection may do better.
    func stays(at now: Int64) -> Bool { verdicts >= Slowness.verdictsMax && now - since >= Slowness.time }
}
