import FanfareModel

/// Judges the reports of completions: a shard reports each publication once when all phones have it, and not at all one that was overtaken
/// or that a phone lacks for good.
struct CompletionJudge {
    /// Topic of each publication, and the time at which the shard got it.
    private(set) var published: [UInt64: (topic: TopicID, at: MonotonicTime)] = [:]
    private var completions: [UInt64: Int] = [:]
    private var overtaken: Set<UInt64> = []

    mutating func note(_ publication: Publication, at now: MonotonicTime) {
        published[publication.serial] = (publication.topicID, now)
    }

    mutating func completed(_ serial: UInt64) { completions[serial, default: 0] += 1 }

    mutating func overtook(_ serial: UInt64) { overtaken.insert(serial) }

    /// - Parameters:
    ///   - lacked: publications that a follower lacks for good.
    ///   - doubtful: publications that may or may not have been complete.
    func violation(lacked: Set<UInt64>, doubtful: Set<UInt64>) -> String? {
        for serial in published.keys {
            let count = completions[serial] ?? 0
            if doubtful.contains(serial), count <= 1 { continue }
            let isComplete = !overtaken.contains(serial) && !lacked.contains(serial)
            if count == (isComplete ? 1 : 0) { continue }
            return "publication \(serial) was reported complete \(count) times"
        }
        return nil
    }
}
