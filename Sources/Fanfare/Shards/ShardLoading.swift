import FanfareModel

/// Shards that open their transports, shards that serve while they load the store's cards, and the topics forgotten during the loading: cards that
/// are still to be loaded may lack the ends of these topics.
struct ShardLoading {
    /// Queues of the shards for the store's cards, by app; empty without a store.
    var queues: [[LoadingQueue]] = []
    /// Number of shards that have not loaded all of their cards.
    private var left = 0
    private var forgotten: Set<TopicID> = []

    private let shards: Int
    /// Number of shards whose transports are not ready.
    private var unready: Int

    init(shards: Int) { (self.shards, unready) = (shards, shards) }

    /// Notes that one more shard is ready.
    ///
    /// - Returns: `true` if it was the last.
    mutating func noteReady() -> Bool {
        unready -= 1
        return unready == 0
    }

    /// Begins the loading of all shards.
    mutating func begin() { left = shards }

    /// Notes that a topic is forgotten.
    ///
    /// - Returns: `true` if the shards are to keep it until all cards are loaded.
    mutating func keeps(_ topic: TopicID) -> Bool {
        if left > 0 { forgotten.insert(topic) }
        return left > 0
    }

    /// Notes that a topic is published.
    ///
    /// - Returns: `true` if the shards are to forget an earlier one under its id.
    mutating func begins(_ topic: TopicID) -> Bool { !forgotten.isEmpty && forgotten.remove(topic) != nil }

    /// Notes that one more shard has loaded all of its cards.
    ///
    /// - Returns: the topics to forget if it was the last; `nil` otherwise.
    mutating func noteLoaded() -> Set<TopicID>? {
        left -= 1
        guard left == 0 else { return nil }
        defer { forgotten = [] }
        return forgotten
    }
}
