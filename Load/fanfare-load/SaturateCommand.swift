import Laboratory

/// `fanfare-load saturate`.
struct SaturateCommand {
    private let options: RunOptions

    init(_ arguments: [String]) throws {
        options = try RunOptions(arguments)
        guard !options.scenario.thresholds.isEmpty else {
            throw UsageError(
                "saturate \(options.scenario.name): without a threshold nothing can break; give --threshold")
        }
    }

    func run() throws -> Int32 {
        var search = Saturation()
        var result = LoadResult(scenario: ScenarioSummary(options.scenario), machine: .here())
        while let factor = search.next {
            let run = try RunCommand.once(options.scenario.rated(by: factor))
            search.note(factor, passes: run.verdict.passes)
            result.runs.append(run)
            let broken = run.verdict.faults + run.verdict.thresholds.filter { !$0.holds }.map(\.sentence)
            print("rate \(factor.shortened): \(run.verdict.passes ? "passed" : broken.joined(separator: "; "))")
        }
        print(search.sentence)
        if let file = options.jsonFile { try result.write(to: file) }
        return search.knee == nil ? LoadCommand.broken : LoadCommand.passed
    }
}
