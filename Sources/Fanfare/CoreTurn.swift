import FanfareDecisions
import FanfareFanOut
import FanfareModel
import Synchronization

/// What the core's thread does in an engine, without thread or loop: requests go from the embedding program's threads to the core, and
/// log time goes on. `Engine` calls it on a loop; a simulation may, in any order with `EngineCore.takeFeedback` and the shards' turns.
///
/// Confined to one thread.
final class CoreTurn {
    /// What other threads ask for.
    enum Request: Sendable {
        case event(FeedEvent)
        /// One that happens when the core takes it.
        case eventNow(@Sendable (_ now: FeedTime) -> FeedEvent)
        case command(ShardCommand, subscriber: UInt64, app: Int)
        case follow(Subscription, app: Int)
        case trustDeadAnswers
        case counts(@Sendable (ShardCounts) -> Void)
        case freshness(@Sendable (FreshnessReport) -> Void)
        case disposition(
            ActivityID, subscriber: UInt64, app: Int, cause: String, TopicID, @Sendable (AlertDisposition?) -> Void)
        /// Answered by that monotonic nanosecond, or in the next turn after it.
        case settle(until: Int64, @Sendable (Settlement) -> Void)
        case topicState(TopicID, @Sendable (TopicState?) -> Void)
    }

    /// What other threads hold of it.
    final class Inbox: Sendable {
        let requests: ManyToOneMailbox<Request>
        /// Whoever waits for room in it.
        let line = RoomLine<Request>()
        /// Monotonic nanoseconds; `.max`: nobody wants the engine to stop. Apart from the mailbox, so that a full one cannot keep it
        /// from stopping.
        let stopsBy = Atomic(Int64.max)
        private let topicIDBytesMax: Int

        init(capacity: Int, topicIDBytesMax: Int = Rules.Limits().topicIDBytesMax) {
            requests = ManyToOneMailbox(capacity: capacity)
            self.topicIDBytesMax = topicIDBytesMax
        }

        func post(_ request: Request) -> Admission {
            if let fault = request.fault(topicIDBytesMax: topicIDBytesMax) { return .refused(Refusal(fault)) }
            guard let position = requests.push(request) else { return requests.isClosed ? .stopped : .full }
            return .taken(Receipt(position: position + 1, durability: .memory))
        }

        /// The same behind those who wait for room already; where there is none, in the line with them.
        ///
        /// - Parameters:
        ///   - until: waits no longer than that, monotonic nanoseconds.
        ///   - wake: has the core take a turn.
        func post(
            _ request: Request, until: Int64, wake: @Sendable () -> Void
        ) async throws(EngineError) -> Receipt {
            if line.count == 0 || requests.isClosed {
                switch post(request) {
                case .full: break
                case let admission:
                    let receipt = try admission.get()
                    wake()
                    return receipt
                }
            } else if let fault = request.fault(topicIDBytesMax: topicIDBytesMax) {
                throw .refused(Refusal(fault))
            }
            switch await line.wait(with: request, until: until, wake: wake) {
            case .admitted(let position): return Receipt(position: (position ?? 0) + 1, durability: .memory)
            case .late: throw .full
            case .stopped: throw .stopped
            case .cancelled: throw .cancelled
            }
        }

        /// From any thread: whether a request would be taken now.
        var hasRoom: Bool { line.count == 0 && !requests.isFull }

        /// Nothing is taken from now on, and what was taken is done with by then: monotonic nanoseconds.
        func stop(by deadline: Int64) {
            requests.close()
            line.close()
            stopsBy.min(deadline, ordering: .sequentiallyConsistent)
        }
    }

    /// When the next turn is due.
    enum Next: Equatable {
        /// Soon, when others have had theirs.
        case again
        /// After so long, or with the next request; `nil`: with that.
        case after(Duration?)
    }

    private let core: EngineCore
    private let inbox: Inbox
    private let clock: ThreadClock
    private var log: LogClock
    /// Who waits until everybody has what came before, when the last of that leaves that waits for its topic's interval, and how long
    /// they wait.
    private var unflushed: [(flush: FeedTime, until: Int64, settled: @Sendable (Settlement) -> Void)] = []
    private let tell: (String) -> Void
    private var reports = ReportLog()
    /// Monotonic nanoseconds.
    private var stopsBy = Int64.max
    private var hasFinished = false
    /// All that was taken has been decided and has reached everybody, or the time for it is over.
    var onOver: (() -> Void)?

    /// Requests per turn; then feedback and timers have theirs.
    static let requestsMax = 1024

    /// - Parameter tell: takes lines for operators.
    init(_ core: EngineCore, _ inbox: Inbox, clock: ThreadClock, tell: @escaping (String) -> Void) {
        self.core = core
        self.inbox = inbox
        self.clock = clock
        self.tell = tell
        log = LogClock(at: clock.now())
    }

    /// A turn: time first, so that a mailbox which is never empty does not hold it up, then requests in their order, and then whoever
    /// waits for room.
    func run() -> Next {
        defer { core.turnIsOver() }
        let moment = clock.now()
        let next = run(at: moment)
        let patience = inbox.line.withdraw(at: moment.monotonicNanoseconds)
        guard inbox.line.count > 0 else { return next }
        if inbox.line.admit(room: inbox.requests.room, push: inbox.requests.push) { return .again }
        guard let patience, case .after(let wait) = next else { return next }
        let left = Duration.nanoseconds(max(0, patience - moment.monotonicNanoseconds))
        return .after(min(wait ?? left, left))
    }

    private func run(at moment: Moment) -> Next {
        let now = log.advance(to: moment)
        if let step = clock.step { report(step: step) }
        stopsBy = min(stopsBy, inbox.stopsBy.load(ordering: .sequentiallyConsistent))
        let isLate = moment.monotonicNanoseconds >= stopsBy
        advance(to: now)
        withdrawSettles(at: moment.monotonicNanoseconds)
        for _ in 0..<CoreTurn.requestsMax {
            // Full is an answer: requests stay in the mailbox, which then refuses new ones.
            if core.isCongested, !isLate { return next(after: now, moment) }
            guard let request = inbox.requests.pop() else {
                // A producer that is about to write what it has claimed will signal.
                if inbox.requests.isExhausted { finish(isLate: isLate) }
                return next(after: now, moment)
            }
            carryOut(request, now, moment)
        }
        return .again
    }

    private func advance(to now: FeedTime) {
        core.advance(to: now)
        guard !unflushed.isEmpty else { return }
        for waiting in unflushed where waiting.flush <= now { core.settle(until: waiting.until, waiting.settled) }
        unflushed.removeAll { $0.flush <= now }
    }

    /// Whoever has waited for long enough is told so, for an interval of hours as well.
    private func withdrawSettles(at now: Int64) {
        core.withdrawSettles(at: now)
        guard unflushed.contains(where: { $0.until <= now }) else { return }
        let late = unflushed.filter { $0.until <= now }
        unflushed.removeAll { $0.until <= now }
        for waiting in late { waiting.settled(.unknown) }
    }

    /// A congested core has its next turn when a shard tells of room; until then only time goes on.
    private func next(after now: FeedTime, _ moment: Moment) -> Next {
        var due = core.nextDeadline
        for waiting in unflushed { due = min(due ?? waiting.flush, waiting.flush) }
        if let due, due <= now { return .again }
        // Log time may be the slower one; who comes early then waits once more.
        var wait = due.map { $0 - now }
        if stopsBy < .max, stopsBy > moment.monotonicNanoseconds {
            let left = Duration.nanoseconds(stopsBy - moment.monotonicNanoseconds)
            wait = min(wait ?? left, left)
        }
        return .after(wait)
    }

    private func carryOut(_ request: Request, _ now: FeedTime, _ moment: Moment) {
        switch request {
        case .event(let event):
            core.apply(event, now: now, wall: FeedTime(milliseconds: moment.wallMilliseconds))
        case .eventNow(let make):
            let wall = FeedTime(milliseconds: moment.wallMilliseconds)
            var event = make(now)
            // Log time may lie behind the wall, by which feeds date theirs: what an operator says now is not older than what they said.
            if event.isCorrection, event.at == now { event.at = max(now, wall) }
            core.apply(event, now: now, wall: event.at == now ? nil : wall)
        case .command(let command, let subscriber, let app): core.send(command, forSubscriber: subscriber, app: app)
        case .follow(let new, let app):
            let age = age(of: new.startedAt, at: moment)
            core.send(
                .follow(new.activity, new.audience, token: new.token, preferences: new.preferences, age: age),
                forSubscriber: new.subscriber, app: app)
        case .trustDeadAnswers: core.broadcast(.trustDeadAnswers)
        case .counts(let answer): answer(core.counts)
        case .freshness(let answer): answer(core.freshness)
        case .disposition(let activity, let subscriber, let app, let cause, let topic, let answer):
            core.ask(activity, ofSubscriber: subscriber, app: app, about: cause, in: topic, answer: answer)
        case .topicState(let topic, let answer): answer(core.state(of: topic))
        case .settle(let until, let settled):
            // What an operator's order let out is due by now.
            core.advance(to: now)
            if let flush = core.flushesUntil {
                unflushed.append((flush, until, settled))
            } else {
                core.settle(until: until, settled)
            }
        }
    }

    // MARK: Stopping

    /// All that was taken has been decided: what waits goes out, and when everybody has that, or the time is over, it is over.
    private func finish(isLate: Bool) {
        if !hasFinished {
            hasFinished = true
            core.finish()
            for waiting in unflushed { core.settle(until: waiting.until, waiting.settled) }
            unflushed = []
            core.settle { [unowned self] _ in onOver?() }
        }
        if isLate { onOver?() }
    }

    /// Of the time for stopping, when it is over here.
    var timeLeft: Duration { .nanoseconds(max(0, stopsBy - clock.now().monotonicNanoseconds)) }

    // MARK: What operators are told

    /// An equal line is told once a minute, with how often it came meanwhile.
    ///
    /// - Parameter figures: vary from line to line, and tell no lines apart.
    func report(_ line: String, with figures: String = "") {
        let now = clock.now().monotonicNanoseconds
        if let line = reports.admit(line, at: now) { tell(line + figures) }
    }

    /// Against the wall as it is believed: a clock that is eight hours ahead for a moment must not end what is young.
    private func age(of startedAt: FeedTime?, at moment: Moment) -> Duration {
        guard let startedAt else { return .zero }
        if let age = Engine.age(of: startedAt, now: FeedTime(milliseconds: moment.wallMilliseconds)) { return age }
        report(
            "follow: \(Engine.noSuchStart), so it counts as started just now", with: ": startedAt \(startedAt)")
        return .zero
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

extension CoreTurn.Request {
    /// Why it cannot be carried out.
    fileprivate func fault(topicIDBytesMax: Int) -> CommandFault? {
        switch self {
        case .command(let command, _, _): command.fault(topicIDBytesMax: topicIDBytesMax)
        case .follow(let new, _):
            ShardCommand.follow(new.activity, new.audience, token: new.token).fault(topicIDBytesMax: topicIDBytesMax)
        case .event, .eventNow, .trustDeadAnswers, .counts, .freshness, .disposition, .settle, .topicState: nil
        }
    }
}
