public import FanfareModel

/// How people see one field of a content state.
public enum FieldRule: Sendable, Hashable {
    /// In the content state, but a change of it alone is no reason for an update: a clock that the phone runs by itself.
    case ignored
    /// Numbers set by patches enter the state in steps only.
    case quantised(Quantiser)
    /// Never leaves the engine as it is (rule U3).
    case redacted(Redaction)
}

/// A topic's field rules apart, in the order of the keys: a patch asks for quantisers only, and most states for next to nothing.
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

/// What people see of a field that must not leave the engine as it is. Short forms, alerts and deep links are made of
/// what is left.
public struct Redaction: Sendable, Hashable {
    /// What stands in the field's place.
    public enum Form: Sendable, Hashable {
        /// Nothing: the field is not in the state.
        case removed
        /// The first letter and a full stop: `S.`
        case initial
        /// An innocuous summary instead.
        case summary(String)
    }

    /// What stands in the field's place while it is hidden.
    public var form: Form
    /// The field is shown as it is while all of them hold. Empty: never.
    public var unless: [Condition]

    /// A field that is hidden for good where `unless` is left out.
    public init(_ form: Form, unless: [Condition] = []) {
        self.form = form
        self.unless = unless
    }

    /// What is shown of `value`; `nil`: nothing.
    func shown(_ value: JSONValue, in state: JSONObject) -> JSONValue? {
        if !unless.isEmpty, unless.hold(in: state) { return value }
        switch form {
        case .removed: return nil
        case .initial: return value.stringValue?.first.map { .string("\($0).") }
        case .summary(let text): return .string(text)
        }
    }
}

/// What must hold of a field.
public struct Condition: Sendable, Hashable {
    /// What is asked of the field's value.
    public enum Test: Sendable, Hashable {
        /// The value is one of these; a number is equal to any spelling of it.
        case oneOf([JSONValue])
        /// The value is a number, and not below this one.
        case atLeast(Double)
        /// The value is a number, and not above this one.
        case atMost(Double)
        /// Whether the field is there at all.
        case present(Bool)
    }

    /// The field's name in the content state, as the engine has it before anything is redacted; among a fact's values
    /// for `CountingReducer.Counter`.
    public var key: String
    /// What is asked of the value. A field that is not there passes `present(false)` only.
    public var test: Test

    /// `Condition("status", .oneOf(["delivered", "cancelled"]))` holds once the order is over.
    public init(_ key: String, _ test: Test) {
        self.key = key
        self.test = test
    }

    func holds(in state: JSONObject) -> Bool {
        let value = state[key]
        switch test {
        case .oneOf(let values): return value.map { value in values.contains { value.looksLike($0) } } ?? false
        case .atLeast(let bound): return value?.doubleValue.map { $0 >= bound } ?? false
        case .atMost(let bound): return value?.doubleValue.map { $0 <= bound } ?? false
        case .present(let isPresent): return (value != nil) == isPresent
        }
    }
}

extension [Condition] {
    func hold(in state: JSONObject) -> Bool { allSatisfy { $0.holds(in: state) } }
}

/// Fields that are made of others: the short forms that every presentation needs (rules M3, M4), and where a tap leads (U6).
public struct DerivedFields: Sendable, Hashable {
    /// Left of the Dynamic Island's camera; `nil` leaves what the topic kind's reducer says.
    public var compactLeading: Template?
    /// Right of the camera; `nil` leaves what the reducer says.
    public var compactTrailing: Template?
    /// Where several activities share the island; `nil` leaves what the reducer says.
    public var minimal: Template?
    /// What stands in short forms for a value that is a text, such as a status, whose own word is too long there.
    public var words: [String: String]
    /// Of each short form. A digit is 1 wide, a letter of a wide script or an emoji 2; what is longer is cut, with `…`.
    public var widthMax: Int
    /// An address that a tap opens, as the state's field `deepLink`; never cut. `nil`: none.
    public var deepLink: Template?

    /// What fits beside the camera on the narrowest phone.
    public static let widthMaxDefault = ShortForms.widthMax

    /// Nothing is derived where all templates are left out. A `widthMax` below 1 counts as 1.
    public init(
        compactLeading: Template? = nil, compactTrailing: Template? = nil, minimal: Template? = nil,
        words: [String: String] = [:], widthMax: Int = DerivedFields.widthMaxDefault, deepLink: Template? = nil
    ) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
        self.words = words
        self.widthMax = max(1, widthMax)
        self.deepLink = deepLink
    }

    var isEmpty: Bool { compactLeading == nil && compactTrailing == nil && minimal == nil && deepLink == nil }

    func add(to state: inout JSONObject, topic: TopicID) {
        let source = state
        state.reserveCapacity(source.members.count + 4)
        func short(_ key: String, _ template: Template?) {
            guard let template else { return }
            state[key] = .string(template.text(topic: topic, state: source, words: words).cut(toWidth: widthMax))
        }
        short("compactLeading", compactLeading)
        short("compactTrailing", compactTrailing)
        short("minimal", minimal)
        if let deepLink { state["deepLink"] = .string(deepLink.text(topic: topic, state: source)) }
    }
}

extension KindRules {
    /// `values` (a state, or a fact's) without what must not leave the engine.
    ///
    /// - Parameter state: as it is, for the conditions of a redaction.
    func redacted(_ values: JSONObject, in state: JSONObject) -> JSONObject {
        var shown = values
        for (key, redaction) in rules.fieldRules.redactions {
            if let value = values[key] { shown[key] = redaction.shown(value, in: state) }
        }
        return shown
    }

    var hidesFields: Bool { !rules.fieldRules.redactions.isEmpty }

    /// What people may see of a state, with the fields that are made of others. Redaction comes first, so that nothing made
    /// of the state can tell what it hides.
    func presented(_ state: JSONObject, topic: TopicID) -> JSONObject {
        var shown = redacted(state, in: state)
        if hasDerived { rules.derived.add(to: &shown, topic: topic) }
        return shown
    }

    func isOver(_ state: JSONObject) -> Bool { !rules.endsWhen.isEmpty && rules.endsWhen.hold(in: state) }
}
