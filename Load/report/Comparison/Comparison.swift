import Laboratory

/// Comparison of several runs of A with several runs of B, figure by figure.
///
/// All figures together are called different by chance with a probability of at most `error`: the more figures, the wider the interval of
/// each. A difference is called only if its interval excludes 1 and its estimate is at least `negligible`.
package struct Comparison: Sendable {
    /// Probability of calling any figure different between runs of the same build. Of twenty comparisons more than one is wrong with a
    /// probability of 1.7 %.
    package static let error = 0.01
    /// Smaller differences come with every build: addresses, padding, the order of functions.
    package static let negligible = 0.01

    package enum Call: Sendable, Equatable {
        case same
        case better, worse
        /// Different, in a figure of which neither more nor less is better.
        case different
        /// The figure has no ratio, for this reason.
        case none(String)
    }

    package struct Row: Sendable {
        package let figure: String
        package let medianA: Double
        package let medianB: Double
        package let ratio: Ratio?
        package let call: Call
    }

    package let rows: [Row]
    package let runsA: Int
    package let runsB: Int
    /// Is `true` if the runs took turns, so that each of B's is compared with its neighbour of A.
    package let isPaired: Bool

    /// Figures that are compared unless others are asked for: cost, delay, memory and throughput.
    package static let usual = [
        "cpu.per.push.p10", "cpu.per.push", "goal.last.p50", "goal.last.p99", "all.reached.p99", "memory.peak",
        "pushes.per.second.max",
        "pushes.missing", "pushes.repeated", "goals.unfinished",
    ]

    /// Usual figures that count what went wrong: a build that loses pushes has less to do for the others, and one that repeats them a lower
    /// cost of each.
    private static let losses: Set = ["pushes.missing", "pushes.repeated", "goals.unfinished"]

    /// - Parameter figures: names; nil: the usual ones that all runs have.
    package init(_ a: RunSet, _ b: RunSet, figures: [String]? = nil) throws(ComparisonError) {
        guard !a.runs.isEmpty, !b.runs.isEmpty else { throw ComparisonError(description: "each side needs runs") }
        for (name, set) in [("A", a), ("B", b)] where set.runs.count > Ratio.runsMax {
            throw ComparisonError(
                description: "\(name) has \(set.runs.count) runs; compare takes \(Ratio.runsMax) at most")
        }
        isPaired = a.tookTurns(with: b)
        let all = a.runs + b.runs
        let names: [String]
        if let figures {
            for name in figures where !all.allSatisfy({ $0.figures[name] != nil }) {
                throw ComparisonError(description: "\(name): not every run has this figure")
            }
            names = figures
        } else {
            names = Comparison.usual.filter { name in all.allSatisfy { $0.figures[name] != nil } }
            // A build that completes no goal has no time to the last push, and must not pass for that.
            for name in Comparison.usual where !names.contains(name) {
                let inA = a.runs.allSatisfy { $0.figures[name] != nil }
                let inB = b.runs.allSatisfy { $0.figures[name] != nil }
                guard inA == inB else {
                    throw ComparisonError(
                        description: "only the runs of \(inA ? "A" : "B") all have \(name); see why the others lack it")
                }
            }
        }
        guard !names.isEmpty else {
            throw ComparisonError(description: "the runs have no figure in common that could be compared")
        }
        runsA = a.runs.count
        runsB = b.runs.count
        let share = Comparison.error / Double(names.count)
        let (fewest, found) =
            isPaired
            ? (Ratio.pairsMin(error: share), a.runs.count)
            : (Ratio.runsMin(error: share), min(a.runs.count, b.runs.count))
        guard found >= fewest else {
            throw ComparisonError(
                description:
                    "too few \(isPaired ? "pairs" : "runs") (\(found)) to compare \(names.count) figures with a confidence of "
                    + "\(((1 - Comparison.error) * 100).shortened) %; \(fewest) are needed, or fewer figures")
        }
        let isPaired = isPaired
        rows = names.map { Comparison.row($0, a.runs, b.runs, isPaired: isPaired, error: share) }
    }

    private static func row(_ name: String, _ a: [LoadRun], _ b: [LoadRun], isPaired: Bool, error: Double) -> Row {
        var (a, b) = (a.map { $0.figures[name] ?? 0 }, b.map { $0.figures[name] ?? 0 })
        let (medianA, medianB) = (a.median ?? 0, b.median ?? 0)
        // A loss is none at all in most runs, and nothing has no ratio: a count of losses is compared as one more than it is.
        if losses.contains(name) { (a, b) = (a.map { $0 + 1 }, b.map { $0 + 1 }) }
        let ratio: Ratio?
        let call: Call
        if (a + b).allSatisfy({ $0 > 0 && $0.isFinite }) {
            ratio = isPaired ? Ratio(pairs: Array(zip(a, b)), error: error) : Ratio(a: a, b: b, error: error)
            call = ratio.map { Comparison.call($0, Direction(figure: name)) } ?? .none("too few runs")
        } else {
            ratio = nil
            call =
                a + b == [Double](repeating: a[0], count: a.count + b.count)
                ? .same : Comparison.callOfZeros(a, b, Direction(figure: name))
        }
        return Row(figure: name, medianA: medianA, medianB: medianB, ratio: ratio, call: call)
    }

    /// Judges a figure that has no ratio: one side is 0 throughout, and the other side never.
    private static func callOfZeros(_ a: [Double], _ b: [Double], _ direction: Direction) -> Call {
        let appears = a.allSatisfy { $0 == 0 } && b.allSatisfy { $0 > 0 }
        let vanishes = b.allSatisfy { $0 == 0 } && a.allSatisfy { $0 > 0 }
        guard appears || vanishes else { return .none("values of 0 have no ratio") }
        return switch direction {
        case .lessIsBetter: appears ? .worse : .better
        case .moreIsBetter: appears ? .better : .worse
        case .neither: .different
        }
    }

    private static func call(_ ratio: Ratio, _ direction: Direction) -> Call {
        let isMore = ratio.low > 1
        guard isMore || ratio.high < 1, abs(ratio.estimate - 1) >= negligible else { return .same }
        return switch direction {
        case .lessIsBetter: isMore ? .worse : .better
        case .moreIsBetter: isMore ? .better : .worse
        case .neither: .different
        }
    }

    package var isDifferent: Bool { rows.contains { [.better, .worse, .different].contains($0.call) } }
    package var isWorse: Bool { rows.contains { $0.call == .worse } }
}

/// Tells whether more of a figure is better, by the parts of its name.
enum Direction {
    case lessIsBetter, moreIsBetter, neither

    /// Counts that a good run has none of, or few. Dead tokens belong to the load.
    private static let troubles = [
        "missing", "repeated", "unfinished", "failed", "uncertain", "notProcessed", "throttled", "untracked",
    ]

    init(figure: String) {
        let parts = figure.split(separator: ".").map(String.init)
        let last = parts.last ?? ""
        if parts.starts(with: ["pushes", "per", "second"]) || last == "share" {
            self = .moreIsBetter
        } else if ["cpu", "memory", "growth", "turn", "run", "restart", "lateness", "rings", "bytes"].contains(
            parts.first)
            || (last.hasPrefix("p") && Int(last.dropFirst()) != nil)
            || Direction.troubles.contains(last) || figure == "engine.full"
            || (last == "max" && parts.count > 2)
        {
            self = .lessIsBetter
        } else {
            self = .neither
        }
    }
}
