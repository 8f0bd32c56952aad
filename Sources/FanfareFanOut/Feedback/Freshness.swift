public import FanfareModel
public import FanfareQueues

/// Freshness of the states that people see: the age of states when they leave, the duration of sweeps, and the delay in the lanes. Each shard keeps
/// one value per topic kind, and one for all lineups together.
public struct Freshness: Sendable, Equatable {
    /// Time from a version's arrival at the shard until the transport gets it, for each push except pushes to joiners, which have missed nothing.
    public var stateAge = Histogram()
    /// Time from a publication's arrival at the shard until each member there had this publication or a newer one.
    public var sweep = Histogram()
    /// Time from a publication's arrival until the first push of its sweep, by lane: alerts and ends, priority 10, priority 5.
    public var laneDelay: [Histogram] = Array(repeating: Histogram(), count: Lane.last)

    /// Kinds with figures of their own in one shard; each takes 50 KB at most.
    static let kindsMax = 16

    /// Creates empty figures.
    public init() {}

    package mutating func add(_ other: Freshness) {
        stateAge.add(other.stateAge)
        sweep.add(other.sweep)
        for lane in laneDelay.indices { laneDelay[lane].add(other.laneDelay[lane]) }
    }
}

extension TopicKind {
    /// The kind under which figures count all lineups together; no topic has it.
    public static let lineup = TopicKind("lineup")
    /// The kind under which figures count the kinds beyond the first sixteen.
    public static let other = TopicKind("other")
}

/// Freshness of shown states. `Engine.freshness` returns the sum over all shards and apps.
public struct FreshnessReport: Sendable, Equatable {
    /// Figures by topic kind: `TopicKind.lineup` counts all lineups, and `TopicKind.other` the kinds beyond the first sixteen.
    public var kinds: [TopicKind: Freshness] = [:]
    /// Age of the oldest publication that a member lacks; zero while no member lacks any.
    public var oldestUndelivered: Duration = .zero
    /// Time of the engine's monotonic clock (`ClockSource.monotonic`) at which the last push was accepted; `nil` before the first.
    public var lastAccepted: MonotonicTime?

    /// Creates an empty report.
    public init() {}

    package static func + (a: FreshnessReport, b: FreshnessReport) -> FreshnessReport {
        var sum = a
        for (kind, freshness) in b.kinds { sum.kinds[kind, default: Freshness()].add(freshness) }
        sum.oldestUndelivered = max(a.oldestUndelivered, b.oldestUndelivered)
        if let accepted = b.lastAccepted { sum.lastAccepted = max(a.lastAccepted ?? accepted, accepted) }
        return sum
    }
}
