@_exported public import FanfareDecisions
@_exported public import FanfareFanOut
import FanfareLoop
@_exported public import FanfareModel
import Synchronization

/// The engine inside a program of yours: feed events go in from any thread, pushes go out.
///
/// ```swift
/// let engine = try Engine(Engine.Options(transport: .apns(.production(…))))
/// _ = try await engine.follow(.topic(TopicID("match/1")), activity: id, subscriber: user, token: token)
/// let event = FeedEvent(topic: TopicID("match/1"), topicKind: .football, at: …, kind: "goal", change: .fact(…))
/// switch engine.offer(event) {
/// case .taken(let receipt): …
/// case .full: …  // the engine is behind: hold the feed back, or leave the event out
/// case .stopped, .refused: …
/// }
/// await engine.shutdown()
/// ```
///
/// Whatever changes something comes in two forms. `offer(_:)` returns at once and says whether the engine has taken it; `send(_:within:)`, and
/// the verbs made of it, wait for room and throw. Both give a `Receipt`. Calls of one thread, or task, are taken in their order. What was
/// taken will be decided, and sent unless the time given to `shutdown(within:)` is too short for that.
///
/// It runs a core thread and one thread per shard. Log time is the moment at which the core takes an event, by a clock that begins
/// with the wall's and follows it without jumps: nobody has to fear that somebody sets the machine's clock. An engine that is dropped stops
/// as if it had been told to, with nobody waiting for it.
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

    /// What the engine tells, from its first moment on, to closures. The sequences (`decisions(buffering:)` and the others) tell the same to
    /// tasks, which may take their time.
    ///
    /// All calls come on the engine's core thread and must return soon. They may call the engine; of the calls that block `settle` answers
    /// `false` there, and `stop` returns at once.
    public struct Observer: Sendable {
        /// The decision log: one record per event, and per timer that acted.
        public var decided: (@Sendable (DecisionRecord) -> Void)?
        /// The token is dead and its activity gone; reported once.
        public var tokenDied: (@Sendable (ActivityID) -> Void)?
        /// An activity did not start, has lasted too long, or goes on as another one.
        public var met: (@Sendable (ActivityID, ActivityFate) -> Void)?
        /// A line for operators; an equal one once a minute, with how often it came meanwhile.
        public var report: (@Sendable (String) -> Void)?

        /// Tells nobody anything until its closures are set.
        public init() {}
    }

    private let apps: [AppID]
    let inbox: CoreTurn.Inbox
    let clock: ClockSource
    let signal: WakeupSignal
    let coreThread: CoreThread
    let thread: Locked<LoopThread>
    let announcements: Announcements
    let ending = Ending()

    /// Starts the threads and opens the connections.
    ///
    /// It blocks the calling thread until the subscribers are loaded: some seconds for ten million of them.
    ///
    /// - Throws: a key, a certificate, a thread that cannot be had, options that make no sense, or what the source of subscribers throws.
    ///   Nothing is left behind then.
    public convenience init(_ options: Options, observer: Observer = Observer()) throws(EngineFault) {
        do {
            try self.init(
                options, observer: observer, apps: options.transport.apps,
                makeTransports: options.transport.makeFactories(shards: options.shards))
        } catch { throw EngineFault(error) }
    }

    /// - Parameter makeTransports: one for each app, or one where there are none.
    init(_ options: Options, observer: Observer, apps: [AppID], makeTransports: [TransportFactory]) throws {
        guard Engine.shardCounts.contains(options.shards) else {
            throw OptionsFault(
                description:
                    "an engine has \(Engine.shardCounts.lowerBound) to \(Engine.shardCounts.upperBound) shards of each "
                    + "app, not \(options.shards)")
        }
        let inbox = CoreTurn.Inbox(
            capacity: Engine.mailboxCapacity(options.mailboxCapacity),
            topicIDBytesMax: options.rules.limits.topicIDBytesMax)
        let started = Started<WakeupSignal>()
        let coreThread = CoreThread()
        let announcements = Announcements(observer)
        let ending = ending
        let thread = try LoopThread(name: "fanfare core") { loop in
            coreThread.id.store(LoopThread.current, ordering: .relaxed)
            do {
                let driver = try Driver(loop, options, apps, makeTransports, inbox, announcements)
                started.succeed(driver.signal)
                let counts = driver.run()
                announcements.finish()
                ending.come(with: ShutdownReport(owed: counts.owed, refused: counts.refused))
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
        self.announcements = announcements
    }

    deinit { requestStop(within: Engine.stopTimeout) }

    // MARK: Handing in

    /// A feed event, at once or not at all: the shortest way in, in constant time. It never waits.
    public func offer(_ event: FeedEvent) -> Admission { post(.event(event)) }

    /// At once or not at all.
    public func offer(_ command: Command) -> Admission {
        switch request(for: command) {
        case .success(let request): return post(request)
        case .failure(let error):
            guard case .refused(let refusal) = error else { return .stopped }
            return .refused(refusal)
        }
    }

    /// Waits for room, behind those who wait already, and hands the command in.
    ///
    /// - Parameters:
    ///   - command: is checked first, and waits for nothing where it is refused.
    ///   - patience: how long to wait for room; `nil`: as long as it takes.
    /// - Throws: `.full` when the patience is at its end; `.stopped`; `.cancelled`; `.refused`. Nothing was taken then.
    public func send(_ command: Command, within patience: Duration? = nil) async throws(EngineError) -> Receipt {
        try await hand(in: request(for: command).get(), until: patience.map(moment(in:)) ?? .max)
    }

    /// Waits until an offer that was refused as `full` may be made again. There is room for one caller then; others may take it first.
    ///
    /// - Throws: `.stopped`, and `.cancelled`.
    public func room() async throws(EngineError) {
        guard !inbox.hasRoom else { return }
        switch await inbox.line.wait(with: nil, until: .max, wake: { signal.signal() }) {
        case .admitted: return
        case .late: throw .full
        case .stopped: throw .stopped
        case .cancelled: throw .cancelled
        }
    }

    func hand(in request: CoreTurn.Request, until: Int64) async throws(EngineError) -> Receipt {
        try await inbox.post(request, until: until) { signal.signal() }
    }

    func post(_ request: CoreTurn.Request) -> Admission {
        let admission = inbox.post(request)
        if case .taken = admission { signal.signal() }
        return admission
    }

    private func request(for command: Command) -> Result<CoreTurn.Request, EngineError> {
        index(of: command.app).flatMap { app in
            switch command.body {
            case .event(let event): .success(.event(event))
            case .happening(let make): .success(.eventNow(make))
            case .follow(let subscription): .success(.follow(subscription, app: app))
            case .card(let card, let subscriber): .success(.command(card, subscriber: subscriber, app: app))
            case .trustDeadAnswers: .success(.trustDeadAnswers)
            case .refused(let refusal): .failure(.refused(refusal))
            }
        }
    }

    /// - Parameter app: `nil`: the first, also where the engine pushes to none.
    func index(of app: AppID?) -> Result<Int, EngineError> {
        guard let app else { return .success(0) }
        guard let index = apps.firstIndex(of: app) else {
            return .failure(.refused(Refusal(.app, "this engine does not push to the app \(app)")))
        }
        return .success(index)
    }

    // MARK: Ages

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

    private static let shardCounts = 1...256
    private static let mailboxCapacityMax = 1 << 20

    /// The least power of two that is as large.
    static func mailboxCapacity(_ wanted: Int) -> Int {
        let wanted = max(2, min(wanted, mailboxCapacityMax))
        return 1 << (Int.bitWidth - (wanted - 1).leadingZeroBitCount)
    }
}

/// Why there is no engine.
public struct EngineFault: Error, Sendable, CustomStringConvertible {
    /// What the system, the key file or the source of subscribers said; `nil` where the options themselves make no sense.
    public let underlying: (any Error)?
    /// What was set and what may be, or what the system said: one line for people.
    public let description: String

    init(_ error: any Error) {
        let isOfOptions = error is OptionsFault
        underlying = isOfOptions ? nil : error
        description = "\(error)"
    }
}
