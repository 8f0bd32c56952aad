import Foundation
import Testing

/// A kind of trouble during a whole match day.
struct Fault: CustomTestStringConvertible {
    let testDescription: String
    let options: [String]
    /// Names of the dump's counters that must not be zero, or the run proves nothing.
    let evidence: [String]

    static let all = [
        Fault(
            "GOAWAY in the middle of sweeps", ["--goaway-every", "\(FaultTests.activities / 7)"], evidence: ["goAways"]),
        Fault(
            "a connection killed every \(every(100))", ["--lose-connections", every(100)], evidence: ["connectionsLost"]
        ),
        Fault(
            "streams 1,000, 1, 1,000, every two seconds",
            ["--max-streams", "1000,1@800,1000@1600/2000", "--latency", "1..5"], evidence: []),
        Fault("30 % dead", ["--dead-share", "0.3"], evidence: ["ExpiredToken", "Unregistered"]),
        Fault("20 % of answers 503", ["--error-share", "0.2"], evidence: ["ServiceUnavailable"]),
        Fault(
            "a fifth of the tokens throttled", ["--throttle-share", "0.2", "--throttle-interval", "700"],
            evidence: ["TooManyRequests"]),
        Fault(
            "everything at once",
            [
                "--goaway-every", every(500), "--lose-connections", every(300), "--max-streams",
                "1000,1@500,1000@700/2000",
                "--dead-share", "0.3", "--error-share", "0.05", "--throttle-share", "0.1", "--refuse-share", "0.001",
                "--reset-share", "0.001", "--latency", "1~20",
            ],
            evidence: [
                "goAways", "connectionsLost", "ExpiredToken", "ServiceUnavailable", "TooManyRequests", "refusedStreams",
                "resetStreams",
            ]),
    ]

    /// Returns an interval of at least twenty round trips: a handshake takes three, and the client backs off from a server that ends
    /// connections faster than they can be opened.
    private static func every(_ milliseconds: Int) -> String { "\(max(milliseconds, 20 * FaultTests.distance))ms" }

    init(_ name: String, _ options: [String], evidence: [String]) {
        testDescription = name
        self.options = options
        self.evidence = evidence
    }
}

/// A match day through each kind of trouble. In the end every live token has the newest state, no push that was answered came twice,
/// no alert came twice, no stamp went back, and each dead token was reported once.
///
/// `make faults` plays it to 200,000 activities.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(20)), .serialized)
struct FaultTests {
    /// Milliseconds of a round trip.
    static let distance = ProcessInfo.processInfo.environment["FANFARE_FAULT_DISTANCE"].flatMap(Int.init) ?? 0
    /// The recording's seconds in one of ours: a match day in a quarter of a minute, or in the better part of one where there are many activities.
    private static let speed = activities > 10_000 ? 1200 : 3600
    static let activities = ProcessInfo.processInfo.environment["FANFARE_FAULT_ACTIVITIES"].flatMap(Int.init) ?? 4000

    /// The counters in the dump's last line.
    private struct Counters: Decodable {
        struct Counts: Decodable {
            let answers: [String: Int]
            let goAways, connectionsLost, refusedStreams, resetStreams, unanswered: Int

            func count(_ name: String) -> Int {
                switch name {
                case "goAways": goAways
                case "connectionsLost": connectionsLost
                case "refusedStreams": refusedStreams
                case "resetStreams": resetStreams
                default: answers[name] ?? 0
                }
            }
        }
        let counts: Counts
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ line: Substring?) throws -> Value {
        try JSONDecoder().decode(type, from: Data((line ?? "").utf8))
    }

    @Test(arguments: Fault.all) func everyPromiseIsKept(through fault: Fault) throws {
        let folder = try Folder()
        let simulator = try Simulator(fault.options + ["--seed", "11"], distance: Self.distance, folder: folder)
        let states = folder("states.ndjson")
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder)
                + ["--speed", "\(Self.speed)", "--subscribers", "\(Self.activities)", "--states", states, "--json"]
                + simulator.options(), folder: folder, within: 1000)
        let dump = try simulator.dump()
        let summary = try Summary(end)
        #expect(end.status == 0, "\(end.errors)")
        #expect(summary.undelivered == 0 && !summary.interrupted)

        let judged = try Program.run(
            .judge, ["--dump", dump, "--states", states, "--tokens", "\(Self.activities)"], folder: folder,
            within: 300)
        #expect(judged.status == 0, "\(judged.output) \(judged.errors)")
        let verdict = try Verdict(judged)
        #expect(verdict.allowedRepeats <= verdict.unanswered)
        #expect(verdict.allowedRepeats + verdict.repeatsOfReturned <= summary.pushes.uncertain)
        #expect(summary.pushes.dead == verdict.tokens.dead, "each dead token is reported once")

        let lines = try String(contentsOfFile: dump, encoding: .utf8).split(separator: "\n").suffix(1)
        let counts = try decode(Counters.self, lines.last).counts
        for name in fault.evidence { #expect(counts.count(name) > 0, "no \(name)") }
        print(
            "told: \(fault.testDescription): \(Self.activities) activities, \(summary.pushes.sent) sent, "
                + "\(summary.pushes.accepted) accepted, \(summary.pushes.dead) dead, "
                + "\(summary.pushes.throttled) throttled, \(summary.pushes.uncertain) uncertain; "
                + "\(verdict.unanswered) unanswered, \(verdict.allowedRepeats) sent again"
                + (Self.distance > 0 ? "; \(Self.distance) ms away" : ""))
    }

    /// A state that the service refuses as too large reaches no phone, and the replay ends at once without a retry.
    @Test func aStateThatIsRefusedForGoodIsUndelivered() throws {
        let folder = try Folder()
        let simulator = try Simulator(["--answer", "=PayloadTooLarge"], folder: folder)
        defer { _ = try? simulator.dump() }
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder) + ["--subscribers", "60", "--patience", "never", "--json"]
                + simulator.options(), folder: folder)
        #expect(end.status == 1)
        let summary = try Summary(end)
        #expect(summary.undelivered == 60 && !summary.interrupted)
        #expect(summary.pushes.accepted == 0 && summary.pushes.failed == summary.pushes.sent)
        #expect(!summary.goals.isEmpty && summary.goals.allSatisfy { $0.seconds == nil })
    }
}
