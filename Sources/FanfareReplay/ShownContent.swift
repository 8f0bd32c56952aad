import FanfareJSON
package import FanfareModel

/// Content of a card: the `LineupContentState` of a push, parsed.
package struct ShownContent: Sendable, Equatable {
    package struct Row: Sendable, Equatable {
        package var topic: String
        package var compactLeading: String
        package var compactTrailing: String
        package var minimal: String
    }

    /// Rows, the first one first.
    package var rows: [Row]
    /// Number of topics left out for lack of room.
    package var more: Int
    /// Index into `rows`; `nil` when the topic's state is too large to be shown beside anything else.
    package var spotlight: Int?
    /// Content state of the topic in the spotlight.
    package var state: JSONObject
    /// The key of `state` that the layout emphasises.
    package var highlight: String?
    package var link: String?

    /// The row of the topic in the spotlight.
    package var spotlightRow: Row? { spotlight.map { rows[$0] } }
}

extension ShownContent {
    init(_ content: JSONObject) {
        let spotlight = content["spotlight"]?.objectValue
        self.init(
            rows: (content["topics"]?.arrayValue ?? []).compactMap(\.objectValue).map(Row.init),
            more: content["more"]?.intValue.map(Int.init) ?? 0,
            spotlight: spotlight?["index"]?.intValue.map(Int.init), state: spotlight?["state"]?.objectValue ?? [:],
            highlight: content["highlight"]?.stringValue, link: content["link"]?.stringValue)
    }
}

extension ShownContent.Row {
    fileprivate init(_ row: JSONObject) {
        func text(_ key: String) -> String { row[key]?.stringValue ?? "" }
        self.init(
            topic: text("id"), compactLeading: text("compactLeading"), compactTrailing: text("compactTrailing"),
            minimal: text("minimal"))
    }
}
