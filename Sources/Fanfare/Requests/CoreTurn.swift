import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues

/// Work of an engine's core thread, without thread or loop: it passes requests of the embedding program's threads to the core and advances
/// log time. `EngineDriver` calls it on a loop; a simulation may call it, `EngineCore.takeFeedback` and the shards' turns in any order.
///
/// With a store, the core decides an entry only once the entry is durable, so no effect of an entry leaves the engine before that.
///
/// Confined to one thread.
package final class CoreTurn {
    /// Due time of the next turn.
    package enum Next: Equatable {
        /// The next turn runs soon, after the loop has served its other handles.
        case again
        /// The next turn runs after this time, or earlier with the next request; `nil` means with the next request.
        case after(Duration?)
    }

    /// Progress of a stop.
    private struct Stop {
        /// Deadline; `never` while no stop is requested.
        var by = MonotonicTime.never
        /// Is `true` once the feed is over.
        var hasFinished = false
        /// Is `true` once every activity has got, or was refused, the decisions up to the feed's end.
        var hasSettled = false
        /// Is `true` once the engine is over: no turn does anything from then on, though the loop may still call it.
        var isOver = false
    }

    let core: EngineCore
    private let inbox: Inbox
    /// Way of the requests through the log; `nil` without a store.
    private let intake: Intake?
    /// Maker of what the intake holds; `nil` without a store.
    private let entries: EntryMaker?
    /// Writer of checkpoints; `nil` without a store.
    private let checkpointer: Checkpointer?
    private let keyed: KeyedCalls
    private let clock: ThreadClock
    private let reports: CoreReports
    private var log: LogClock
    /// Settles that wait for a topic's minimum interval.
    private var unflushed = UnflushedSettles()
    private var stop = Stop()
    /// Called when everything taken has been decided and has reached every activity, or when the time for stopping is over.
    var onOver: () -> Void = {}

    /// Requests per turn. After them the loop serves feedback and timers.
    private static let requestsMax = 1024
    /// Time beyond the deadline that a stopping engine gives the store.
    private static let storePatience = Duration.seconds(2)

    /// - Parameters:
    ///   - core: goes on with the log time of its recall, if it has had one.
    ///   - onReport: receives lines for operators.
    package init(
        _ core: EngineCore, _ inbox: Inbox, clock: ThreadClock, intake: Intake? = nil,
        checkpointer: Checkpointer? = nil,
        onReport: @escaping (String) -> Void
    ) {
        let reports = CoreReports(clock: clock, onReport)
        let keyed = KeyedCalls(core, reports)
        self.core = core
        self.inbox = inbox
        self.intake = intake
        entries = intake.map { EntryMaker($0, inbox, keyed) }
        self.checkpointer = checkpointer
        self.keyed = keyed
        self.clock = clock
        self.reports = reports
        // A store without events has no log time yet.
        log =
            core.now > FeedTime.plausible.lowerBound
            ? LogClock(at: clock.now(), continuing: core.now) : LogClock(at: clock.now())
    }

    package var hasFinished: Bool { stop.hasFinished }
    var now: MonotonicTime { clock.now().monotonic }

    /// Part of the time for stopping that is left for the shards.
    var timeLeft: Duration { max(.zero, min(stop.by, inbox.stopsBy) - now) }

    /// Reports a line to operators. Equal lines are reported once a minute, with the number of repetitions.
    ///
    /// - Parameter figures: text after the line; lines that differ only in it count as equal.
    func report(_ line: String, with figures: String = "") { reports.report(line, with: figures) }

    /// Runs a turn: advances time, carries out requests in their order, and then admits callers that wait for room. Time comes first, so a
    /// mailbox that is never empty does not delay it.
    package func run() -> Next {
        guard !stop.isOver else { return .after(nil) }
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
        if let step = clock.step { reports.report(step: step) }
        stop.by = min(stop.by, inbox.stopsBy)
        let isLate = moment.monotonic >= stop.by
        if let intake, let entries { return run(through: intake, entries, now, moment, isLate: isLate) }
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

    private func advance(to now: FeedTime) {
        core.advance(to: now)
        askShards(at: now)
    }

    /// Returns the due time of the next turn. A congested core takes its next turn when a shard has room; until then only time advances.
    private func next(after now: FeedTime, _ moment: Moment) -> Next {
        let due = nextFlush
        if let due, due <= now { return .again }
        // Log time may run slower than the monotonic clock; a turn that comes too early waits once more.
        var wait = due.map { $0 - now }
        let deadline = min(stop.by > moment.monotonic ? stop.by : .never, settleDeadline)
        if deadline < .never {
            let left = max(.zero, deadline - moment.monotonic)
            wait = min(wait ?? left, left)
        }
        return .after(wait)
    }

    // MARK: Settles

    /// Passes on the settles whose changes have been published by that log time.
    private func askShards(at now: FeedTime) {
        for waiting in unflushed.takeFlushed(by: now) { core.settle(until: waiting.until, waiting.settled) }
    }

    /// Answers callers of `settle` whose time is over, even if a topic's interval lasts for hours.
    private func withdrawSettles(at now: MonotonicTime) {
        core.withdrawSettles(at: now)
        for waiting in unflushed.takeLate(at: now) { waiting.settled(.unknown) }
    }

    /// Deadline by which a caller of `settle` is answered, even if no request and no topic's timer brings a turn earlier.
    private var settleDeadline: MonotonicTime { min(core.nextSettleDeadline ?? .never, unflushed.nextDeadline) }

    /// Time of the next timer, or of the next change that a `settle` waits for.
    private var nextFlush: FeedTime? { unflushed.nextFlush(orEarlier: core.nextDeadline) }

    // MARK: Requests

    private func carryOut(_ request: CoreRequest, _ now: FeedTime, _ moment: Moment) {
        switch request {
        case .acknowledged(let request, let acknowledge):
            carryOut(request, now, moment)
            acknowledge(nil)
        case .person(_, let request, _): carryOut(request, now, moment)
        case .keyed(let key, let request, let answer): carryOut(request, under: key, answer, now, moment)
        case .repeated(let call, let answer, let isChange):
            if isChange { inbox.noteChanged() }
            keyed.answer(repeated: call, answer, isStopping: stop.by < .never)
        case .passedOver(let card):
            inbox.noteChanged()
            core.report(.notStarted(.uncertain), of: card)
        case .event(let event):
            core.apply(event, now: now, wall: moment.wall)
        case .eventNow(let make):
            let wall = moment.wall
            let event = FeedEvent(happening: make, at: now, wall: wall)
            core.apply(event, now: now, wall: event.at == now ? nil : wall)
        case .command(let command, let subscriber, let app): core.send(command, forSubscriber: subscriber, app: app)
        case .follow(let new, let app):
            let startedAt = startDate(new.startedAt, at: moment)
            core.send(
                .follow(
                    new.activity, new.audience, token: new.token, preferences: new.preferences, startedAt: startedAt),
                forSubscriber: new.subscriber, app: app)
        case .confirmDeadTokens: core.broadcast(.confirmDeadTokens)
        case .counts(let answer): answer(core.counts)
        case .freshness(let answer): answer(core.freshness)
        case .disposition(let activity, let subscriber, let app, let cause, let topic, let answer):
            core.ask(activity, ofSubscriber: subscriber, app: app, about: cause, in: topic, answer: answer)
        case .topicState(let topic, let answer): answer(core.state(of: topic))
        case .settle(let until, let settled):
            // Changes that an operator's order has released are due now. With a store, time passes by entries only.
            if intake == nil { core.advance(to: now) }
            if let flush = core.flushesUntil {
                unflushed.append(UnflushedSettles.Waiting(flush: flush, until: until, settled: settled))
            } else {
                core.settle(until: until, settled)
            }
        }
    }

    /// Carries out a call with a key, without a store.
    private func carryOut(
        _ request: CoreRequest, under key: CallKey, _ answer: KeyedAcknowledgement?, _ now: FeedTime, _ moment: Moment
    ) {
        switch keyed.find(key, answer, at: now, position: inbox.requests.popped, isDecided: true) {
        case .new:
            carryOut(request, now, moment)
            answer?(.taken(nil))
        case .repeated(let call): answer?(.repeated(call))
        case .differs: break
        }
    }

    /// Returns the date of a card's start; `nil`, which counts as just now, if no card can have started then.
    private func startDate(_ startedAt: FeedTime?, at moment: Moment) -> FeedTime? {
        guard let startedAt else { return nil }
        if StartDate.isPossible(startedAt, now: moment.wall) { return startedAt }
        report(
            "follow: \(StartDate.impossible), so it counts as started just now", with: ": startedAt \(startedAt)")
        return nil
    }

    // MARK: Stopping

    /// Publishes pending changes once everything taken has been decided. Calls `onOver` when every activity has them or the time is over.
    private func finish(isLate: Bool) {
        if !stop.hasFinished { finishFeed() }
        if isLate { end() }
    }

    private func finishFeed() {
        stop.hasFinished = true
        core.finish()
        for waiting in unflushed.takeAll() { core.settle(until: waiting.until, waiting.settled) }
        core.settle { [unowned self] _ in
            stop.hasSettled = true
            if intake?.isIdle != false { end() }
        }
    }

    private func end() {
        stop.isOver = true
        onOver()
    }

    // MARK: Turns with a store

    private func run(
        through intake: Intake, _ entries: EntryMaker, _ now: FeedTime, _ moment: Moment, isLate: Bool
    ) -> Next {
        let clock = moment.monotonic
        withdrawSettles(at: clock)
        intake.withdrawSettles(at: clock)
        for _ in 0..<CoreTurn.requestsMax {
            if core.isCongested, !isLate { break }
            guard let item = intake.take() else { break }
            switch item {
            case .durable(let entry, let position):
                core.pendingJoin = intake.joining
                decide(entry, at: position)
            case .kept(let request, _, _):
                inbox.noteChanged()
                carryOut(request, now, moment)
            case .request(.repeated(let call, let answer, let isChange)):
                // The intake holds the entry with the key of a card's change once the card's row is durable, which is after calls that repeat the
                // key. It has done so by now: the repeated call waits once more, for that entry.
                if let awaited = keyed.awaited(call) {
                    intake.hold(.repeated(awaited, answer, isChange: isChange))
                } else {
                    carryOut(.repeated(call, answer, isChange: isChange), now, moment)
                }
            case .request(let request): carryOut(request, now, moment)
            }
        }
        // While a timer is due, log time is that of the last entry and earlier than the timer's deadline: an order releases changes by a timer that
        // is due at the order's own time.
        let due = core.nextDeadline.flatMap { $0 > now ? nil : $0 }
        askShards(at: due.map { min(core.now, $0 + .milliseconds(-1)) } ?? now)
        let supply = hold(through: intake, entries, now, moment)
        if supply == .exhausted, intake.isEmpty { finish(through: intake, isLate: isLate) }
        entries.tick(due: stop.hasFinished ? nil : core.nextDeadline, now, at: clock)
        // The report comes before `send`, because entries that wait for slow rows go on once operators know of the slowness.
        reportSlowness(of: intake, clock)
        intake.send(at: clock, now: core.now)
        askOfRemovals()
        core.pendingJoin = intake.joining
        // Requests that wait for the loading of cards wait for no commit.
        let isGivenUp = intake.isCommitting ? clock >= stop.by + CoreTurn.storePatience : intake.awaitsCards
        if isLate, isGivenUp, !intake.hasReady {
            abandon(intake, entries, now, moment)
            return .again
        }
        // No request waits for a checkpoint: new requests go first in the next turn.
        let writesOn = !isLate && checkpointer?.run() == true
        return supply == .more || writesOn ? .again : next(through: intake, entries, now, moment)
    }

    /// State of the mailbox after a turn has taken requests.
    private enum Supply {
        /// The inbox is closed and empty.
        case exhausted
        /// There may be more requests, for which there is room.
        case more
        /// The turn can take no request: requests have still to come, or there is no room for them.
        case none
    }

    /// Takes requests from the mailbox, and hands them to the maker of entries.
    private func hold(
        through intake: Intake, _ entries: EntryMaker, _ now: FeedTime, _ moment: Moment
    ) -> Supply {
        for _ in 0..<CoreTurn.requestsMax {
            guard intake.hasRoom else { return .none }
            // A producer that has claimed a slot and is about to write it will signal.
            guard let request = inbox.requests.pop() else { return inbox.requests.isExhausted ? .exhausted : .none }
            entries.hold(request, now, wall: moment.wall)
        }
        return .more
    }

    private func decide(_ entry: LogEntry, at position: LogPosition) {
        defer { checkpointer?.noteDecided(entry) }
        core.note(entry, at: position)
        guard case .feedEnd = entry.body else { return core.apply(entry) }
        finishFeed()
    }

    /// Publishes pending changes once everything taken is durable and decided.
    private func finish(through intake: Intake, isLate: Bool) {
        if stop.hasFinished {
            if isLate || stop.hasSettled && intake.isIdle { end() }
        } else if !intake.isFeedOver {
            intake.isFeedOver = true
            intake.hold(LogEntry(now: core.now, .feedEnd), nil)
        }
    }

    /// Ends a stop without the store, which does not answer: answers the questions, and gives up all requests that are not durable.
    private func abandon(_ intake: Intake, _ entries: EntryMaker, _ now: FeedTime, _ moment: Moment) {
        while let request = inbox.requests.pop() { entries.hold(request, now, wall: now) }
        // A producer that has claimed a slot and is about to write it will signal.
        guard inbox.requests.isExhausted else { return }
        for _ in 0..<intake.changesInHand { inbox.noteChanged() }
        for request in intake.abandon() { carryOut(request, now, moment) }
        for waiting in unflushed.takeAll() { waiting.settled(.unknown) }
        report(
            "the engine stopped before its store took everything",
            with: ": \(intake.lost) events are not known to be durable")
        end()
    }

    private func reportSlowness(of intake: Intake, _ clock: MonotonicTime) {
        // A turn that takes durable items may begin the next commit at once.
        while let transition = intake.entryTransition(at: clock) {
            switch transition {
            case .isSlow:
                report("the store has taken nothing for 2 s; new events wait for it, and pushes of earlier ones go on")
            case .answersAgain: report("the store answers again")
            }
        }
        while let transition = intake.rowTransition(at: clock) {
            switch transition {
            case .isSlow:
                report("the store has taken no changes of cards for 2 s; new ones wait for it, and events go on")
            case .answersAgain: report("the store takes changes of cards again")
            }
        }
    }

    private func next(
        through intake: Intake, _ entries: EntryMaker, _ now: FeedTime, _ moment: Moment
    ) -> Next {
        let clock = moment.monotonic
        // A stop whose time is over waits for no shard.
        if intake.hasReady, !core.isCongested || clock >= stop.by { return .again }
        var deadline = min(intake.settleDeadline, settleDeadline)
        if stop.by > clock {
            deadline = min(deadline, stop.by)
        } else if intake.isCommitting {
            deadline = min(deadline, stop.by + CoreTurn.storePatience)
        }
        deadline = min(deadline, intake.slowDue)
        if !intake.isCommittingEntries, !intake.holdsEntry, !intake.hasReady, !stop.hasFinished, let due = nextFlush {
            // Log time may run slower than the monotonic clock; a turn that comes too early waits once more.
            deadline = min(deadline, max(clock + (due - now), entries.nextTick))
        }
        guard deadline < .never else { return .after(nil) }
        return deadline <= clock ? .again : .after(deadline - clock)
    }

    // MARK: Cards of the earlier process, and cards that are over

    /// Notes that the engine is about to report a card that the earlier process may have started.
    ///
    /// - Returns: `false` if the card is on a phone, as a later call has reported.
    package func noteReport(ofUncertain card: UInt64) -> Bool {
        let callers = inbox.arrivals
        return intake?.uncertain.noteReport(
            of: card, lastCall: lastCall, callers: inbox.hasCaller(among: callers) ? callers : nil)
            ?? false
    }

    /// Number of the last call in the mailbox.
    private var lastCall: UInt64 { inbox.requests.popped + UInt64(inbox.capacity - inbox.requests.room) }

    /// Notes that a shard has removed an activity, whose row is to be removed.
    package func noteRemoval(of activity: UInt64, token: UInt64, shard: Int) {
        intake?.ends.shardRemoved(CardEnds.Question(id: activity, token: token, shard: shard))
        askOfRemovals()
    }

    /// Notes the shard's answer.
    ///
    /// - Returns: `true` if a turn is due: there is a row to be removed, or a stop may have waited for the last answer.
    package func noteRemovalCheck(of activity: UInt64, token: UInt64, isOver: Bool) -> Bool {
        guard let intake else { return false }
        let count = intake.ends.count
        intake.ends.answer(activity, token: token, isOver: isOver)
        return stop.hasSettled || count == 0 && intake.ends.count > 0
    }

    /// Asks shards about reported removals, as far as there is room for their rows.
    private func askOfRemovals() {
        while let question = intake?.ends.nextQuestion() {
            core.checkRemoval(question.id, token: question.token, shard: question.shard)
        }
    }
}
