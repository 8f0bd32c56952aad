import FanfareFanOut
import FanfareModel

/// Synthetic subscribers of a live feed: all of them follow each topic as it appears.
struct LiveAudience {
    private let subscribers: SyntheticSubscribers
    private var topics: Set<TopicID> = []

    init(_ subscribers: SyntheticSubscribers) { self.subscribers = subscribers }

    /// Something is published of the topic, which may be the first.
    mutating func welcome(_ topic: TopicID, send: (_ subscriber: UInt64, ShardCommand) -> Void) {
        if topics.insert(topic).inserted { subscribers.follow(topic, send: send) }
    }

    /// What comes under this id from now on is another topic.
    mutating func forget(_ topic: TopicID) { topics.remove(topic) }
}
