package import FanfareModel

/// Content of an activity at one moment, as its phone has it.
package struct CardContent: Sendable {
    package var topic: TopicID
    package var kind: TopicKind
    /// Content state as phones get it; for a lineup, the spotlight's.
    package var state: JSONObject
    /// The lineup's rows beside the spotlight, the first one first; `nil` for an activity of one topic.
    package var others: [JSONObject]?
    /// Number of topics that a lineup leaves out for lack of room.
    package var more: Int
    /// Time at which people look.
    package var at: FeedTime
    package var isOver: Bool

    package init(
        topic: TopicID, kind: TopicKind, state: JSONObject, short: ShortForms? = nil, others: [JSONObject]? = nil,
        more: Int = 0, at: FeedTime, isOver: Bool = false
    ) {
        self.topic = topic
        self.kind = kind
        self.state = state
        self.others = others
        self.more = more
        self.at = at
        self.isOver = isOver
        // The system alone knows whether a card is stale, whatever the feed has under this name.
        self.state[CardContent.staleField] = nil
        // The spotlight's short forms are in its row of the lineup; the state of a single topic has its own, or none.
        guard let short else { return }
        for (key, text) in [
            ("compactLeading", short.compactLeading), ("compactTrailing", short.compactTrailing),
            ("minimal", short.minimal),
        ] where self.state[key] == nil {
            self.state[key] = .string(text)
        }
    }

    /// Field that templates may ask for, which `ActivityViewContext.isStale` tells the app: the stale date has passed (rule L6).
    package static let staleField = "isStale"

    /// Is `true` once the stale date has passed. The state has the field for templates then.
    package var isStale = false {
        didSet { state[CardContent.staleField] = isStale ? true : nil }
    }

    /// Key of the field that caused the alert (rule A4). Stale content draws no attention.
    var highlight: String? { isStale ? nil : state["highlight"]?.stringValue }
}
