/// What an editor has decided for all lineups: how the spotlight moves, and what of it is worth a push. What is weightier of two
/// things that happened is said where they are: by the relevance of their topics' occasions.
public struct LineupRules: Sendable, Hashable {
    /// How long what just happened keeps the spotlight from anything lighter (rule M2).
    public var dwell: Duration
    /// While nothing happens the spotlight goes round, and stays with each live topic for so long. `nil`: it rests on the
    /// favourite, or on the most important one.
    public var round: Duration?
    /// Changes that are not essential are at least so far apart, whichever topics they are of (rule U5). What is essential
    /// does not wait for it.
    public var minimumInterval: Duration
    /// How long an alert waits for others while another topic of the lineup is live: what comes within it is one push that names
    /// them all. Zero: each leaves at once, and only those are one push that come before the first has left.
    public var gather: Duration
    /// Pushes that nothing but the rotation asks for. They are silent and go at priority 5.
    public var rotationPushes: TokenBucket.Size

    /// - Parameters:
    ///   - dwell: how long what just happened keeps the spotlight.
    ///   - round: how long the spotlight stays with each live topic while nothing happens; `nil`: it does not go round.
    ///   - minimumInterval: eight matches are not eight pushes in two seconds.
    ///   - gather: two goals in one second are one push, and eight in two seconds are two. A goal comes a second later for it.
    ///   - rotationPushes: one a minute, after a few at once, spends nothing that matters.
    public init(
        dwell: Duration = .seconds(20), round: Duration? = nil, minimumInterval: Duration = .seconds(2),
        gather: Duration = .seconds(1), rotationPushes: TokenBucket.Size = .init(burst: 4, refill: .seconds(60))
    ) {
        self.dwell = dwell
        self.round = round
        self.minimumInterval = minimumInterval
        self.gather = gather
        self.rotationPushes = rotationPushes
    }
}
