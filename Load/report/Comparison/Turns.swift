package import Laboratory

/// A comparison that runs both builds itself: in turns, so that a drift of the machine's speed meets both alike, and until it is precise
/// enough for the noise that it meets.
///
/// The number of pairs depends on the width of an interval and never on where it lies: who stops at the first difference finds one in
/// every pair of builds.
package struct Turns {
    package enum Side: Sendable { case a, b }

    package static let pairsMin = 14
    /// Distance from the estimate to the ends of the first figure's interval that is precise enough: half of a difference of 5 %.
    package static let precision = 0.025

    /// Results of one run each, in the order of the pairs.
    package private(set) var results: (a: [LoadResult], b: [LoadResult]) = ([], [])
    private let figures: [String]?
    private let pairsMax: Int
    /// Precision is looked at once in so many pairs.
    private static let pairsBetweenLooks = 4

    /// - Parameter pairsMax: most pairs, from `pairsMin` to `Ratio.runsMax`.
    package init(figures: [String]? = nil, pairsMax: Int = Ratio.runsMax) {
        self.figures = figures
        self.pairsMax = min(max(pairsMax, Turns.pairsMin), Ratio.runsMax)
    }

    /// Runs pairs until the comparison is precise enough.
    ///
    /// - Parameters:
    ///   - once: runs one side once.
    ///   - progress: is told the number of complete pairs.
    package mutating func run(
        _ once: (Side) throws -> LoadResult, progress: (Int) -> Void = { _ in }
    ) throws -> Comparison {
        while true {
            let pair = results.a.count
            // The first of a pair may find a colder machine.
            for side in pair % 2 == 0 ? [Side.a, .b] : [.b, .a] {
                switch side {
                case .a: results.a.append(try once(.a))
                case .b: results.b.append(try once(.b))
                }
            }
            progress(pair + 1)
            let isLast = pair + 1 == pairsMax
            guard isLast || (pair + 1 >= Turns.pairsMin && (pair + 1 - Turns.pairsMin) % Turns.pairsBetweenLooks == 0)
            else { continue }
            let comparison = try comparison()
            if isLast || comparison.precision <= Turns.precision { return comparison }
        }
    }

    private func comparison() throws -> Comparison {
        func named(_ results: [LoadResult], _ name: String) -> [(name: String, result: LoadResult)] {
            results.enumerated().map { ("run \($0.offset + 1) of \(name)", $0.element) }
        }
        let (a, b) = (try RunSet(named(results.a, "A")), try RunSet(named(results.b, "B")))
        try a.check(comparable: b)
        return try Comparison(a, b, figures: figures)
    }
}

extension Comparison {
    /// Distance from the first figure's estimate to the farther end of its interval, relative to the estimate; endless without a ratio.
    fileprivate var precision: Double {
        rows.first?.ratio.map { max($0.high / $0.estimate, $0.estimate / $0.low) - 1 } ?? .infinity
    }
}
