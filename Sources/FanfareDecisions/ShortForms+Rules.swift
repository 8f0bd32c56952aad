import FanfareModel

extension ShortForms {
    /// Of the forms that the rules put into the state itself; where they lack, of the reducer's; and where that knows none
    /// either, the last part of the topic's id beside the field that changed last.
    init(of state: JSONObject, topic: TopicID, reducer: ShortForms?) {
        func own(_ key: String) -> String? { state[key]?.stringValue }
        func cut(_ text: String) -> String { text.cut(toWidth: DerivedFields.widthMaxDefault) }
        // Asked for only where they are needed.
        var name: String { topic.rawValue.split(separator: "/").last.map(String.init) ?? topic.rawValue }
        var value: String { (own("highlight").flatMap { state[$0] } ?? state["status"])?.asText ?? "" }
        self.init(
            compactLeading: own("compactLeading") ?? cut(reducer?.compactLeading ?? name),
            compactTrailing: own("compactTrailing") ?? cut(reducer?.compactTrailing ?? value),
            minimal: own("minimal") ?? cut(reducer?.minimal ?? (value.isEmpty ? name : value)))
    }
}

extension Prominence {
    /// Of an alert whose occasion the rules give no relevance: between a player sent off and half-time, or like a goal.
    static func news(with alert: AlertClass) -> Int { alert == .essential ? 100 : 70 }
}
