public import FanfareModel

/// What an editor decides beforehand: for each topic kind what counts as visible, what is essential, what may alert, and how
/// long things live. Plain values; a rules file decodes into them.
public struct Rules: Sendable {
    /// By topic kind. A topic's kind is known from its first event on.
    public var kinds: [TopicKind: TopicRules]
    /// For kinds that `kinds` does not name, and for topics without one.
    public var other: TopicRules
    /// For activities that show several topics.
    public var lineups: LineupRules
    /// What a feed may make the engine remember.
    public var limits: Limits

    /// `Rules.builtIn` is a start: change what is to be another way and leave the rest.
    public init(
        kinds: [TopicKind: TopicRules], other: TopicRules, lineups: LineupRules = LineupRules(),
        limits: Limits = Limits()
    ) {
        self.kinds = kinds
        self.other = other
        self.lineups = lineups
        self.limits = limits
    }

    /// The rules of a kind, which are `other` where `kinds` does not name it.
    public subscript(kind: TopicKind) -> TopicRules { kinds[kind] ?? other }

    /// Bounds on what a feed can make the engine remember. Beyond them events are `rejected`, or the oldest is forgotten,
    /// as each says.
    public struct Limits: Sendable, Hashable {
        /// Topics remembered at a time. Where there is no room for another one, the one that ended longest ago is forgotten before its
        /// time (`TopicRules.forgetAfter`); when none has ended, events of further ones are rejected. About 1 KB each, plus their facts.
        public var topicsMax = 1_000_000
        /// Topic kinds for which an operator's orders stand; orders for further ones are rejected.
        public var orderedKindsMax = 256
        /// Bytes of a topic's id, 512 at most; events with longer ones are rejected.
        public var topicIDBytesMax = TopicID.bytesMax {
            // Shards take none that are longer.
            didSet { topicIDBytesMax = min(topicIDBytesMax, TopicID.bytesMax) }
        }
        /// Event ids remembered per topic to know duplicates by; then the oldest is forgotten. A recorded football match
        /// has 2,000. At most 64 bytes each.
        public var eventIDsMax = 4096
        /// Bytes of an event's or fact's id, and of its kind; events with longer ones are rejected.
        public var idBytesMax = 128
        /// Facts per topic that can still be withdrawn or overtaken by a late one. When there are more, the older half is
        /// *settled*: folded for good. A fact older than that is `late` and dropped.
        public var factsMax = 1024
        /// Facts withdrawn before they arrived, per topic; further ones are rejected. The DFL match has 60.
        public var earlyRetractionsMax = 4096
        /// Canonical bytes of one fact's values; larger ones are rejected.
        public var factBytesMax = 1024
        /// Canonical bytes of a content state, where its topic's `attributesReserve` leaves no less. What would grow beyond is
        /// rejected.
        public var stateBytesMax = EncodedState.bytesMax
        /// Bytes of an alert's title, body and sound together, as they stand in a push's JSON; longer ones are demoted. Together with the
        /// largest state it leaves 256 bytes for the envelope.
        public var alertBytesMax = AlertText.bytesMax
        /// Causes named by one published record; the reason says how many more there were.
        public var causesMax = 64

        /// Room for a million topics, and for all that recorded feeds have needed.
        public init() {}
    }
}
