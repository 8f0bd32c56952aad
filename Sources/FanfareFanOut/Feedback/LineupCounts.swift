/// Lineups at the moment of counting.
public struct LineupCounts: Sendable, Equatable {
    /// Activities that show a lineup.
    public var activities: Int
    /// Distinct lineups of these activities, added up over the shards: the activities of one shard with the same lineup share an audience.
    public var distinct: Int
}

// The initialiser is in an extension, so that the memberwise one remains, and no count has a default value: without a value for a new count,
// neither zero nor a sum compiles.

extension LineupCounts {
    /// Creates counts of zero.
    public init() { self.init(activities: 0, distinct: 0) }

    static func + (a: LineupCounts, b: LineupCounts) -> LineupCounts {
        func sum(_ count: (LineupCounts) -> Int) -> Int { count(a) + count(b) }
        return LineupCounts(activities: sum(\.activities), distinct: sum(\.distinct))
    }
}
