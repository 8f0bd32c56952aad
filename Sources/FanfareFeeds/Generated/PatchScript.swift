import FanfareModel

/// One synthetic topic whose feed sends numbered patches, with the difficulties of real ones: some come late, some twice.
struct PatchScript {
    let topic: String
    private let kind: TopicKind
    private var seq: Int64 = 0
    var random: SplitMix64
    /// Present error of the provider's estimates, in thousandths.
    var drift: Int64 = 0
    private(set) var entries: [FeedEntry] = []

    init(topic: String, kind: TopicKind, random: SplitMix64) {
        self.topic = topic
        self.kind = kind
        self.random = random
    }

    /// Sends a patch of the provider's present knowledge, with absolute values.
    mutating func set(_ kind: String, at: FeedTime, _ values: JSONObject) {
        seq += 1
        var line: JSONObject = [
            "topic": .string(topic), "at": .string(at.description), "kind": .string(kind), "seq": .int(seq),
            "id": .string("\(seq)"), "set": .object(values),
        ]
        if seq == 1 { line["topicKind"] = .string(self.kind.rawValue) }
        // The first patch is never late, because the others build on it.
        let isLate = seq > 1 && random.chance(perThousand: 15)
        let delivered = isLate ? at + .milliseconds(random.number(in: 3000...40_000)) : at
        entries.append(FeedEntry(delivered: delivered, line: line))
        if random.chance(perThousand: 5) {
            entries.append(FeedEntry(delivered: delivered + .milliseconds(random.number(in: 500...5000)), line: line))
        }
    }

    /// Sends the end of the topic.
    mutating func end(at: FeedTime) {
        let line: JSONObject = ["topic": .string(topic), "at": .string(at.description), "kind": "end"]
        entries.append(FeedEntry(delivered: at, line: line))
    }

    /// Sends an invisible event: a position on a map, a heartbeat.
    mutating func noise(_ kind: String, at: FeedTime) {
        let line: JSONObject = [
            "topic": .string(topic), "at": .string(at.description), "kind": .string(kind),
        ]
        entries.append(FeedEntry(delivered: at, line: line))
    }
}
