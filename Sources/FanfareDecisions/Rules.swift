public import FanfareModel

/// Editorial rules: for each topic kind, the fields that are visible, the changes that are essential or may alert, and lifetimes.
/// Plain values, which a rules file decodes into.
public struct Rules: Sendable {
    /// Rules by topic kind. An event of the topic names its kind, not necessarily the first one.
    public var kinds: [TopicKind: TopicRules]
    /// Rules for kinds that `kinds` does not name, and for topics whose kind is not known.
    public var other: TopicRules
    /// Rules for activities that show several topics.
    public var lineups: LineupRules
    /// Bounds on the memory that a feed can use.
    public var limits: Limits

    /// Creates rules from their parts. To change a few rules only, copy `Rules.builtIn` and change the copy.
    public init(
        kinds: [TopicKind: TopicRules], other: TopicRules, lineups: LineupRules = LineupRules(),
        limits: Limits = Limits()
    ) {
        self.kinds = kinds
        self.other = other
        self.lineups = lineups
        self.limits = limits
    }

    /// Rules of a kind; `other` if `kinds` does not name it.
    public subscript(kind: TopicKind) -> TopicRules { kinds[kind] ?? other }

    /// Bounds on the memory that a feed can use. Beyond a bound, events are `rejected` or the oldest entry is forgotten, as each
    /// bound states.
    public struct Limits: Sendable, Hashable {
        /// Topics remembered at a time, about 1 KB each plus their facts. If there is no room for another one, the one that ended longest
        /// ago is forgotten before its time (`TopicRules.Lifetime.forgetAfter`); if none has ended, events of further topics are rejected.
        public var topicsMax = 1_000_000
        /// Topic kinds for which an operator's orders stand; orders for further ones are rejected.
        public var orderedKindsMax = 256
        /// Size of a topic's id, at most 512 bytes; events with longer ids are rejected.
        public var topicIDSizeMax = TopicID.sizeMax {
            // Shards take no longer ids.
            didSet { topicIDSizeMax = min(topicIDSizeMax, TopicID.sizeMax) }
        }
        /// Event ids remembered per topic to recognise duplicates, at most 64 bytes each; one more evicts the oldest. A recorded
        /// football match has 2,000.
        public var eventIDsMax = 4096
        /// Size of an event's or fact's id, and of its kind; events with longer ones are rejected.
        public var idSizeMax = ByteCount.bytes(128)
        /// Facts per topic that can still be withdrawn, or preceded by a late one. Beyond that number the older half is *settled*:
        /// folded for good. A fact older than those is `late` and dropped.
        public var factsMax = 1024
        /// Facts withdrawn before they arrived, per topic; further ones are rejected. The DFL match has 60.
        public var earlyRetractionsMax = 4096
        /// Canonical size of one fact's values; larger ones are rejected.
        public var factSizeMax = ByteCount.kibibytes(1)
        /// Canonical size of a content state, unless its topic's `attributesReserve` leaves less. Changes that would exceed it
        /// are rejected.
        public var stateSizeMax = EncodedState.sizeMax
        /// Size of an alert's title, body and sound together, in the JSON of a push; longer alerts are demoted. Together with the
        /// largest state it leaves 256 bytes for the envelope.
        public var alertSizeMax = AlertText.sizeMax
        /// Causes named by one published record; its reason has the number of further ones.
        public var causesMax = 64

        /// Creates limits with room for a million topics and for everything that recorded feeds have needed.
        public init() {}
    }
}
