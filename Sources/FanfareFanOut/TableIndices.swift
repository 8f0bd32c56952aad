/// Place of a topic in its shard's table. It is reused after the topic is gone.
struct TopicIndex: Hashable, CustomStringConvertible {
    private let rawValue: UInt32

    init(_ place: Int) { rawValue = UInt32(place) }
    private init(rawValue: UInt32) { self.rawValue = rawValue }

    var place: Int { Int(rawValue) }
    var description: String { "\(rawValue)" }

    /// That of no topic.
    static let none = TopicIndex(rawValue: .max)
}

/// Place of an audience in its shard's table. It is reused after the audience is gone.
struct AudienceIndex: Hashable, CustomStringConvertible {
    private let rawValue: UInt32

    init(_ place: Int) { rawValue = UInt32(place) }
    private init(rawValue: UInt32) { self.rawValue = rawValue }

    var place: Int { Int(rawValue) }
    var description: String { "\(rawValue)" }

    /// That of no audience.
    static let none = AudienceIndex(rawValue: .max)
}
