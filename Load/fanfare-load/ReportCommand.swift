import Foundation
import Laboratory
import LaboratoryReport

/// `fanfare-load report` and `fanfare-load plot`: pages, plots and logs of a result.
struct ReportCommand {
    private var resultFile = ""
    private var outputs: [(option: String, file: String)] = []
    private var plot = "latency"
    private var run = 1

    /// - Parameter kinds: options that name an output.
    private init(_ arguments: [String], kinds: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                guard resultFile.isEmpty else { throw UsageError("\(word): one result at a time") }
                resultFile = word
                continue
            }
            guard let text = rest.popFirst() else {
                throw UsageError("\(word): the value is missing, or there is no such option")
            }
            switch word {
            case _ where kinds.contains(word): outputs.append((word, text))
            case "--plot" where kinds.contains("--svg"): plot = text
            case "--run":
                guard let number = Int(text), number > 0 else {
                    throw UsageError("--run \(text): expected a number from 1")
                }
                run = number
            default: throw UsageError("\(word): no such option")
            }
        }
        guard !resultFile.isEmpty else { throw UsageError("a result is missing: a file of fanfare-load run --json") }
        guard !outputs.isEmpty else { throw UsageError("\(kinds.joined(separator: " or ")) is missing, with a file") }
    }

    /// `report RESULT.json --html FILE --hdr FILE`.
    static func report(_ arguments: [String]) throws -> Int32 {
        let command = try ReportCommand(arguments, kinds: ["--html", "--hdr"])
        let result = try LoadResult(file: command.resultFile)
        for (option, file) in command.outputs {
            if option == "--html" {
                try write(result, html: file)
            } else {
                let run = try command.selectedRun(of: result)
                let text = HistogramLog.text(
                    of: run, startedAt: run.startedAt ?? result.machine.startedAt, title: result.scenario.name)
                try Data(text.utf8).write(toFile: file)
            }
        }
        return ExitStatus.passed
    }

    /// `plot RESULT.json --plot NAME --svg FILE --png FILE`.
    static func plot(_ arguments: [String]) throws -> Int32 {
        let command = try ReportCommand(arguments, kinds: ["--svg", "--png"])
        let plots = RunPlots(try command.selectedRun(of: try LoadResult(file: command.resultFile))).all
        guard let plot = plots.first(where: { $0.name == command.plot }) else {
            throw UsageError(
                "--plot \(command.plot): the result has the plots \(plots.map(\.name).joined(separator: ", "))")
        }
        let gnuplot = try Gnuplot()
        for (option, file) in command.outputs {
            let data =
                option == "--svg" ? Data(try gnuplot.svg([plot], [.wide])[0][0].file.utf8) : try gnuplot.png(plot)
            try data.write(toFile: file)
        }
        return ExitStatus.passed
    }

    /// `judge RESULT…`: writes verdicts by the scenario's present thresholds into results of the load that it still is.
    static func judge(_ files: [String]) throws -> Int32 {
        guard !files.isEmpty else { throw UsageError("judge: results are missing") }
        var status = ExitStatus.passed
        for file in files {
            guard !file.hasPrefix("--") else { throw UsageError("\(file): no such option") }
            var result = try LoadResult(file: file)
            let scenario = try ScenarioFiles.find(result.scenario.name)
            guard result.scenario.definition == scenario.definition else {
                throw LaboratoryError(
                    "\(file): ran \(scenario.name) with other sizes, times or options than it has now; run it anew")
            }
            for index in result.runs.indices {
                let run = result.runs[index]
                result.runs[index].verdict = Verdict(
                    faults: run.verdict.faults, thresholds: scenario.thresholds.map { $0.judge(run.figures) })
                for broken in result.runs[index].verdict.thresholds where !broken.holds {
                    print("\(scenario.name), run \(index + 1): \(broken.sentence)")
                    status = ExitStatus.broken
                }
            }
            try result.write(to: file)
        }
        return status
    }

    /// Seconds between the starts of engines on several hosts, whose clocks differ.
    private static let apartMax = 2.0

    /// `merge RESULT… --json FILE`: results of engines that ran at the same time, as one.
    static func merge(_ arguments: [String]) throws -> Int32 {
        guard let place = arguments.firstIndex(of: "--json"), arguments.indices.contains(place + 1) else {
            throw UsageError("merge: --json is missing, with a file")
        }
        let files = arguments[..<place] + arguments[(place + 2)...]
        var results: [LoadResult] = []
        for file in files {
            guard !file.hasPrefix("--") else { throw UsageError("\(file): no such option") }
            guard files.count(where: { $0 == file }) == 1 else { throw UsageError("\(file): is named twice") }
            let result = try LoadResult(file: file)
            guard result.runs.count == 1 else {
                throw LaboratoryError("\(file): has \(result.runs.count) runs; merge takes results of one run each")
            }
            if let first = results.first, first.scenario.name != result.scenario.name {
                throw LaboratoryError("\(file): ran \(result.scenario.name); \(files[0]) ran \(first.scenario.name)")
            }
            if let first = results.first, first.scenario.definition != result.scenario.definition {
                throw LaboratoryError(
                    "\(file): ran \(result.scenario.name) with other sizes, times or options than \(files[0])")
            }
            if let first = results.first, first.scenario.seed != result.scenario.seed {
                throw LaboratoryError("\(file): has another seed than \(files[0]), so it is a part of another load")
            }
            if let first = results.first,
                (first.machine.commit, first.machine.program) != (result.machine.commit, result.machine.program)
            {
                throw LaboratoryError("\(file): was measured with another build than \(files[0])")
            }
            if results.contains(where: { $0.runs[0].figures == result.runs[0].figures }) {
                throw LaboratoryError("\(file): is a copy of another result")
            }
            if let first = results.first, let mine = Date(startedAt: result.runs[0].startedAt ?? ""),
                let its = Date(startedAt: first.runs[0].startedAt ?? ""), abs(mine.timeIntervalSince(its)) > apartMax
            {
                throw LaboratoryError(
                    "\(file): began \(abs(mine.timeIntervalSince(its)).shortened) s apart from \(files[0]); engines of one load run at the same time"
                )
            }
            if let engine = result.scenario.engine, results.contains(where: { $0.scenario.engine == engine }) {
                throw LaboratoryError("\(file): is the part of engine \(engine), as another result is")
            }
            results.append(result)
        }
        if let first = results.first, let engines = first.scenario.engines, engines != results.count {
            throw LaboratoryError(
                "\(first.scenario.name) was divided over \(engines) engines: merge takes a result of each, not \(results.count)"
            )
        }
        guard var whole = results.first, let run = LoadRun(simultaneous: results.flatMap(\.runs)) else {
            throw UsageError("merge: results are missing")
        }
        whole.runs = [run]
        whole.scenario.engine = nil
        whole.scenario.subscribers = results.reduce(0) { $0 + $1.scenario.subscribers }
        whole.scenario.shards = results.reduce(0) { $0 + $1.scenario.shards }
        try whole.write(to: arguments[place + 1])
        return run.verdict.passes ? ExitStatus.passed : ExitStatus.broken
    }

    /// Writes a page; a missing gnuplot costs its plots, not the page.
    static func write(_ result: LoadResult, html file: String) throws {
        do { _ = try Gnuplot() } catch { Terminal.complain("\(error); the page has tables only") }
        try Data(try ReportPage(result).html().utf8).write(toFile: file)
    }

    private func selectedRun(of result: LoadResult) throws -> LoadRun {
        guard result.runs.indices.contains(run - 1) else {
            throw UsageError("--run \(run): the result has \(result.runs.count) runs")
        }
        return result.runs[run - 1]
    }
}
