import FanfareModel

/// One made-up topic whose feed sends numbered patches, with what makes real ones hard: some come late, some twice.
struct PatchScript {
    let topic: String
    private let kind: TopicKind
    private var seq: Int64 = 0
    var random: SplitMix64
    /// How wrong the provider's estimates are just now, in thousandths.
    var drift: Int64 = 0
    private(set) var entries: [FeedEntry] = []

    init(topic: String, kind: TopicKind, random: SplitMix64) {
        self.topic = topic
        self.kind = kind
        self.random = random
    }

    /// What the provider knows now; absolute values.
    mutating func set(_ kind: String, at: FeedTime, _ values: JSONObject) {
        seq += 1
        var line: JSONObject = [
            "topic": .string(topic), "at": .string(at.description), "kind": .string(kind), "seq": .int(seq),
            "id": .string("\(seq)"), "set": .object(values),
        ]
        if seq == 1 { line["topicKind"] = .string(self.kind.rawValue) }
        // The first is what the others lean on, so it is in time.
        let isLate = seq > 1 && random.chance(perThousand: 15)
        let delivered = isLate ? at + .milliseconds(random.number(in: 3000...40_000)) : at
        entries.append(FeedEntry(delivered: delivered, line: line))
        if random.chance(perThousand: 5) {
            entries.append(FeedEntry(delivered: delivered + .milliseconds(random.number(in: 500...5000)), line: line))
        }
    }

    /// The provider says that it is over.
    mutating func end(at: FeedTime) {
        let line: JSONObject = ["topic": .string(topic), "at": .string(at.description), "kind": "end"]
        entries.append(FeedEntry(delivered: at, line: line))
    }

    /// Nothing that people see: a place on a map, a heartbeat.
    mutating func noise(_ kind: String, at: FeedTime) {
        let line: JSONObject = [
            "topic": .string(topic), "at": .string(at.description), "kind": .string(kind),
        ]
        entries.append(FeedEntry(delivered: at, line: line))
    }
}
