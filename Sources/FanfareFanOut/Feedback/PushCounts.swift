/// Requests to APNs by outcome; a push that is sent again counts again.
public struct PushCounts: Sendable, Equatable {
    /// Pushes handed to the transport.
    public var sent: Int
    /// Pushes answered with 200. APNs does not report whether a phone has shown them.
    public var accepted: Int
    /// Pushes whose token APNs called dead, and whose activity was removed.
    public var dead: Int
    /// Pushes whose token APNs called dead while too many tokens were; the engine keeps their activities, which get the newest state later.
    public var held: Int
    /// Pushes that the service refused for the time being, for example with 429; the activities get the newest state later.
    public var throttled: Int
    /// Pushes refused for good, which indicates a bug of Fanfare; their activities lack the content until they get a newer state.
    public var refused: Int
    /// Pushes without an answer. The engine sends the state again, but neither an alert nor a start.
    public var uncertain: Int
    /// Pushes that APNs has certainly not processed; the engine sends them again.
    public var notProcessed: Int
    /// Pushes sent at priority 5 although their topics request 10, because the activity's budget was spent.
    public var downgradedToLowPriority: Int
}

// The initialiser is in an extension, so that the memberwise one remains, and no count has a default value: without a value for a new count,
// neither zero nor a sum compiles.

extension PushCounts {
    /// Creates counts of zero.
    public init() {
        self.init(
            sent: 0, accepted: 0, dead: 0, held: 0, throttled: 0, refused: 0, uncertain: 0, notProcessed: 0,
            downgradedToLowPriority: 0)
    }

    static func + (a: PushCounts, b: PushCounts) -> PushCounts {
        func sum(_ count: (PushCounts) -> Int) -> Int { count(a) + count(b) }
        return PushCounts(
            sent: sum(\.sent), accepted: sum(\.accepted), dead: sum(\.dead), held: sum(\.held),
            throttled: sum(\.throttled), refused: sum(\.refused), uncertain: sum(\.uncertain),
            notProcessed: sum(\.notProcessed),
            downgradedToLowPriority: sum(\.downgradedToLowPriority))
    }
}
