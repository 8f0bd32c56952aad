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
        for name in ["decisions", "states"] {
            let files = try ["undisturbed", "crashed"].map {
                try Data(contentsOf: URL(fileURLWithPath: folder("\($0).\(name)")))
            }
            #expect(files[0] == files[1], "\(name)")
        }
        let dumps = try (Dump(simulators.0.dump()), Dump(simulators.1.dump()))
        #expect(dumps.0.accepted.count == Self.subscribers)
        for (token, pushes) in dumps.0.accepted {
            let states = [pushes, dumps.1.accepted[token] ?? []].map { $0.last?.state as NSDictionary? }
            #expect(states[0] == states[1], "\(token)")
        }
        let check = try Program.run(.fanfare, ["log", "check", folder("store")], folder: folder)
        #expect(check.status == 0 && check.output.hasPrefix("good: "), "\(check.output) \(check.errors)")
    }
}
