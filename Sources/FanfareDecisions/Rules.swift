public import FanfareModel

/// Editorial rules: for each topic kind, the fields that are visible, the changes that are essential or may alert, and lifetimes. Rules are plain
/// values, into which a rules file decodes.
public struct Rules: Sendable {
    /// Rules by topic kind. Any event of a topic may name the topic's kind, not only its first one.
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

    /// Bounds on the memory that a feed can use. The core rejects events beyond a bound, or forgets the oldest entry, as each bound states.
    public struct Limits: Sendable, Hashable {
        /// Topics that the core remembers at a time, about 1 KB each plus their facts. The core forgets the topic that ended longest ago before its
        /// time (`TopicRules.Lifetime.forgetAfter`) if a further topic finds no room, and rejects events of further topics if none has ended.
        public var topicsMax = 1_000_000
        /// Topic kinds for which an operator's orders stand; the core rejects orders for further kinds.
        public var orderedKindsMax = 256
        /// Size of a topic's id, at most 512 bytes; the core rejects events with longer ids.
        public var topicIDSizeMax = TopicID.sizeMax {
            // Shards take no longer ids.
            didSet { topicIDSizeMax = min(topicIDSizeMax, TopicID.sizeMax) }
        }
        /// Event ids that the core remembers per topic to recognise duplicates, at most 64 bytes each; one more evicts the oldest. A recorded
        /// football match has 2,000.
        public var eventIDsMax = 4096
        /// Size of an event's or fact's id, and of its kind; the core rejects events with longer ones.
        public var idSizeMax = ByteCount.bytes(128)
        /// Facts per topic that a withdrawal or a late fact can still reach. The ledger *settles* the older half beyond that number: it folds them
        /// for good. The core drops a fact that is older than the settled ones as `late`.
        public var factsMax = 1024
        /// Withdrawals per topic that arrived before their facts; the core rejects further ones. The DFL match has 60.
        public var earlyRetractionsMax = 4096
        /// Canonical size of one fact's values; the core rejects larger ones.
        public var factSizeMax = ByteCount.kibibytes(1)
        /// Canonical size of a content state, unless its topic's `attributesReserve` leaves less. The core rejects changes that would exceed it.
        public var stateSizeMax = EncodedState.sizeMax
        /// Size of an alert's title, body and sound together, in the JSON of a push; the core demotes longer alerts. Together with the largest state
        /// it leaves 256 bytes for the envelope.
        public var alertSizeMax = AlertText.sizeMax
        /// Causes that one published record names; the record's reason has the number of further ones.
        public var causesMax = 64

        /// Creates limits with room for a million topics and for everything that recorded feeds have needed.
        public init() {}
    }
}
