@_exported public import FanfareDecisions
@_exported public import FanfareFanOut
@_exported public import FanfareModel
@_exported public import FanfareQueues

/// The engine inside your program: feed events go in from any thread, pushes go out.
///
/// ```swift
/// let engine = try await Engine.launch(Engine.Options(transport: .apns(options)))
/// _ = try await engine.follow(.topic(match), activity: "anna-card", subscriber: "anna", token: token)
/// let event = FeedEvent(topic: match, topicKind: .football, at: time, kind: "goal", change: .fact(goal))
/// switch engine.offer(event) {
/// case .taken(let receipt): print("taken at \(receipt.position)")
/// case .full: print("the engine is behind: hold the feed back, or leave the event out")
/// case .stopped, .refused: print("the engine takes no such event")
/// }
/// let report = await engine.shutdown()
/// print("\(report.owed) activities lack a push")
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
    /// Settings of an engine.
    public typealias Options = EngineOptions
    /// Closures that receive an engine's announcements.
    public typealias Observer = EngineObserver

    let core: RunningCore

    /// Creates an engine: starts its threads and opens the connections. The call returns when the subscribers are loaded, which takes some seconds
    /// for ten million of them, or when a store's events are read. The call blocks no thread of the tasks' pool, and a cancelled task still gets its
    /// engine.
    ///
    /// - Throws: `EngineFault` for an unusable key or certificate, a thread that cannot be created, invalid options, or an error of the
    ///   source of subscribers in an engine without a store. The call leaves no thread and no connection behind.
    public static func launch(_ options: Options, observer: Observer = Observer()) async throws(EngineFault) -> Engine {
        Engine(try await RunningCore.begun(options, observer))
    }

    /// Creates an engine and blocks the calling thread until the subscribers are loaded or a store's events are read. For programs without
    /// tasks.
    ///
    /// - Throws: `EngineFault` for an unusable key or certificate, a thread that cannot be created, invalid options, or an error of the
    ///   source of subscribers in an engine without a store. The call leaves no thread and no connection behind.
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

    deinit { core.stop(within: Engine.stopTimeout) }

    /// Default time for stopping: long enough for answers that are seconds late, short enough for a supervisor that waits for the process to
    /// exit.
    public static let stopTimeout = Duration.seconds(10)
}
