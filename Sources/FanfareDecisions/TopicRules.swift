public import FanfareModel

/// Editorial rules for one kind of topic.
///
/// ```swift
/// var rules = TopicRules()
/// rules.content.fields["courier"] = .redacted(Redaction(.initial))
/// rules.pace.minimumInterval = .seconds(10)
/// rules.lifetime.endsWhen = [Condition("status", .oneOf(["delivered"]))]
/// ```
public struct TopicRules: Sendable {
    /// Rules of the content state.
    public typealias Content = ContentRules
    /// Limits on alerts, beside those of the occasions.
    public typealias Alerts = AlertLimits
    /// Rules of the times between updates.
    public typealias Pace = TopicPace
    /// Rules of beginning and end.
    public typealias Lifetime = TopicLifetime

    /// Reducer without facts, copied for each topic.
    public var reducer: any Reducer
    /// Visible part of the state: rules of its fields, derived fields, and the room beside it in a push.
    public var content: Content
    /// Rules of the occasions that deserve attention. A kind without a rule is an ordinary change.
    public var occasions: [OccasionKind: OccasionRule] { didSet { triggers = TopicRules.triggers(of: occasions) } }
    /// Limits in addition to those of each occasion: for alerts in the feed's words, and for several kinds of alerts together.
    public var alerts: Alerts
    /// Times between updates, until a card looks old, and until an event is late.
    public var pace: Pace
    /// Beginning and end of the topic, its next beginning, and the time for which the core remembers it.
    public var lifetime: Lifetime
    /// Field with the date for which the topic is scheduled, such as a kick-off, by which lineups may order it; a topic whose state lacks the field
    /// is not scheduled yet. `nil`: the topic is scheduled for the time of its first version.
    public var scheduledAt: String?
    /// Priority requested for an update that is neither essential nor alerting; other updates request `immediate`.
    public var priority: Priority
    /// Weight of the topic beside others on one phone, 0–100 (rule U7). An occasion may raise it for its own update. `nil`: the
    /// system decides.
    public var relevance: Int?

    /// Occasions of `occasions` with conditions on the state, the weightiest first.
    private(set) var triggers: [(kind: OccasionKind, rule: OccasionRule)]

    /// Creates rules. By default every field is visible, only the feed requests alerts, and updates are two seconds apart.
    public init(
        reducer: any Reducer = PatchesOnly(), content: Content = Content(),
        occasions: [OccasionKind: OccasionRule] = [:], alerts: Alerts = Alerts(), pace: Pace = Pace(),
        lifetime: Lifetime = Lifetime(), scheduledAt: String? = nil, priority: Priority = .conserving,
        relevance: Int? = nil
    ) {
        self.reducer = reducer
        self.content = content
        self.occasions = occasions
        self.alerts = alerts
        self.pace = pace
        self.lifetime = lifetime
        self.scheduledAt = scheduledAt
        self.priority = priority
        self.relevance = relevance
        triggers = TopicRules.triggers(of: occasions)
    }

    /// Duration after which the system ends an activity (spec §3.4, documented by Apple).
    public static let durationMax = Duration.seconds(8 * 3600)
    /// Maximum size of one push at APNs (spec §6.2, documented by Apple).
    public static let pushSizeMax = ByteCount.kibibytes(4)

    /// Returns the time for which a topic is scheduled; `nil` while that is not known.
    ///
    /// - Parameters:
    ///   - state: the topic's state as people see it.
    ///   - shownSince: time of its first version.
    func schedule(of state: JSONObject, shownSince: FeedTime?) -> FeedTime? {
        guard let scheduledAt else { return shownSince }
        return state[scheduledAt]?.doubleValue.flatMap { FeedTime(activityKitSeconds: $0) }
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
