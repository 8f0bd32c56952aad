import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Which alerts go on after a crash, and for whom.
@Suite struct RecentAlertsTests {
    private static func publication(
        _ title: String?, of topic: String = "match", at second: Int64, wall: Int64? = nil,
        freshFor: Duration = .seconds(60),
        event: Publication.Event = .update, freesID: Bool = false
    ) -> Publication {
        Publication.test(
            of: TopicID(topic), kind: .generic, event: event, state: ["n": 1],
            alert: title.map {
                Alert(
                    cause: $0, class: .essential, text: AlertText(title: $0, body: "körper"), freshFor: freshFor,
                    highlight: "n", grantedAt: time(second), arrivedAt: time(wall ?? second))
            }, freesID: freesID)
    }

    private static func time(_ second: Int64) -> FeedTime { FeedTime(seconds: 1_790_000_000 + second) }

    private static func causes(
        _ alerts: RecentAlerts, since: Int64 = 0, now: Int64, wall: Int64? = nil
    ) -> [String] {
        alerts.unfinished(since: time(since), now: time(now), wall: time(wall ?? now)).map(\.entry.alert.cause)
    }

    @Test func anAlertGoesOnAsLongAsItIsFreshByBothClocks() {
        var alerts = RecentAlerts()
        alerts.note(Self.publication("first", at: 10), withheldFrom: [])
        alerts.note(Self.publication("second", at: 40, wall: 45), withheldFrom: [])
        alerts.note(Self.publication(nil, at: 41), withheldFrom: [])
        #expect(Self.causes(alerts, now: 50) == ["first", "second"])
        #expect(Self.causes(alerts, now: 71) == ["second"])
        #expect(Self.causes(alerts, now: 71, wall: 161).isEmpty, "the wall clock says that it is old")
        #expect(Self.causes(alerts, now: 50, wall: 44) == ["first"], "nothing tells the age of what arrives later")
        #expect(Self.causes(alerts, since: 10, now: 50) == ["second"], "before that, alerts left without claims")
    }

    @Test func noAlertGoesOnForTooLong() {
        var alerts = RecentAlerts()
        alerts.note(Self.publication("first", at: 10, freshFor: .seconds(86_400)), withheldFrom: [])
        #expect(Self.causes(alerts, now: 609) == ["first"])
        #expect(Self.causes(alerts, now: 611).isEmpty)
    }

    @Test func aWithdrawnAlertDoesNotGoOn() {
        var alerts = RecentAlerts()
        for topic in ["a", "b"] { alerts.note(Self.publication("goal", of: topic, at: 10), withheldFrom: []) }
        alerts.revoke(cause: "goal", of: TopicID("a"))
        let left = alerts.unfinished(since: Self.time(0), now: Self.time(20), wall: Self.time(20))
        #expect(left.map(\.entry.topic) == [TopicID("b")])
    }

    /// The next guests at a table do not hear of the ones before.
    @Test func alertsOfATurnThatIsOverDoNotGoOn() {
        var alerts = RecentAlerts()
        alerts.note(Self.publication("ready", at: 10), withheldFrom: [])
        alerts.note(Self.publication("over", at: 11, event: .end, freesID: true), withheldFrom: [])
        #expect(Self.causes(alerts, now: 12).isEmpty)
        alerts.note(Self.publication("full time", at: 13, event: .end), withheldFrom: [])
        #expect(Self.causes(alerts, now: 14) == ["full time"])
    }

    @Test func recentAlertsAreBoundedAndOldOnesGoFirst() {
        var alerts = RecentAlerts()
        for number in 0..<100_000 {
            alerts.note(Self.publication("\(number)", at: Int64(number / 10_000)), withheldFrom: [])
        }
        let left = Self.causes(alerts, now: 10)
        #expect(left.count == RecentAlerts.keptMax)
        #expect(left.last == "99999" && alerts.violation() == nil)
        // Of those that are not fresh any more, none takes room.
        for number in 0..<1000 { alerts.note(Self.publication("late \(number)", at: 1000), withheldFrom: []) }
        #expect(alerts.kept(at: Self.time(1000)).count == 1000 && alerts.violation() == nil)
    }

    @Test func aCheckpointKeepsRecentAlerts() throws {
        var alerts = RecentAlerts()
        let apps = [AppID(bundleID: "one"), AppID(bundleID: "two", environment: .development)]
        alerts.note(Self.publication("goal", at: 10, wall: 12), withheldFrom: apps)
        var writer = SerialWriter()
        writer.write(all: alerts.kept(at: Self.time(20))) { $0.write($1) }
        var reader = SerialReader(writer.bytes[...])
        let read = try reader.all { (reader) throws(SerialError) in try reader.recentAlert() }
        #expect(reader.isAtEnd && read.count == 1)
        let entry = try #require(read.first)
        let known = try #require(alerts.kept(at: Self.time(20)).first)
        #expect(entry.topic == known.topic && entry.withheldFrom == apps)
        #expect(entry.alert.cause == "goal" && entry.alert.text == known.alert.text && entry.alert.highlight == "n")
        #expect(entry.alert.grantedAt == Self.time(10) && entry.alert.arrivedAt == Self.time(12))
        #expect(entry.alert.class == .essential && entry.alert.freshFor == .seconds(60))
        for cut in writer.bytes.indices {
            var reader = SerialReader(writer.bytes[..<cut])
            #expect(throws: SerialError.self) {
                _ = try reader.all { (reader) throws(SerialError) in try reader.recentAlert() }
            }
        }
    }

    /// A checkpoint's row of alerts as this release writes it. The bytes never change.
    @Test func theFormOfAlertsStaysReadable() {
        var alerts = RecentAlerts()
        let apps = [AppID(bundleID: "one"), AppID(bundleID: "two", environment: .development)]
        alerts.note(Self.publication("goal", at: 10, wall: 12), withheldFrom: apps)
        alerts.beginRows(at: Self.time(20))
        let row = alerts.takeRow()
        let topic: [UInt8] = [65, 1, 5, 0x6d, 0x61, 0x74, 0x63, 0x68]
        let withheld: [UInt8] = [2, 3, 0x6f, 0x6e, 0x65, 0, 3, 0x74, 0x77, 0x6f, 1]
        // The cause, that it is the feed's, and the class.
        let cause: [UInt8] = [4, 0x67, 0x6f, 0x61, 0x6c, 1, 1]
        let title: [UInt8] = [0, 4, 0x67, 0x6f, 0x61, 0x6c]
        let body: [UInt8] = [0, 7, 0x6b, 0xc3, 0xb6, 0x72, 0x70, 0x65, 0x72, 0]
        let freshness: [UInt8] = [0xc0, 0xa9, 0x07, 1, 1, 0x6e]
        let times: [UInt8] = [0xa0, 0xcc, 0x84, 0xc5, 0x98, 0x68, 0xc0, 0xeb, 0x84, 0xc5, 0x98, 0x68]
        let golden = [topic, withheld, cause, title, body, freshness, times].flatMap { $0 }
        #expect(row == golden)
    }

    /// Which of them go on does not depend on where a restart began to read.
    @Test func aRestartFromACheckpointKnowsTheSameAlerts() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<20 {
            var whole = RecentAlerts()
            var short: RecentAlerts?
            for step in 0..<Int.random(in: 100...20_000, using: &random) {
                if random.chance(0.0005) {
                    short = RecentAlerts()
                    for entry in whole.kept(at: Self.time(Int64(step / 100))) { short?.restore(entry) }
                }
                let topic = "\(random.next() % 1000)"
                let publication = Self.publication(
                    "\(step)", of: topic, at: Int64(step / 100), event: random.chance(0.1) ? .end : .update,
                    freesID: random.chance(0.5))
                whole.note(publication, withheldFrom: [])
                short?.note(publication, withheldFrom: [])
                if random.chance(0.05) {
                    whole.revoke(cause: "\(step)", of: TopicID(topic))
                    short?.revoke(cause: "\(step)", of: TopicID(topic))
                }
                if random.chance(0.01) {
                    whole.forget(TopicID(topic))
                    short?.forget(TopicID(topic))
                }
                if step.isMultiple(of: 1000) { #expect(whole.violation() == nil && short?.violation() == nil) }
            }
            #expect(whole.violation() == nil && short?.violation() == nil)
            guard let short else { continue }
            #expect(Self.causes(whole, now: 200) == Self.causes(short, now: 200))
        }
    }

    // MARK: Those who are loaded

    private static func subscription(_ name: String, joinedAt: Int64? = nil, startedAt: Int64? = nil) -> Subscription {
        Subscription(
            audience: .topic(TopicID("match")), activity: ActivityID(name), subscriber: 1, token: [1],
            startedAt: startedAt.map(time), joinedAt: joinedAt.map(time))
    }

    private static func event(now: Int64, wall: Int64?) -> LogEntry {
        let event = FeedEvent(
            topic: TopicID("match"), topicKind: .generic, at: time(now), kind: "x", change: .patch([:]))
        return LogEntry(now: time(now), .event(event, wall: wall.map(time)))
    }

    private static func log(_ entries: [LogEntry]) -> MemoryLog {
        let log = MemoryLog()
        log.append(entries)
        return log
    }

    private static func settled(
        _ subscription: Subscription, _ claims: [AlertClaim] = [], now: Int64 = 100, wall: Int64? = nil,
        behind last: [LogEntry] = []
    ) throws -> FeedTime? {
        let earlier = try EarlierProcess(log([event(now: now, wall: wall)] + last)) {
            $0.insert(StoredClaims(claims, app: nil, now: time(now)))
        }
        return earlier.settledThrough(subscription, startedAt: subscription.startedAt, app: nil)
    }

    private static func claim(_ names: [String], through second: Int64) -> AlertClaim {
        AlertClaim(
            topic: TopicID("match"), through: time(second), expires: time(second + 60),
            activities: names.map { ActivityMark(ActivityID($0), token: [1]) })
    }

    @Test func aClaimedCardHasHadTheAlert() throws {
        let claims = [Self.claim(["a", "b"], through: 10), Self.claim(["a"], through: 20)]
        #expect(try Self.settled(Self.subscription("a"), claims, now: 60) == Self.time(20))
        #expect(try Self.settled(Self.subscription("b"), claims, now: 60) == Self.time(10))
        #expect(try Self.settled(Self.subscription("c"), claims, now: 60) == nil)
        #expect(try Self.settled(Self.subscription("a"), claims.reversed(), now: 60) == Self.time(20), "in any order")
        #expect(try Self.settled(Self.subscription("a"), claims, now: 81) == nil, "claims expire")
        #expect(
            try Self.settled(Self.subscription("c"), claims + [Self.claim([], through: 5)], now: 60) == Self.time(5),
            "all are")
        var other = Self.subscription("a")
        other.audience = .topic(TopicID("other"))
        #expect(try Self.settled(other, claims, now: 60) == nil)
        other.audience = .lineup([TopicID("other"), TopicID("match")], favourite: nil)
        #expect(try Self.settled(other, claims, now: 60) == Self.time(20), "by any of a lineup's topics")
    }

    @Test func claimsOfOneAppSayNothingOfAnother() throws {
        let earlier = try EarlierProcess(MemoryLog()) {
            $0.insert(StoredClaims([Self.claim(["a"], through: 10)], app: AppID(bundleID: "one"), now: Self.time(10)))
        }
        func settled(_ app: AppID?) -> FeedTime? {
            earlier.settledThrough(Self.subscription("a"), startedAt: nil, app: app)
        }
        #expect(settled(AppID(bundleID: "one")) == Self.time(10))
        #expect(settled(AppID(bundleID: "two")) == nil && settled(nil) == nil)
    }

    /// Downtime is told by the wall clock alone: by one that was set back, an alert of hours ago looks fresh.
    @Test func afterAClockWasSetBackNoAlertGoesOn() throws {
        // The last entry may have no wall clock time, such as the passing of time.
        let entries = [
            Self.event(now: 10, wall: 100), LogEntry(now: Self.time(11), .tick), LogEntry(now: Self.time(12), .feedEnd),
        ]
        let earlier = try EarlierProcess(Self.log(entries)) { _ in }
        #expect(earlier.horizon(since: Self.time(1)) { Self.time(101) }?.now == Self.time(12))
        #expect(earlier.horizon(since: Self.time(1)) { Self.time(101) } != nil)
        #expect(earlier.horizon(since: Self.time(1)) { Self.time(99) } == nil)
        #expect(earlier.horizon(since: nil) { Self.time(101) } == nil)
        #expect(earlier.report([], wall: Self.time(99))?.contains("check the clock") == true)
        #expect(earlier.report([], wall: Self.time(101)) == nil)
    }

    /// Log with an entry that cannot be read.
    private final class DamagedLog: Log, @unchecked Sendable {
        let base: MemoryLog
        let damaged: LogPosition
        var end: LogPosition { base.end }
        var start: LogPosition { base.start }
        var checkpoints: any CheckpointStore { base.checkpoints }

        init(_ base: MemoryLog, damaged: LogPosition) { (self.base, self.damaged) = (base, damaged) }

        func append(_ entries: [LogEntry]) { base.append(entries) }
        func checksum(at position: LogPosition) -> UInt32? { base.checksum(at: position) }
        func trim(through position: LogPosition) { base.trim(through: position) }
        func read(
            from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
        ) throws(LogError) {
            try base.read(from: position) { (at, entry) throws(LogError) in
                if at == damaged { throw LogError("damaged", .damaged) }
                return try body(at, entry)
            }
        }
    }

    /// A restart from a checkpoint does not need the entries before it, and one of them may be damaged.
    @Test func aDamagedEntryThatNoRestartNeedsKeepsNoEngineFromStarting() throws {
        let entries = (1...5).map { Self.event(now: Int64($0), wall: Int64(10 * $0)) }
        for damaged in 1...5 {
            let earlier = try EarlierProcess(DamagedLog(Self.log(entries), damaged: LogPosition(damaged))) { _ in }
            let horizon = try #require(earlier.horizon(since: Self.time(0)) { Self.time(60) })
            if damaged < 5 { #expect(horizon.now == Self.time(5)) }
        }
    }

    /// A card that the engine has started, and one of a subscriber file, are known by ids that do not keep their texts.
    @Test func aNameIsTheSameHoweverTheIdWasMade() {
        #expect(ActivityMark(ActivityID("anna"), token: [1]) == ActivityMark(ActivityID(hashing: "anna"), token: [2]))
        #expect(ActivityMark(ActivityID("anna"), token: [1]) != ActivityMark(ActivityID("berta"), token: [1]))
        #expect(ActivityMark(ActivityID(7), token: [1]) == ActivityMark(ActivityID(8), token: [1]))
    }

    /// Log time may be hours behind the wall clock after a long pause.
    @Test func aCardThatJoinedAfterAnAlertDoesNotGetTheAlert() throws {
        #expect(try Self.settled(Self.subscription("a", joinedAt: 90)) == Self.time(90))
        #expect(try Self.settled(Self.subscription("a", joinedAt: 90), wall: 50_000) == Self.time(90))
        #expect(try Self.settled(Self.subscription("a", joinedAt: -10_000)) == nil, "nothing is kept of most")
        #expect(
            try Self.settled(Self.subscription("a", joinedAt: 90), [Self.claim(["a"], through: 95)]) == Self.time(95))
        // Of an imported card the beginning counts, by the wall clock.
        #expect(try Self.settled(Self.subscription("a", startedAt: 90)) == Self.time(90))
        #expect(try Self.settled(Self.subscription("a", startedAt: 49_990), wall: 50_000) == Self.time(90))
        #expect(try Self.settled(Self.subscription("a", joinedAt: 80, startedAt: 90)) == Self.time(80))
        let tick = LogEntry(now: Self.time(101), .tick)
        #expect(
            try Self.settled(Self.subscription("a", startedAt: 49_990), wall: 50_000, behind: [tick]) == Self.time(90))
        let strange = LogEntry(now: FeedTime(milliseconds: .min), .tick)
        #expect(try Self.settled(Self.subscription("a", joinedAt: 90), behind: [strange]) == Self.time(90))
    }
}
