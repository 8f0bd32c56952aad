import Foundation
import Testing

/// `fanfare replay --store`, killed in the middle of its work and run again until the feed is over.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(5)))
struct CrashTests {
    private static let rounds = 30
    private static let subscribers = 200

    private static func size(of file: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
    }

    /// Half of the processes are killed some milliseconds after their start, when most of them decide the log again; the others once the
    /// decision log has grown.
    @Test func aReplayThatIsKilledAgainAndAgainEndsLikeAnUndisturbedOne() throws {
        let folder = try Folder()
        let feed = try TestFeed.matchDay.paths(in: folder)
        let simulators = try (Simulator(folder: folder), Simulator(folder: folder))
        func arguments(_ name: String, _ simulator: Simulator) throws -> [String] {
            try ["replay"] + feed + ["--speed", "6000", "--subscribers", "\(Self.subscribers)"]
                + ["--decisions", folder(name + ".decisions"), "--states", folder(name + ".states")]
                + simulator.options()
        }
        let undisturbed = try Program.run(.fanfare, arguments("undisturbed", simulators.0), folder: folder)
        #expect(undisturbed.status == 0, "\(undisturbed.errors)")
        let whole = Self.size(of: folder("undisturbed.decisions"))

        let store = ["--store", folder("store")]
        var killed = 0
        for round in 1...Self.rounds {
            let fanfare = try Program(
                .fanfare, arguments("crashed", simulators.1) + store, folder: folder)
            let target = round.isMultiple(of: 2) ? whole * round / (Self.rounds + 2) : 0
            try fanfare.waitUntil("\(target) bytes of decisions") { _, _ in
                Self.size(of: folder("crashed.decisions")) >= target
            }
            // The moment of the kill is the input of this test, not a wait for anything.
            if target == 0 { usleep(UInt32(round) * 2000) }
            fanfare.send(SIGKILL)
            if try fanfare.wait().status == -SIGKILL { killed += 1 }
        }
        #expect(killed == Self.rounds)
        let last = try Program.run(.fanfare, arguments("crashed", simulators.1) + store, folder: folder)
        #expect(last.status == 0, "\(last.errors)")
        try expectSameOutputs(folder, ["undisturbed", "crashed"], of: ["decisions", "states"])
        let dumps = try (Dump(simulators.0.dump()), Dump(simulators.1.dump()))
        #expect(dumps.0.accepted.count == Self.subscribers)
        for (token, pushes) in dumps.0.accepted {
            let states = [pushes, dumps.1.accepted[token] ?? []].map { $0.last?.state as NSDictionary? }
            #expect(states[0] == states[1], "\(token)")
        }
        let check = try Program.run(.fanfare, ["log", "check", folder("store")], folder: folder)
        #expect(check.status == 0 && check.output.hasPrefix("good: "), "\(check.output) \(check.errors)")
    }

    private static func text(of file: String) -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

    /// Expects that both runs have left the same decision log and the same states.
    private func expectSameOutputs(_ folder: Folder, _ names: [String], of outputs: [String]) throws {
        for output in outputs {
            let files = try names.map { try Data(contentsOf: URL(fileURLWithPath: folder("\($0).\(output)"))) }
            #expect(files.allSatisfy { $0 == files[0] }, "\(output)")
        }
    }

    /// A limit on the size of files stands for a full disk. It ends the decision log in the middle of a line, or stops the store; each process is
    /// killed once it has reported either. The last one has room again.
    @Test func aReplayWhoseDiskIsFullForAWhileEndsLikeAnUndisturbedOne() throws {
        let folder = try Folder()
        let feed = try TestFeed.matchDay.paths(in: folder)
        func arguments(_ name: String) -> [String] {
            ["replay"] + feed + ["--speed", "6000", "--subscribers", "\(Self.subscribers)"]
                + ["--decisions", folder(name + ".decisions"), "--states", folder(name + ".states")]
        }
        let undisturbed = try Program.run(.fanfare, arguments("undisturbed"), folder: folder)
        #expect(undisturbed.status == 0, "\(undisturbed.errors)")

        let fanfare = try #require(Binary.fanfare.path)
        let crashed = arguments("crashed") + ["--store", folder("store")]
        for kibibytes in [150, 400, 800] {
            let limited = "trap '' XFSZ; ulimit -f \(kibibytes); exec \"$0\" \"$@\""
            let program = try Program(path: "/bin/bash", ["-c", limited, fanfare] + crashed, folder: folder)
            try program.waitUntil("a full disk") { _, errors in errors.contains("cannot be written") }
            program.send(SIGKILL)
            #expect(try program.wait().status != 0)
            #expect(Self.size(of: folder("crashed.decisions")) <= kibibytes << 10)
        }
        let last = try Program.run(.fanfare, crashed, folder: folder)
        #expect(last.status == 0, "\(last.errors)")
        try expectSameOutputs(folder, ["undisturbed", "crashed"], of: ["decisions", "states"])
        let check = try Program.run(.fanfare, ["log", "check", folder("store")], folder: folder)
        #expect(check.status == 0 && check.output.hasPrefix("good: "), "\(check.output) \(check.errors)")
    }

    /// Each write to this device fails, as on a full disk.
    @Test func outputsThatADiskHadNoRoomForComeWithTheNextRun() throws {
        let folder = try Folder()
        let feed = try TestFeed.matchDay.paths(in: folder)
        let replay = ["replay"] + feed + ["--until", "2026-06-13T14:30:00Z"]
        let undisturbed = try Program.run(
            .fanfare,
            replay + ["--decisions", folder("undisturbed.decisions"), "--states", folder("undisturbed.states")],
            folder: folder)
        #expect(undisturbed.status == 0, "\(undisturbed.errors)")
        let stored = replay + ["--store", folder("store"), "--subscribers", "3"]
        let full = try Program.run(
            .fanfare, stored + ["--decisions", "/dev/full", "--states", "/dev/full"], folder: folder)
        #expect(full.status == 1 && full.errors.contains("/dev/full: cannot be written"), "\(full.errors)")
        let next = try Program.run(
            .fanfare, stored + ["--decisions", folder("next.decisions"), "--states", folder("next.states")],
            folder: folder)
        #expect(next.status == 0, "\(next.errors)")
        try expectSameOutputs(folder, ["undisturbed", "next"], of: ["decisions", "states"])
    }

    /// A pipe cannot be read again, so each process gets the lines that come after the decided ones. It is killed with half a line in its hands, of
    /// which nothing remains. Each topic has one line, because a second version of one would wait for a time that no two runs share.
    @Test func aLiveReplayThatIsKilledAgainAndAgainKeepsEachDecision() throws {
        let folder = try Folder()
        let (processes, each) = (8, 25)
        let lines = (0..<processes * each).map { number in
            #"{"topic":"board/\#(number)","at":\#(1_781_359_200 + number),"set":{"number":\#(number)}}"# + "\n"
        }
        func arguments(_ name: String) -> [String] {
            ["replay", "-", "--subscribers", "\(Self.subscribers)"]
                + ["--decisions", folder(name + ".decisions"), "--states", folder(name + ".states")]
        }
        func decided(_ name: String) -> [String] {
            Self.text(of: folder(name + ".decisions")).split(separator: "\n").map(String.init)
        }
        /// Decisions on each topic; the times are those of the run.
        func outcomes(_ name: String) -> [String] {
            decided(name).map { line in
                line.split(separator: ",").filter { !$0.hasPrefix("\"now\"") && !$0.hasPrefix("\"at\"") }.joined(
                    separator: ",")
            }
        }
        let undisturbed = try Program(.fanfare, arguments("undisturbed"), folder: folder, hasInput: true)
        try undisturbed.write(lines.joined())
        try undisturbed.closeInput()
        let end = try undisturbed.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(outcomes("undisturbed").count == lines.count)

        let crashed = arguments("crashed") + ["--store", folder("store")]
        var before = ""
        for process in 1...processes {
            let fanfare = try Program(.fanfare, crashed, folder: folder, hasInput: true)
            try fanfare.write(lines[(process - 1) * each..<process * each].joined() + #"{"topic":"half"#)
            try fanfare.waitUntil("\(process * each) decisions") { _, _ in
                Self.text(of: folder("crashed.decisions")).count { $0 == "\n" } >= process * each
            }
            let text = Self.text(of: folder("crashed.decisions"))
            #expect(text.hasPrefix(before), "process \(process) changes what was decided before")
            before = text
            fanfare.send(SIGKILL)
            #expect(try fanfare.wait().status == -SIGKILL)
        }
        let last = try Program(.fanfare, crashed, folder: folder, hasInput: true)
        try last.closeInput()
        let lastEnd = try last.wait()
        #expect(lastEnd.status == 0, "\(lastEnd.errors)")
        #expect(Self.text(of: folder("crashed.decisions")).hasPrefix(before))
        #expect(outcomes("crashed") == outcomes("undisturbed"))
        try expectSameOutputs(folder, ["undisturbed", "crashed"], of: ["states"])
    }
}
