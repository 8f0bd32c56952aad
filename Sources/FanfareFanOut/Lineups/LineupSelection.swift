import FanfareModel

/// Identity of a lineup in its shard: the topics, in order, and the favourite.
struct LineupSelection: Hashable {
    let topics: [TopicIndex]
    /// Index into `topics`.
    let pinned: Int?
}
