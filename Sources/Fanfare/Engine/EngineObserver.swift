public import FanfareModel

/// Closures that the engine calls with everything it announces, from its first moment on. The sequences, such as `decisions(buffering:)`,
/// give the same announcements to tasks, which may be slow. Programs call it `Engine.Observer`.
///
/// The engine calls the closures on its core thread, and they must return soon. They may call the engine; on that thread `settle` returns `false`
/// at once, and `stop` returns at once.
public struct EngineObserver: Sendable {
    /// Receives the decision log: one record per event, and one per timer that acted.
    public var onDecision: (@Sendable (DecisionRecord) -> Void)?
    /// Receives each activity that the engine has removed because its token is dead, once.
    public var onDeadToken: (@Sendable (ActivityID) -> Void)?
    /// Receives the fate of an activity, such as a failed start, its expiry or its renewal.
    public var onActivityEvent: (@Sendable (ActivityEvent) -> Void)?
    /// Receives lines for operators. Equal lines come at most once a minute, with the number of repetitions.
    public var onReport: (@Sendable (String) -> Void)?

    /// Creates an observer without closures, which ignores everything.
    public init() {}
}
