/// Editorial rules for all lineups: the moves of the spotlight, and those that are worth a push. The relevance of the topics' occasions decides which
/// of two occasions is weightier.
public struct LineupRules: Sendable, Hashable {
    /// Time for which an occasion keeps the spotlight from lighter ones (rule M2).
    public var dwell: Duration
    /// Time for which the spotlight stays with each live topic, in turn, while nothing happens. `nil`: the spotlight rests on the favourite, or on
    /// the most important topic.
    public var round: Duration?
    /// Minimum time between changes that are not essential, of whichever topics (rule U5). Essential changes do not wait.
    public var minimumInterval: Duration
    /// Time for which an alert waits for others while another topic of the lineup is live; one push then names them all. Zero: each
    /// alert leaves at once, and a push combines only those that come before it has left.
    public var gather: Duration
    /// Bucket of pushes for which rotation is the only reason. They are silent, at priority 5.
    public var rotationPushes: TokenBucket.Size
    /// Order of the rows.
    public var order: Order

    /// Orders in which a lineup shows its topics.
    public enum Order: String, Sendable, CaseIterable {
        /// The order in which the person picked the topics. Events never change it: people find a match where they put it.
        case person
        /// By the times for which the topics are scheduled (`TopicRules.scheduledAt`), then by id. Activities with the same topics
        /// share an audience, in whatever order their people picked them.
        case schedule
    }

    /// Creates rules. By default the spotlight rests while nothing happens, and goals within a second are one push.
    ///
    /// - Parameters:
    ///   - dwell: time for which a topic keeps the spotlight after its latest change.
    ///   - round: time for which the spotlight stays with each live topic while nothing happens; `nil`: the spotlight does not go round.
    ///   - minimumInterval: keeps eight matches from causing eight pushes in two seconds.
    ///   - gather: with the default, two goals in one second are one push, eight in two seconds are two pushes, and each push is a second later.
    ///   - rotationPushes: with the default, a few at once and then one a minute, at a priority that spends no budget.
    ///   - order: order of the rows.
    public init(
        dwell: Duration = .seconds(20), round: Duration? = nil, minimumInterval: Duration = .seconds(2),
        gather: Duration = .seconds(1), rotationPushes: TokenBucket.Size = .init(burst: 4, refill: .seconds(60)),
        order: Order = .person
    ) {
        self.dwell = dwell
        self.round = round
        self.minimumInterval = minimumInterval
        self.gather = gather
        self.rotationPushes = rotationPushes
        self.order = order
    }
}
