import FanfareFanOut
import FanfareModel

/// What operators have ordered for the people of one app, by its bundle id and environment. Topics are decided alike for all apps,
/// so these orders stand between the decisions and the app's shards, and mean what they mean for a topic. Confined to the core's
/// thread.
struct AppOrders {
    private var isMuted = false
    private var isPaused = false
    /// While paused: the newest version of each topic that was not shown.
    private var held: [TopicID: Publication] = [:]

    /// - Returns: what of it the app's people get now.
    mutating func admit(_ publication: Publication) -> Publication? {
        guard isPaused else { return isMuted ? publication.silent : publication }
        held[publication.topicID] = publication.event == .update ? publication : nil
        guard publication.event == .end else { return nil }
        return isMuted ? publication.silent : publication
    }

    mutating func forget(_ topic: TopicID) { held[topic] = nil }

    /// - Returns: what the app's shards are told.
    mutating func obey(_ operation: FeedEvent.Operation) -> [ShardCommand] {
        switch operation {
        case .mute: isMuted = true
        case .unmute: isMuted = false
        case .pause: isPaused = true
        case .resume:
            isPaused = false
            defer { held.removeAll() }
            return held.values.sorted { $0.serial < $1.serial }.map { .publish($0.silent) }
        case .republish: return isPaused ? [] : [.republish]
        case .reset: break  // is about a feed, which knows nothing of apps
        }
        return []
    }
}
