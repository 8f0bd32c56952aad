import FanfareFanOut
import FanfareModel

/// Publications that shards were told of, until each shard has completed them or a newer publication has overtaken them.
///
/// All times are monotonic nanoseconds.
struct ShardCompletions {
    private struct Open {
        let topic: TopicID
        /// Shards that have not completed it; never zero here.
        var shardsLeft: Int
        /// Of the completions that have been told.
        var latest: Int64?
    }

    struct Completion: Equatable {
        let topic: TopicID
        /// When the last shard's last activity had the publication; `nil`: no activity lacked it.
        let at: Int64?
    }

    private var open = SerialTable<Open>()

    var count: Int { open.count }

    /// - Parameter shards: that were told of it, at least one.
    mutating func open(_ serial: UInt64, of topic: TopicID, shards: Int) {
        open.insert(Open(topic: topic, shardsLeft: shards, latest: nil), at: serial)
    }

    /// More shards are told of the publication. Nobody waits for them when all of those before have completed it.
    mutating func addShards(_ count: Int, to serial: UInt64) { open.update(serial) { $0.shardsLeft += count } }

    /// One shard has completed the publication.
    ///
    /// - Parameter moment: when its last activity had it; `nil`: none lacked it.
    /// - Returns: what there is to tell when that was the last shard; `nil` for a publication that was overtaken, too.
    mutating func complete(_ serial: UInt64, at moment: Int64?) -> Completion? {
        let shardsLeft = open.update(serial) { publication in
            publication.shardsLeft -= 1
            if let moment { publication.latest = max(moment, publication.latest ?? moment) }
            return publication.shardsLeft
        }
        guard shardsLeft == 0, let publication = open.remove(serial) else { return nil }
        return Completion(topic: publication.topic, at: publication.latest)
    }

    /// A newer publication's completion stands for that of this one.
    ///
    /// - Returns: its topic; `nil` where it was not open.
    mutating func overtake(_ serial: UInt64) -> TopicID? { open.remove(serial)?.topic }

    /// - Parameter shards: all that there are.
    func violation(shards: Int) -> String? {
        for (serial, publication) in open.all where !(1...shards).contains(publication.shardsLeft) {
            return "publication \(serial) is open in \(publication.shardsLeft) of \(shards) shards"
        }
        return open.violation()
    }
}
