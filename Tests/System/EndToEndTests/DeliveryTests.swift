import Foundation
import Testing

/// Ten matches to 50,000 subscribers over TLS at 120 times real speed; the pushes that the server accepted are judged.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(10)))
struct DeliveryTests {
    private static let subscribers = 50_000
    private static let feed = Recordings.areThere ? TestFeed.tenMatches : .matchDay

    /// The number of states that each phone has seen depends on the machine: a slow sweep is overtaken, and brings the newest at once.
    @Test(arguments: [0, 4]) func everyPhoneHasTheNewestState(lineups: Int) throws {
        try watch(lineups: lineups, subscribers: Self.subscribers, statesEach: 1)
    }

    /// The wait before kick-off is played in full: cut to 30 s it lasts a quarter of a second, in which not all phones get the state that
    /// the match is about to begin. On an idle machine the median of these matches has ten states; if two follow each other within
    /// hundredths of a second, a hiccup merges them.
    @Test(arguments: [0, 4]) func fiveHundredPhonesSeeTheMatchesHappen(lineups: Int) throws {
        try watch(lineups: lineups, subscribers: 500, statesEach: 5)
    }

    /// - Parameter lineups: topics in every subscriber's activity; 0 for activities of one topic, without a lineup.
    private func watch(lineups: Int, subscribers: Int, statesEach: Int) throws {
        let folder = try Folder()
        let simulator = try Simulator(folder: folder)
        let states = folder("states.ndjson")
        var options = [
            "--speed", "120", "--max-gap", "900", "--subscribers", "\(subscribers)", "--states", states, "--json",
        ]
        if lineups > 0 { options += ["--lineups", "\(lineups)"] }
        let end = try Program.run(
            .fanfare, ["replay"] + Self.feed.paths(in: folder) + options + simulator.options(), folder: folder,
            within: 400)
        let dump = try simulator.dump()

        #expect(end.status == 0, "\(end.errors)")
        let summary = try Summary(end)
        #expect(!summary.interrupted)
        #expect(summary.undelivered == 0)
        #expect(summary.pushes.accepted == summary.pushes.sent)
        #expect(summary.pushes.sent >= statesEach * subscribers)
        #expect(summary.goals.allSatisfy { $0.seconds != nil })

        var wanted = [
            "--dump", dump, "--states", states, "--tokens", "\(subscribers)", "--min-distinct", "\(statesEach)",
        ]
        if lineups > 0 { wanted += ["--lineups", "\(lineups)"] }
        let verdict = try Program.run(.judge, wanted, folder: folder)
        #expect(verdict.status == 0, "\(verdict.output) \(verdict.errors)")
        print("told: \(subscribers) subscribers, \(lineups) topics in a lineup: \(summary.pushes.sent) pushes")
    }

    /// The network has dead tokens, missing answers, and refusals: every deliverable state arrives, and none twice.
    @Test func aTroubledNetworkLosesNothing() throws {
        let folder = try Folder()
        let simulator = try Simulator(Simulator.trouble, folder: folder)
        let states = folder("states.ndjson")
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder)
                + ["--speed", "600", "--subscribers", "5000", "--shards", "2", "--states", states, "--json"]
                + simulator.options(), folder: folder)
        let dump = try simulator.dump()

        let summary = try Summary(end)
        #expect(end.status == 0, "\(end.errors)")
        #expect(summary.pushes.dead > 300)
        #expect(summary.pushes.uncertain > 0)
        #expect(summary.pushes.throttled > 0)
        let judged = try Program.run(.judge, ["--dump", dump, "--states", states, "--tokens", "5000"], folder: folder)
        #expect(judged.status == 0, "\(judged.output) \(judged.errors)")
        let verdict = try Verdict(judged)
        #expect(verdict.allowedRepeats + verdict.repeatsOfReturned <= summary.pushes.uncertain)
    }

    @Test func aMillionDeliveriesAtOnceGoIntoDiscard() throws {
        let folder = try Folder()
        let end = try Program.run(
            .fanfare,
            ["replay"] + TestFeed.matchDay.paths(in: folder) + ["--subscribers", "1000000", "--json"], folder: folder)
        #expect(end.status == 0, "\(end.errors)")
        let summary = try Summary(end)
        #expect(summary.pushes.accepted >= 1_000_000)
        #expect(summary.undelivered == 0)
    }
}
