import FanfareFanOut
import FanfareModel

/// Newest figures of each shard, and their sums.
struct ShardFigures {
    private var countsOfShards: [ShardCounts]
    private var freshnessOfShards: [FreshnessReport]

    init(shards: Int) {
        countsOfShards = Array(repeating: ShardCounts(), count: shards)
        freshnessOfShards = Array(repeating: FreshnessReport(), count: shards)
    }

    mutating func update(_ counts: ShardCounts, of shard: Int) { countsOfShards[shard] = counts }
    mutating func update(_ freshness: FreshnessReport, of shard: Int) { freshnessOfShards[shard] = freshness }

    var counts: ShardCounts { countsOfShards.reduce(ShardCounts(), +) }
    var freshness: FreshnessReport { freshnessOfShards.reduce(FreshnessReport(), +) }
}
