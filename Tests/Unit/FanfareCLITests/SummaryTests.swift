import Fanfare
import FanfareFanOut
import FanfareModel
import FanfareQueues
import Foundation
import Testing

@testable import FanfareCLI
@testable import FanfareReplay

@Suite struct SummaryTests {
    private var summary: ReplaySummary {
        var summary = ReplaySummary()
        summary.events = 16_426
        summary.decisions.outcomes = [.published: 200, .unchanged: 16_200, .conflated: 20, .rejected: 6]
        summary.decisions.updates = 204
        summary.decisions.alertsGranted = 60
        summary.decisions.alertsDemoted = 3
        summary.counts.activities = 1000
        summary.counts.pushes.sent = 20_400
        summary.counts.pushes.accepted = 20_390
        summary.counts.pushes.dead = 10
        summary.goals = (1...100).map { number in
            ReplaySummary.Goal(topic: TopicID("match/1"), version: UInt32(number), secondsToLast: Double(number) / 1000)
        }
        summary.resources.seconds = 12.5
        summary.resources.deliverySeconds = 10.2
        summary.resources.cpuMicrosecondsPerPush = 3.456
        summary.resources.peakMemory = .mebibytes(100)
        return summary
    }

    /// The summary tells pushes that the dead-token guard holds back, so that the parts add up to the pushes sent.
    @Test func heldPushesAreTold() {
        var summary = summary
        #expect(!summary.text.contains("held"))
        summary.counts.pushes.held = 1200
        #expect(summary.text.contains(" 0 not processed, 1,200 held\n"))
        #expect(summary.json.contains(#""held":1200"#))
    }

    @Test func sharedLineupsAreToldWhereThereAreLineups() {
        var summary = summary
        #expect(!summary.text.contains("lineups"))
        #expect(summary.json.contains(#""lineups":{"activities":0,"distinct":0}"#))
        (summary.lineups.activities, summary.lineups.distinct) = (20_000, 712)
        #expect(summary.text.contains("\nlineups            20,000, of which 712 differ: 28.1 activities to each\n"))
        #expect(summary.json.contains(#""lineups":{"activities":20000,"distinct":712}"#))
    }

    @Test func summaryTextHasEachFigureOnce() {
        #expect(
            summary.text == """
                events in          16,426
                updates out        204  (alerts: 60 granted, 3 demoted to silent)
                not sent           unchanged 16,200, conflated 20, rejected 6
                pushes             20,400 sent: 20,390 accepted, 10 dead, 0 throttled, 0 failed, 0 uncertain, 0 not processed
                undelivered        0
                goals              100, seconds to the last activity: p50 0.050, p99 0.099, max 0.100
                pushes per second  2,000
                CPU per push       3.46 µs
                peak memory        100 MiB
                time               12.5 s

                """)
    }

    @Test func theSummaryTellsFatesOfActivitiesThatAreWorthALine() throws {
        var summary = summary
        #expect(summary.isClean == false, "six lines were rejected")
        summary.decisions.outcomes[.rejected] = 0
        #expect(summary.isClean && !summary.text.contains("activities"))
        summary.fates.expired = 1000
        #expect(summary.isClean)
        #expect(summary.text.contains("\nactivities         1,000 over after eight hours\n"))
        summary.fates.refused = [.tooManyTopics: 2]
        #expect(!summary.isClean)
        #expect(
            summary.text.contains("; 2 refused, too many topics are followed of which nothing has come yet\n"),
            "\(summary.text)")
        summary.fates = FateCounts()
        summary.fates.notEnded = 3
        #expect(!summary.isClean)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        #expect(object["fates"] as? [String: Int] == ["expired": 0, "notEnded": 3, "refused": 0])
    }

    @Test func aSummaryWithAStoreHasTheStoresCounts() throws {
        var summary = summary
        #expect(!summary.json.contains(#""store""#))
        var store = StoreCounts()
        store.oldestEntry = Receipt.EntryPosition(7)
        store.newestEntry = Receipt.EntryPosition(12)
        store.entriesWaiting = 3
        store.log.running = .milliseconds(1500)
        store.log.trouble = "the disk is full"
        store.log.written = .bytes(100)
        store.log.fileSize = .kibibytes(8)
        store.log.mapSize = .mebibytes(1)
        summary.store = store
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        let member = try #require(object["store"] as? [String: Any])
        #expect(member["oldestEntry"] as? Int == 7 && member["newestEntry"] as? Int == 12)
        #expect(member["entriesWaiting"] as? Int == 3 && member["runningSeconds"] as? Double == 1.5)
        #expect(member["trouble"] as? String == "the disk is full" && member["bytesWritten"] as? Int == 100)
        #expect(member["fileBytes"] as? Int == 8192 && member["mapBytes"] as? Int == 1 << 20)
        let commits = try #require(member["commits"] as? [String: Any])
        #expect(commits["count"] as? Int == 0 && commits["p99"] is NSNull)
    }

    @Test func goalsThatNeverReachedEverybodyAreSaid() {
        var summary = summary
        summary.goals[0].secondsToLast = nil
        #expect(summary.text.contains("; 1 not to everybody\n"))
        summary.goals = [ReplaySummary.Goal(topic: TopicID("match/1"), version: 1, secondsToLast: nil)]
        #expect(summary.text.contains("1, none to everybody\n"))
        summary.interrupted = true
        #expect(summary.text.hasPrefix("stopped before the end; so far:\n"))
    }

    @Test func goalsWithNobodyToTellAreSaid() {
        var summary = summary
        for index in 0..<60 {
            summary.goals[index].secondsToLast = nil
            summary.goals[index].isAwaited = false
        }
        #expect(
            summary.text.contains(
                "goals              100, 60 with nobody to tell, seconds to the last activity: p50 0.080, p99 0.100"),
            "\(summary.text)")
        summary.goals.removeLast(40)
        #expect(summary.text.contains("goals              60, 60 with nobody to tell\n"))
    }

    /// Of a live feed that has gone on for weeks.
    @Test func goalsThatAreNotRememberedAreCounted() {
        var summary = summary
        summary.goalsLeftOut = 12_345
        #expect(summary.text.contains("100 after 12,345 that are not told of, seconds to the last activity: p50 "))
        #expect(summary.json.contains(#""goalsLeftOut":12345,"#))
    }

    /// An activity that was refused the newest state lacks it, although nothing more is sent.
    @Test func activitiesThatWereRefusedTheNewestStateCountAsUndelivered() throws {
        var summary = summary
        summary.counts.owed = 2
        summary.counts.refusedStates = 1000
        #expect(summary.undelivered == 1002)
        #expect(summary.text.contains("\nundelivered        1,002, of which 1,000 were refused\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        #expect(object["undelivered"] as? Int == 1002 && object["refused"] as? Int == 1000)
    }

    @Test func theSummaryTellsTheDispositionsOfAlerts() throws {
        var summary = summary
        summary.counts.alerts.accepted = 5000
        summary.counts.alerts.superseded = 3
        summary.counts.alerts.refused = 2
        summary.counts.alerts.unclaimed = 4
        #expect(summary.text.contains("\nalerts             5,000 accepted, 3 superseded, 2 refused\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        #expect(
            object["activityAlerts"] as? [String: Int] == [
                "accepted": 5000, "superseded": 3, "revoked": 0, "stale": 0, "uncertain": 0, "refused": 2,
                "silenced": 0, "limited": 0, "unclaimed": 4,
            ])
    }

    @Test func summaryJSONIsOneObjectWithAllFigures() throws {
        #expect(summary.json.hasSuffix("}\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        let pushes = try #require(object["pushes"] as? [String: Int])
        let decisions = try #require(object["decisions"] as? [String: Int])
        let goals = try #require(object["goals"] as? [[String: Any]])
        #expect(object["events"] as? Int == 16_426)
        #expect(object["updates"] as? Int == 204)
        #expect(decisions["published"] == 200)
        #expect(Set(decisions.keys) == Set(Outcome.allCases.map(\.rawValue)))
        #expect(pushes["sent"] == 20_400)
        #expect(
            pushes.keys.sorted() == [
                "accepted", "conserved", "dead", "failed", "held", "notProcessed", "sent", "throttled", "uncertain",
            ])
        #expect(goals.count == 100)
        #expect(goals[0]["topic"] as? String == "match/1")
        #expect(goals[0]["seconds"] as? Double == 0.001)
        #expect(goals[0]["awaited"] as? Bool == true)
        #expect(object["seconds"] as? Double == 12.5)
        #expect(object["delivery_seconds"] as? Double == 10.2)
        #expect(object["schema"] as? Int == 3)
        let transport = object["transport"] as? [String: Any]
        #expect(transport?["limit"] as? String == "nothing" && transport?["roundTripSeconds"] is NSNull)
        #expect(object["cpu_us_per_push"] as? Double == 3.456)
        #expect(object["peak_rss_bytes"] as? Int == 104_857_600)
    }

    private var freshness: FreshnessReport {
        var report = FreshnessReport()
        var football = Freshness()
        for milliseconds in Int64(1)...100 { football.stateAge.record(milliseconds * 1_000_000) }
        football.sweep.record(250_000_000)
        football.laneDelay[1].record(2_000_000)
        report.kinds = [.transit: Freshness(), .football: football]
        report.oldestUndelivered = .milliseconds(300)
        return report
    }

    @Test func summaryTextTellsHowFreshStatesAre() {
        var summary = summary
        summary.freshness = freshness
        #expect(
            summary.text.contains(
                """
                state age at send   football p50 0.050, p99 0.100, max 0.100; transit -
                sweep               football p50 0.250, p99 0.250, max 0.250; transit -
                lane delay, p99     football - / 0.002 / -; transit - / - / -
                oldest undelivered  0.300 s at most

                """), "\(summary.text)")
    }

    @Test func summaryJSONTellsHowFreshStatesAre() throws {
        var summary = summary
        summary.freshness = freshness
        let object = try #require(try JSONSerialization.jsonObject(with: Data(summary.json.utf8)) as? [String: Any])
        #expect(object["oldest_undelivered_seconds"] as? Double == 0.3)
        let kinds = try #require(object["freshness"] as? [String: [String: Any]])
        #expect(kinds.keys.sorted() == ["football", "transit"])
        let age = try #require(kinds["football"]?["stateAge"] as? [String: Double])
        #expect(age["count"] == 100)
        #expect(age["max"] == 0.1)
        #expect(age.keys.sorted() == ["count", "max", "p50", "p99", "p999"])
        let lanes = try #require(kinds["football"]?["laneDelay"] as? [String: [String: Any]])
        #expect(lanes.keys.sorted() == ["alerts", "conserving", "immediate"])
        #expect(lanes["immediate"]?["max"] as? Double == 0.002)
        #expect(lanes["alerts"]?["max"] is NSNull)
    }

    @Test func costPerPushIsNullWhenNothingWasPushed() {
        #expect(ReplaySummary().json.contains("\"cpu_us_per_push\":null"))
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int.min, nil)])
    func thousandsAreGrouped(number: Int, text: String?) {
        #expect(number.grouped.filter { $0 != "," } == String(number))
        if let text { #expect(number.grouped == text) }
    }

    @Test(arguments: [(0, "0 cards"), (1, "1 card"), (2, "2 cards"), (1000, "1,000 cards")])
    func aCountOfOneHasASingularNoun(_ number: Int, _ text: String) { #expect(number.counted("card") == text) }
}
