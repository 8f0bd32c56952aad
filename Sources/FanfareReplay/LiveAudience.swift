import FanfareFanOut
import FanfareModel

/// Synthetic subscribers of a live feed: each of them follows every topic as soon as it appears.
struct LiveAudience {
    private let subscribers: SyntheticSubscribers
    private var topics: Set<TopicID> = []

    init(_ subscribers: SyntheticSubscribers) { self.subscribers = subscribers }

    /// Lets the subscribers follow the topic if this is its first publication.
    mutating func welcome(_ topic: TopicID, send: (_ subscriber: UInt64, ShardCommand) -> Void) {
        if topics.insert(topic).inserted { subscribers.follow(topic, send: send) }
    }

    /// Forgets the topic: its id may come again as a new topic's.
    mutating func forget(_ topic: TopicID) { topics.remove(topic) }
}
