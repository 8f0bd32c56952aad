package import FanfareModel
package import FanfareQueues

/// A slice of the subscribers: their activities, the audiences these belong to, and the sweeps that bring each audience to its
/// newest version.
///
/// The shard is a state machine without clock, thread or socket: commands, pulls and completions are passed in with the moment at which
/// they happen, so the same code runs on a loop and in the simulation. Confined to one thread; the core sends commands through a ring.
///
/// Invariant, for every member with a pending push, at any time: the cursor has not visited it, or it is queued in its audience's
/// `revisits`, or its push is in flight, or it waits in the timing wheel.
package final class Shard: DeliverySource {
    // The list begins with the lowest layer: a part knows only parts that stand above it here.
    let reporter: FeedbackReporter
    package let membership: Membership
    let publisher: TopicPublisher
    let sender: PushSender
    let lifecycle: Lifecycle
    let dispositions: DispositionQuery
    let retries: Retries
    private let ages: AgeChecks
    private let cards: CardCommands
    private let completions: DeliveryCompletions
    private let dispatcher: Dispatcher
    let progress: ShardProgress

    /// - Parameters:
    ///   - feedbackMax: number of facts waiting for the core from which on the shard `isFeedbackFull`.
    ///   - trackedMax: maximum of publications per audience, at least 1, whose completion is tracked at a time; a match has some 70.
    ///   - lifetime: lifetime of an activity; a value other than the system's is for simulations.
    ///   - limits: limits of each activity.
    ///   - lanes: shares of the lanes; others than these are for simulations.
    ///   - unpublishedTopicsMax: maximum of topics that are followed before anything is published of them.
    ///   - deadTokenAnswers: number of answers that the dead-token guard waits for, and number that it remembers.
    ///   - deadTokenProbes: number of held activities that are tried at a time while the guard is shut.
    package init(
        lineups: LineupRules = LineupRules(), feedbackMax: Int = 4096, trackedMax: Int = 64,
        lifetime: Duration = ActivityAge.lifetime, limits: ActivityLimits = ActivityLimits(),
        lanes: LaneShares = LaneShares(), unpublishedTopicsMax: Int = 1_000_000,
        deadTokenAnswers: ClosedRange<Int> = 100...1000, deadTokenProbes: Int = 100
    ) {
        reporter = FeedbackReporter(feedbackMax: feedbackMax)
        membership = Membership(
            reporter, lineupRules: lineups, lanes: lanes, trackedMax: trackedMax,
            unpublishedTopicsMax: unpublishedTopicsMax)
        let enrolment = Enrolment(reporter, membership)
        let lineupPublisher = LineupPublisher(reporter, membership)
        publisher = TopicPublisher(reporter, membership, lineupPublisher)
        let missedAlerts = MissedAlerts(membership, lineupPublisher)
        sender = PushSender(reporter, membership, missedAlerts, SubscriberGovernor(limits))
        let visits = LineupVisits(reporter, membership, lineupPublisher, missedAlerts, sender)
        lifecycle = Lifecycle(reporter, membership, enrolment, lifetime: lifetime)
        dispositions = DispositionQuery(
            membership: membership, lineupPublisher: lineupPublisher, lifecycle: lifecycle, governor: sender.governor)
        retries = Retries(
            reporter, membership, lifecycle, DeadTokenQuarantine(answers: deadTokenAnswers, probes: deadTokenProbes))
        let moves = Moves(reporter, membership, enrolment, publisher, missedAlerts, lifecycle)
        let starter = Starter(
            reporter, membership, enrolment, lineupPublisher, publisher, missedAlerts, lifecycle, retries, sender, moves
        )
        ages = AgeChecks(reporter, membership, enrolment, lineupPublisher, missedAlerts, lifecycle, starter)
        cards = CardCommands(
            reporter, membership, lifecycle, moves, starter,
            Follows(reporter, membership, enrolment, publisher, lifecycle, moves, starter, sender.governor))
        completions = DeliveryCompletions(
            reporter, membership, missedAlerts, lifecycle, retries, sender, visits, starter, moves)
        dispatcher = Dispatcher(membership, lineupPublisher, missedAlerts, lifecycle, sender, visits, starter)
        progress = ShardProgress(
            reporter, membership, lineupPublisher, publisher, missedAlerts, sender, lifecycle, completions)
    }

    /// Makes the shard report each activity that it removes, for a store that keeps people.
    package func reportRemovals() { reporter.reportsRemovals = true }

    /// Makes alerts and starts wait for claims, for a store that keeps them. Called before there are activities.
    ///
    /// - Parameter limits: limits other than the default are for simulations.
    package func keepClaims(_ limits: ClaimLimits = ClaimLimits()) { membership.claims.keep(limits) }

    /// Makes the shard report the topics whose followers have the newest version, for a store that keeps people and their claims. With
    /// `besideOthers`, other shards may have followers of the same topics. Limits other than the default are for simulations.
    package func reportCompletions(besideOthers: Bool, _ limits: CompletionLimits = CompletionLimits()) {
        reporter.completions.keep(besideOthers: besideOthers, limits)
    }

    /// Makes the shard report the stamps that it is about to use, for a store that has reserved stamps up to a ceiling.
    package func reserveStamps(beyond ceiling: Int64) { membership.store.stamps.reserve(beyond: ceiling) }

    /// Reports the stamps that the shard is about to use if the store has not reserved them. Called at least every few seconds.
    package func requestStamps(at moment: Moment) {
        if let ceiling = membership.store.stamps.takeRequest(at: moment) { reporter.request(stampsThrough: ceiling) }
    }

    /// Reserves room for this many activities, so that loading them does not copy the arrays repeatedly.
    ///
    /// - Parameter idSize: size of the text of an activity's id; `zero` if the activities have none.
    package func reserve(activities: Int, idSize: ByteCount = .zero) {
        membership.store.reserve(activities, idSize: idSize)
        membership.claims.reserve(activities)
    }

    package var statistics: ShardCounts { progress.counts }

    /// Returns the freshness figures of this shard since its start.
    package func freshnessReport(at moment: Moment) -> FreshnessReport {
        reporter.freshness.report(oldestArrival: reporter.publications.oldestArrival, at: moment.monotonic)
    }

    /// Number of topics that the core keeps or that activities follow.
    package var topicCount: Int { membership.topics.count }

    /// Is `true` when nothing is pending or in flight: each activity has all content published to it, except content refused for good.
    package var isQuiet: Bool { progress.isQuiet }

    /// Number of pushes that are pending now, or will be after the next change for the largest audience.
    ///
    /// Members of lineups and starts are all counted: the next change may be of a topic that all lineups show, and the starts may all wait for
    /// one kick-off.
    package var demand: Int { progress.demand }

    /// Is `true` while the store's cards are to be loaded.
    package var isLoading: Bool { membership.topics.resumed.isLoading }

    /// Is `true` when lineups have members, so that publications may take long.
    package var hasLineups: Bool { membership.counts.inLineups > 0 }

    /// The time at which to call `wakeDue` or `pull` again although nothing new has arrived; `always` means at once. It is `nil` while the shard
    /// `isFeedbackFull`, which ends when the core makes room.
    package var nextDue: MonotonicTime? {
        if isFeedbackFull { return nil }
        if publisher.isShowingAgain { return .always }
        let due = dispatcher.cutShortAt ?? membership.timers.nextDue
        return retries.scansDue.map { min(due ?? $0, $0) } ?? due
    }

    /// Is `true` while the core does not take feedback. Nothing is pulled then, and the caller must not apply commands, so that the waiting
    /// feedback stays bounded.
    package var isFeedbackFull: Bool { reporter.isFeedbackFull }

    /// Moves waiting feedback into the core's ring, oldest first, as far as there is room. The rest stays.
    ///
    /// - Returns: whether any feedback was moved.
    package func sendFeedback(to ring: inout RingProducer<ShardFeedback>) -> Bool { reporter.send(to: &ring) }

    /// Removes waiting feedback, oldest first, for a core in the shard's thread. The closure must not call the shard.
    package func drainFeedback(_ take: (ShardFeedback) -> Void) { reporter.drain(take) }

    /// Removes and returns the feedback that is left when the ring is no longer emptied.
    package func takeFeedback() -> [ShardFeedback] { retries.takeFeedback() }

    package func apply(_ command: ShardCommand, at moment: Moment) {
        defer { dispatcher.claimStarts(at: moment) }
        switch command {
        case .publish(let publication): publisher.publish(publication, at: moment)
        case .publishResumed(let new): publisher.resume(new, at: moment)
        case .load: cards.beginLoading(at: moment)
        case .endLoading: cards.endLoading(at: moment)
        case .followed(let before, let sent): reporter.completions.advance(to: before, sent: sent)
        case .reportCompletion(let publication, let scope): publisher.noteCompletion(of: publication, in: scope)
        case .claimed(let ticket): dispatcher.confirmClaims(through: ticket, at: moment)
        case .revokeAlert(let topic, let cause): publisher.revokeAlert(cause: cause, of: topic)
        case .forget(let topic): membership.topics.forget(topic)
        case .republish: publisher.republish(at: moment)
        case .follow(let id, let key, let token, let preferences, let startedAt, let earlier):
            cards.follow(
                Follow(
                    id: id, audience: key, token: token, preferences: preferences, startedAt: startedAt,
                    earlier: earlier), at: moment)
        case .start(let request, let key): cards.start(request, key, at: moment)
        case .setPreferences(let id, let preferences): cards.setPreferences(preferences, of: id)
        case .move(let id, let key): cards.move(id, to: key, at: moment)
        case .unfollow(let id): cards.unfollow(id, at: moment)
        case .replaceToken(let id, let token): cards.replaceToken(token, of: id, at: moment)
        case .reportDisposition(let number, let id, let topic, let cause):
            reporter.answer(dispositions.disposition(of: cause, in: topic, for: id, at: moment), number)
        case .checkRemoval(let bits, let token): lifecycle.checkRemoval(of: ActivityID(bits), token: token)
        case .confirmDeadTokens: reporter.report(retries.quarantine.overrule())
        case .reportQuiet(let request): progress.ask(request)
        }
    }

    /// Appends pushes that are due, the most urgent first. Each activity gets the newest version *at this moment*: a slow service never
    /// gets old scores, however far behind it is.
    package func pull(limit: Int, at moment: Moment, into batch: inout DeliveryBatch) {
        wakeDue(at: moment)
        guard !isFeedbackFull else { return }
        dispatcher.pull(limit: limit, at: moment, into: &batch)
        dispatcher.requestClaims(at: moment)
        progress.reportIfQuiet()
    }

    package func mayHavePushes(at moment: Moment) -> Bool {
        wakeDue(at: moment)
        guard isFeedbackFull || membership.lanes.isEmpty else { return true }
        progress.reportIfQuiet()
        return false
    }

    package func pullByLot(_ random: UInt64, at moment: Moment, into batch: inout DeliveryBatch) {
        wakeDue(at: moment)
        guard !isFeedbackFull else { return }
        dispatcher.pullByLot(random, at: moment, into: &batch)
        dispatcher.requestClaims(at: moment)
        progress.reportIfQuiet()
    }

    /// Maximum of timers handled by one call. If more are due, `nextDue` has passed.
    private static let wakeUpsMax = 4096

    /// Handles timers that are due. Called even while nothing is pulled: during an outage, timers must not pile up.
    package func wakeDue(at moment: Moment) {
        dispatcher.cutShortAt = nil
        guard !isFeedbackFull else { return }
        defer { dispatcher.claimStarts(at: moment) }
        retries.scan(at: moment)
        lifecycle.followClock(at: moment)
        publisher.showAgainAfterClockStep(at: moment)
        // A goal begins a dwell time in each of its lineups, and a million of these may end together: the bound keeps a pull short.
        for _ in 0..<Shard.wakeUpsMax {
            guard let subject = membership.timers.popDue(moment.monotonic) else { return }
            switch subject {
            case .audience(let index): membership.lanes.unpark(membership.awake(index))
            case .quarantine: retries.releaseQuarantined(at: moment)
            case .ageScan: ages.scanAges(at: moment)
            case .lineup(let index): dispatcher.wakeLineup(index, at: moment)
            case .claims: sender.claims.wake(at: moment)
            case .activity(let slot, let generation): retries.wake(slot, generation: generation)
            }
        }
    }

    /// Applies the outcomes of pushes.
    package func complete(_ outcomes: [DeliveryCompletion], at moment: Moment) {
        completions.complete(outcomes, at: moment)
        progress.reportIfQuiet()
    }

    /// Reports a publication that the command queue dropped for a newer one.
    package func reportOvertaken(_ serial: UInt64) { reporter.reportOvertaken(serial) }

    /// Returns whether the activity waits for the claim of an alert, its own or another's, for simulations.
    package func awaitsClaim(_ id: ActivityID) -> Bool {
        membership.slot(of: id).map(sender.claims.awaits) ?? false
    }

    /// Checks the whole state and describes a violated invariant; `nil` if there is none. The simulation calls it after every step, or every
    /// eighth in runs of millions; it is too slow for other uses.
    package func violatedInvariant() -> String? {
        ShardAudit(
            reporter: reporter, membership: membership, lifecycle: lifecycle, retries: retries, sender: sender
        ).violation()
    }
}
