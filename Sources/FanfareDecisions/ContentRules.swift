public import FanfareModel

/// Visible part of a topic's content state: rules of its fields, derived fields, and the room beside it in a push.
public struct ContentRules: Sendable {
    /// Rules by field; a field without a rule is visible unchanged.
    public var fields: [String: FieldRule] { didSet { fieldRules = FieldRules(fields) } }
    /// Short forms and the deep link, derived from other fields and part of the state like them.
    public var derived: DerivedFields
    /// Size that the state leaves free of a push's 4,096 bytes (rule U4): for the app's static attributes in a start, for alert and
    /// envelope in an update. Clamped to 1,024 to 3,072 bytes.
    public var attributesReserve: ByteCount { didSet { attributesReserve = ContentRules.bounded(attributesReserve) } }

    /// Rules of `fields`, separated by type.
    private(set) var fieldRules: FieldRules

    /// Creates rules. By default every field is visible, nothing is derived, and the state may be as large as possible.
    public init(
        fields: [String: FieldRule] = [:], derived: DerivedFields = DerivedFields(),
        attributesReserve: ByteCount = ContentRules.attributesReserveRange.lowerBound
    ) {
        self.fields = fields
        self.derived = derived
        self.attributesReserve = ContentRules.bounded(attributesReserve)
        fieldRules = FieldRules(fields)
    }

    /// Range of `attributesReserve`; its lower bound holds the longest alert and the envelope.
    public static let attributesReserveRange: ClosedRange<ByteCount> = .kibibytes(1) ... .kibibytes(3)

    private static func bounded(_ reserve: ByteCount) -> ByteCount {
        min(max(reserve, attributesReserveRange.lowerBound), attributesReserveRange.upperBound)
    }
}
