/// The relevance of a topic's activities on a phone, and its prominence in lineups, in thirteen bytes. The publication's properties of one byte
/// follow without a gap.
struct PackedRanks: Sendable {
    private let storedRelevance: SmallNumber
    private let importance: SmallNumber
    private let occasionWeight: SmallNumber
    private let hasBegun: Bool

    init(_ relevance: Int?, _ prominence: Prominence) {
        storedRelevance = SmallNumber(relevance)
        importance = SmallNumber(prominence.importance)
        occasionWeight = SmallNumber(prominence.occasionWeight)
        hasBegun = prominence.hasBegun
    }

    var relevance: Int? { storedRelevance.value }
    var prominence: Prominence {
        Prominence(hasBegun: hasBegun, importance: importance.value ?? 0, occasionWeight: occasionWeight.value)
    }
}

/// An optional number in four bytes. Numbers beyond them, which no rule means, are clamped.
private struct SmallNumber: Sendable {
    private let stored: Int32
    private static let none = Int32.min

    init(_ value: Int?) { stored = value.map { max(Int32(clamping: $0), SmallNumber.none + 1) } ?? SmallNumber.none }

    var value: Int? { stored == SmallNumber.none ? nil : Int(stored) }
}
