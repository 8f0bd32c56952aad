import Foundation
import Laboratory
import Testing

@testable import fanfare_load

/// Results of engines on several hosts become one only if they are the parts of one load.
@Suite struct MergeTests {
    /// The result of one engine of two.
    private func part(_ engine: Int) throws -> LoadResult {
        var scenario = Scenario(name: "test")
        scenario.engines = 2
        var run = LoadRun(verdict: Verdict(faults: [], thresholds: []), seconds: 3)
        run.figures = ["pushes.sent": 5, "memory.peak": 9e7 + Double(engine)]
        run.startedAt = "2026-06-13T14:00:00.\(engine)00Z"
        var summary = ScenarioSummary(scenario)
        (summary.engine, summary.engines) = (engine, 2)
        var machine = Machine()
        (machine.commit, machine.program) = ("0123456789ab", "fedcba98")
        return LoadResult(scenario: summary, machine: machine, runs: [run])
    }

    /// Complaint of the merge about the parts; `nil` if it takes them.
    private func complaint(_ parts: [LoadResult], names: [String]? = nil) throws -> String? {
        let folder = FileManager.default.temporaryDirectory.appending(path: "merge-test-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for (index, part) in parts.enumerated() {
            files.append(folder.appending(path: "\(index + 1).json").path)
            try part.write(to: files[index])
        }
        let whole = folder.appending(path: "whole.json").path
        do {
            _ = try ReportCommand.merge(files + ["--json", whole])
        } catch {
            #expect(!FileManager.default.fileExists(atPath: whole))
            return "\(error)".replacing("\(folder.path)/", with: "")
        }
        #expect(try LoadResult(file: whole).runs[0].figures["pushes.sent"] == 5 * Double(parts.count))
        return nil
    }

    /// The second part, changed.
    private func complaint(_ change: (inout LoadResult) -> Void) throws -> String? {
        var second = try part(2)
        change(&second)
        return try complaint([try part(1), second])
    }

    @Test func `Parts of one load become one result`() throws {
        #expect(try complaint([try part(1), try part(2)]) == nil)
    }

    @Test func `A part of another load is refused, with what it differs in`() throws {
        #expect(try complaint { $0.scenario.name = "other" } == "2.json: ran other; 1.json ran test")
        #expect(
            try complaint { $0.scenario.definition = "1234" }
                == "2.json: ran test with other sizes, times or options than 1.json")
        #expect(
            try complaint { $0.scenario.seed += 1 }
                == "2.json: has another seed than 1.json, so it is a part of another load")
        #expect(
            try complaint { $0.machine.program = "00000000" } == "2.json: was measured with another build than 1.json")
        #expect(
            try complaint { $0.runs[0].startedAt = "2026-06-13T14:00:05.100Z" }
                == "2.json: began 5 s apart from 1.json; engines of one load run at the same time")
        #expect(try complaint { $0.runs += $0.runs } == "2.json: has 2 runs; merge takes results of one run each")
    }

    @Test func `The same part twice is refused, and so is a load that lacks one`() throws {
        #expect(try complaint { $0.scenario.engine = 1 } == "2.json: is the part of engine 1, as another result is")
        #expect(try complaint([try part(1), try part(1)]) == "2.json: is a copy of another result")
        #expect(
            try complaint([try part(1)])
                == "test was divided over 2 engines: merge takes a result of each, not 1")
        #expect(throws: (any Error).self) { try ReportCommand.merge(["a.json", "a.json", "--json", "b.json"]) }
    }
}
