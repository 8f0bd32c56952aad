import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareQueues

/// Turns of an engine with a store. The core decides an entry only once the entry is durable, so no effect of an entry leaves the engine before that.
extension CoreTurn {
    /// Least time between two entries that only advance time. Timers still fire at their own deadlines.
    private static let tickInterval = Duration.milliseconds(100)
    /// Greatest size of an event, far above a feed's line and below the log's limit: an event that the log refused would hold up all later entries.
    static let eventSizeMax = ByteCount.mebibytes(16)
    /// Characters of an event's name in a rejection.
    private static let placeMax = 200
    /// Time beyond the deadline that a stopping engine gives the store.
    private static let storePatience = Duration.seconds(2)

    func run(through intake: Intake, _ now: FeedTime, _ moment: Moment, isLate: Bool) -> Next {
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
            case .request(let request): carryOut(request, now, moment)
            }
        }
        // While a timer is due, log time is that of the last entry and earlier than the timer's deadline: an order releases changes by a timer that
        // is due at the order's own time.
        let due = core.nextDeadline.flatMap { $0 > now ? nil : $0 }
        askShards(at: due.map { min(core.now, $0 + .milliseconds(-1)) } ?? now)
        let supply = hold(through: intake, now, moment)
        if supply == .exhausted, intake.isEmpty { finish(through: intake, isLate: isLate) }
        tick(through: intake, now, clock)
        // The report comes before `send`, because entries that wait for slow rows go on once operators know of the slowness.
        reportSlowness(of: intake, clock)
        intake.send(at: clock, now: core.now)
        askOfRemovals()
        core.pendingJoin = intake.joining
        // Requests that wait for the loading of cards wait for no commit.
        let isGivenUp = intake.isCommitting ? clock >= stopsBy + CoreTurn.storePatience : intake.awaitsCards
        if isLate, isGivenUp, !intake.hasReady {
            abandon(intake, now, moment)
            return .again
        }
        // No request waits for a checkpoint: new requests go first in the next turn.
        let writesOn = !isLate && checkpointer?.run() == true
        return supply == .more || writesOn ? .again : next(through: intake, now, moment)
    }

    /// Notes that the engine is about to report a card that the earlier process may have started.
    ///
    /// - Returns: `false` if the card is on a phone, as a later call has reported.
    func noteReport(ofUncertain card: UInt64) -> Bool {
        let callers = inbox.arrivals
        return intake?.uncertain.noteReport(
            of: card, lastCall: lastCall, callers: inbox.hasCaller(among: callers) ? callers : nil)
            ?? false
    }

    /// Number of the last call in the mailbox.
    var lastCall: UInt64 { inbox.requests.popped + UInt64(inbox.capacity - inbox.requests.room) }

    // MARK: Cards that are over

    /// Notes that a shard has removed an activity, whose row is to be removed.
    func noteRemoval(of activity: UInt64, token: UInt64, shard: Int) {
        intake?.ends.shardRemoved(CardEnds.Question(id: activity, token: token, shard: shard))
        askOfRemovals()
    }

    /// Notes the shard's answer.
    ///
    /// - Returns: `true` if a turn is due: there is a row to be removed, or a stop may have waited for the last answer.
    func noteRemovalCheck(of activity: UInt64, token: UInt64, isOver: Bool) -> Bool {
        guard let intake else { return false }
        let count = intake.ends.count
        intake.ends.answer(activity, token: token, isOver: isOver)
        return hasSettled || count == 0 && intake.ends.count > 0
    }

    /// Asks shards about reported removals, as far as there is room for their rows.
    private func askOfRemovals() {
        while let question = intake?.ends.nextQuestion() {
            core.checkRemoval(question.id, token: question.token, shard: question.shard)
        }
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

    /// Takes requests from the mailbox, and makes entries of requests that change decisions.
    private func hold(through intake: Intake, _ now: FeedTime, _ moment: Moment) -> Supply {
        for _ in 0..<CoreTurn.requestsMax {
            guard intake.hasRoom else { return .none }
            // A producer that has claimed a slot and is about to write it will signal.
            guard let request = inbox.requests.pop() else { return inbox.requests.isExhausted ? .exhausted : .none }
            hold(request, nil, under: nil, through: intake, now, moment.wall)
        }
        return .more
    }

    func hold(
        _ request: CoreRequest, _ acknowledge: EntryAcknowledgement?, under key: CallKey?, through intake: Intake,
        _ now: FeedTime, _ wall: FeedTime
    ) {
        switch request {
        case .acknowledged(let request, let acknowledge):
            hold(request, acknowledge, under: key, through: intake, now, wall)
        case .keyed(let key, let request, let answer): hold(request, under: key, answer, through: intake, now, wall)
        case .person(let entry, let request, let acknowledge):
            intake.hold(
                Intake.Change(entry: entry, request: request, acknowledge: acknowledge),
                handedIn: inbox.requests.popped)
        case .event(let event): intake.hold(entry(of: event, under: key, now, wall: wall), acknowledge)
        case .eventNow(let make):
            let event = happening(make, now, wall)
            intake.hold(entry(of: event, under: key, now, wall: event.at == now ? nil : wall), acknowledge)
        default: intake.hold(request)
        }
    }

    /// Returns an event's entry; its rejection if no log reads it back or takes it. No feed reader accepts such an event either.
    private func entry(of event: FeedEvent, under key: CallKey?, _ now: FeedTime, wall: FeedTime?) -> LogEntry {
        func rejected(_ reason: String) -> LogEntry {
            let place = String("event \(event.id ?? event.kind)".prefix(CoreTurn.placeMax))
            return LogEntry(
                now: now, key: key,
                .rejection(FeedRejection(place: place, reason: reason, topic: event.topic, at: event.at)))
        }
        guard event.isNested(within: LogEntry.depthMax) else {
            return rejected("its values are nested more than \(LogEntry.depthMax) deep")
        }
        let entry = LogEntry(now: now, key: key, .event(event, wall: wall))
        guard entry.bytes(at: 0).count <= CoreTurn.eventSizeMax.bytes else {
            return rejected("it has more than \(CoreTurn.eventSizeMax.bytes >> 20) MB")
        }
        return entry
    }

    private func decide(_ entry: LogEntry, at position: LogPosition) {
        defer { checkpointer?.noteDecided(entry) }
        core.note(entry, at: position)
        guard case .feedEnd = entry.body else { return core.apply(entry) }
        finishFeed()
    }

    /// Advances log time by an entry when a timer is due and no request has come: only entries advance log time.
    private func tick(through intake: Intake, _ now: FeedTime, _ clock: MonotonicTime) {
        guard !intake.hasReady, !intake.isCommittingEntries, !intake.holdsEntry, !hasFinished,
            let due = core.nextDeadline,
            due <= now, clock >= nextTick
        else { return }
        nextTick = clock + CoreTurn.tickInterval
        intake.hold(LogEntry(now: now.isPlausible ? now : due, .tick), nil)
    }

    /// Publishes pending changes once everything taken is durable and decided.
    private func finish(through intake: Intake, isLate: Bool) {
        if hasFinished {
            if isLate || hasSettled && intake.isIdle { end() }
        } else if !intake.isFeedOver {
            intake.isFeedOver = true
            intake.hold(LogEntry(now: core.now, .feedEnd), nil)
        }
    }

    /// Ends a stop without the store, which does not answer: answers the questions, and gives up all requests that are not durable.
    private func abandon(_ intake: Intake, _ now: FeedTime, _ moment: Moment) {
        while let request = inbox.requests.pop() { hold(request, nil, under: nil, through: intake, now, now) }
        // A producer that has claimed a slot and is about to write it will signal.
        guard inbox.requests.isExhausted else { return }
        for request in intake.abandon() { carryOut(request, now, moment) }
        for waiting in unflushed { waiting.settled(.unknown) }
        unflushed = []
        report(
            "the engine stopped before its store took everything",
            with: ": \(intake.lost) events are not known to be durable")
        end()
    }

    private func reportSlowness(of intake: Intake, _ clock: MonotonicTime) {
        // A turn that takes durable items may begin the next commit at once.
        while let news = intake.entryNews(at: clock) {
            switch news {
            case .isSlow:
                report("the store has taken nothing for 2 s; new events wait for it, and pushes of earlier ones go on")
            case .answersAgain: report("the store answers again")
            }
        }
        while let news = intake.rowNews(at: clock) {
            switch news {
            case .isSlow:
                report("the store has taken no changes of cards for 2 s; new ones wait for it, and events go on")
            case .answersAgain: report("the store takes changes of cards again")
            }
        }
    }

    /// Time of the next timer, or of the next change that a `settle` waits for.
    private var nextFlush: FeedTime? {
        unflushed.reduce(core.nextDeadline) { min($0 ?? $1.flush, $1.flush) }
    }

    private func next(through intake: Intake, _ now: FeedTime, _ moment: Moment) -> Next {
        let clock = moment.monotonic
        // A stop whose time is over waits for no shard.
        if intake.hasReady, !core.isCongested || clock >= stopsBy { return .again }
        var deadline = min(intake.settleDeadline, settleDeadline)
        if stopsBy > clock {
            deadline = min(deadline, stopsBy)
        } else if intake.isCommitting {
            deadline = min(deadline, stopsBy + CoreTurn.storePatience)
        }
        deadline = min(deadline, intake.newsDue)
        if !intake.isCommittingEntries, !intake.holdsEntry, !intake.hasReady, !hasFinished, let due = nextFlush {
            // Log time may run slower than the monotonic clock; a turn that comes too early waits once more.
            deadline = min(deadline, max(clock + (due - now), nextTick))
        }
        guard deadline < .never else { return .after(nil) }
        return deadline <= clock ? .again : .after(deadline - clock)
    }
}
