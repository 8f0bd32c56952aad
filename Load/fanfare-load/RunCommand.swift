import FanfareLoop
import Foundation
import Laboratory

/// `fanfare-load run`.
struct RunCommand {
    private let options: RunOptions

    init(_ arguments: [String]) throws { options = try RunOptions(arguments) }

    func run() throws -> Int32 {
        let scenario = options.scenario
        var result = LoadResult(scenario: ScenarioSummary(scenario), machine: .here())
        if let engine = options.engine {
            result.scenario.subscribers = scenario.part(engine - 1).subscribers.count
            result.scenario.engine = engine
        } else {
            result.scenario.shards *= scenario.engines
        }
        if result.machine.isDebugBuild {
            Terminal.complain("this is a debug build, whose figures are worth nothing: swift build -c release")
        }
        for number in 1...options.repetitions {
            if options.repetitions > 1 { Terminal.complain("run \(number) of \(options.repetitions)") }
            let run = try once()
            result.runs.append(run)
            print(RunText(result.scenario, run).lines.joined(separator: "\n"))
            // Written after each run, so that an interruption costs one run only.
            if let file = options.jsonFile { try result.write(to: file) }
            if run.verdict.isInterrupted { break }
        }
        if let file = options.htmlFile { try ReportCommand.write(result, html: file) }
        return result.runs.allSatisfy(\.verdict.passes) ? ExitStatus.passed : ExitStatus.broken
    }

    private func once() throws -> LoadRun {
        let scenario = options.scenario
        guard let engine = options.engine else {
            // A repetition in a process that has run before would begin with the memory of that run.
            let isAlone = scenario.engines == 1 && options.repetitions == 1
            return try isAlone ? once(scenario) : Engines(scenario, arguments: options.ofEngines).run()
        }
        return try once(scenario.part(engine - 1)) {
            // The parent's line, or that of a person who starts engines on several hosts.
            try? FileHandle.standardOutput.write(contentsOf: Data("\(Engines.ready)\n".utf8))
            return readLine() != nil
        }
    }

    /// Runs a scenario once in this process, with its live view on standard error.
    ///
    /// - Parameter ready: called when everything is prepared; the run ends there if it returns `false`.
    private func once(_ scenario: Scenario, ready: @escaping () -> Bool = { true }) throws -> LoadRun {
        // Views of several engines would erase each other: they write plain lines.
        let isOfMany = scenario.engines > 1
        var view = LiveView(
            name: scenario.name + (isOfMany ? ", engine \((scenario.part ?? 0) + 1)" : ""),
            columns: isOfMany ? nil : Terminal.columns)
        var reported: Set<String> = []
        let run = try ScenarioRun(
            scenario,
            output: RunOutput(
                report: { line in
                    if reported.count < 100, reported.insert(line).inserted {
                        Terminal.show(view.interrupt(with: line))
                    }
                },
                progress: { Terminal.show(view.show($0, clock: Double(Clock.monotonicNanoseconds()) / 1e9)) },
                ready: ready))
        let result = run.run()
        Terminal.show(view.clear())
        return result
    }
}
