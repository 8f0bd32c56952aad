import FanfareModel

/// Rows of a lineup's content state, with the topic in the spotlight.
struct LineupRows {
    /// Topics of the rows, in their order.
    private(set) var topics: [TopicID] = []
    private var numbers: [TopicID: String] = [:]
    private(set) var spotlight: TopicID?

    /// - Parameter state: a state as a push has it, whose topics' states have no lists. There are no rows in anything else.
    init(_ state: [UInt8]) {
        let text = String(decoding: state, as: UTF8.self)
        guard let start = text.firstRange(of: "\"topics\":[")?.upperBound else { return }
        for row in text[start...].split(separator: "{") {
            guard let id = Self.value(of: "id", in: row) else { continue }
            let topic = TopicID(id)
            topics.append(topic)
            numbers[topic] = Self.value(of: "minimal", in: row) ?? ""
        }
        guard let place = text.firstRange(of: "\"spotlight\":{\"index\":")?.upperBound,
            let index = Int(text[place...].prefix { $0.isNumber }), topics.indices.contains(index)
        else { return }
        spotlight = topics[index]
    }

    /// Text of a topic where several activities share the Dynamic Island; `nil` without a row.
    subscript(topic: TopicID) -> String? { numbers[topic] }

    private static func value(of key: String, in row: Substring) -> String? {
        guard let start = row.firstRange(of: "\"\(key)\":\"")?.upperBound else { return nil }
        return String(row[start...].prefix { $0 != "\"" })
    }
}
