import Laboratory

/// `fanfare-load saturate`.
struct SaturateCommand {
    private let options: RunOptions

    init(_ arguments: [String]) throws {
        options = try RunOptions(arguments)
        guard options.engine == nil else { throw UsageError("saturate: --engine belongs to run") }
        guard options.htmlFile == nil else { throw UsageError("saturate: --html belongs to run, whose rate is one") }
        guard !options.scenario.thresholds.isEmpty else {
            throw UsageError(
                "saturate \(options.scenario.name): without a threshold nothing can break; give --threshold")
        }
    }

    func run() throws -> Int32 {
        // Fewer than three say next to nothing.
        var search = Saturation(repetitions: max(3, options.repetitions))
        var result = LoadResult(scenario: ScenarioSummary(options.scenario), machine: .here())
        while let factor = search.next {
            let scenario = options.scenario.rated(by: factor)
            if let excess = scenario.excess {
                print("rate \(factor.shortened): cannot be run: \(excess)")
                search.noteImpossible(factor)
                continue
            }
            var run = try Engines(scenario, arguments: options.ofEngines + ["--rate", "\(factor)"]).run()
            run.rate = factor
            guard !run.verdict.isInterrupted else {
                print("rate \(factor.shortened): the run was interrupted")
                break
            }
            if let fault = run.verdict.faultBesideLoad {
                search.noteWorthless(factor, fault: fault)
            } else {
                search.note(factor, passes: run.verdict.passes, isLate: run.verdict.isGeneratorLate)
            }
            result.runs.append(run)
            // Written after each run, so that an interruption costs one run only.
            if let file = options.jsonFile { try result.write(to: file) }
            let broken = run.verdict.faults + run.verdict.thresholds.filter { !$0.holds }.map(\.sentence)
            print("rate \(factor.shortened): \(run.verdict.passes ? "passed" : broken.joined(separator: "; "))")
        }
        print(search.sentence)
        let burst = options.scenario.feed.bursts.reduce(0) { $0 + $1.count }
        if 1..<20 ~= burst {
            print("the \(burst) arrivals of its bursts are multiplied in whole ones, so their rate is rounded")
        }
        return search.knee == nil ? ExitStatus.broken : ExitStatus.passed
    }
}
