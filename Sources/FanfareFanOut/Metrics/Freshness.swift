public import FanfareModel

/// How fresh what people see is: how old states are when they leave, and how long sweeps and lanes take. Nanoseconds. Each shard
/// keeps one per topic kind, and one for all lineups together.
public struct Freshness: Sendable, Equatable {
    /// From a version's arrival at the shard until it is handed to the transport, for each push; joiners, who missed nothing, not
    /// counted.
    public var stateAge = Histogram()
    /// From a publication's arrival at the shard until everybody there had it, or a newer one.
    public var sweep = Histogram()
    /// From a publication's arrival until the first push of its sweep, by lane: alerts and ends, priority 10, priority 5.
    public var laneDelay: [Histogram] = Array(repeating: Histogram(), count: Lanes.lastLane)

    /// Kinds told apart in one shard, 50 KB each at most.
    static let kindsMax = 16

    /// Nothing measured yet.
    public init() {}

    package mutating func add(_ other: Freshness) {
        stateAge.add(other.stateAge)
        sweep.add(other.sweep)
        for lane in laneDelay.indices { laneDelay[lane].add(other.laneDelay[lane]) }
    }
}

extension TopicKind {
    /// In figures only: all lineups together.
    public static let lineup = TopicKind("lineup")
    /// In figures only: kinds beyond those that are told apart.
    public static let other = TopicKind("other")
}

/// How fresh people are kept. What `Engine.freshness` answers is the sum over all shards and apps.
public struct FreshnessReport: Sendable, Equatable {
    /// By topic kind; `TopicKind.lineup` stands for all lineups, and `TopicKind.other` for kinds beyond the first
    /// sixteen.
    public var kinds: [TopicKind: Freshness] = [:]
    /// For how long the oldest publication that somebody lacks has been on its way, in nanoseconds; 0 when nobody lacks anything.
    public var oldestUndelivered: Int64 = 0
    /// When the last push was accepted, in nanoseconds of the engine's monotonic clock (`ClockSource`); 0 before the first.
    public var lastAccepted: Int64 = 0

    /// Nothing measured yet.
    public init() {}

    package static func + (a: FreshnessReport, b: FreshnessReport) -> FreshnessReport {
        var sum = a
        for (kind, freshness) in b.kinds { sum.kinds[kind, default: Freshness()].add(freshness) }
        sum.oldestUndelivered = max(a.oldestUndelivered, b.oldestUndelivered)
        sum.lastAccepted = max(a.lastAccepted, b.lastAccepted)
        return sum
    }
}
