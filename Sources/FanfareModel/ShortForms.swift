/// Short forms of a content state, for surfaces with room for a few characters (rules M3, M4).
public struct ShortForms: Sendable, Hashable {
    /// Text left of the Dynamic Island's camera: `TOT 2`.
    public var compactLeading: String
    /// Text right of the Dynamic Island's camera: `1 LEI`.
    public var compactTrailing: String
    /// Text where several activities share the Dynamic Island: `2–1`.
    public var minimal: String

    /// Creates short forms without cutting them; about six digits fit in each of them.
    public init(compactLeading: String, compactTrailing: String, minimal: String) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
    }
}

extension ShortForms {
    /// Width of each form in digits: fits beside the camera on the narrowest phone.
    package static let widthMax = 6

    /// Takes each form from the state, where rules put theirs, else from the reducer. If neither has one, it is the last part of the topic's
    /// id or the field that changed last.
    package init(of state: JSONObject, topic: TopicID, reducer: ShortForms?) {
        func own(_ key: String) -> String? { state[key]?.stringValue }
        func cut(_ text: String) -> String { text.cut(toWidth: ShortForms.widthMax) }
        // Computed only if needed.
        var name: String { topic.lastPart }
        var value: String { (own("highlight").flatMap { state[$0] } ?? state["status"])?.asText ?? "" }
        self.init(
            compactLeading: own("compactLeading") ?? cut(reducer?.compactLeading ?? name),
            compactTrailing: own("compactTrailing") ?? cut(reducer?.compactTrailing ?? value),
            minimal: own("minimal") ?? cut(reducer?.minimal ?? (value.isEmpty ? name : value)))
    }
}

extension TopicID {
    /// Part of the id behind the last `/`.
    fileprivate var lastPart: String {
        // Most ids are ASCII, and comparing bytes costs a hundredth of comparing characters.
        let bytes = rawValue.utf8
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            return rawValue.split(separator: "/").last.map(String.init) ?? rawValue
        }
        let slash = UInt8(ascii: "/")
        guard let last = bytes.lastIndex(where: { $0 != slash }) else { return rawValue }
        let start = bytes[...last].lastIndex(of: slash).map { bytes.index(after: $0) } ?? bytes.startIndex
        return String(rawValue[start...last])
    }
}

/// Source of short forms, which are only made if a lineup shows the topic; most topics are in no lineup.
package enum ShortFormsSource: Sendable {
    indirect case made(ShortForms)
    case state(JSONObject)

    package func forms(of topic: TopicID) -> ShortForms {
        switch self {
        case .made(let forms): forms
        case .state(let state): ShortForms(of: state, topic: topic, reducer: nil)
        }
    }
}

extension Character {
    fileprivate var width: Int { unicodeScalars.first.map(CharacterWidth.of) ?? 0 }
}

extension String {
    /// Returns the text, or as many whole characters of it as fit into a width in digits, with `…` behind them.
    package func cut(toWidth widthMax: Int) -> String {
        guard width > widthMax * 100 else { return self }
        var width = CharacterWidth.ellipsis
        let kept = prefix { character in
            width += character.width
            return width <= widthMax * 100
        }
        return kept + "…"
    }

    /// Width in hundredths of a digit's.
    package var width: Int {
        // A text of ASCII is measured byte by byte, which costs a hundredth of characters.
        guard utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return reduce(0) { $0 + $1.width } }
        return utf8.reduce(0) { $0 + CharacterWidth.of(Unicode.Scalar($1)) }
    }

    /// Is `true` for a short form that lacks letters for want of room.
    package var isCut: Bool { hasSuffix("…") }
}

extension String {
    /// Returns the text, or as many whole characters of it as fit, with `…` behind them.
    package func cut(toSize sizeMax: ByteCount) -> String {
        guard utf8.count > sizeMax.bytes else { return self }
        var room = sizeMax - .bytes("…".utf8.count)
        let kept = prefix { character in
            room -= .bytes(character.utf8.count)
            return room >= .bytes(0)
        }
        return kept + "…"
    }
}

extension JSONValue {
    /// Text for people: strings without their quotes.
    package var asText: String {
        switch self {
        case .string(let text): return text
        case .int(let number): return String(number)
        default:
            var bytes: [UInt8] = []
            write(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

/// Weight of a topic's version compared with the others of a lineup.
package struct Prominence: Sendable, Hashable {
    /// Is `true` once the topic has begun. The publication's event shows whether it is over.
    package var hasBegun: Bool
    /// Importance of the topic itself, 0–100, whatever happens in it.
    package let importance: Int
    /// Weight of this version's occasion, 0–100; `nil` if nothing in it is worth a spotlight.
    package let occasionWeight: Int?

    /// Numbers beyond 0–100 are clamped.
    package init(hasBegun: Bool = true, importance: Int = 0, occasionWeight: Int? = nil) {
        self.hasBegun = hasBegun
        self.importance = min(max(0, importance), 100)
        self.occasionWeight = occasionWeight.map { min(max(0, $0), 100) }
    }
}
