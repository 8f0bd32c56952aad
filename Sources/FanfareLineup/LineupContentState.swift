/// What a Live Activity that shows many topics gets as its content state: the same type in the app, where ActivityKit decodes
/// it, and in a backend or test that reads what Fanfare sends.
///
///     struct Scores: ActivityAttributes {
///         typealias ContentState = LineupContentState<Match>
///     }
///
/// The keys are fixed; later versions may add some. What decodes it must be a default `JSONDecoder`, because ActivityKit's is.
///
/// - Parameter State: the content state of one topic, the same that an activity of this topic alone has.
public struct LineupContentState<State: TopicContentState>: Codable, Hashable, Sendable {
    /// One topic in short: enough for the Dynamic Island, and for a row of a list.
    public struct Topic: Codable, Hashable, Sendable, Identifiable {
        /// The topic's id, as the backend calls it.
        public var id: String
        /// `football`, `transit`, or what the feed calls it.
        public var kind: String
        /// Left of the Dynamic Island's camera, read as one with `compactTrailing`; each at most 6 digits wide, if the rules do not say
        /// otherwise.
        public var compactLeading: String
        /// Right of the camera.
        public var compactTrailing: String
        /// All that is left where several activities share the island.
        public var minimal: String

        /// For previews and tests: on phones ActivityKit decodes what Fanfare has sent.
        public init(id: String, kind: String, compactLeading: String, compactTrailing: String, minimal: String) {
            self.id = id
            self.kind = kind
            self.compactLeading = compactLeading
            self.compactTrailing = compactTrailing
            self.minimal = minimal
        }
    }

    /// The topic that matters now.
    public struct Spotlight: Codable, Hashable, Sendable {
        /// Its place in `topics`.
        public var index: Int
        /// The kind of the topic, which says how `state` is to be read.
        public var kind: String
        /// Whole, never cut.
        public var state: State

        /// For previews and tests.
        public init(index: Int, kind: String, state: State) {
            self.index = index
            self.kind = kind
            self.state = state
        }

        private enum CodingKeys: String, CodingKey { case index, kind, state }

        /// Reads `state` by `TopicContentState.init(ofKind:from:)`.
        ///
        /// - Throws: what the decoder or the state's own initialiser throws.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            index = try container.decode(Int.self, forKey: .index)
            kind = try container.decode(String.self, forKey: .kind)
            state = try State(ofKind: kind, from: container.superDecoder(forKey: .state))
        }
    }

    /// In the person's own order, which does not change because something happens.
    public var topics: [Topic]
    /// Missing only when the topic's state is too large to be shown beside anything else.
    public var spotlight: Spotlight?
    /// The key of the spotlight's state that just changed: what the layout emphasises.
    public var highlight: String?
    /// Where a tap leads: the spotlight's deep link.
    public var link: String?
    /// Topics that found no room. As JSON it is there only when there are some.
    public var more: Int

    /// For previews and tests.
    public init(topics: [Topic], spotlight: Spotlight?, highlight: String? = nil, link: String? = nil, more: Int = 0) {
        self.topics = topics
        self.spotlight = spotlight
        self.highlight = highlight
        self.link = link
        self.more = more
    }

    private enum CodingKeys: String, CodingKey { case topics, spotlight, highlight, link, more }

    /// Takes an absent `more` for 0.
    ///
    /// - Throws: what the decoder throws, when `topics` is absent for instance.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        topics = try container.decode([Topic].self, forKey: .topics)
        spotlight = try container.decodeIfPresent(Spotlight.self, forKey: .spotlight)
        highlight = try container.decodeIfPresent(String.self, forKey: .highlight)
        link = try container.decodeIfPresent(String.self, forKey: .link)
        more = try container.decodeIfPresent(Int.self, forKey: .more) ?? 0
    }

    /// Leaves out what is absent and a `more` of 0, as Fanfare does.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(topics, forKey: .topics)
        try container.encodeIfPresent(spotlight, forKey: .spotlight)
        try container.encodeIfPresent(highlight, forKey: .highlight)
        try container.encodeIfPresent(link, forKey: .link)
        if more > 0 { try container.encode(more, forKey: .more) }
    }
}

/// The state of one topic. A `Codable` struct need only say that it is one; where a lineup mixes kinds, an enum tells them
/// apart:
///
///     init(ofKind kind: String, from decoder: any Decoder) throws {
///         switch kind {
///         case "football": self = .football(try Match(from: decoder))
///         default: self = .trip(try Trip(from: decoder))
///         }
///     }
public protocol TopicContentState: Codable, Hashable, Sendable {
    /// - Parameters:
    ///   - kind: the topic's kind, such as `football`.
    ///   - decoder: stands at the state, not at the lineup around it.
    /// - Throws: what cannot be read. ActivityKit then keeps the card as it was, and tells nobody.
    init(ofKind kind: String, from decoder: any Decoder) throws
}

extension TopicContentState {
    /// For lineups whose topics are all of one kind: the kind makes no difference.
    public init(ofKind kind: String, from decoder: any Decoder) throws { try self.init(from: decoder) }
}
