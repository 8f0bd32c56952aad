import FanfareModel

extension ShortForms {
    /// Creates short forms from those that the rules put into the state; else from the reducer's; else from the last part of the
    /// topic's id and the field that changed last.
    init(of state: JSONObject, topic: TopicID, reducer: ShortForms?) {
        func own(_ key: String) -> String? { state[key]?.stringValue }
        func cut(_ text: String) -> String { text.cut(toWidth: DerivedFields.widthMaxDefault) }
        // Computed only if needed.
        var name: String { topic.rawValue.split(separator: "/").last.map(String.init) ?? topic.rawValue }
        var value: String { (own("highlight").flatMap { state[$0] } ?? state["status"])?.asText ?? "" }
        self.init(
            compactLeading: own("compactLeading") ?? cut(reducer?.compactLeading ?? name),
            compactTrailing: own("compactTrailing") ?? cut(reducer?.compactTrailing ?? value),
            minimal: own("minimal") ?? cut(reducer?.minimal ?? (value.isEmpty ? name : value)))
    }
}

extension Prominence {
    /// Returns the weight of an alert whose occasion has no relevance in the rules: like a goal if essential, else between a
    /// sending-off and half-time.
    static func news(with alert: AlertClass) -> Int { alert == .essential ? 100 : 70 }
}
