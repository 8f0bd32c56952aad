import Dispatch
@_exported public import FanfareDecisions
@_exported public import FanfareFanOut
import FanfareLoop
@_exported public import FanfareModel
import Synchronization

/// The engine inside a program of yours: feed events go in from any thread, pushes go out.
///
/// ```swift
/// let engine = try Engine(Engine.Options(transport: .apns(…)))
/// let followed = engine.follow(.topic(TopicID("match/1")), activity: id, subscriber: user, token: token)
/// let event = FeedEvent(topic: TopicID("match/1"), topicKind: .football, at: …, kind: "goal", change: .fact(…))
/// switch engine.ingest(event) {
/// case .taken: break
/// case .full: …  // the engine is behind: hold the feed back and offer the event again, or leave it out
/// case .stopped, .refused: …
/// }
/// engine.stop()
/// ```
///
/// Every call that answers with an `Admission` returns at once, and says whether the engine has taken what it was given; `init`, `settle`
/// and `stop` wait. Calls of one thread are taken in their order. What was taken will be decided, and sent unless the time given to `stop`
/// is too short for that.
///
/// It runs a core thread and one thread per shard. Log time is the moment at which the core takes an event, by a clock that begins
/// with the wall's and follows it without jumps: nobody has to fear that somebody sets the machine's clock. An engine that is dropped stops
/// as if `stop()` had been called, with nobody waiting for it.
public final class Engine: Sendable {
    /// What an engine is made with. Nothing of it can be changed while the engine runs.
    public struct Options: Sendable {
        /// Where pushes go.
        public var transport: TransportChoice
        /// Of each app, 1 to 256.
        public var shards = 1
        /// Every shard's thread stays on one processor, for machines with nothing else to do.
        public var pinsShards = false
        /// Events and commands on their way to the core: so many, or some more. What is below 2 or above a million counts as that.
        public var mailboxCapacity = 1 << 14
        /// What counts as visible, as essential and as worth an alert, by topic kind.
        public var rules = Rules.builtIn
        /// How much of a phone's attention one activity may claim.
        public var limits = ActivityLimits()
        /// Activities that are on phones already. They are loaded before `init` returns; `Observer.report` is told how many of them had
        /// to be left out, and why.
        public var subscribers: (any SubscriberSource)?
        /// Another one than the system's is for tests.
        public var clock = ClockSource.system

        /// One shard, the built-in rules, and no subscribers, where nothing else is set afterwards.
        public init(transport: TransportChoice) { self.transport = transport }
    }

    /// What the engine tells. All calls come on its core thread and must return soon. They may call the engine; of the calls that
    /// wait `settle` answers `false` there, and `stop` returns at once.
    public struct Observer: Sendable {
        /// The decision log: one record per event, and per timer that acted.
        public var decided: (@Sendable (DecisionRecord) -> Void)?
        /// The token is dead and its activity, `ActivityID(hashing:)` of the app's id, gone; reported once.
        public var tokenDied: (@Sendable (ActivityID) -> Void)?
        /// An activity did not start, has lasted too long, or goes on as another one.
        public var met: (@Sendable (ActivityID, ActivityFate) -> Void)?
        /// A line for operators; an equal one once a minute, with how often it came meanwhile.
        public var report: (@Sendable (String) -> Void)?

        /// Tells nobody anything until its closures are set.
        public init() {}
    }

    /// One of the apps of `TransportChoice.apns`: `app(_:)` finds it.
    public struct App: Sendable, Hashable {
        fileprivate let id: AppID?
        /// The app of the transport's first options; also what is meant where the transport pushes to none.
        public static let first = App(id: nil)
    }

    private let apps: [AppID]
    private let inbox: CoreTurn.Inbox
    private let clock: ClockSource
    private let signal: WakeupSignal
    private let coreThread: CoreThread
    private let thread: Locked<LoopThread>

    /// Starts the threads and opens the connections.
    ///
    /// - Throws: one line for people: a key, a certificate, a thread that cannot be had. Nothing is left behind then.
    public convenience init(_ options: Options, observer: Observer = Observer()) throws {
        try self.init(
            options, observer: observer, apps: options.transport.apps,
            makeTransports: options.transport.makeFactories(shards: options.shards))
    }

    /// - Parameter makeTransports: one for each app, or one where there are none.
    init(_ options: Options, observer: Observer, apps: [AppID], makeTransports: [TransportFactory]) throws {
        guard Engine.shardCounts.contains(options.shards) else {
            throw EngineFault(
                description:
                    "an engine has \(Engine.shardCounts.lowerBound) to \(Engine.shardCounts.upperBound) shards of each "
                    + "app, not \(options.shards)")
        }
        let inbox = CoreTurn.Inbox(
            capacity: Engine.mailboxCapacity(options.mailboxCapacity),
            topicIDBytesMax: options.rules.limits.topicIDBytesMax)
        let started = Started<WakeupSignal>()
        let coreThread = CoreThread()
        let thread = try LoopThread(name: "fanfare core") { loop in
            coreThread.id.store(LoopThread.current, ordering: .relaxed)
            do {
                let driver = try Driver(loop, options, apps, makeTransports, inbox, observer)
                started.succeed(driver.signal)
                driver.run()
            } catch {
                started.fail(error)
            }
        }
        do { signal = try started.wait() } catch {
            thread.join()
            throw error
        }
        self.apps = apps
        self.inbox = inbox
        clock = options.clock
        self.coreThread = coreThread
        self.thread = Locked(thread)
    }

    deinit { requestStop(within: Engine.stopTimeout) }

    /// - Returns: `nil` for an app that this engine does not push to.
    public func app(_ id: AppID) -> App? { apps.contains(id) ? App(id: id) : nil }

    /// A feed event. Decided by the core in the order of arrival.
    public func ingest(_ event: FeedEvent) -> Admission { post(.event(event)) }

    /// An operator steps in; it stands in the decision log like any event.
    ///
    /// - Parameters:
    ///   - topic: `.every` for all of them, those to come included.
    ///   - kind: with `.every`, only those of this kind. Of one topic nobody needs to name it.
    public func order(
        _ operation: FeedEvent.Operation, for topic: TopicID, kind: TopicKind? = nil
    ) -> Admission {
        happensNow {
            FeedEvent(
                topic: topic, topicKind: topic == .every ? kind : nil, at: $0, kind: operation.rawValue,
                change: .operation(operation))
        }
    }

    /// An operator's order for the people of one app, whatever they follow; those of the others go on. Refused for an app that this
    /// engine does not push to.
    public func order(_ operation: FeedEvent.Operation, for app: AppID) -> Admission {
        guard apps.contains(app) else { return Engine.refusal(of: App(id: app)) }
        return happensNow {
            FeedEvent(
                topic: .every, at: $0, kind: operation.rawValue, change: .operation(operation), app: app)
        }
    }

    /// An operator puts the feed right: with a fact it missed, the retraction of one, or a patch. People see it at once; whether it
    /// alerts, the topic's rules say. Operations are no corrections and refused: they are for `order`.
    public func correct(_ topic: TopicID, _ change: FeedEvent.Change) -> Admission {
        if case .operation(let operation) = change { return .refused("\(operation) is an order, not a correction") }
        return happensNow { now in
            var at = now
            if case .fact(let fact) = change { at = fact.at }
            return FeedEvent(topic: topic, at: at, kind: "correct", change: change, isCorrection: true)
        }
    }

    /// An event whose time is when the core takes it: no clock of the caller's comes into it.
    func happensNow(_ event: @escaping @Sendable (_ now: FeedTime) -> FeedEvent) -> Admission { post(.eventNow(event)) }

    /// An activity exists and shows this topic or lineup from now on; also a move of, or a new token for, one already known.
    ///
    /// - Parameters:
    ///   - activity: the app's id of the Live Activity; no other activity of any subscriber or app has it.
    ///   - subscriber: the app's id of the install; all its commands go one way.
    ///   - token: the activity's update token, raw bytes (not hex), at most 512.
    ///   - app: whose token it is, where there are several; an activity has the same one in all its calls.
    ///   - preferences: the person's; `nil` leaves them as they are, which is the default for a new activity.
    ///   - startedAt: when the app started the activity, by its own clock or the backend's: the system ends it eight hours after
    ///     that (spec §3.4, documented by Apple). `nil`: just now. Counts when the activity is new to the engine. A time before
    ///     there were Live Activities, or more than five minutes ahead, is a unit or a default mistaken for a time:
    ///     `Observer.report` is told, and the activity counts as started just now.
    public func follow(
        _ audience: AudienceKey, activity: String, subscriber: String, token: [UInt8], preferences: Preferences? = nil,
        startedAt: FeedTime? = nil, app: App = .first
    ) -> Admission {
        guard let index = index(of: app) else { return Engine.refusal(of: app) }
        let subscription = Subscription(
            audience: audience, activity: ActivityID(hashing: activity), subscriber: Engine.key(subscriber),
            token: token,
            preferences: preferences, startedAt: startedAt)
        return post(.follow(subscription, app: index))
    }

    /// What the person wants of this activity from now on (rule A5). A push that is on its way already is not called back.
    public func prefer(
        _ preferences: Preferences, activity: String, subscriber: String, app: App = .first
    ) -> Admission {
        send(.prefer(ActivityID(hashing: activity), preferences), for: subscriber, of: app)
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
    /// had goes on to mean it, in all calls here. `Observer.met` is told when the old card has gone and the new one may be there:
    /// `.renewed`; after an outage that is later than the system has ended the old one. For an activity that the app has started
    /// itself, calling this after `follow` says how to renew it; nothing is started then. The name of one that is being ended is
    /// taken until it is gone: `Observer.met` is told.
    public func start(
        _ audience: AudienceKey, _ request: StartRequest, subscriber: String, app: App = .first
    ) -> Admission {
        send(.start(request, audience), for: subscriber, of: app)
    }

    /// One private end, dismissed at once, and the activity is gone. If its update token is not known yet, the end waits for it.
    public func unfollow(
        activity: String, subscriber: String, app: App = .first
    ) -> Admission {
        send(.unfollow(ActivityID(hashing: activity)), for: subscriber, of: app)
    }

    /// When so many tokens are answered as dead that a wrong environment or bundle id is likelier, their activities are kept and
    /// `Observer.report` is told. This says that they did die: they are removed as they are found.
    public func trustDeadAnswers() -> Admission { post(.trustDeadAnswers) }

    /// Figures over all shards, a tenth of a second old at most. The answer comes on the core thread, also when the engine stops.
    public func counts(_ answer: @escaping @Sendable (ShardCounts) -> Void) -> Admission {
        post(.counts(answer))
    }

    /// How fresh people are kept, over all shards, by topic kind; a tenth of a second old at most. The answer comes on the core
    /// thread, also when the engine stops.
    public func freshness(_ answer: @escaping @Sendable (FreshnessReport) -> Void) -> Admission {
        post(.freshness(answer))
    }

    /// What becomes of an alert for an activity, so that a notification of the backend's own can stay quiet (rule A3). Known of the
    /// last eight alerts of the topic or lineup that the activity shows, since it shows that.
    ///
    /// Ask when `Observer.decided` has told that an alert was granted, and again later for what has come of it: an activity that
    /// has ended meanwhile is `noActivity`. With the first question the engine begins to take notes: eight bytes per activity.
    ///
    /// - Parameters:
    ///   - cause: the fact's id where a fact caused it, else the event's (`DecisionRecord.id`), else the event's kind and the version, as
    ///     `state/7`; with `/cancelled` behind it for its withdrawal.
    ///   - answer: called on the core thread, also when the engine stops: with `nil` if that was before it knew.
    public func alertDisposition(
        of cause: String, in topic: TopicID, activity: String, subscriber: String, app: App = .first,
        _ answer: @escaping @Sendable (AlertDisposition?) -> Void
    ) -> Admission {
        guard let app = index(of: app) else { return Engine.refusal(of: app) }
        return post(
            .disposition(
                ActivityID(hashing: activity), subscriber: Engine.key(subscriber), app: app, cause: cause, topic, answer
            ))
    }

    /// Live Activities came with iOS 16.1, in October 2022.
    private static let firstStart = FeedTime(rfc3339: "2022-10-01T00:00:00Z")!
    /// What the clocks of phones and backends may be ahead of ours.
    private static let clockSkewMax = Duration.seconds(300)

    /// For operators.
    static let noSuchStart =
        "no Live Activity was started before October 2022 or in the future (milliseconds? seconds? a default?)"

    /// - Returns: how long ago an activity began; `nil`: it cannot have begun then.
    static func age(of startedAt: FeedTime, now: FeedTime) -> Duration? {
        guard startedAt >= firstStart, startedAt <= now + clockSkewMax else { return nil }
        return max(.zero, now - startedAt)
    }

    /// Waits until everything that was taken before has reached everybody, or something newer has; and until the changes among it
    /// that wait for their topic's interval have. What comes after the call it does not wait for, so on a busy engine it ends, too.
    /// What an operator's pause holds back is not waited for.
    ///
    /// - Returns: whether it has. `false` when the time is over or the engine stops first, and when nothing more is to be sent but some
    ///   activities were refused the newest state for good (`ShardCounts.refused`); at once when the engine is full or has stopped,
    ///   and on the core thread. Else it blocks the calling thread.
    public func settle(within timeout: Duration) -> Bool {
        guard !coreThread.isCurrent else { return false }
        let verdict = Verdict()
        let timeout = max(.zero, min(timeout, Engine.longest))
        let until = moment(in: timeout)
        let request = CoreTurn.Request.settle(until: until) { settlement in
            verdict.isYes.store(settlement == .complete, ordering: .relaxed)
            verdict.given.signal()
        }
        guard post(request).isTaken else { return false }
        let limit = DispatchTime.now() + .milliseconds(Int(timeout.milliseconds))
        return verdict.given.wait(timeout: limit) == .success && verdict.isYes.load(ordering: .relaxed)
    }

    /// The semaphore orders the two threads.
    private final class Verdict: Sendable {
        let isYes = Atomic(false)
        let given = DispatchSemaphore(value: 0)
    }

    /// Takes nothing more from this moment on, decides what was taken, and sends what was decided, with the changes that wait for
    /// their topic's interval; then it closes the connections and ends the threads. Who waits for an answer gets it, and no
    /// `Observer` is called any more when it has returned.
    ///
    /// From any thread, any number of times: each call returns when the engine has stopped, within the shortest of the times given.
    /// Only a call on the core thread, so of an `Observer` or an answer, returns at once, and the engine stops by itself.
    ///
    /// - Parameter timeout: what has not been sent by then, because a service is slow or gone, is not sent at all. What was taken
    ///   is decided nevertheless.
    public func stop(within timeout: Duration = Engine.stopTimeout) {
        requestStop(within: timeout)
        guard !coreThread.isCurrent else { return }
        thread.withLock { $0.join() }
    }

    /// Long enough for answers that are seconds late, and short enough for whoever waits for a process to end.
    public static let stopTimeout = Duration.seconds(10)

    /// 34 years: far from where clocks overflow.
    private static let longest = Duration.seconds(1 << 30)

    private func requestStop(within timeout: Duration) {
        inbox.stop(by: moment(in: max(.zero, min(timeout, Engine.longest))))
        signal.signal()
    }

    /// By the monotonic clock, which begins wherever it likes.
    private func moment(in timeout: Duration) -> Int64 {
        let (moment, overflows) = clock.monotonicNanoseconds().addingReportingOverflow(timeout.milliseconds * 1_000_000)
        return overflows ? .max : moment
    }

    private func send(_ command: ShardCommand, for subscriber: String, of app: App) -> Admission {
        guard let index = index(of: app) else { return Engine.refusal(of: app) }
        return post(.command(command, subscriber: Engine.key(subscriber), app: index))
    }

    private func post(_ request: CoreTurn.Request) -> Admission {
        let admission = inbox.post(request)
        if admission.isTaken { signal.signal() }
        return admission
    }

    private func index(of app: App) -> Int? { app.id.map { apps.firstIndex(of: $0) } ?? 0 }

    private static func refusal(of app: App) -> Admission {
        .refused("this engine does not push to the app \(app.id.map(String.init(describing:)) ?? "")")
    }

    private static func key(_ subscriber: String) -> UInt64 { ActivityID(hashing: subscriber).rawValue }

    private static let shardCounts = 1...256
    private static let mailboxCapacityMax = 1 << 20

    /// The least power of two that is as large.
    static func mailboxCapacity(_ wanted: Int) -> Int {
        let wanted = max(2, min(wanted, mailboxCapacityMax))
        return 1 << (Int.bitWidth - (wanted - 1).leadingZeroBitCount)
    }
}

/// Options that make no sense: one line for people.
public struct EngineFault: Error, Sendable, CustomStringConvertible {
    /// What was set and what may be, in one line for people.
    public let description: String
}
