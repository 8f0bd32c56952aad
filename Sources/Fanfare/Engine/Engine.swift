@_exported public import FanfareDecisions
@_exported public import FanfareFanOut
import FanfareLog
import FanfareLoop
@_exported public import FanfareModel
@_exported public import FanfareQueues

/// The engine inside your program: feed events go in from any thread, pushes go out.
///
/// ```swift
/// let engine = try await Engine.launch(Engine.Options(transport: .apns(.production(…))))
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
/// A program hands in commands, which include feed events, in two ways. `offer(_:)` returns at once and says if the engine has taken the command;
/// `send(_:within:)`, and the verbs built on it, wait for room and throw. Both return a `Receipt`. The engine takes the calls of one thread or task
/// in their order. It decides every command that it has taken, and sends the result unless the time given to `shutdown(within:)` is too short.
///
/// The engine runs a core thread and one thread per shard. Log time is the moment at which the core takes an event, by a clock that starts with the
/// wall clock and follows it without jumps, so setting the machine's clock does no harm. An engine that is released stops as if by `stop(within:)`,
/// but without blocking: a program that ends before the engine has stopped loses the pushes that have not left, and so does a program that calls
/// `exit`.
public final class Engine: Sendable {
    /// Settings of an engine; fixed once it runs.
    public struct Options: Sendable {
        /// Destination of the pushes.
        public var transport: TransportChoice
        /// Shards per app, 1 to 256.
        public var shards = 1
        /// Pins each shard's thread to one processor, for machines with nothing else to do.
        public var pinsShards = false
        /// Events and commands on their way to the core, rounded up to a power of two. Values below 2 or above 2^20 are clamped.
        public var mailboxCapacity = 1 << 14
        /// Rules by topic kind: which changes are visible, which are essential and which deserve an alert.
        public var rules = Rules.builtIn
        /// Limits on how much of a phone's attention one activity may claim.
        public var limits = ActivityLimits()
        /// Activities that are on phones already. The engine loads them before `launch` returns, or after the activities of a store;
        /// `Observer.report` receives the number of activities left out, and the reasons.
        public var subscribers: (any SubscriberSource)?
        /// Place in which the engine keeps feed events, orders and people; `nil`: they are lost with the process. An engine with a store reads its
        /// events before `launch` returns, and continues where the last engine stopped. It serves while its people are loaded: only calls that change
        /// cards, `settle` and questions about cards wait for that.
        public var store: StoreChoice?
        /// Clock of the engine; only tests need another one than the system's.
        public var clock = ClockSource.system

        /// Creates options with one shard, the built-in rules and no subscribers.
        public init(transport: TransportChoice, store: StoreChoice? = nil) {
            self.transport = transport
            self.store = store
        }
    }

    /// Closures that the engine calls with everything it announces, from its first moment on. The sequences, such as `decisions(buffering:)`,
    /// give the same announcements to tasks, which may be slow.
    ///
    /// The engine calls the closures on its core thread, and they must return soon. They may call the engine; on that thread `settle` returns `false`
    /// at once, and `stop` returns at once.
    public struct Observer: Sendable {
        /// Receives the decision log: one record per event, and one per timer that acted.
        public var decided: (@Sendable (DecisionRecord) -> Void)?
        /// Receives, once each, the activities that are gone because their token is dead.
        public var tokenDied: (@Sendable (ActivityID) -> Void)?
        /// Receives the fate of an activity, such as a failed start, its expiry or its renewal.
        public var met: (@Sendable (ActivityID, ActivityFate) -> Void)?
        /// Receives lines for operators. Equal lines come at most once a minute, with the number of repetitions.
        public var report: (@Sendable (String) -> Void)?

        /// Creates an observer without closures, which ignores everything.
        public init() {}
    }

    let core: RunningCore

    /// Creates an engine: starts its threads and opens the connections. The call returns when the subscribers are loaded, which takes some seconds
    /// for ten million of them, or when a store's events are read. The call blocks no thread of the tasks' pool, and a cancelled task still gets its
    /// engine.
    ///
    /// - Throws: `EngineFault` for an unusable key or certificate, a thread that cannot be created, invalid options, or an error of the
    ///   source of subscribers in an engine without a store. No thread or connection is left behind.
    public static func launch(_ options: Options, observer: Observer = Observer()) async throws(EngineFault) -> Engine {
        Engine(try await RunningCore.begun(options, observer))
    }

    /// Creates an engine and blocks the calling thread until the subscribers are loaded or a store's events are read. For programs without
    /// tasks.
    ///
    /// - Throws: `EngineFault` for an unusable key or certificate, a thread that cannot be created, invalid options, or an error of the
    ///   source of subscribers in an engine without a store. No thread or connection is left behind.
    @available(*, noasync, message: "await Engine.launch(_:observer:) instead: this one blocks a thread of the pool")
    public convenience init(_ options: Options, observer: Observer = Observer()) throws(EngineFault) {
        let core = try RunningCore(options, observer)
        self.init(core)
    }

    /// - Parameter makeTransports: one factory per app, or a single one if there are no apps.
    package convenience init(
        _ options: Options, observer: Observer, apps: [AppID], makeTransports: [TransportFactory]
    ) throws {
        let core = try RunningCore(options, observer, apps: apps, makeTransports: makeTransports)
        self.init(core)
    }

    private init(_ core: RunningCore) { self.core = core }

    deinit { requestStop(within: Engine.stopTimeout) }

    // MARK: Handing in

    /// Hands in a feed event at once or not at all, in constant time and without waiting: the fastest way.
    public func offer(_ event: FeedEvent) -> Admission { post(.event(event)) }

    /// Hands in a command at once or not at all.
    public func offer(_ command: Command) -> Admission {
        switch request(for: command) {
        case .success(let request): return post(request)
        case .failure(let error):
            guard case .refused(let refusal) = error else { return .stopped }
            return .refused(refusal)
        }
    }

    /// Waits for room, after all callers that wait already, and hands the command in.
    ///
    /// - Parameters:
    ///   - command: checked before the wait.
    ///   - patience: longest wait for room; `nil`: no limit.
    /// - Returns: the receipt. With a store, the receipt of every command but `trustDeadAnswers` comes when the command is durable; a task that is
    ///   cancelled in the meantime gets a receipt that says `prompt`.
    /// - Throws: `.full` if there was no room in time, `.stopped`, `.cancelled` or `.refused`. Nothing has been taken then, with one
    ///   exception: with a store, `.stopped` may also mean that the store took nothing in time.
    public func send(_ command: Command, within patience: Duration? = nil) async throws(EngineError) -> Receipt {
        try await hand(in: request(for: command).get(), until: patience.map(time(in:)) ?? .never)
    }

    /// Waits until an offer that was answered with `full` may be repeated. There is then room for one command, which another caller may take first.
    ///
    /// - Parameter command: the command that was offered; `nil` waits until there is room for any. In an engine with a store, changes of
    ///   cards may have to wait for a disk that has room for events.
    /// - Throws: `.stopped` or `.cancelled`; `.refused` for a command that can never be carried out.
    public func room(for command: Command? = nil) async throws(EngineError) {
        var offered: CoreRequest?
        if let command { offered = try request(for: command).get() }
        switch await core.inbox.room(for: offered, wake: { core.signal.signal() }) {
        case .admitted: return
        case .late: throw .full
        case .stopped: throw .stopped
        case .cancelled: throw .cancelled
        }
    }

    func hand(in request: CoreRequest, until: MonotonicTime) async throws(EngineError) -> Receipt {
        if case .person(let entry, let change, nil) = request {
            return try await hand(in: change, keeping: entry, until: until)
        }
        if case .keyed(let key, let change, nil) = request {
            return try await hand(in: change, under: key, until: until)
        }
        guard core.inbox.hasStore, request.isLogged else {
            return try await queue(request, until: until)
        }
        // The inner `nil` of the reply is the engine's: it has stopped before the entry was known to be durable.
        let reply = Reply<UInt64?>()
        let receipt = try await queue(.acknowledged(request) { reply.give(.some($0)) }, until: until)
        // A cancelled task does not wait for its entry.
        guard let answer = await reply.value() else { return receipt }
        guard let entry = answer else { throw .stopped }
        return Receipt(position: receipt.position, durability: .durable, entry: entry)
    }

    /// Waits for room only.
    func queue(_ request: CoreRequest, until: MonotonicTime) async throws(EngineError) -> Receipt {
        try await core.inbox.post(request, until: until) { core.signal.signal() }
    }

    /// Hands in a change of a card, and waits until the store keeps it.
    private func hand(
        in change: CoreRequest, keeping entry: PeopleEntry, until: MonotonicTime
    ) async throws(EngineError) -> Receipt {
        let reply = Reply<Bool?>()
        let request = CoreRequest.person(entry, change) { reply.give(.some($0)) }
        let receipt = try await queue(request, until: until)
        guard let answer = await reply.value() else { return receipt }
        guard let isKept = answer else { throw .stopped }
        return Receipt(position: receipt.position, durability: isKept ? .durable : .memory)
    }

    /// Hands in a call with a key, and waits until the core has found the key and the store keeps the call.
    private func hand(
        in change: CoreRequest, under key: CallKey, until: MonotonicTime
    ) async throws(EngineError) -> Receipt {
        let reply = Reply<KeyedAnswer>()
        let receipt = try await queue(.keyed(key, change) { reply.give($0) }, until: until)
        guard let answer = await reply.value() else { return receipt }
        func keeping(_ entry: LogPosition?, of position: UInt64? = nil, isRepeat: Bool = false) -> Receipt {
            Receipt(
                position: position ?? receipt.position, durability: entry == nil ? .memory : .durable, entry: entry,
                isRepeat: isRepeat)
        }
        switch answer {
        case .taken(let entry): return keeping(entry)
        case .repeated(let first): return keeping(first.entry, of: first.position, isRepeat: true)
        case .differs(let first): throw .refused(Refusal(key.key, isOf: first))
        case .stopped: throw .stopped
        }
    }

    func post(_ request: CoreRequest) -> Admission {
        let admission = core.inbox.post(request)
        if case .taken = admission { core.signal.signal() }
        return admission
    }

    func request(for command: Command) -> Result<CoreRequest, EngineError> {
        let request = keylessRequest(for: command)
        guard let key = command.key else { return request }
        return request.map { .keyed(CallKey(key, content: command.content), $0, nil) }
    }

    private func keylessRequest(for command: Command) -> Result<CoreRequest, EngineError> {
        index(of: command.app).flatMap { app in
            switch command.body {
            case .event(let event): .success(.event(event))
            case .happening(let make): .success(.eventNow(make))
            case .follow(let subscription, let subscriber):
                .success(kept(.follow(subscription, app: app), as: call(of: subscriber).entry(subscription)))
            case .card(let card, let subscriber):
                .success(
                    kept(.command(card, subscriber: subscriber.key, app: app), as: call(of: subscriber).entry(card)))
            case .trustDeadAnswers: .success(.trustDeadAnswers)
            case .refused(let refusal): .failure(.refused(refusal))
            }
        }
    }

    /// - Parameter app: `nil` stands for the first app, even if the engine pushes to none.
    func index(of app: AppID?) -> Result<Int, EngineError> {
        guard let app else { return .success(0) }
        guard let index = core.apps.firstIndex(of: app) else {
            return .failure(.refused(Refusal(.app, "this engine does not push to the app \(app)")))
        }
        return .success(index)
    }
}

/// Reason why an engine could not be created.
public struct EngineFault: Error, Sendable, CustomStringConvertible {
    /// Error of the system, the key file or the source of subscribers, or a `StoreFault`; `nil` if the options are invalid.
    public let underlying: (any Error)?
    /// Text for people in one line: the given option and its bounds, or the system's message.
    public let description: String

    init(_ error: any Error) {
        let isOfOptions = error is OptionsFault
        underlying = isOfOptions ? nil : (error as? LogError).map(StoreFault.init) ?? error
        description = "\(error)"
    }
}
