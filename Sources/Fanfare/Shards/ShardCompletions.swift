import FanfareFanOut
import FanfareModel

/// Publications sent to shards, until every shard has completed them or a newer publication has overtaken them.
struct ShardCompletions {
    private struct Tracked {
        let topic: TopicID
        /// Shards that have not completed the publication; never zero while it is tracked.
        var shardsLeft: Int
        /// Latest completion reported so far; `nil` if no activity lacked the publication.
        var latest: MonotonicTime?
    }

    struct Completion: Equatable {
        let topic: TopicID
        /// Time at which the last activity of all shards had the publication; `nil` if no activity lacked it.
        let at: MonotonicTime?
    }

    private var tracked = SerialTable<Tracked>()

    var count: Int { tracked.count }

    /// - Parameter shards: shards that get the publication, at least one.
    mutating func track(_ serial: UInt64, of topic: TopicID, shards: Int) {
        tracked.insert(Tracked(topic: topic, shardsLeft: shards, latest: nil), at: serial)
    }

    /// Adds shards that get the publication later. Has no effect if all earlier shards have completed it.
    mutating func addShards(_ count: Int, to serial: UInt64) { tracked.update(serial) { $0.shardsLeft += count } }

    /// Notes that one shard has completed the publication.
    ///
    /// - Parameter moment: time at which the shard's last activity had it; `nil` if none lacked it.
    /// - Returns: the completion if that was the last shard; `nil` otherwise, and for an overtaken publication.
    mutating func complete(_ serial: UInt64, at moment: MonotonicTime?) -> Completion? {
        let shardsLeft = tracked.update(serial) { publication in
            publication.shardsLeft -= 1
            if let moment { publication.latest = max(moment, publication.latest ?? moment) }
            return publication.shardsLeft
        }
        guard shardsLeft == 0, let publication = tracked.remove(serial) else { return nil }
        return Completion(topic: publication.topic, at: publication.latest)
    }

    /// Removes a publication that the completion of a newer one covers.
    ///
    /// - Returns: its topic; `nil` if it was not tracked.
    mutating func overtake(_ serial: UInt64) -> TopicID? { tracked.remove(serial)?.topic }

    /// - Parameter shards: number of all shards.
    func violation(shards: Int) -> String? {
        for (serial, publication) in tracked.all where !(1...shards).contains(publication.shardsLeft) {
            return "publication \(serial) is tracked in \(publication.shardsLeft) of \(shards) shards"
        }
        return tracked.violation()
    }
}
