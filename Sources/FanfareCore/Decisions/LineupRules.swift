/// What an editor has decided for all lineups: how the spotlight moves, and what of it is worth a push. What is weightier of two
/// things that happened is said where they are: by the relevance of their topics' occasions.
public struct LineupRules: Sendable, Hashable {
    /// How long what just happened keeps the spotlight from anything lighter (rule M2).
    public var dwell: Duration
    /// While nothing happens the spotlight goes round, and stays with each live topic for so long. `nil`: it rests on the
    /// favourite, or on the most important one.
    public var round: Duration?
    /// Changes that are not essential are at least so far apart, whichever topics they are of (rule U5). What is essential
    /// waits for nothing: two goals of one second are one push that names both where the first has not left yet, else two.
    public var minimumInterval: Duration
    /// Pushes that nothing but the rotation asks for. They are silent and go at priority 5.
    public var rotationPushes: TokenBucket.Size

    /// - Parameters:
    ///   - minimumInterval: eight matches are not eight pushes in two seconds.
    ///   - rotationPushes: one a minute, after a few at once, spends nothing that matters.
    public init(
        dwell: Duration = .seconds(20), round: Duration? = nil, minimumInterval: Duration = .seconds(2),
        rotationPushes: TokenBucket.Size = .init(burst: 4, refill: .seconds(60))
    ) {
        self.dwell = dwell
        self.round = round
        self.minimumInterval = minimumInterval
        self.rotationPushes = rotationPushes
    }
}
