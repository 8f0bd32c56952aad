import FanfareModel
import FanfareQueues

/// How far a shard has come: what it has counted, what is still to be done, and the answers to the core's questions whether all activities have
/// what was sent before.
final class ShardProgress {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lineupPublisher: LineupPublisher
    private let publisher: TopicPublisher
    private let missedAlerts: MissedAlerts
    private let sender: PushSender
    private let lifecycle: Lifecycle
    private let completions: DeliveryCompletions
    private var settling = Settling()

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ lineupPublisher: LineupPublisher,
        _ publisher: TopicPublisher, _ missedAlerts: MissedAlerts, _ sender: PushSender, _ lifecycle: Lifecycle,
        _ completions: DeliveryCompletions
    ) {
        self.reporter = reporter
        self.membership = membership
        self.lineupPublisher = lineupPublisher
        self.publisher = publisher
        self.missedAlerts = missedAlerts
        self.sender = sender
        self.lifecycle = lifecycle
        self.completions = completions
    }

    /// The counts of all parts, put together.
    var counts: ShardCounts {
        var (pushes, alerts) = (completions.outcomes, missedAlerts.counts)
        (pushes.sent, pushes.downgradedToLowPriority) = (sender.sent, sender.downgraded)
        alerts.superseded += lineupPublisher.superseded
        alerts.unclaimed = sender.claims.unclaimed
        // Lineups whose state is in rows are owed the news that they have not looked at. They look at the news of a push in flight when it is
        // answered.
        let unexamined = min(membership.counts.inLineups, membership.lineups.countLookers())
        return ShardCounts(
            pushes: pushes, alerts: alerts, activities: membership.store.count,
            lineups: LineupCounts(activities: membership.counts.inLineups, distinct: membership.lineups.count),
            tokenless: lifecycle.starts.count, owed: membership.counts.owed + unexamined,
            refusedStates: membership.counts.refused, transport: TransportFigures())
    }

    /// Is `true` when nothing is pending or in flight.
    var isQuiet: Bool {
        membership.counts.owed == 0 && sender.inFlight == 0 && lifecycle.leaving == 0
            && membership.counts.deferredLineups == 0 && membership.lineups.newsCount == 0
            && membership.dueLineups.allSatisfy { !$0.hasWork }
            && lifecycle.starts.delayedCount == 0 && !publisher.isShowingAgain
    }

    /// Number of pushes that are pending now, or will be after the next change for the largest audience.
    var demand: Int {
        max(
            membership.counts.owed, membership.counts.inLineups, lifecycle.starts.count,
            membership.audiences.largestCount)
    }

    /// Takes the core's question whether each activity has everything sent so far, and answers it if nothing is pending.
    func ask(_ question: UInt64) {
        settling.ask(question)
        reportIfQuiet()
    }

    /// Answers the questions whose content all activities have by now. Called when something may have been settled.
    func reportIfQuiet() {
        guard !settling.isIdle else { return }
        let answer =
            isQuiet
            ? settling.takeAll(isComplete: membership.counts.refused == 0)
            : settling.takeSettled(ShardSurvey(membership: membership, lifecycle: lifecycle))
        if let answer { reporter.report(answer, counts) }
    }
}
