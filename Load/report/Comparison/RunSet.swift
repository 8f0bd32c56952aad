import Foundation
package import Laboratory

/// The runs of one side of a comparison, from one or several results of one scenario on one machine.
package struct RunSet: Sendable {
    package let scenario: ScenarioSummary
    package let machine: Machine
    package private(set) var runs: [LoadRun] = []
    /// Start of each run; empty if a result holds several runs, of which only the first one's start is known.
    private var starts: [Date] = []

    /// - Parameter results: at least one, with the names by which messages call them.
    package init(_ results: [(name: String, result: LoadResult)]) throws(ComparisonError) {
        guard let first = results.first?.result else { throw ComparisonError(description: "no result is given") }
        scenario = first.scenario
        machine = first.machine
        var isTimed = true
        for (name, result) in results {
            if let difference = first.difference(from: result, ignoringCommit: false) {
                throw ComparisonError(
                    description: "\(name): \(difference); one side of a comparison is one build and scenario")
            }
            for run in result.runs where !run.verdict.faults.isEmpty {
                throw ComparisonError(description: "\(name): a run is worthless: \(run.verdict.faults[0])")
            }
            guard result.runs.allSatisfy({ $0.rate == nil }) else {
                throw ComparisonError(
                    description: "\(name): its runs have the rates of saturate; compare takes runs of one rate")
            }
            runs += result.runs
            if let date = Date(startedAt: result.machine.startedAt), result.runs.count == 1 {
                starts.append(date)
            } else {
                isTimed = false
            }
        }
        if isTimed {
            let order = starts.indices.sorted { starts[$0] < starts[$1] }
            runs = order.map { runs[$0] }
            starts = order.map { starts[$0] }
        } else {
            starts = []
        }
    }

    /// Tells whether the runs of both sides alternated in time, two and two: the second of each side began after the first of both.
    func tookTurns(with other: RunSet) -> Bool {
        guard !starts.isEmpty, starts.count == other.starts.count else { return false }
        return (1..<max(1, starts.count)).allSatisfy { index in
            max(starts[index - 1], other.starts[index - 1]) < min(starts[index], other.starts[index])
        }
    }

    /// Refuses what cannot be compared with this set.
    package func check(comparable other: RunSet) throws(ComparisonError) {
        let (mine, its) = (
            LoadResult(scenario: scenario, machine: machine),
            LoadResult(scenario: other.scenario, machine: other.machine)
        )
        if let difference = mine.difference(from: its, ignoringCommit: true) {
            throw ComparisonError(description: difference)
        }
    }
}

extension LoadResult {
    /// Reason why figures of another result do not belong beside this one's; `nil` if they do.
    fileprivate func difference(from other: LoadResult, ignoringCommit: Bool) -> String? {
        if scenario.withoutTexts != other.scenario.withoutTexts {
            return scenario.name == other.scenario.name
                ? "\(scenario.name) ran with other sizes, rates, times, options or seeds"
                : "one ran \(scenario.name), the other \(other.scenario.name)"
        }
        let (mine, its) = (machine, other.machine)
        if (mine.processor, mine.processors, mine.kernel) != (its.processor, its.processors, its.kernel) {
            return
                "the results are of different machines (\(mine.processor), \(its.processor)), whose figures do not compare"
        }
        if mine.isDebugBuild != its.isDebugBuild { return "one build is a debug build" }
        if !ignoringCommit, mine.program != its.program || mine.commit != its.commit {
            return "the results are of different builds (\(mine.commit), \(its.commit))"
        }
        return nil
    }
}

extension ScenarioSummary {
    /// The load without the words for people, which another build may have better ones of.
    fileprivate var withoutTexts: ScenarioSummary {
        var summary = self
        (summary.question, summary.good) = ("", "")
        return summary
    }
}
