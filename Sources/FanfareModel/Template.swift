/// Text with holes that a state fills: `{homeScore}–{awayScore}`.
///
/// `{key}` is a field of the visible content state, `{fact.key}` a value of the fact that caused an alert, `{topic}` the topic's id. `{key:3}` is
/// three letters of the main word of the field's value, in capitals: `{home:3}` of Tottenham Hotspur is `TOT`. The letters of `home` and `away`
/// differ if the names differ in a letter. A missing value leaves its hole empty. `{{` and `}}` are braces.
public struct Template: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    private enum Piece: Sendable, Hashable {
        case text(String)
        case topic
        // Key, and the number of letters to show; `nil` shows all.
        case state(String, letters: Int?)
        case fact(String, letters: Int?)
    }

    private var pieces: [Piece] = []
    /// Source text of the template.
    public let description: String

    /// Creates a template from a literal in a program; traps on a mistake, which is a bug of the program.
    public init(stringLiteral source: String) {
        do { try self.init(parsing: source) } catch { preconditionFailure("\(source): \(error)") }
    }

    /// Creates a template from text that comes from outside the program, such as a file.
    ///
    /// - Throws: `TemplateFault` if a brace has no partner or a hole names no field.
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
                } else {
                    let (key, letters) = try Template.abbreviation(name)
                    pieces.append(
                        key.hasPrefix("fact.")
                            ? .fact(String(key.dropFirst("fact.".count)), letters: letters)
                            : .state(key, letters: letters))
                }
                rest = rest[rest.index(after: close)...]
            case "}": throw TemplateFault("a } without its {")
            default: text.append(character)
            }
        }
        if !text.isEmpty { pieces.append(.text(text)) }
    }

    /// Keys of the state that the template shows.
    package var fields: Set<String> {
        Set(pieces.compactMap { if case .state(let key, _) = $0 { key } else { nil } })
    }

    /// - Parameter words: replacements for fields of the state whose value is one of these texts.
    package func text(
        topic: TopicID, state: JSONObject, fact: JSONObject = JSONObject(), words: [String: String] = [:]
    ) -> String {
        func told(_ key: String) -> JSONValue? {
            guard let value = state[key], !words.isEmpty, let word = words[value.asText] else { return state[key] }
            return .string(word)
        }
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let literal): text += literal
            case .topic: text += topic.rawValue
            case .state(let key, let letters): text += shown(key, letters, told)
            case .fact(let key, let letters): text += shown(key, letters) { fact[$0] }
            }
        }
        return text
    }

    /// Fields with the two teams of a match, whose abbreviations stand beside each other.
    private static let opponents = ["home": "away", "away": "home"]

    private func shown(_ key: String, _ letters: Int?, _ value: (String) -> JSONValue?) -> String {
        guard let text = value(key)?.asText else { return "" }
        guard let letters else { return text }
        guard let other = Template.opponents[key].flatMap(value)?.asText else { return text.abbreviated(to: letters) }
        return text.abbreviated(to: letters, besides: other)
    }

    /// Splits `home:3` into `home` and three letters.
    private static func abbreviation(_ name: String) throws(TemplateFault) -> (key: String, letters: Int?) {
        guard let colon = name.lastIndex(of: ":") else { return (name, nil) }
        guard let letters = Int(name[name.index(after: colon)...]), (1...40).contains(letters), colon > name.startIndex
        else { throw TemplateFault("{\(name)}: expected a field, and after its colon how many letters of it, 1 to 40") }
        return (String(name[..<colon]), letters)
    }
}

/// A mistake in a template.
public struct TemplateFault: Error, CustomStringConvertible, Sendable {
    /// Description of the mistake in a few words, for people.
    public let description: String
    init(_ description: String) { self.description = description }
}

extension String {
    /// Returns letters of the word that names a team, in capitals. Skips words like `AFC`, `VfB` or `1.`, unless there is no other.
    package func abbreviated(to letters: Int) -> String {
        // Most names are ASCII, where a byte is a character and costs a hundredth of one.
        guard utf8.allSatisfy({ $0 < 0x80 }) else {
            let own = name(in: self, \.isWhitespace, \.isNumber, \.isUppercase)
            return String(own.lazy.filter { $0.isLetter || $0.isNumber }.prefix(letters)).uppercased()
        }
        let own = name(
            in: utf8, { $0 == 0x20 || (0x09...0x0D).contains($0) }, { (0x30...0x39).contains($0) },
            { (0x41...0x5A).contains($0) })
        // A text of up to 15 bytes is not on the heap, and every event of a match asks for four of them.
        var kept = ""
        for byte in own where kept.utf8.count < letters && (byte.isASCIILetter || (0x30...0x39).contains(byte)) {
            kept.unicodeScalars.append(Unicode.Scalar(byte.isASCIILetter ? byte & 0xDF : byte))
        }
        return kept
    }

    /// Returns letters of this name that tell it from another one with the same letters: `MCI` and `MUN` of Manchester's two, the first
    /// letter and those of the first word that the other one lacks. Words that begin alike have the first letter in which the names
    /// differ: `NOP` and `NOG` of Northspire and Northsgate.
    package func abbreviated(to letters: Int, besides other: String) -> String {
        let own = abbreviated(to: letters)
        guard letters > 1, self != other, own == other.abbreviated(to: letters) else { return own }
        func words(_ name: String) -> [Substring] { name.split { !$0.isLetter && !$0.isNumber } }
        func told(_ name: String, besides other: String) -> String {
            let others = words(other)
            guard let telling = words(name).first(where: { !others.contains($0) }) else { return own }
            return (own.prefix(1) + telling.prefix(letters - 1)).uppercased()
        }
        let (one, two) = (told(self, besides: other), told(other, besides: self))
        guard one == two else { return one }
        let (mine, theirs) = (words(self).joined().uppercased(), words(other).joined().uppercased())
        let differing = mine.dropFirst(zip(mine, theirs).prefix { $0 == $1 }.count).first
        return differing.map { String(own.prefix(letters - 1)) + String($0) } ?? own
    }

    private func name<Text: Collection>(
        in text: Text, _ isSpace: (Text.Element) -> Bool, _ isNumber: (Text.Element) -> Bool,
        _ isUppercase: (Text.Element) -> Bool
    ) -> Text.SubSequence {
        var first: Text.SubSequence?
        var rest = text[...]
        while let start = rest.firstIndex(where: { !isSpace($0) }) {
            rest = rest[start...]
            let word = rest.prefix { !isSpace($0) }
            if !word.contains(where: isNumber), word.count(where: isUppercase) < 2 { return word }
            first = first ?? word
            rest = rest[word.endIndex...]
        }
        return first ?? text.prefix(0)
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}
