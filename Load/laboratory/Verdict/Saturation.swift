import Glibc

/// Looks for the rate at which a scenario's thresholds break: doubles or halves it, then bisects, then repeats both ends. It runs nothing
/// itself.
///
///     var search = Saturation()
///     while let factor = search.next { search.note(factor, passes: run(scenario.rated(by: factor))) }
package struct Saturation: Sendable {
    /// Ratio of the two ends at which the search stops dividing.
    private let precision: Double
    /// Runs of each end.
    private let repetitions: Int
    private var trials: [(factor: Double, passes: Bool, isLate: Bool)] = []
    /// Least factor at which the laboratory cannot run the scenario.
    private var impossible = Double.infinity
    /// Run with a fault that is neither the load's nor the engine's slowness, which ends the search.
    private var worthless: (factor: Double, fault: String)?

    /// Factors beyond which the search gives up.
    private static let factors = 1.0 / 1024...1024.0

    package init(precision: Double = 1.1, repetitions: Int = 3) {
        self.precision = precision
        self.repetitions = repetitions
    }

    /// Shares of passed runs by factor.
    private var shares: [(factor: Double, passed: Int, runs: Int)] {
        Set(trials.map(\.factor)).sorted().map { factor in
            let runs = trials.filter { $0.factor == factor }
            return (factor, runs.count { $0.passes }, runs.count)
        }
    }

    /// The greatest factor below which no run failed by majority, and the least factor above it.
    private var ends: (low: Double?, high: Double?) {
        let high = shares.first { 2 * $0.passed < $0.runs || $0.passed == 0 }?.factor
        let low = shares.last { 2 * $0.passed >= $0.runs && $0.passed > 0 && $0.factor < high ?? .infinity }?.factor
        return (low, high)
    }

    /// Factor of the next run; `nil` when the search is over.
    package var next: Double? {
        guard worthless == nil else { return nil }
        let (low, high) = ends
        switch (low, high) {
        case (nil, nil): return 1
        case (let low?, nil): return low * 2 <= Saturation.factors.upperBound && low * 2 < impossible ? low * 2 : nil
        case (nil, let high?): return high / 2 >= Saturation.factors.lowerBound ? high / 2 : nil
        case (let low?, let high?):
            if high / low > precision { return (low * high).squareRoot() }
            return [low, high].first { end in trials.count { $0.factor == end } < repetitions }
        }
    }

    /// - Parameter isLate: `true` if the generator was late, so that the run says nothing of the engine.
    package mutating func note(_ factor: Double, passes: Bool, isLate: Bool = false) {
        trials.append((factor, passes && !isLate, isLate))
    }

    /// Notes a run whose figures say nothing of the engine's limit: a simulator had ended, a program had died.
    package mutating func noteWorthless(_ factor: Double, fault: String) { worthless = (factor, fault) }

    /// Notes that the laboratory cannot run the scenario at this factor.
    package mutating func noteImpossible(_ factor: Double) { impossible = min(impossible, factor) }

    /// Is `true` if the upper end is the generator's and not the engine's.
    private var isLimitOfGenerator: Bool {
        guard let high = ends.high else { return false }
        return trials.contains { $0.factor == high && $0.isLate }
    }

    /// The knee with its confidence, in one sentence.
    package var sentence: String {
        func passed(_ factor: Double) -> String {
            guard let share = shares.first(where: { $0.factor == factor }) else { return "" }
            return "\(share.passed) of \(share.runs) runs passed"
        }
        func sure(_ factor: Double) -> String {
            guard let share = shares.first(where: { $0.factor == factor }) else { return "" }
            // The first one made this rate the lower end, and says nothing more.
            let least = Saturation.leastShare(passed: share.passed - 1, of: share.runs - 1)
            return " (so at least \((100 * least).rounded(.down).shortened) % of runs do, with a confidence of 95 %)"
        }
        if let worthless {
            return
                "the knee is not known: the run at \(worthless.factor.shortened) times the scenario's rate is worthless, because "
                + worthless.fault
        }
        switch ends {
        case (let low, let high?) where isLimitOfGenerator:
            return
                "the generator was late at \(high.shortened) times the scenario's rate; the engine's knee is not known"
                + (low.map { ", and it lies above \($0.shortened)" } ?? "")
        case (let low?, let high?):
            return
                "the knee lies between \(low.shortened) and \(high.shortened) times the scenario's rate: at \(low.shortened) "
                + "\(passed(low))\(sure(low)), at \(high.shortened) \(passed(high))" + failures(below: low)
        case (let low?, nil) where impossible < .infinity:
            return
                "no threshold broke up to \(low.shortened) times the scenario's rate, and \(impossible.shortened) times are "
                + "more than the laboratory runs"
        case (let low?, nil): return "no threshold broke up to \(low.shortened) times the scenario's rate"
        case (nil, let high?): return "a threshold broke even at \(high.shortened) times the scenario's rate"
        case (nil, nil): return "nothing was run"
        }
    }

    /// Lower rates at which a run failed, too: a knee is as sure as the rates below it hold.
    private func failures(below low: Double) -> String {
        let failed = shares.filter { $0.factor < low && $0.passed < $0.runs }
            .map { "at \($0.factor.shortened) \($0.passed) of \($0.runs) runs passed" }
        return failed.isEmpty ? "" : "; below it, " + failed.joined(separator: ", ")
    }

    /// Share of runs that pass with a confidence of 95 % if so many of these did (Clopper and Pearson): with a smaller one, so many would pass
    /// once in twenty times at most.
    package static func leastShare(passed: Int, of runs: Int) -> Double {
        guard passed > 0, passed <= runs else { return 0 }
        func atLeast(_ share: Double) -> Double {
            (passed...runs).reduce(0) { sum, count in
                // Of so few runs the number of ways is exact.
                let ways = (0..<count).reduce(1.0) { $0 * Double(runs - $1) / Double($1 + 1) }
                return sum + ways * pow(share, Double(count)) * pow(1 - share, Double(runs - count))
            }
        }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<50 {
            let middle = (low + high) / 2
            if atLeast(middle) < 0.05 { low = middle } else { high = middle }
        }
        return low
    }

    package var knee: ClosedRange<Double>? {
        guard worthless == nil, case (let low?, let high?) = ends, !isLimitOfGenerator else { return nil }
        return low...high
    }
}
