import FanfareModel
import FanfareQueues

/// The waits of activities after pushes that failed: backoff by activity, and the quarantine of those whose tokens may be dead.
final class Retries {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lifecycle: Lifecycle
    @safe @exclusivity(unchecked) var service = ServiceSpells()
    @safe @exclusivity(unchecked) var quarantine: DeadTokenQuarantine
    /// Finds the activities whose waits keep a topic from being complete.
    let completionScan: CompletionScan
    /// Finds the topics that all lineups show.
    let lineupScan: LineupCompletionScan

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ lifecycle: Lifecycle,
        _ quarantine: DeadTokenQuarantine
    ) {
        self.reporter = reporter
        self.membership = membership
        self.lifecycle = lifecycle
        self.quarantine = quarantine
        completionScan = CompletionScan(reporter, membership)
        lineupScan = LineupCompletionScan(reporter, membership)
    }

    func violation() -> String? { quarantine.violation() ?? completionScan.violation() ?? lineupScan.violation() }

    /// Time for the next call of `scan`; `nil` if there is nothing to be found or reported.
    var scansDue: MonotonicTime? {
        guard let lineups = lineupScan.due else { return completionScan.due }
        return min(completionScan.due ?? lineups, lineups)
    }

    /// Goes on with the searches for what keeps topics from being complete, and reports complete topics.
    func scan(at moment: Moment) {
        lineupScan.run(at: moment)
        completionScan.run(at: moment)
    }

    /// Ends the searches, and removes and returns the feedback that is left, with what they have found.
    func takeFeedback() -> [ShardFeedback] {
        lineupScan.finish()
        return reporter.takeAll()
    }

    func replaceToken(of slot: ActivitySlot, with token: [UInt8]) {
        membership.store.replaceToken(of: slot, with: token)
        if membership.store[slot].flags.contains(.inFlight) { membership.store[slot].flags.insert(.rotated) }
        release(slot)
    }

    /// Queues the next push of the activity, if one is pending.
    func requeue(_ slot: ActivitySlot) {
        let activity = membership.store[slot]
        if activity.flags.contains(.leaving) {
            lifecycle.queueDeparture(slot)
        } else if activity.audience != .none,
            membership.isOwed(activity, membership.awake(activity.audience))
        {
            membership.queueVisit(slot)
        }
    }

    /// Makes an activity back off after a failure that may be its token's own (429, 5xx): only this activity waits, and then gets the newest state.
    ///
    /// - Parameter isOwn: whether the failure is certainly the token's own.
    func backOff(_ slot: ActivitySlot, isOwn: Bool = false, at moment: Moment) {
        let delay = membership.store[slot].failures.add(isOwn: isOwn, in: service.number)
        membership.store[slot].flags.insert(.suspended)
        noteSuspension(of: slot)
        // Spread over half the delay by slot and generation, so that tokens throttled together do not return together.
        let tenant = UInt64(membership.store[slot].generation) << 32 | UInt64(slot.rawValue)
        let spread = Duration.nanoseconds(Int64(tenant.mixed % UInt64(delay.nanoseconds / 2)))
        membership.timers.insert(
            .activity(slot, generation: membership.store[slot].generation),
            due: moment.monotonic + (delay + spread))
    }

    /// Notes that an activity waits, because its push has failed or its token may be dead.
    private func noteSuspension(of slot: ActivitySlot) {
        let index = membership.store[slot].audience
        guard reporter.completions.takesLoneFailures, index != .none else { return }
        let audience = membership.audiences[index]
        guard audience.lineup == nil, audience.order.count == 1, audience.order.members[0] == slot else { return }
        reporter.completions.noteUnfinished(index, &audience.completionPlace)
    }

    /// Records `count` pushes that the service answered as accepted, or as going to a dead token.
    func noteAnswers(_ count: Int, dead: Int) {
        service.noteService()
        if let line = quarantine.note(answers: count, dead: dead) { reporter.report(line) }
    }

    /// Records that the service answered an activity's push as going to a dead token. While the guard is shut, the token may be alive after all:
    /// the activity is quarantined, and then gets the newest state.
    ///
    /// - Returns: `false` if the activity is to be removed, because the guard is open or the activity is leaving.
    func quarantineDeadToken(of slot: ActivitySlot, as activity: Activity, at moment: Moment) -> Bool {
        noteAnswers(1, dead: 1)
        // An activity that is leaving may be removed in any case.
        guard quarantine.isShut, !activity.flags.contains(.leaving) else { return false }
        membership.store[slot].flags.insert(.suspended)
        noteSuspension(of: slot)
        let due = quarantine.add(slot, generation: membership.store[slot].generation, at: moment.monotonic)
        if let due { membership.timers.insert(.quarantine, due: due) }
        return true
    }

    func releaseQuarantined(at moment: Moment) {
        var release = quarantine.beginRelease()
        while let (slot, generation) = quarantine.next(
            of: &release, isQuarantined: { membership.store[$0].generation == $1 })
        {
            wake(slot, generation: generation)
        }
        if let due = quarantine.endRelease(at: moment.monotonic) {
            membership.timers.insert(.quarantine, due: due)
        }
    }

    /// Ends the wait of an activity, unless it has been removed or got a new token since the wait began.
    func wake(_ slot: ActivitySlot, generation: UInt32) {
        guard membership.store[slot].generation == generation else { return }
        membership.store[slot].flags.remove(.suspended)
        resume(slot)
    }

    /// Queues the push that is pending for an activity whose wait is over.
    private func resume(_ slot: ActivitySlot) {
        if membership.store[slot].flags.contains(.tokenless) {
            lifecycle.wakeStart(slot)
        } else if membership.store[slot].flags.contains(.leaving) {
            lifecycle.queueDeparture(slot)
        } else if membership.store[slot].audience != .none {
            membership.queueVisit(slot)
        }
    }

    /// Ends the wait of an activity that got a new token, whether the old one backed off or was held by the dead-token guard.
    func release(_ slot: ActivitySlot) {
        membership.store[slot].failures = FailureStreak()
        guard membership.store[slot].flags.contains(.suspended) else { return }
        // No push is in flight, so only the timing wheel and the guard have the old generation.
        membership.store[slot].generation &+= 1
        membership.store[slot].flags.remove(.suspended)
        quarantine.abandon { membership.store[$0].generation == $1 }
        resume(slot)
    }

    func awaitRetry(_ slot: ActivitySlot, due: MonotonicTime) {
        lifecycle.starts.postpone(slot)
        membership.store[slot].flags.insert(.suspended)
        membership.timers.insert(.activity(slot, generation: membership.store[slot].generation), due: due)
    }
}
