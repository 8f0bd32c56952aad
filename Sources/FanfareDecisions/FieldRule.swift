public import FanfareModel

/// Rule for how people see one field of a content state.
public enum FieldRule: Sendable, Hashable {
    /// Keeps the field in the content state, but its change alone causes no update: a clock that the phone runs by itself.
    case ignored
    /// Lets a number set by patches change in steps only.
    case quantised(Quantiser)
    /// Keeps the field's value inside the engine (rule U3).
    case redacted(Redaction)
}

/// A topic's field rules, separated by type and sorted by key: a patch needs only the quantisers, and most states almost nothing.
struct FieldRules: Sendable {
    private(set) var ignored: Set<String> = []
    private(set) var quantisers: [(key: String, quantiser: Quantiser)] = []
    private(set) var redactions: [(key: String, redaction: Redaction)] = []

    init(_ fields: [String: FieldRule]) {
        for (key, rule) in fields.sorted(by: { $0.key < $1.key }) {
            switch rule {
            case .ignored: ignored.insert(key)
            case .quantised(let quantiser): quantisers.append((key, quantiser))
            case .redacted(let redaction): redactions.append((key, redaction))
            }
        }
    }
}

/// Replacement for a field whose value must not leave the engine. The engine makes short forms, alerts and deep links of the redacted state.
public struct Redaction: Sendable, Hashable {
    /// Form of the replacement.
    public enum Form: Sendable, Hashable {
        /// Removes the field from the state.
        case removed
        /// Keeps the first letter and a full stop: `S.`
        case initial
        /// Replaces the value by an innocuous summary.
        case summary(String)
    }

    /// Form of the field while it is hidden.
    public var form: Form
    /// Conditions under which the field is shown unchanged; all must hold. Empty: never.
    public var unless: [Condition]

    /// Creates a redaction that hides the field for good unless `unless` has conditions.
    public init(_ form: Form, unless: [Condition] = []) {
        self.form = form
        self.unless = unless
    }

    /// Returns the value to show for `value`, or `nil` to remove the field.
    func shown(_ value: JSONValue, in state: JSONObject) -> JSONValue? {
        if !unless.isEmpty, unless.hold(in: state) { return value }
        switch form {
        case .removed: return nil
        case .initial: return value.stringValue?.first.map { .string("\($0).") }
        case .summary(let text): return .string(text)
        }
    }
}

/// Fields derived from other fields: the short forms that every presentation needs (rules M3, M4), and the address of a tap (U6).
public struct DerivedFields: Sendable, Hashable {
    /// Text left of the Dynamic Island's camera; `nil` uses the short form of the topic kind's reducer.
    public var compactLeading: Template?
    /// Text right of the Dynamic Island's camera; `nil` uses the short form of the topic kind's reducer.
    public var compactTrailing: Template?
    /// Text where several activities share the Dynamic Island; `nil` uses the short form of the topic kind's reducer.
    public var minimal: Template?
    /// Replacements in short forms for texts that are too long there, such as a status.
    public var words: [String: String]
    /// Maximum width of each short form in digits, by the widths of letters in Inter Medium; longer text is cut, with `…`.
    public var widthMax: Int
    /// Address that a tap opens, as the state's field `deepLink`; never cut. `nil`: none.
    public var deepLink: Template?

    /// Spoken form, as the state's field `spoken` (rule P3); `nil`: none, so that it costs no bytes.
    public var spoken: Template?
    /// Replacements in the spoken form for values that are not read well, such as `nil` for a score of 0.
    public var spokenWords: [String: String] = [:]
    /// Maximum size of the spoken form; longer text is cut, with `…`.
    public var spokenSizeMax = DerivedFields.spokenSizeMaxDefault

    /// Size of a sentence that a screen reader speaks in some five seconds.
    public static let spokenSizeMaxDefault = ByteCount.bytes(120)
    /// Width in digits that fits beside the camera on the narrowest phone.
    public static let widthMaxDefault = ShortForms.widthMax

    /// Creates derived fields; without templates nothing is derived. A `widthMax` below 1 counts as 1.
    public init(
        compactLeading: Template? = nil, compactTrailing: Template? = nil, minimal: Template? = nil,
        words: [String: String] = [:], widthMax: Int = DerivedFields.widthMaxDefault, deepLink: Template? = nil,
        spoken: Template? = nil
    ) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
        self.words = words
        self.widthMax = max(1, widthMax)
        self.deepLink = deepLink
        self.spoken = spoken
    }

    var isEmpty: Bool {
        compactLeading == nil && compactTrailing == nil && minimal == nil && deepLink == nil && spoken == nil
    }

    func add(to state: inout JSONObject, topic: TopicID) {
        let source = state
        state.reserveCapacity(source.members.count + 5)
        func short(_ key: String, _ template: Template?) {
            guard let template else { return }
            state[key] = .string(template.text(topic: topic, state: source, words: words).cut(toWidth: widthMax))
        }
        if let spoken {
            let text = spoken.text(topic: topic, state: source, words: spokenWords)
            state["spoken"] = .string(text.cut(toSize: spokenSizeMax))
        }
        short("compactLeading", compactLeading)
        short("compactTrailing", compactTrailing)
        short("minimal", minimal)
        if let deepLink { state["deepLink"] = .string(deepLink.text(topic: topic, state: source)) }
    }
}
