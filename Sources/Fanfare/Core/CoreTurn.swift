import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues
import Synchronization

/// Work of an engine's core thread, without thread or loop: it passes requests of the embedding program's threads to the core and advances
/// log time. `Engine` calls it on a loop; a simulation may call it, `EngineCore.takeFeedback` and the shards' turns in any order.
///
/// Confined to one thread.
final class CoreTurn {
    /// Due time of the next turn.
    enum Next: Equatable {
        /// The next turn runs soon, after the loop has served its other handles.
        case again
        /// The next turn runs after this time, or earlier with the next request; `nil` means with the next request.
        case after(Duration?)
    }

    let core: EngineCore
    let inbox: Inbox
    /// Way of the requests through the log; `nil` without a store.
    let intake: Intake?
    /// Writer of checkpoints; `nil` without a store.
    let checkpointer: Checkpointer?
    private let clock: ThreadClock
    private var log: LogClock
    /// Pending settles that wait for a topic's minimum interval: the time of the last flush among the changes taken before, the deadline, and
    /// the closure for the answer.
    var unflushed: [(flush: FeedTime, until: MonotonicTime, settled: @Sendable (Settlement) -> Void)] = []
    /// Earliest time of the next entry that only advances time.
    var nextTick = MonotonicTime.always
    private let onReport: (String) -> Void
    private var reports = ReportLog()
    /// Deadline of a stop; `never` while none is requested.
    private(set) var stopsBy = MonotonicTime.never
    private(set) var hasFinished = false
    /// Is `true` once every activity has got, or was refused, the decisions up to the feed's end.
    private(set) var hasSettled = false
    /// Is `true` once the engine is over: no turn does anything from then on, though the loop may still call it.
    private var isOver = false
    /// Called when everything taken has been decided and has reached every activity, or when the time for stopping is over.
    var onOver: (() -> Void)?

    /// Requests per turn. After them the loop serves feedback and timers.
    static let requestsMax = 1024

    /// - Parameters:
    ///   - core: goes on with the log time of its recall, if it has had one.
    ///   - onReport: receives lines for operators.
    init(
        _ core: EngineCore, _ inbox: Inbox, clock: ThreadClock, intake: Intake? = nil,
        checkpointer: Checkpointer? = nil,
        onReport: @escaping (String) -> Void
    ) {
        self.core = core
        self.inbox = inbox
        self.intake = intake
        self.checkpointer = checkpointer
        self.clock = clock
        self.onReport = onReport
        // A store without events has no log time yet.
        log =
            core.now > FeedTime.plausible.lowerBound
            ? LogClock(at: clock.now(), continuing: core.now) : LogClock(at: clock.now())
    }

    /// Runs a turn: advances time, carries out requests in their order, and then admits callers that wait for room. Time comes first, so a
    /// mailbox that is never empty does not delay it.
    func run() -> Next {
        guard !isOver else { return .after(nil) }
        defer { core.turnIsOver() }
        let moment = clock.now()
        let next = run(at: moment)
        let patience = inbox.withdraw(at: moment.monotonic)
        let hasAdmitted = inbox.hasCallers && inbox.admit()
        intake?.uncertain.noteAdmitted(lastCall: lastCall, isWaiting: inbox.hasCaller)
        if hasAdmitted { return .again }
        guard let patience, case .after(let wait) = next else { return next }
        let left = max(.zero, patience - moment.monotonic)
        return .after(min(wait ?? left, left))
    }

    private func run(at moment: Moment) -> Next {
        let now = log.advance(to: moment)
        if let step = clock.step { report(step: step) }
        stopsBy = min(stopsBy, inbox.stopsBy)
        let isLate = moment.monotonic >= stopsBy
        if let intake { return run(through: intake, now, moment, isLate: isLate) }
        advance(to: now)
        withdrawSettles(at: moment.monotonic)
        for _ in 0..<CoreTurn.requestsMax {
            // Requests stay in the mailbox, which refuses new ones when it is full.
            if core.isCongested, !isLate { return next(after: now, moment) }
            guard let request = inbox.requests.pop() else {
                // A producer that has claimed a slot and is about to write it will signal.
                if inbox.requests.isExhausted { finish(isLate: isLate) }
                return next(after: now, moment)
            }
            carryOut(request, now, moment)
        }
        return .again
    }

    func end() {
        isOver = true
        onOver?()
    }

    private func advance(to now: FeedTime) {
        core.advance(to: now)
        askShards(at: now)
    }

    /// Passes on the settles whose changes have been published by that log time.
    func askShards(at now: FeedTime) {
        guard !unflushed.isEmpty else { return }
        for waiting in unflushed where waiting.flush <= now { core.settle(until: waiting.until, waiting.settled) }
        unflushed.removeAll { $0.flush <= now }
    }

    /// Answers callers of `settle` whose time is over, even if a topic's interval lasts for hours.
    func withdrawSettles(at now: MonotonicTime) {
        core.withdrawSettles(at: now)
        guard unflushed.contains(where: { $0.until <= now }) else { return }
        let late = unflushed.filter { $0.until <= now }
        unflushed.removeAll { $0.until <= now }
        for waiting in late { waiting.settled(.unknown) }
    }

    /// Returns the due time of the next turn. A congested core takes its next turn when a shard has room; until then only time advances.
    private func next(after now: FeedTime, _ moment: Moment) -> Next {
        var due = core.nextDeadline
        for waiting in unflushed { due = min(due ?? waiting.flush, waiting.flush) }
        if let due, due <= now { return .again }
        // Log time may run slower than the monotonic clock; a turn that comes too early waits once more.
        var wait = due.map { $0 - now }
        let deadline = min(stopsBy > moment.monotonic ? stopsBy : .never, settleDeadline)
        if deadline < .never {
            let left = max(.zero, deadline - moment.monotonic)
            wait = min(wait ?? left, left)
        }
        return .after(wait)
    }

    /// Deadline by which a caller of `settle` is answered, even if no request and no topic's timer brings a turn earlier.
    var settleDeadline: MonotonicTime { unflushed.reduce(core.nextSettleDeadline ?? .never) { min($0, $1.until) } }

    /// Returns an event that happens now.
    func happening(_ make: (FeedTime) -> FeedEvent, _ now: FeedTime, _ wall: FeedTime) -> FeedEvent {
        var event = make(now)
        // Log time may lie behind the wall clock that feeds use. An operator's correction must not look older than the feed's events.
        if event.isCorrection, event.at == now { event.at = max(now, wall) }
        return event
    }

    func carryOut(_ request: CoreRequest, _ now: FeedTime, _ moment: Moment) {
        switch request {
        case .acknowledged(let request, let acknowledge):
            carryOut(request, now, moment)
            acknowledge(nil)
        case .person(_, let request, _): carryOut(request, now, moment)
        case .keyed(let key, let request, let answer): carryOut(request, under: key, answer, now, moment)
        case .repeated(let call, let answer, let isChange):
            if isChange { inbox.noteChanged() }
            self.answer(repeated: call, answer)
        case .passedOver(let card):
            inbox.noteChanged()
            core.report(.notStarted(.uncertain), of: card)
        case .event(let event):
            core.apply(event, now: now, wall: moment.wall)
        case .eventNow(let make):
            let wall = moment.wall
            let event = happening(make, now, wall)
            core.apply(event, now: now, wall: event.at == now ? nil : wall)
        case .command(let command, let subscriber, let app): core.send(command, forSubscriber: subscriber, app: app)
        case .follow(let new, let app):
            let startedAt = startDate(new.startedAt, at: moment)
            core.send(
                .follow(
                    new.activity, new.audience, token: new.token, preferences: new.preferences, startedAt: startedAt),
                forSubscriber: new.subscriber, app: app)
        case .trustDeadAnswers: core.broadcast(.trustDeadAnswers)
        case .counts(let answer): answer(core.counts)
        case .freshness(let answer): answer(core.freshness)
        case .disposition(let activity, let subscriber, let app, let cause, let topic, let answer):
            core.ask(activity, ofSubscriber: subscriber, app: app, about: cause, in: topic, answer: answer)
        case .topicState(let topic, let answer): answer(core.state(of: topic))
        case .settle(let until, let settled):
            // Changes that an operator's order has released are due now. With a store, time passes by entries only.
            if intake == nil { core.advance(to: now) }
            if let flush = core.flushesUntil {
                unflushed.append((flush, until, settled))
            } else {
                core.settle(until: until, settled)
            }
        }
    }

    // MARK: Stopping

    /// Publishes pending changes once everything taken has been decided. Calls `onOver` when every activity has them or the time is over.
    private func finish(isLate: Bool) {
        if !hasFinished { finishFeed() }
        if isLate { end() }
    }

    func finishFeed() {
        hasFinished = true
        core.finish()
        for waiting in unflushed { core.settle(until: waiting.until, waiting.settled) }
        unflushed = []
        core.settle { [unowned self] _ in
            hasSettled = true
            if intake?.isIdle != false { end() }
        }
    }

    var now: MonotonicTime { clock.now().monotonic }

    /// Part of the time for stopping that is left for the shards.
    var timeLeft: Duration {
        max(.zero, min(stopsBy, inbox.stopsBy) - now)
    }

    // MARK: Reports

    /// Reports a line to operators. Equal lines are reported once a minute, with the number of repetitions.
    ///
    /// - Parameter figures: text after the line; lines that differ only in it count as equal.
    func report(_ line: String, with figures: String = "") {
        if let line = reports.admit(line, at: clock.now().monotonic) { onReport(line + figures) }
    }

    /// Returns the date of a card's start; `nil`, which counts as just now, if no card can have started then.
    private func startDate(_ startedAt: FeedTime?, at moment: Moment) -> FeedTime? {
        guard let startedAt else { return nil }
        if StartDate.isPossible(startedAt, now: moment.wall) { return startedAt }
        report(
            "follow: \(StartDate.impossible), so it counts as started just now", with: ": startedAt \(startedAt)")
        return nil
    }

    private func report(step: Duration) {
        let seen = "the machine's clock was set \(step > .zero ? "ahead" : "back")"
        let meaning =
            if clock.isRefuted {
                "APNs goes by the time before, and so do pushes and their dates; check the clock"
            } else if !WallEstimate.stampsBear(step) {
                "pushes and their dates follow it. Where it is wrong now, phones drop them, whatever APNs answers; check the clock"
            } else {
                "pushes go on, and their dates follow it as far as phones bear that"
            }
        report("\(seen); \(meaning)", with: ": by \(abs(step.milliseconds) / 1000) s")
    }
}
