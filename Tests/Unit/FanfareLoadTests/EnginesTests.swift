import Foundation
import Laboratory
import Testing

@testable import fanfare_load

/// Programs that a shell plays instead of `fanfare-load`: what they do is the test's.
@Suite(.serialized) struct EnginesTests {
    /// Runs a scenario whose programs are this script. In it `$file` is where the result goes, `$engine` the engine's number, and `$result` a
    /// finished result; `$begin` says that it is ready, and waits for the start.
    private func run(engines: Int = 1, _ script: String) throws -> LoadRun {
        let folder = FileManager.default.temporaryDirectory.appending(path: "engines-test-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        var scenario = Scenario(name: "test")
        scenario.engines = engines
        scenario.thresholds = [try Threshold("goal.last.max < 2 s")]
        var done = LoadRun(
            verdict: Verdict(faults: [], thresholds: scenario.thresholds.map { $0.judge(["goal.last.max": 1]) }),
            seconds: 3)
        done.figures = ["cpu.per.push.p10": 7e-7, "pushes.sent": 5, "memory.peak": 9e7]
        let result = folder.appending(path: "result.json").path
        try LoadResult(scenario: ScenarioSummary(scenario), machine: Machine(), runs: [done]).write(to: result)
        let program = folder.appending(path: "program")
        let head = """
            #!/bin/sh
            for word; do
                [ "$last" = --engine ] && engine=$word
                [ "$last" = --json ] && file=$word
                last=$word
            done
            begin() { echo ready; read start || exit 3; }
            finish() { cp '\(result)' "$file"; exit 0; }

            """
        // Another process writes the program: a child that a test beside this one has just forked would keep this process's file open for writing,
        // and the system runs no such file.
        let text = folder.appending(path: "text")
        try Data((head + script + "\n").utf8).write(to: text)
        let copy = try Process.run(URL(filePath: "/bin/cp"), arguments: [text.path, program.path])
        copy.waitUntilExit()
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
        return try Engines(scenario, arguments: ["test"], program: program).run()
    }

    @Test func `One program's run has all of its figures, as if this program had run it`() throws {
        let run = try run("begin; finish")
        #expect(run.verdict.passes && run.seconds == 3, "\(run.verdict.faults)")
        #expect(run.figures == ["cpu.per.push.p10": 7e-7, "pushes.sent": 5, "memory.peak": 9e7])
    }

    @Test func `A program that dies in the middle is a failed run, and a sentence that tells how`() throws {
        let run = try run("begin; kill -9 $$")
        #expect(!run.verdict.passes)
        #expect(run.verdict.faults == ["the run's program was ended by signal 9 (Killed) before its end"])
        #expect(run.verdict.thresholds.map(\.holds) == [false], "nothing is known of its figures")
        let status = try self.run("begin; exit 139")
        #expect(status.verdict.faults == ["the run's program ended with status 139 and without a result"])
    }

    @Test func `An engine that dies before the start ends the others, and is the one that is told`() throws {
        let run = try run(engines: 3, "[ $engine = 2 ] && kill -9 $$; begin; finish")
        #expect(run.verdict.faults == ["engine 2 was ended by signal 9 (Killed) before its end"])
    }

    @Test func `Of two engines one that dies in the middle fails the run, and the other one's figures are there`()
        throws
    {
        let run = try run(engines: 2, "begin; [ $engine = 1 ] && kill -9 $$; finish")
        #expect(run.verdict.faults == ["engine 1 was ended by signal 9 (Killed) before its end"])
        #expect(run.figures["pushes.sent"] == 5)
    }

    @Test func `An engine that is gone when it is to start does not end this program`() throws {
        // Its input is closed before it says that it is ready.
        let run = try run("exec 0<&-; echo ready; exec 1>&-; exit 4")
        #expect(run.verdict.faults == ["the run's program ended with status 4 and without a result"])
    }

    @Test func `A program that refuses its command is no failed run: the next one would refuse it, too`() {
        #expect(throws: LaboratoryError.self) { try run("exit 2") }
    }
}

@Suite struct RunOptionsTests {
    private func reason(_ arguments: String...) -> String {
        do { _ = try RunOptions(arguments) } catch { return "\((error as? UsageError)?.description ?? "\(error)")" }
        return "accepted"
    }

    @Test func `A result that cannot be written is refused before the run`() {
        #expect(reason("overload", "--json", "/nowhere/x.json").hasPrefix("--json /nowhere/x.json: cannot be written"))
        #expect(reason("overload", "--html", "/tmp").hasPrefix("--html /tmp: cannot be written"))
        #expect(reason("overload", "--json", "/dev/null") == "accepted")
        #expect(reason("overload", "--json", "fresh.json") == "accepted")
    }

    @Test func `A part of the engines is run once`() {
        #expect(reason("overload", "--engines", "2", "--engine", "1", "--repeat", "2").hasPrefix("--repeat: "))
        #expect(reason("overload", "--engines", "2", "--repeat", "2") == "accepted")
    }

    @Test func `Programs get the options of the run, without its files and repetitions`() throws {
        let options = try RunOptions([
            "overload", "--scale", "0.5", "--json", "x.json", "--repeat", "3", "--threshold", "goals.unfinished = 0",
        ])
        #expect(options.ofEngines == ["overload", "--scale", "0.5", "--threshold", "goals.unfinished = 0"])
    }
}
