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
        } else {
            result.scenario.shards *= scenario.engines
        }
        if result.machine.isDebugBuild {
            Terminal.complain("this is a debug build, whose figures are worth nothing: swift build -c release")
        }
        for _ in 0..<options.repetitions {
            let run = try once()
            result.runs.append(run)
            print(RunText(result.scenario, run).lines.joined(separator: "\n"))
            // Written after each run, so that an interruption costs one run only.
            if let file = options.jsonFile { try result.write(to: file) }
        }
        if let file = options.htmlFile { try ReportCommand.write(result, html: file) }
        return result.runs.allSatisfy(\.verdict.passes) ? LoadCommand.passed : LoadCommand.broken
    }

    private func once() throws -> LoadRun {
        let scenario = options.scenario
        guard let engine = options.engine else { return try RunCommand.once(scenario, engines: options.ofEngines) }
        return try RunCommand.once(scenario.part(engine - 1)) {
            // The parent's line, or that of a person who starts engines on several hosts.
            try? FileHandle.standardOutput.write(contentsOf: Data("\(Engines.ready)\n".utf8))
            return readLine() != nil
        }
    }

    /// Runs a scenario once, in as many programs as it asks for.
    ///
    /// - Parameter arguments: of `fanfare-load run` for each program.
    static func once(_ scenario: Scenario, engines arguments: [String]) throws -> LoadRun {
        scenario.engines > 1 ? try Engines(scenario, arguments: arguments).run() : try once(scenario)
    }

    /// Runs a scenario once, with its live view on standard error.
    ///
    /// - Parameter ready: called when everything is prepared; the run ends there if it returns `false`.
    static func once(_ scenario: Scenario, ready: @escaping () -> Bool = { true }) throws -> LoadRun {
        var view = LiveView(name: scenario.name, columns: Terminal.columns)
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
