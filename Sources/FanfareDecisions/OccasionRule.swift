public import FanfareModel

/// Rules for one kind of occasion: its urgency, its alert, and its weight in a lineup.
public struct OccasionRule: Sendable, Hashable {
    /// Conditions of the occasion, which occurs when a change makes all of them and all `shifts` hold. The topic kind's reducer reports an occasion
    /// that has neither conditions nor shifts.
    public var when: [Condition]
    /// Distances by which fields must also have moved from the shown values.
    public var shifts: [FieldShift]
    /// Shows the occasion at once: inside the minimum interval, along with pending changes.
    public var essential: Bool
    /// Age beyond which an occasion of this kind gets no update of its own; the next update carries it.
    public var droppableAfter: Duration?
    /// Content state key that the occasion is about; `nil` uses the key that the reducer names, or the first of `shifts`, or else of `when`.
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
