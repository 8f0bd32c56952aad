import FanfareLineup

/// A lineup of topics with any states.
typealias AnyLineup = LineupContentState<AnyState>

/// Any content state, as JSON says it.
indirect enum AnyState: TopicContentState {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case list([AnyState])
    case members([String: AnyState])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([AnyState].self) {
            self = .list(list)
        } else {
            self = .members(try value.decode([String: AnyState].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .members(let values): try container.encode(values)
        }
    }

    subscript(key: String) -> AnyState? { if case .members(let values) = self { values[key] } else { nil } }
}
