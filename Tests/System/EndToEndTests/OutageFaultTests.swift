import Foundation
import Testing

/// APNs is absent for a while, and many of the activities that wait for it can never be reached.
///
/// `make faults` runs it for ten minutes, with 200,000 activities.
@Suite(.enabled(if: Binary.areThere, "\(Binary.whyNot)"), .timeLimit(.minutes(30)), .serialized)
struct OutageFaultTests {
    private static let secondsAsked = ProcessInfo.processInfo.environment["FANFARE_OUTAGE_SECONDS"].flatMap(Double.init)
    private static let seconds = secondsAsked ?? 5
    private static let trouble = ["--answer", "dd=ExpiredToken", "--answer", "ff=InternalServerError"]

    /// All reachable activities have the newest state within the time of one sweep and ten seconds after the outage; `make faults`, which
    /// has the machine for itself, checks that time. `OutageDeliveryTests` checks the waits by a clock of its own.
    @Test func afterAnOutageEverybodyHasTheNewestStateWithinASweepAndTenSeconds() throws {
        let activities = FaultTests.activities
        let sick = min(1000, activities / 10)
        let dead = activities / 10
        let healthy = activities - sick - dead
        let folder = try Folder()
        let people = (0..<activities).map {
            // The sick and dead tokens are spread among the others.
            let prefix = $0 % 10 == 3 ? "dd" : $0 % (activities / sick) == 0 ? "ff" : "01"
            return LiveMatch.follower($0, prefix: prefix)
        }
        let subscribers = try folder.write("subscribers", people.joined())
        let first = try Simulator(Self.trouble, distance: FaultTests.distance, folder: folder)
        let fanfare = try Program(
            .fanfare, ["replay", "-", "--subscribers", subscribers, "--patience", "0", "--json"] + first.options(),
            folder: folder, hasInput: true)
        try fanfare.write(LiveMatch.kickOff)
        try fanfare.waitUntil(updates: 1, toGo: sick, within: 600)
        let before = try Dump(first.dump())
        try fanfare.write(LiveMatch.goal(1))
        // Nothing happens during the outage.
        Thread.sleep(forTimeInterval: Self.seconds)
        let back = try Simulator(Self.trouble, at: first.address, distance: FaultTests.distance, folder: folder)
        try fanfare.waitUntil(updates: 2, toGo: sick, within: 600)
        try fanfare.closeInput()
        let end = try fanfare.wait()
        let summary = try Summary(end)
        #expect(summary.undelivered == sick && summary.pushes.dead == dead)

        let arrivals = before.arrivals { _ in true }
        let sweep = try #require(arrivals.max()) - #require(arrivals.min())
        // The dump counts from the new simulator's start, which is the outage's end.
        let after = try Dump(back.dump()).arrivals { _ in true }
        let recovery = try #require(after.max())
        #expect(arrivals.count == healthy && after.count == healthy)
        print(
            "told: an outage of \(Self.seconds) s: \(activities) activities, \(dead) dead, \(sick) fail for good; "
                + "the sweep before took \(sweep) ms, after its end the last of \(healthy) had the goal in \(recovery) ms"
                + (FaultTests.distance > 0 ? "; \(FaultTests.distance) ms away" : ""))
        if Self.secondsAsked != nil { #expect(recovery <= sweep + 10_000) }
    }
}
