/// What an editor decides beforehand: for each topic kind what counts as visible, what is essential, what may alert, and how
/// long things live. Plain values; a rules file decodes into them.
public struct Rules: Sendable {
    public var kinds: [TopicKind: TopicRules]
    /// For kinds that `kinds` does not name, and for topics without one.
    public var other: TopicRules
    public var limits: Limits

    public init(kinds: [TopicKind: TopicRules], other: TopicRules, limits: Limits = Limits()) {
        self.kinds = kinds
        self.other = other
        self.limits = limits
    }

    public subscript(kind: TopicKind) -> TopicRules { kinds[kind] ?? other }

    /// Bounds on what a feed can make the engine remember. Beyond them events are `rejected`, or the oldest is forgotten,
    /// as each says.
    public struct Limits: Sendable, Hashable {
        /// Topics ever seen, ended ones included; events of further ones are rejected. About 1 KB each, plus their facts.
        public var topicsMax = 1_000_000
        /// Bytes of a topic's id; events with longer ones are rejected.
        public var topicIDBytesMax = 512
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
        /// Canonical bytes of a content state: the 4,096 of a push less 1,024 for static attributes, alert and envelope
        /// (rule U4). What would grow beyond is rejected.
        public var stateBytesMax = 3072
        /// Bytes of an alert's title, body and sound together; longer ones are demoted. Together with the largest state it
        /// leaves 256 bytes for the envelope.
        public var alertBytesMax = 768
        /// Causes named by one published record; the reason says how many more there were.
        public var causesMax = 64

        public init() {}
    }
}

public struct TopicRules: Sendable {
    /// Folds nothing yet: the state of a topic without facts. Copied for each topic.
    public var reducer: any Reducer
    /// How people see a field; fields not named are visible as they are.
    public var fields: [String: FieldRule]
    public var occasions: [OccasionKind: OccasionRule]
    /// For alerts that a native feed asks for in its own words.
    public var requestedAlerts: AlertRule
    /// Of one topic, all its `ordinary` alerts together.
    public var ordinaryAlerts: TokenBucket.Size
    /// Of one topic, for `essential` alerts whose own bucket is empty. Nothing else draws on it.
    public var reservedAlerts: TokenBucket.Size
    /// Visible changes that are not essential are at least so far apart (rule U5).
    public var minimumInterval: Duration
    /// When a card without news begins to look old (rule L6).
    public var staleAfter: Duration
    public var dismissal: Dismissal
    /// The topic ends then, with its newest state. The system's own limit is 8 hours (rule L1).
    public var maximumDuration: Duration

    public init(
        reducer: any Reducer = PatchesOnly(), fields: [String: FieldRule] = [:],
        occasions: [OccasionKind: OccasionRule] = [:],
        requestedAlerts: AlertRule = AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300)),
        ordinaryAlerts: TokenBucket.Size = .init(burst: 4, refill: .seconds(300)),
        reservedAlerts: TokenBucket.Size = .init(burst: 8, refill: .seconds(300)),
        minimumInterval: Duration = .seconds(2), staleAfter: Duration = .seconds(3600),
        dismissal: Dismissal = .proportional, maximumDuration: Duration = .seconds(8 * 3600)
    ) {
        self.reducer = reducer
        self.fields = fields
        self.occasions = occasions
        self.requestedAlerts = requestedAlerts
        self.ordinaryAlerts = ordinaryAlerts
        self.reservedAlerts = reservedAlerts
        self.minimumInterval = minimumInterval
        self.staleAfter = staleAfter
        self.dismissal = dismissal
        self.maximumDuration = maximumDuration
    }
}

public enum FieldRule: Sendable, Hashable {
    /// In the content state, but a change of it alone is no reason for an update: a clock that the phone runs by itself.
    case ignored
    /// Numbers set by patches enter the state in steps only.
    case quantised(Quantiser)
}

/// Names what a fact, or its withdrawal, amounts to for people: `goal`, `goalCancelled`, `fullTime`. A reducer tells which;
/// the rules say what it is worth.
public struct OccasionKind: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}

public struct OccasionRule: Sendable, Hashable {
    /// Must be seen at once: passes inside the minimum interval and takes pending changes along.
    public var essential: Bool
    /// `nil`: silent.
    public var alert: AlertRule?

    public init(essential: Bool, alert: AlertRule? = nil) {
        self.essential = essential
        self.alert = alert
    }
}

public struct AlertRule: Sendable, Hashable {
    public var `class`: AlertClass
    /// Of one topic and this kind of alert.
    public var bucket: TokenBucket.Size
    /// How long after it happened an alert may still reach a phone.
    public var freshFor: Duration

    public init(_ class: AlertClass, burst: Int, refill: Duration, freshFor: Duration) {
        self.class = `class`
        bucket = TokenBucket.Size(burst: burst, refill: refill)
        self.freshFor = freshFor
    }
}
