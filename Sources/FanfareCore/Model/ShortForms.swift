/// A content state in short, for places with room for a few characters (rules M3, M4).
public struct ShortForms: Sendable, Hashable {
    public var compactLeading: String
    public var compactTrailing: String
    public var minimal: String

    public init(compactLeading: String, compactTrailing: String, minimal: String) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
    }

    /// Of the forms that the rules put into the state itself; where they lack, of the reducer's; and where that knows none
    /// either, the last part of the topic's id beside the field that changed last.
    init(of state: JSONObject, topic: TopicID, reducer: ShortForms?) {
        func own(_ key: String) -> String? { state[key]?.stringValue }
        func cut(_ text: String) -> String { text.cut(toWidth: DerivedFields.widthMaxDefault) }
        // Asked for only where they are needed.
        var name: String { topic.rawValue.split(separator: "/").last.map(String.init) ?? topic.rawValue }
        var value: String { (own("highlight").flatMap { state[$0] } ?? state["status"])?.asText ?? "" }
        compactLeading = own("compactLeading") ?? cut(reducer?.compactLeading ?? name)
        compactTrailing = own("compactTrailing") ?? cut(reducer?.compactTrailing ?? value)
        minimal = own("minimal") ?? cut(reducer?.minimal ?? (value.isEmpty ? name : value))
    }
}

/// How much a version of a topic matters beside the others of a lineup.
public struct Prominence: Sendable, Hashable {
    /// The topic has begun; whether it is over the publication's event tells.
    public var hasBegun: Bool
    /// 0–100: the topic's own, whatever happens in it.
    public var importance: Int
    /// 0–100: of what this version brings; `nil` when nothing has happened that is worth a spotlight.
    public var news: Int?

    public init(hasBegun: Bool = true, importance: Int = 0, news: Int? = nil) {
        self.hasBegun = hasBegun
        self.importance = importance
        self.news = news
    }

    /// Of an alert whose occasion the rules give no relevance: between a player sent off and half-time, or like a goal.
    static func news(with alert: AlertClass) -> Int { alert == .essential ? 100 : 70 }
}
