import Foundation
import Testing

@testable import Laboratory

/// Results that the repository keeps, from which anyone repeats the predictions of `plan --check`.
@Suite struct CommittedResultTests {
    private static let calibration: [String] = {
        guard let folder = ProgramFiles.repositoryFile("Load/results/calibration") else { return [] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted().map { "\(folder)/\($0)" }
    }()

    @Test(arguments: ["lineups", "two-shards", "late-answers"])
    func `The time to the last activity is predicted within a fifth, by costs of other runs`(_ name: String) throws {
        try #require(CommittedResultTests.calibration.count >= 3, "Load/results/README.md says how to make them")
        let costs = try MeasuredCosts(CommittedResultTests.calibration.map { try LoadResult(file: $0) })
        let file = try #require(ProgramFiles.repositoryFile("Load/results/\(name).json"))
        let check = try PredictionCheck(LoadResult(file: file), costs)
        #expect(check.passes, "\(check.lines)")
    }

    /// Kept results, with the shipped scenarios of which they are.
    private static let kept: [(file: String, scenario: Scenario)] = {
        guard let scenarios = try? ScenarioFiles.all(), let folder = ProgramFiles.repositoryFile("Load/results") else {
            return []
        }
        return scenarios.map { ("\(folder)/\($0.name).json", $0) }
    }()

    @Test
    func `Every shipped scenario has a result of its load as it is now, and verdicts that follow from the figures`()
        throws
    {
        try #require(CommittedResultTests.kept.count >= 18)
        for (file, scenario) in CommittedResultTests.kept {
            let result = try LoadResult(file: file)
            #expect(
                result.scenario.definition == scenario.definition,
                "\(scenario.name): its load has changed; keep a new result")
            for run in result.runs {
                for figure in run.figures.keys { #expect(Threshold.isKnown(figure), "\(figure)") }
                let thresholds = scenario.thresholds.map { $0.judge(run.figures) }
                #expect(run.verdict == Verdict(faults: [], thresholds: thresholds), "\(scenario.name)")
            }
        }
        for file in CommittedResultTests.calibration {
            let result = try LoadResult(file: file)
            // A calibration's load is in a file beside its result, or that of a shipped scenario.
            let own = file.replacing(".json", with: ".toml")
            let scenario = try ScenarioFiles.find(
                FileManager.default.fileExists(atPath: own) ? own : result.scenario.name
            ).scaled(by: result.scenario.scale)
            #expect(result.scenario.definition == scenario.definition, "\(file)")
        }
    }

    /// As `Load/results/keep` writes them: no seconds, and goals without their spreads.
    @Test func `A result without distributions is one from which costs and predictions follow`() throws {
        let goal = #"{"topic":"football/1","planned":1,"audience":5000,"followers":5000,"first":0.1,"last":0.2,"#
        let text = """
            {"schema":1,"scenario":{"name":"x","question":"","good":"","subscribers":5000,"topics":1,"shards":1,"transport":"simulator",\
            "seed":1,"scale":1,"rate":1},"machine":{"processor":"p","processors":2,"memoryBytes":1,"kernel":"","commit":"","isDebugBuild":false,\
            "startedAt":""},"runs":[{"verdict":{"passes":true,"faults":[],"thresholds":[]},"seconds":1,"figures":{"cpu.per.push":2e-5,\
            "cpu.apns-simulator":0.1,"pushes.sent":5000,"pushes.accepted":5000,"updates":1},"latencies":[],"intervals":[],"goals":[\
            \(goal)"spread":{"unit":"us","min":0,"max":0,"counts":[]}}],"funnel":[],"answers":[],"suppressed":[],"threads":[],"notes":[]}]}
            """
        let path = NSTemporaryDirectory() + "committed-\(UUID()).json"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let result = try LoadResult(file: path)
        var other = result
        other.scenario.name = "y"
        let check = try PredictionCheck(other, MeasuredCosts([result]))
        #expect(check.rows.map(\.median) == [0.2] && abs(check.rows[0].predicted - 0.1) < 1e-9)
    }
}

@Suite struct ResultFileTests {
    @Test func `A result replaces a file whole or not at all, and goes into a device`() throws {
        let folder = NSTemporaryDirectory() + "result-file-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/result.json"
        try Data("earlier".utf8).write(toFile: path)
        let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        try Data("later".utf8).write(toFile: path)
        #expect(FileManager.default.contents(atPath: path) == Data("later".utf8))
        // Another file in the place of the first: what was written in part would never have been seen.
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int != number)
        try Data("x".utf8).write(toFile: "/dev/null")
        let error = #expect(throws: LaboratoryError.self) { try Data("x".utf8).write(toFile: "/dev/full") }
        #expect(error?.description.hasPrefix("/dev/full: cannot be written: ") == true)
        #expect(error?.description.contains("Domain=") == false, "a sentence for people")
    }
}
