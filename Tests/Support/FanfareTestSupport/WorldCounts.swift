/// Counts of what worlds have met, by kind. A run in which something never happened proves nothing of it.
package struct WorldCounts<Occurrence: RawRepresentable & CaseIterable & Sendable>: Sendable, Equatable
where Occurrence.RawValue == Int {
    /// Counts by the number of their kind, which is its place among all kinds.
    private var counts = Array(repeating: 0, count: Occurrence.allCases.count)

    package init() {}

    package subscript(occurrence: Occurrence) -> Int {
        get { counts[occurrence.rawValue] }
        set { counts[occurrence.rawValue] = newValue }
    }

    package static func += (sum: inout WorldCounts, more: WorldCounts) {
        for place in sum.counts.indices { sum.counts[place] += more.counts[place] }
    }
}
