/// Text with holes that a state fills: `{homeScore}–{awayScore}`.
///
/// `{key}` is a field of the content state as people see it, `{fact.key}` a value of the fact that caused an alert, `{topic}`
/// the topic's id. What is not there leaves its hole empty. `{{` and `}}` are braces.
public struct Template: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    private enum Piece: Sendable, Hashable {
        case text(String)
        case topic
        case state(String)
        case fact(String)
    }

    private var pieces: [Piece] = []
    /// As it was written.
    public let description: String

    /// A template that stands in a program: a mistake in it is the program's, and traps.
    public init(stringLiteral source: String) {
        do { try self.init(parsing: source) } catch { preconditionFailure("\(source): \(error)") }
    }

    public init(parsing source: String) throws(TemplateFault) {
        description = source
        var text = ""
        var rest = Substring(source)
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                text.append(character)
            case "{":
                guard let close = rest.firstIndex(of: "}") else { throw TemplateFault("a { without its }") }
                let name = String(rest[..<close])
                guard !name.isEmpty, !name.contains("{") else { throw TemplateFault("{\(name)}: names no field") }
                if !text.isEmpty { pieces.append(.text(text)) }
                text = ""
                if name == "topic" {
                    pieces.append(.topic)
                } else if name.hasPrefix("fact.") {
                    pieces.append(.fact(String(name.dropFirst("fact.".count))))
                } else {
                    pieces.append(.state(name))
                }
                rest = rest[rest.index(after: close)...]
            case "}": throw TemplateFault("a } without its {")
            default: text.append(character)
            }
        }
        if !text.isEmpty { pieces.append(.text(text)) }
    }

    func text(topic: TopicID, state: JSONObject, fact: JSONObject = JSONObject()) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let literal): text += literal
            case .topic: text += topic.rawValue
            case .state(let key): text += state[key]?.asText ?? ""
            case .fact(let key): text += fact[key]?.asText ?? ""
            }
        }
        return text
    }
}

/// What is wrong with a template.
public struct TemplateFault: Error, CustomStringConvertible, Sendable {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension JSONValue {
    /// As people read it: strings without their quotes.
    var asText: String {
        if case .string(let text) = self { return text }
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
