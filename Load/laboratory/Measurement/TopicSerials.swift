import FanfareModel

/// Serial of the newest publication of each topic of a schedule.
struct TopicSerials {
    /// Numbers of the topics.
    private let topics: [TopicID: UInt32]
    private var newest: [UInt32]

    init(_ topics: [TopicID]) {
        self.topics = Dictionary(topics.enumerated().map { ($1, UInt32($0)) }) { first, _ in first }
        newest = Array(repeating: 0, count: topics.count)
    }

    /// Notes a publication.
    ///
    /// - Returns: the number of its topic, and the serial before; `nil` if the schedule has no such topic.
    mutating func note(_ publication: Publication) -> (topic: UInt32, previous: UInt32)? {
        guard let topic = topics[publication.topicID] else { return nil }
        defer { newest[Int(topic)] = UInt32(truncatingIfNeeded: publication.serial) }
        return (topic, newest[Int(topic)])
    }
}
