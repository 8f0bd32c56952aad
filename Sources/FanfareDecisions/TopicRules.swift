public import FanfareModel

/// What an editor has decided for one kind of topic.
public struct TopicRules: Sendable {
    /// Folds nothing yet: the state of a topic without facts. Copied for each topic.
    public var reducer: any Reducer
    /// How people see a field; fields not named are visible as they are.
    public var fields: [String: FieldRule] { didSet { fieldRules = FieldRules(fields) } }
    /// Short forms and the deep link: made of the other fields, and part of the state like them.
    public var derived: DerivedFields
    /// What deserves attention, and how much. A kind that is not named is an ordinary change.
    public var occasions: [OccasionKind: OccasionRule] { didSet { triggers = TopicRules.triggers(of: occasions) } }
    /// The topic has begun when all of them hold of its state; until then it has no spotlight in a lineup. Empty: from its
    /// first state on.
    public var beginsWhen: [Condition]
    /// The topic ends when all of them have come to hold of its state (rule L2). Empty: the feed says when it is over.
    public var endsWhen: [Condition]
    /// For alerts that a native feed asks for in its own words.
    public var requestedAlerts: AlertRule
    /// Of one topic, all its `ordinary` alerts together.
    public var ordinaryAlerts: TokenBucket.Size
    /// Of one topic, for `essential` alerts whose own bucket is empty. Nothing else draws on it.
    public var reservedAlerts: TokenBucket.Size
    /// Visible changes that are not essential are at least so far apart (rule U5).
    public var minimumInterval: Duration
    /// When a card without news begins to look old (rule L6).
    public var staleAfter: StaleAfter
    /// How long the card stays after the topic's end.
    public var dismissal: Dismissal
    /// A topic that has begun ends, with its newest state, when its feed has been silent for so long: a feed that has died must not
    /// leave cards on people's phones for ever (rule L1).
    public var endsAfterSilence: Duration
    /// The same before it has begun: line-ups come hours ahead of a kick-off, and a fixture is known for days.
    public var beginsWithin: Duration
    /// How long a topic is remembered after its end was dismissed: until then what comes late is known to be late. After that its id
    /// is a new topic's.
    public var forgetAfter: Duration
    /// Whether its feed can begin a topic again that has ended and is remembered.
    public var reopens: Reopening
    /// An event that is older than the newest of its topic by more than that is late. A fact that is late alerts nobody, unless its
    /// alert is essential: then as long as it is fresh. Less than that is the way of networks and of people who write things down.
    public var lateAfter: Duration
    /// An activity that has lasted the system's 8 hours (rule L1) is renewed where the engine can start one; else it ends.
    public var renews: Bool
    /// Asked for an update that is neither essential nor an alert; those ask for `immediate`.
    public var priority: Priority
    /// 0–100: how much the topic matters beside others on one phone (rule U7). An occasion may say more for its own
    /// update. `nil`: the system decides.
    public var relevance: Int?
    /// Bytes of a push's 4,096 that the state leaves free (rule U4): for the app's static attributes in a start, for alert and
    /// envelope in an update. 1024…3072; what lies outside is taken to the nearer end.
    public var attributesReserve: Int { didSet { attributesReserve = TopicRules.bounded(attributesReserve) } }

    /// What `fields` says, as it is asked for.
    private(set) var fieldRules: FieldRules
    /// What `occasions` says of states, apart from what a reducer says of facts; the weightiest first.
    private(set) var triggers: [(kind: OccasionKind, when: [Condition])]

    /// Without arguments: every field visible, no alerts but those that the feed asks for, one update in two seconds.
    public init(
        reducer: any Reducer = PatchesOnly(), fields: [String: FieldRule] = [:],
        derived: DerivedFields = DerivedFields(),
        occasions: [OccasionKind: OccasionRule] = [:], beginsWhen: [Condition] = [], endsWhen: [Condition] = [],
        requestedAlerts: AlertRule = AlertRule(.ordinary, burst: 3, refill: .seconds(300), freshFor: .seconds(300)),
        ordinaryAlerts: TokenBucket.Size = .init(burst: 4, refill: .seconds(300)),
        reservedAlerts: TokenBucket.Size = .init(burst: 8, refill: .seconds(300)),
        minimumInterval: Duration = .seconds(2), staleAfter: StaleAfter = .fixed(.seconds(3600)),
        dismissal: Dismissal = .proportional, endsAfterSilence: Duration = .seconds(24 * 3600),
        beginsWithin: Duration = .seconds(7 * 24 * 3600), forgetAfter: Duration = .seconds(4 * 3600),
        reopens: Reopening = .never, lateAfter: Duration = .seconds(5), renews: Bool = false,
        priority: Priority = .conserving, relevance: Int? = nil,
        attributesReserve: Int = TopicRules.attributesReserveRange.lowerBound
    ) {
        self.reducer = reducer
        self.fields = fields
        self.derived = derived
        self.occasions = occasions
        self.beginsWhen = beginsWhen
        self.endsWhen = endsWhen
        self.requestedAlerts = requestedAlerts
        self.ordinaryAlerts = ordinaryAlerts
        self.reservedAlerts = reservedAlerts
        self.minimumInterval = minimumInterval
        self.staleAfter = staleAfter
        self.dismissal = dismissal
        self.endsAfterSilence = endsAfterSilence
        self.beginsWithin = beginsWithin
        self.forgetAfter = forgetAfter
        self.reopens = reopens
        self.lateAfter = lateAfter
        self.renews = renews
        self.priority = priority
        self.relevance = relevance
        self.attributesReserve = TopicRules.bounded(attributesReserve)
        fieldRules = FieldRules(fields)
        triggers = TopicRules.triggers(of: occasions)
    }

    /// The system ends an activity then (spec §3.4, documented by Apple).
    public static let durationMax = Duration.seconds(8 * 3600)
    /// What APNs takes for one push, in bytes (spec §6.2, documented by Apple).
    public static let pushBytesMax = 4096
    /// The least holds the longest alert and the envelope.
    public static let attributesReserveRange = 1024...3072

    private static func bounded(_ reserve: Int) -> Int {
        min(max(reserve, attributesReserveRange.lowerBound), attributesReserveRange.upperBound)
    }

    /// Of two occasions that one change makes at once the weightier counts: an essential alert, then any alert, then what
    /// must be seen at once; then the name, so that every node decides alike.
    private static func triggers(
        of occasions: [OccasionKind: OccasionRule]
    ) -> [(kind: OccasionKind, when: [Condition])] {
        func weight(_ rule: OccasionRule) -> Int {
            (rule.alert.map { $0.class == .essential ? 4 : 2 } ?? 0) + (rule.essential ? 1 : 0)
        }
        return occasions.filter { !$0.value.when.isEmpty }
            .map { (kind: $0.key, rule: $0.value) }
            .sorted { (-weight($0.rule), $0.kind.rawValue) < (-weight($1.rule), $1.kind.rawValue) }
            .map { (kind: $0.kind, when: $0.rule.when) }
    }
}

/// What a feed can do for a topic that has ended.
public enum Reopening: String, Sendable, CaseIterable {
    /// Nothing, until it is forgotten.
    case never
    /// A start begins it as if it had never been: a table's number that is given to the next guests.
    case afresh
    /// A start, or anything that changes what people would see, goes on from where it ended: a match that is resumed.
    case resumed
}

/// When a card that gets no news begins to look old.
public enum StaleAfter: Sendable, Hashable {
    /// So long after the newest state, whatever the feed's rhythm is.
    case fixed(Duration)
    /// So many times the usual time between two events of the topic, within bounds: a feed that polls every 30 seconds is
    /// in doubt sooner than one that speaks every 10 minutes.
    case rhythm(times: Int, Bounds)

    /// What a rhythm may come to.
    public struct Bounds: Sendable, Hashable {
        /// However fast the feed is.
        public let atLeast: Duration
        /// However slow the feed is; also while it has no rhythm yet.
        public let atMost: Duration

        /// A negative `atLeast` counts as zero, and an `atMost` below it as equal to it.
        public init(atLeast: Duration, atMost: Duration) {
            self.atLeast = max(atLeast, .zero)
            self.atMost = max(atMost, self.atLeast)
        }
    }

    /// - Parameter gap: the topic's usual time between two events; `nil` when there were less than two.
    func duration(gap: Duration?) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .rhythm(let times, let bounds):
            guard let gap else { return bounds.atMost }
            // Beyond the bound anyway, and a product that cannot overflow.
            guard gap < bounds.atMost else { return bounds.atMost }
            return min(
                max(.milliseconds(gap.milliseconds * Int64(min(max(times, 1), 1000))), bounds.atLeast), bounds.atMost)
        }
    }
}

/// What an occasion of one kind is worth: how soon it is shown, whether it alerts, and where it stands in a lineup.
public struct OccasionRule: Sendable, Hashable {
    /// It is there when a change makes all of them hold that did not hold before. Empty: the topic kind's reducer tells.
    public var when: [Condition]
    /// Must be seen at once: passes inside the minimum interval and takes pending changes along.
    public var essential: Bool
    /// News of this kind that comes later than that is not worth an update of its own; the next one carries it.
    public var droppableAfter: Duration?
    /// The content state key that it is about; `nil`: the reducer tells, or the first of `when`.
    public var highlight: String?
    /// Of the update that brings it, where that is more than the topic's own.
    public var relevance: Int?
    /// `nil`: silent.
    public var alert: AlertRule?

    /// Only whether it is essential must be said; an occasion is silent where `alert` is left out.
    public init(
        when: [Condition] = [], essential: Bool, droppableAfter: Duration? = nil, highlight: String? = nil,
        relevance: Int? = nil, alert: AlertRule? = nil
    ) {
        self.when = when
        self.essential = essential
        self.droppableAfter = droppableAfter
        self.highlight = highlight
        self.relevance = relevance
        self.alert = alert
    }
}

/// How an occasion alerts: how often, for how long, and in which words.
public struct AlertRule: Sendable, Hashable {
    /// Which person's mask lets it through, and which alert rides where an activity missed several.
    public var `class`: AlertClass
    /// Of one topic and this kind of alert.
    public var bucket: TokenBucket.Size
    /// How long after it happened an alert may still reach a phone.
    public var freshFor: Duration
    /// `nil`: the reducer's own. What only the rules know of has no others.
    public var words: Words?

    /// An alert's text, made of the state it rides on and the fact that caused it.
    public struct Words: Sendable, Hashable {
        /// The bold first line.
        public var title: Template
        /// What stands below; an empty text leaves it out.
        public var body: Template
        /// Name of a file that the app brings along, or `default`; `nil`: no sound.
        public var sound: String?

        /// Words are filled in when the alert is decided; the push carries them as they are then.
        public init(title: Template, body: Template = "", sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    /// - Parameters:
    ///   - class: how much it matters beside another alert.
    ///   - burst: alerts of this kind that one topic may give at once.
    ///   - refill: the time after which it may give another one.
    ///   - freshFor: the time after which the alert comes too late for a phone; its update goes silently then.
    ///   - words: what it says; `nil`: the reducer's words, or the feed's.
    public init(_ class: AlertClass, burst: Int, refill: Duration, freshFor: Duration, words: Words? = nil) {
        self.class = `class`
        bucket = TokenBucket.Size(burst: burst, refill: refill)
        self.freshFor = freshFor
        self.words = words
    }
}
