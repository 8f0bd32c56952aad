import Dispatch
import FanfareAPNs
@_exported public import FanfareCore
import FanfareLoop
import Synchronization

/// The engine inside a program of yours: feed events go in from any thread, pushes go out.
///
/// ```swift
/// let engine = try Engine(Engine.Options(transport: .apns(…)))
/// engine.follow(.topic(TopicID("match/1")), activity: id, subscriber: user, token: token)
/// engine.ingest(FeedEvent(topic: TopicID("match/1"), topicKind: .football, at: …, kind: "goal", change: .fact(…)))
/// engine.stop()
/// ```
///
/// Every call returns at once. `false` means that the engine is full: nothing was taken, try again when it has caught up; an
/// event for which `true` came back will be decided. Calls of one thread are taken in their order.
///
/// It runs a core thread and one thread per shard. Log time is the wall clock at which the core takes an event.
public final class Engine: Sendable {
    public struct Options: Sendable {
        public var transport: TransportChoice
        public var shards = 1
        /// Every shard's thread stays on one processor, for machines with nothing else to do.
        public var pinsShards = false
        /// Events and commands on their way to the core.
        public var mailboxCapacity = 1 << 14
        public var rules = Rules.builtIn
        public var limits = ActivityLimits()
        /// Activities that are on phones already. They are loaded before `init` returns.
        public var subscribers: (any SubscriberSource)?

        public init(transport: TransportChoice) { self.transport = transport }
    }

    /// What the engine tells. All calls come on its core thread and must return soon.
    public struct Observer: Sendable {
        /// The decision log: one record per event, and per timer that acted.
        public var decided: (@Sendable (DecisionRecord) -> Void)?
        /// The token is dead and its activity, `ActivityID(hashing:)` of the app's id, gone; reported once.
        public var tokenDied: (@Sendable (ActivityID) -> Void)?
        /// An activity did not start, has lasted too long, or goes on as another one.
        public var met: (@Sendable (ActivityID, ActivityFate) -> Void)?
        /// A line for operators.
        public var report: (@Sendable (String) -> Void)?

        public init() {}
    }

    /// One of the apps of `TransportChoice.apns`: `app(_:)` finds it.
    public struct App: Sendable, Hashable {
        fileprivate let index: Int
        public static let first = App(index: 0)
    }

    private enum Request: Sendable {
        case event(FeedEvent)
        case command(ShardCommand, subscriber: UInt64, app: Int)
        case impossibleStart(FeedTime)
        case trustDeadAnswers
        case counts(@Sendable (ShardCounts) -> Void)
        case freshness(@Sendable (FreshnessReport) -> Void)
        case disposition(
            ActivityID, subscriber: UInt64, app: Int, cause: String, TopicID, @Sendable (AlertDisposition) -> Void)
        case settle(@Sendable () -> Void)
    }

    /// Apart from the mailbox, so that a full one cannot keep the engine from stopping.
    private final class StopRequest: Sendable { let isMade = Atomic(false) }

    private let apps: [AppID]
    private let mailbox: ManyToOneMailbox<Request>
    private let signal: WakeupSignal
    private let stopRequest = StopRequest()
    private let finished = DispatchSemaphore(value: 0)

    /// Starts the threads and opens the connections.
    ///
    /// - Throws: one line for people: a key, a certificate, a thread that cannot be had.
    public init(_ options: Options, observer: Observer = Observer()) throws {
        let mailbox = ManyToOneMailbox<Request>(capacity: options.mailboxCapacity)
        let started = Started<WakeupSignal>()
        let makeTransports = try options.transport.makeFactories()
        let finished = finished
        let stopRequest = stopRequest
        _ = try LoopThread(name: "fanfare core") { loop in
            do {
                let driver = try Driver(loop, options, makeTransports, mailbox, stopRequest, observer)
                started.succeed(driver.signal)
                loop.run()
                driver.core.stop()
            } catch {
                started.fail(error)
            }
            finished.signal()
        }
        apps = options.transport.apps
        self.mailbox = mailbox
        signal = try started.wait()
    }

    /// - Returns: `nil` for an app that this engine does not push to.
    public func app(_ id: AppID) -> App? { apps.firstIndex(of: id).map(App.init) }

    /// A feed event. Decided by the core in the order of arrival.
    @discardableResult public func ingest(_ event: FeedEvent) -> Bool { post(.event(event)) }

    /// An operator steps in; it stands in the decision log like any event.
    ///
    /// - Parameters:
    ///   - topic: `.every` for all of them, those to come included.
    ///   - kind: with `.every`, only those of this kind.
    @discardableResult public func order(
        _ operation: FeedEvent.Operation, for topic: TopicID, kind: TopicKind? = nil
    ) -> Bool {
        ingest(
            FeedEvent(
                topic: topic, topicKind: kind, at: FeedTime(milliseconds: Clock.wallMilliseconds()),
                kind: operation.rawValue, change: .operation(operation)))
    }

    /// The same for the people of one app, whatever they follow; those of the others go on.
    @discardableResult public func order(_ operation: FeedEvent.Operation, for app: AppID) -> Bool {
        ingest(
            FeedEvent(
                topic: .every, at: FeedTime(milliseconds: Clock.wallMilliseconds()), kind: operation.rawValue,
                change: .operation(operation), app: app))
    }

    /// An operator puts the feed right: with a fact it missed, the retraction of one, or a patch. People see it at once; whether it
    /// alerts, the topic's rules say.
    @discardableResult public func correct(_ topic: TopicID, _ change: FeedEvent.Change) -> Bool {
        var at = FeedTime(milliseconds: Clock.wallMilliseconds())
        if case .fact(let fact) = change { at = fact.at }
        return ingest(FeedEvent(topic: topic, at: at, kind: "correct", change: change, isCorrection: true))
    }

    /// An activity exists and shows this topic or lineup from now on; also a move of, or a new token for, one already known.
    ///
    /// - Parameters:
    ///   - activity: the app's id of the Live Activity.
    ///   - subscriber: the app's id of the install; all its commands go one way.
    ///   - token: the activity's update token, raw bytes (not hex), at most 512.
    ///   - app: whose token it is, where there are several; an activity has the same one in all its calls.
    ///   - preferences: the person's; `nil` leaves them as they are, which is the default for a new activity.
    ///   - startedAt: when the app started the activity, by its own clock or the backend's: the system ends it eight hours after
    ///     that (spec §3.4, documented by Apple). `nil`: just now. Counts when the activity is new to the engine. A time before
    ///     there were Live Activities, or more than five minutes ahead, is a unit or a default mistaken for a time:
    ///     `Observer.report` is told, and the activity counts as started just now.
    @discardableResult public func follow(
        _ audience: AudienceKey, activity: String, subscriber: String, token: [UInt8], preferences: Preferences? = nil,
        startedAt: FeedTime? = nil, app: App = .first
    ) -> Bool {
        var age = Duration.zero
        if let startedAt {
            if let known = Engine.age(of: startedAt, now: FeedTime(milliseconds: Clock.wallMilliseconds())) {
                age = known
            } else {
                _ = post(.impossibleStart(startedAt))
            }
        }
        return post(
            .command(
                .follow(ActivityID(hashing: activity), audience, token: token, preferences: preferences, age: age),
                subscriber: Engine.key(subscriber), app: app.index))
    }

    /// What the person wants of this activity from now on (rule A5). A push that is on its way already is not called back.
    @discardableResult public func prefer(
        _ preferences: Preferences, activity: String, subscriber: String, app: App = .first
    ) -> Bool {
        post(
            .command(
                .prefer(ActivityID(hashing: activity), preferences), subscriber: Engine.key(subscriber), app: app.index)
        )
    }

    /// An activity is to appear on a phone by a push, and shows this topic or lineup from now on.
    ///
    /// One start is sent, as soon as there is something to show, and never a second one unless the first was certainly not taken:
    /// a 200 of APNs is not yet a card, and a second start may be a second card. When the app reports the new activity's update
    /// token, together with the id that stands in its attributes, `follow(_:activity:subscriber:token:)` it: it then gets the
    /// newest state, if that is another one than it was started with. Until then it is sent nothing, and after eight hours it
    /// is forgotten. Some people never allow it updates (spec §1.1, observed).
    ///
    /// Where the topic's rules say that activities are renewed, one that has lasted almost eight hours is started anew in the
    /// same way, with an id of its own (`StartRequest.name(_:edition:)`), and ends when the new one's token is reported. Each id it
    /// had goes on to mean it, in all calls here. For an activity that the app has started itself, calling this after `follow` says
    /// how to renew it; nothing is started then. The name of one that is being ended is taken until it is gone: `Observer.met` is told.
    @discardableResult public func start(
        _ audience: AudienceKey, _ request: StartRequest, subscriber: String, app: App = .first
    ) -> Bool {
        post(.command(.start(request, audience), subscriber: Engine.key(subscriber), app: app.index))
    }

    /// One private end, dismissed at once, and the activity is gone. If its update token is not known yet, the end waits for it.
    @discardableResult public func unfollow(
        activity: String, subscriber: String, app: App = .first
    ) -> Bool {
        post(.command(.unfollow(ActivityID(hashing: activity)), subscriber: Engine.key(subscriber), app: app.index))
    }

    /// When so many tokens are answered as dead that a wrong environment or bundle id is likelier, their activities are kept and
    /// `Observer.report` is told. This says that they did die: they are removed as they are found.
    @discardableResult public func trustDeadAnswers() -> Bool { post(.trustDeadAnswers) }

    /// Figures over all shards, a tenth of a second old at most. The answer comes on the core thread.
    @discardableResult public func counts(_ answer: @escaping @Sendable (ShardCounts) -> Void) -> Bool {
        post(.counts(answer))
    }

    /// How fresh people are kept, over all shards, by topic kind; a tenth of a second old at most. The answer comes on the core
    /// thread.
    @discardableResult public func freshness(_ answer: @escaping @Sendable (FreshnessReport) -> Void) -> Bool {
        post(.freshness(answer))
    }

    /// What becomes of an alert for an activity, so that a notification of the backend's own can stay quiet (rule A3). Known of the
    /// last eight alerts of the topic or lineup that the activity shows, since it shows that.
    ///
    /// Ask when `Observer.decided` has told that an alert was granted, and again later for what has come of it: an activity that
    /// has ended meanwhile is `noActivity`. With the first question the engine begins to take notes: four bytes per activity.
    ///
    /// - Parameters:
    ///   - cause: id of the fact or event that caused it, with `/cancelled` behind it for its withdrawal.
    ///   - answer: called on the core thread.
    @discardableResult public func alertDisposition(
        of cause: String, in topic: TopicID, activity: String, subscriber: String, app: App = .first,
        _ answer: @escaping @Sendable (AlertDisposition) -> Void
    ) -> Bool {
        post(
            .disposition(
                ActivityID(hashing: activity), subscriber: Engine.key(subscriber), app: app.index, cause: cause, topic,
                answer))
    }

    /// Live Activities came with iOS 16.1, in October 2022.
    private static let firstStart = FeedTime(rfc3339: "2022-10-01T00:00:00Z")!
    /// What the clocks of phones and backends may be ahead of ours.
    private static let clockSkewMax = Duration.seconds(300)

    /// - Returns: how long ago an activity began; `nil`: it cannot have begun then.
    static func age(of startedAt: FeedTime, now: FeedTime) -> Duration? {
        guard startedAt >= firstStart, startedAt <= now + clockSkewMax else { return nil }
        return max(.zero, now - startedAt)
    }

    /// Waits until everything ingested before has reached everybody, or until the time is over.
    ///
    /// - Returns: whether it has. Blocks the calling thread, which must not be the core's.
    public func settle(within timeout: Duration) -> Bool {
        let settled = DispatchSemaphore(value: 0)
        guard post(.settle { settled.signal() }) else { return false }
        return settled.wait(timeout: .now() + .milliseconds(Int(timeout.milliseconds))) == .success
    }

    /// Takes no more, lets what is on its way come back, and ends the threads. Once; blocks the calling thread.
    public func stop() {
        stopRequest.isMade.store(true, ordering: .sequentiallyConsistent)
        signal.signal()
        finished.wait()
    }

    private func post(_ request: Request) -> Bool {
        guard mailbox.tryPush(request) else { return false }
        signal.signal()
        return true
    }

    private static func key(_ subscriber: String) -> UInt64 { ActivityID(hashing: subscriber).rawValue }

    /// What lives on the core thread.
    private final class Driver {
        let core: EngineCore
        private let loop: Loop
        private let mailbox: ManyToOneMailbox<Request>
        private let stopRequest: StopRequest
        private var wakeup: Wakeup?
        private var ticks: LoopTimer?
        private var waitingToSettle: [@Sendable () -> Void] = []
        private let report: (@Sendable (String) -> Void)?
        private var reports = ReportLog()

        /// Requests per turn; then feedback and timers have theirs.
        private static let drainMax = 1024

        var signal: WakeupSignal { wakeup!.signal }  // set in `init`, never cleared

        init(
            _ loop: Loop, _ options: Options, _ makeTransports: [TransportFactory],
            _ mailbox: ManyToOneMailbox<Request>, _ stopRequest: StopRequest, _ observer: Observer
        ) throws {
            self.loop = loop
            self.mailbox = mailbox
            self.stopRequest = stopRequest
            report = observer.report
            core = try EngineCore(
                loop: loop, rules: options.rules, limits: options.limits, shards: max(1, options.shards),
                pinsShards: options.pinsShards, makeTransports: makeTransports, apps: options.transport.apps,
                load: options.subscribers.map { subscribers in
                    let apps = options.transport.apps
                    return { shard, place in try subscribers.load(into: shard, at: place, apps: apps) }
                })
            wakeup = try Wakeup(loop: loop) { [unowned self] in drain() }
            ticks = LoopTimer(loop: loop) { [unowned self] in tick() }
            core.onRecord = { record, _ in observer.decided?(record) }
            core.onDeadToken = { observer.tokenDied?($0) }
            core.onFate = { observer.met?($0, $1) }
            core.onReport = { observer.report?($0) }
            core.onMisconfigured = { observer.report?($0) }
            core.onRelief = { [unowned self] in drain() }
            core.onQuiet = { [unowned self] in
                for settled in waitingToSettle { settled() }
                waitingToSettle.removeAll()
            }
        }

        private func drain() {
            for _ in 0..<Driver.drainMax {
                // Full is an answer: requests stay in the mailbox, which then refuses new ones.
                if core.isCongested { return }
                guard let request = mailbox.pop() else {
                    // What was taken before the stop has been decided by now.
                    if stopRequest.isMade.load(ordering: .sequentiallyConsistent) { loop.stop() }
                    armTicks()
                    return
                }
                switch request {
                case .event(let event): core.apply(event, now: now)
                case .command(let command, let subscriber, let app):
                    core.send(command, forSubscriber: subscriber, app: app)
                case .impossibleStart(let time): report(impossibleStart: time)
                case .trustDeadAnswers: core.broadcast(.trustDeadAnswers)
                case .counts(let answer): answer(core.counts)
                case .freshness(let answer): answer(core.freshness)
                case .disposition(let activity, let subscriber, let app, let cause, let topic, let answer):
                    core.ask(activity, ofSubscriber: subscriber, app: app, about: cause, in: topic, answer: answer)
                case .settle(let settled):
                    // What an operator's order let out is due by now.
                    core.advance(to: now)
                    waitingToSettle.append(settled)
                    core.askForQuiet()
                }
            }
            signal.signal()
        }

        private func report(impossibleStart time: FeedTime) {
            let text =
                "follow: no Live Activity was started before October 2022 or in the future (milliseconds? seconds? a default?), "
                + "so it counts as started just now"
            guard let line = reports.admit(text, at: Clock.monotonicNanoseconds()) else { return }
            report?("\(line): startedAt \(time)")
        }

        private var now: FeedTime { FeedTime(milliseconds: Clock.wallMilliseconds()) }

        private func tick() {
            core.advance(to: now)
            armTicks()
        }

        private func armTicks() {
            guard let deadline = core.nextDeadline else { return }
            ticks?.start(after: max(.zero, deadline - now))
        }
    }
}
