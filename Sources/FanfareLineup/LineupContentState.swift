/// Content state of a Live Activity that shows many topics. The app, where ActivityKit decodes it, and a backend or test that reads
/// Fanfare's pushes use the same type.
///
///     struct Scores: ActivityAttributes {
///         typealias ContentState = LineupContentState<Match>
///     }
///
/// The keys are fixed; later versions may add some. The decoder must be a default `JSONDecoder`, because ActivityKit's is.
///
/// - Parameter State: content state of one topic, the same as in an activity of this topic alone.
public struct LineupContentState<State: TopicContentState>: Codable, Hashable, Sendable {
    /// One topic in short, for the Dynamic Island and for a row of a list.
    public struct Topic: Codable, Hashable, Sendable, Identifiable {
        /// Id of the topic in the backend.
        public var id: String
        /// Kind of the topic: `football`, `transit`, or another name in the feed.
        public var kind: String
        /// Text left of the Dynamic Island's camera, read together with `compactTrailing`; at most 6 digits wide, unless the rules
        /// say otherwise.
        public var compactLeading: String
        /// Text right of the Dynamic Island's camera, at most as wide as `compactLeading`.
        public var compactTrailing: String
        /// Text where several activities share the Dynamic Island.
        public var minimal: String

        /// Creates a topic, for previews and tests; on phones ActivityKit decodes it.
        public init(id: String, kind: String, compactLeading: String, compactTrailing: String, minimal: String) {
            self.id = id
            self.kind = kind
            self.compactLeading = compactLeading
            self.compactTrailing = compactTrailing
            self.minimal = minimal
        }
    }

    /// The topic in the spotlight, with its whole state.
    public struct Spotlight: Codable, Hashable, Sendable {
        /// Position of the topic in `topics`.
        public var index: Int
        /// Kind of the topic, which determines how to read `state`.
        public var kind: String
        /// Content state of the topic, never truncated.
        public var state: State

        /// Creates a spotlight, for previews and tests.
        public init(index: Int, kind: String, state: State) {
            self.index = index
            self.kind = kind
            self.state = state
        }

        private enum CodingKeys: String, CodingKey { case index, kind, state }

        /// Decodes a spotlight, and its `state` by `TopicContentState.init(ofKind:from:)`.
        ///
        /// - Throws: errors of the decoder or of the state's own initialiser.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            index = try container.decode(Int.self, forKey: .index)
            kind = try container.decode(String.self, forKey: .kind)
            state = try State(ofKind: kind, from: container.superDecoder(forKey: .state))
        }
    }

    /// Topics in the person's own order, or by the schedule if the rules say so; events never change the order.
    public var topics: [Topic]
    /// Topic in the spotlight; missing only if its state is too large to be shown beside anything else.
    public var spotlight: Spotlight?
    /// Key of the spotlight's state that has just changed, for the layout to emphasise.
    public var highlight: String?
    /// Address that a tap opens: the spotlight's deep link.
    public var link: String?
    /// Number of topics left out for lack of room. The JSON has the member only if the number is not 0.
    public var more: Int

    /// Creates a state, for previews and tests.
    public init(topics: [Topic], spotlight: Spotlight?, highlight: String? = nil, link: String? = nil, more: Int = 0) {
        self.topics = topics
        self.spotlight = spotlight
        self.highlight = highlight
        self.link = link
        self.more = more
    }

    private enum CodingKeys: String, CodingKey { case topics, spotlight, highlight, link, more }

    /// Decodes a state; an absent `more` counts as 0.
    ///
    /// - Throws: errors of the decoder, for instance if `topics` is absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        topics = try container.decode([Topic].self, forKey: .topics)
        spotlight = try container.decodeIfPresent(Spotlight.self, forKey: .spotlight)
        highlight = try container.decodeIfPresent(String.self, forKey: .highlight)
        link = try container.decodeIfPresent(String.self, forKey: .link)
        more = try container.decodeIfPresent(Int.self, forKey: .more) ?? 0
    }

    /// Encodes the state as Fanfare does, without absent members and without a `more` of 0.
    ///
    /// - Throws: errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(topics, forKey: .topics)
        try container.encodeIfPresent(spotlight, forKey: .spotlight)
        try container.encodeIfPresent(highlight, forKey: .highlight)
        try container.encodeIfPresent(link, forKey: .link)
        if more > 0 { try container.encode(more, forKey: .more) }
    }
}

/// Content state of one topic. A `Codable` struct only needs to declare its conformance; if a lineup mixes kinds, an enum tells
/// them apart:
///
///     init(ofKind kind: String, from decoder: any Decoder) throws {
///         switch kind {
///         case "football": self = .football(try Match(from: decoder))
///         default: self = .trip(try Trip(from: decoder))
///         }
///     }
public protocol TopicContentState: Codable, Hashable, Sendable {
    /// Decodes the state of a topic of this kind.
    ///
    /// - Parameters:
    ///   - kind: the topic's kind, such as `football`.
    ///   - decoder: a decoder for the state, not for the lineup around it.
    /// - Throws: an error if the state cannot be read. ActivityKit then silently keeps the card as it was.
    init(ofKind kind: String, from decoder: any Decoder) throws
}

extension TopicContentState {
    /// Decodes the state whatever the kind, for lineups of one kind only.
    ///
    /// - Throws: errors of the decoder.
    public init(ofKind kind: String, from decoder: any Decoder) throws { try self.init(from: decoder) }
}
