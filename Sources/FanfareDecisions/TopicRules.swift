public import FanfareModel

/// Editorial rules for one kind of topic.
public struct TopicRules: Sendable {
    /// Reducer without facts, copied for each topic.
    public var reducer: any Reducer
    /// Rules by field; fields without one are visible unchanged.
    public var fields: [String: FieldRule] { didSet { fieldRules = FieldRules(fields) } }
    /// Short forms and the deep link, derived from other fields and part of the state like them.
    public var derived: DerivedFields
    /// Rules of the occasions that deserve attention. A kind without a rule is an ordinary change.
    public var occasions: [OccasionKind: OccasionRule] { didSet { triggers = TopicRules.triggers(of: occasions) } }
    /// Conditions under which the topic has begun; all must hold for its state. Until then it has no spotlight in a lineup. Empty:
    /// it begins with its first state.
    public var beginsWhen: [Condition]
    /// Conditions that end the topic once all of them hold for its state (rule L2). Empty: the feed ends it.
    public var endsWhen: [Condition]
    /// Field with the date for which the topic is scheduled, such as a kick-off, by which lineups may order it; a topic whose state lacks
    /// it has no such time yet. `nil`: the topic is scheduled for the time of its first version.
    public var scheduledAt: String?
    /// Rule for alerts that a native feed requests in its own words.
    public var requestedAlerts: AlertRule
    /// Bucket of one topic for all its `ordinary` alerts together.
    public var ordinaryAlerts: TokenBucket.Size
    /// Bucket of one topic for `essential` alerts whose own bucket is empty. Nothing else draws on it.
    public var reservedAlerts: TokenBucket.Size
    /// Minimum time between visible changes that are not essential (rule U5).
    public var minimumInterval: Duration
    /// Time after which a card without news looks old (rule L6).
    public var staleAfter: StaleAfter
    /// Time for which the card stays after the topic's end.
    public var dismissal: Dismissal
    /// Silence of the feed after which a topic that has begun ends, with its newest state: a dead feed must not leave cards on
    /// phones for ever (rule L1).
    public var endsAfterSilence: Duration
    /// Silence of the feed after which a topic that has not begun ends. Line-ups come hours before a kick-off, and a fixture is
    /// known for days.
    public var beginsWithin: Duration
    /// Time for which a topic is remembered after its end was dismissed. Late events are recognised until then; afterwards its id
    /// denotes a new topic.
    public var forgetAfter: Duration
    /// Effect of a feed on an ended topic that is still remembered: whether the topic can begin again.
    public var reopens: Reopening
    /// Age relative to the topic's newest event beyond which an event is late. A late fact does not alert, unless its alert is
    /// essential and still fresh. Smaller delays are normal for networks and for people who enter data.
    public var lateAfter: Duration
    /// Renews an activity that has lasted the system's 8 hours (rule L1), if the engine can start one; otherwise it ends.
    public var renews: Bool
    /// Priority requested for an update that is neither essential nor alerting; others request `immediate`.
    public var priority: Priority
    /// Weight of the topic beside others on one phone, 0–100 (rule U7). An occasion may raise it for its own update. `nil`: the
    /// system decides.
    public var relevance: Int?
    /// Bytes of a push's 4,096 that the state leaves free (rule U4): for the app's static attributes in a start, for alert and
    /// envelope in an update. Clamped to 1024…3072.
    public var attributesReserve: Int { didSet { attributesReserve = TopicRules.bounded(attributesReserve) } }

    /// Rules of `fields`, separated by type.
    private(set) var fieldRules: FieldRules
    /// Occasions of `occasions` with conditions on the state, the weightiest first.
    private(set) var triggers: [(kind: OccasionKind, rule: OccasionRule)]

    /// Creates rules. By default every field is visible, only the feed requests alerts, and updates are two seconds apart.
    public init(
        reducer: any Reducer = PatchesOnly(), fields: [String: FieldRule] = [:],
        derived: DerivedFields = DerivedFields(),
        occasions: [OccasionKind: OccasionRule] = [:], beginsWhen: [Condition] = [], endsWhen: [Condition] = [],
        scheduledAt: String? = nil,
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
        self.scheduledAt = scheduledAt
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

    /// Duration after which the system ends an activity (spec §3.4, documented by Apple).
    public static let durationMax = Duration.seconds(8 * 3600)
    /// Maximum size of one push at APNs, in bytes (spec §6.2, documented by Apple).
    public static let pushBytesMax = 4096
    /// Range of `attributesReserve`; its lower bound holds the longest alert and the envelope.
    public static let attributesReserveRange = 1024...3072

    /// Returns the time for which a topic is scheduled; `nil` while that is not known.
    ///
    /// - Parameters:
    ///   - state: the topic's state as people see it.
    ///   - shownSince: time of its first version.
    func schedule(of state: JSONObject, shownSince: FeedTime?) -> FeedTime? {
        guard let scheduledAt else { return shownSince }
        return state[scheduledAt]?.doubleValue.flatMap { FeedTime(activityKitSeconds: $0) }
    }

    private static func bounded(_ reserve: Int) -> Int {
        min(max(reserve, attributesReserveRange.lowerBound), attributesReserveRange.upperBound)
    }

    /// Returns the occasions with conditions, the weightiest first, because it counts if one change causes two: an essential alert,
    /// then any alert, then an essential change; then by name, so that every node decides alike.
    private static func triggers(
        of occasions: [OccasionKind: OccasionRule]
    ) -> [(kind: OccasionKind, rule: OccasionRule)] {
        func weight(_ rule: OccasionRule) -> Int {
            (rule.alert.map { $0.class == .essential ? 4 : 2 } ?? 0) + (rule.essential ? 1 : 0)
        }
        return occasions.filter { !$0.value.when.isEmpty || !$0.value.shifts.isEmpty }
            .map { (kind: $0.key, rule: $0.value) }
            .sorted { (-weight($0.rule), $0.kind.rawValue) < (-weight($1.rule), $1.kind.rawValue) }
    }
}

/// Ways in which a feed can begin an ended topic again.
public enum Reopening: String, Sendable, CaseIterable {
    /// The topic cannot begin again until it is forgotten.
    case never
    /// A start begins the topic as if it were new: a table's number that is given to the next guests.
    case afresh
    /// A start, or any visible change, continues the topic from where it ended: a match that is resumed.
    case resumed
}

/// Time after which a card without news looks old.
public enum StaleAfter: Sendable, Hashable {
    /// Fixed time after the newest state, whatever the feed's rhythm is.
    case fixed(Duration)
    /// Multiple of the usual time between two events of the topic, within bounds: a feed that polls every 30 seconds is doubtful
    /// sooner than one that sends every 10 minutes.
    case rhythm(times: Int, Bounds)

    /// Bounds on the time that a rhythm yields.
    public struct Bounds: Sendable, Hashable {
        /// Lower bound, however fast the feed is.
        public let atLeast: Duration
        /// Upper bound, however slow the feed is; also used while it has no rhythm.
        public let atMost: Duration

        /// Creates bounds. A negative `atLeast` counts as zero, and an `atMost` below it as equal to it.
        public init(atLeast: Duration, atMost: Duration) {
            self.atLeast = max(atLeast, .zero)
            self.atMost = max(atMost, self.atLeast)
        }
    }

    /// - Parameter gap: the topic's usual time between two events; `nil` before the second one.
    func duration(gap: Duration?) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .rhythm(let times, let bounds):
            guard let gap else { return bounds.atMost }
            // The product would exceed the bound, and this way it cannot overflow.
            guard gap < bounds.atMost else { return bounds.atMost }
            return min(
                max(.milliseconds(gap.milliseconds * Int64(min(max(times, 1), 1000))), bounds.atLeast), bounds.atMost)
        }
    }
}

/// Rules for one kind of occasion: how soon it is shown, whether it alerts, and its rank in a lineup.
public struct OccasionRule: Sendable, Hashable {
    /// Conditions of the occasion, which occurs when a change makes all of them and all `shifts` hold. Without both, the topic kind's
    /// reducer reports it.
    public var when: [Condition]
    /// Distances from the shown values that fields must have moved, too.
    public var shifts: [FieldShift]
    /// Shows the occasion at once: inside the minimum interval, along with pending changes.
    public var essential: Bool
    /// Age beyond which news of this kind gets no update of its own; the next one carries it.
    public var droppableAfter: Duration?
    /// Content state key that the occasion is about; `nil` uses the reducer's, or the first of `shifts`, or else of `when`.
    public var highlight: String?
    /// Relevance of the update that carries the occasion, if greater than the topic's own.
    public var relevance: Int?
    /// Rule of the occasion's alert; `nil`: silent.
    public var alert: AlertRule?

    /// Creates a rule. An occasion is silent if `alert` is left out.
    public init(
        when: [Condition] = [], shifts: [FieldShift] = [], essential: Bool, droppableAfter: Duration? = nil,
        highlight: String? = nil, relevance: Int? = nil, alert: AlertRule? = nil
    ) {
        self.when = when
        self.shifts = shifts
        self.essential = essential
        self.droppableAfter = droppableAfter
        self.highlight = highlight
        self.relevance = relevance
        self.alert = alert
    }
}

/// Least distance of a number from the one that people see: a wait that has become much shorter, a train that is later.
public struct FieldShift: Sendable, Hashable {
    /// Name of the field in the content state as people see it.
    public var key: String
    /// Least distance: above 0 for a rise, below 0 for a fall. With 0 the shift never holds.
    public var by: Double

    /// Creates a shift: `FieldShift("estimateMinutes", by: -10)` holds once the estimate is ten minutes below the one shown.
    public init(_ key: String, by: Double) {
        self.key = key
        self.by = by
    }

    func holds(from shown: JSONObject, to state: JSONObject) -> Bool {
        guard let old = shown[key]?.doubleValue, let new = state[key]?.doubleValue, by != 0 else { return false }
        return by > 0 ? new - old >= by : new - old <= by
    }
}

/// Rules for an alert: how often, for how long, and in which words.
public struct AlertRule: Sendable, Hashable {
    /// Class of the alert. Preferences filter by it, and the highest class rides if an activity missed several alerts.
    public var `class`: AlertClass
    /// Bucket of one topic for this kind of alert.
    public var bucket: TokenBucket.Size
    /// Time after the occasion during which the alert may still reach a phone.
    public var freshFor: Duration
    /// Words of the alert; `nil` uses the reducer's. An occasion that only the rules define has no others.
    public var words: Words?

    /// Text of an alert, made of the state it rides on and the fact that caused it.
    public struct Words: Sendable, Hashable {
        /// Bold first line.
        public var title: Template
        /// Text below the title; left out if empty.
        public var body: Template
        /// Name of a sound file in the app, or `default`; `nil`: no sound.
        public var sound: String?

        /// Creates words. They are filled in when the alert is decided, and the push carries that text.
        public init(title: Template, body: Template = "", sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    /// - Parameters:
    ///   - class: weight of the alert beside others.
    ///   - burst: alerts of this kind that one topic may send at once.
    ///   - refill: time after which the topic may send one more.
    ///   - freshFor: time after which the alert is too late for a phone; its update then goes silently.
    ///   - words: title, body and sound; `nil`: the reducer's words, or the feed's.
    public init(_ class: AlertClass, burst: Int, refill: Duration, freshFor: Duration, words: Words? = nil) {
        self.class = `class`
        bucket = TokenBucket.Size(burst: burst, refill: refill)
        self.freshFor = freshFor
        self.words = words
    }
}
