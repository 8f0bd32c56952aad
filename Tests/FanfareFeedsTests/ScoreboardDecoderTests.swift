import FanfareCore
import FanfareFeeds
import Foundation
import Testing

/// PWHL and DataVolley files as nobody should write them, and what only a made-up one shows.
@Suite struct ScoreboardDecoderTests {
    private func items(_ name: String, _ text: String) throws -> [FeedItem] {
        let folder = try Folder()
        var feed = try Feed(paths: [try folder.write(name, text)])
        return feed.all().map(\.item)
    }

    // MARK: - Hockey

    private func game(
        _ rows: String, details: String = #""id":7,"GameDateISO8601":"2026-04-01T19:00:00-04:00""#
    ) -> String {
        #"{"pbp_raw":[\#(rows)],"summary_raw":{"details":{\#(details)},"homeTeam":{"info":{"id":1,"name":"Home"}},"#
            + #""visitingTeam":{"info":{"id":2,"name":"Away"}}}}"#
    }

    private func row(_ event: String, _ period: String, _ time: String, _ rest: String = "") -> String {
        #"{"event":"\#(event)","details":{"period":{"id":"\#(period)"},"time":"\#(time)"\#(rest)}}"#
    }

    @Test func overtimeHasTwoNamesAndOnePeriod() throws {
        let rows = [
            row("faceoff", "1", "0:00"), row("faceoff", "4", "0:00"), row("blocked_shot", "OT1", "1:00"),
            row(
                "goal", "4", "4:45",
                #","team":{"id":2},"game_goal_id":"9","scoredBy":{"firstName":"Éa","lastName":"O'B"}"#),
        ]
        let events = try items("g.json", game(rows.joined(separator: ","))).compactMap(\.event)
        let periods = events.filter { $0.kind == "period" }.map { $0.fact?.values["period"] }
        #expect(periods == ["1", "OT", "FT"])
        let goal = events.first { $0.kind == "goal" }
        #expect(goal?.fact?.values["text"] == "Goal: É. O'B (Away)")
        // 60 minutes and 4:45 at 1.8, two intermissions, the break before overtime, and the ten minutes before it all.
        let played = (3600 + 285) * 1800 / 1000 + 2 * 1080 + 120 + 600
        #expect(goal?.at == FeedTime(rfc3339: "2026-04-01T23:00:00Z").map { $0 + .seconds(played) })
        #expect(events.last?.lifecycle == .end)
    }

    @Test func aShootoutWinIsAGoal() throws {
        let attempt = #"{"event":"shootout","details":{"shooterTeam":{"id":1},"isGoal":true}}"#
        let missed = #"{"event":"shootout","details":{"shooterTeam":{"id":2},"isGoal":false}}"#
        let events = try items("g.json", game([row("faceoff", "1", "0:00"), attempt, missed].joined(separator: ",")))
            .compactMap(\.event)
        let goals = events.filter { $0.kind == "goal" }
        #expect(goals.map { $0.fact?.values["side"] } == ["home"])
        #expect(events.filter { $0.kind == "shootoutAttempt" }.count == 2)
    }

    @Test(arguments: [
        (#"{"event":"goal","details":{"period":{"id":"9"},"time":"1:00"}}"#, "expected 1, 2, 3, 4 or OT1"),
        (#"{"event":"goal","details":{"period":{"id":"1"},"time":"99:00"}}"#, "not a game clock"),
        (#"{"event":"goal","details":{"period":{"id":"1"},"time":"1:00","team":{"id":5}}}"#, "neither side"),
        (#"{"event":"shootout","details":{}}"#, "neither side"), (#"{"event":3}"#, "no `event`"), ("7", "no `event`"),
    ])
    func rowsThatMeanNothing(row: String, says: String) throws {
        let items = try items("g.json", game(row))
        #expect(items.compactMap(\.rejection).contains { $0.reason.contains(says) && $0.place.hasSuffix("event 1") })
    }

    @Test(arguments: [
        (#""id":"x""#, "names the game"), (#""id":7"#, "GameDateISO8601"),
        (#""id":7,"GameDateISO8601":"2099-12-31T23:00:00Z""#, "GameDateISO8601"),
    ])
    func gamesThatCannotBeRead(details: String, says: String) throws {
        let items = try items("g.json", game("", details: details))
        #expect(items.count == 1)
        #expect(items.first?.rejection?.reason.contains(says) == true)
    }

    // MARK: - Volleyball

    private func match(_ rows: String, date: String = "12/28/2012") -> String {
        "[3DATAVOLLEYSCOUT]\r\n[3MATCH]\r\n\(date);20.00.00;\r\n[3TEAMS]\r\n67;A;2;\r\n71;B;0;\r\n[3SCOUT]\r\n\(rows)"
    }

    private func row(_ code: String, _ clock: String = "") -> String { "\(code);;;;;;;\(clock);1;\r\n" }

    @Test func clocksInheritAndNeverGoBack() throws {
        let rows =
            row("*P14>LUp") + row("*p01:00", "20.00.10") + row("a05SH", "20.00.02") + row("ap01:01") + row("**1set")
        let events = try items("m one.dvw", match(rows)).compactMap(\.event)
        let start = FeedTime(rfc3339: "2012-12-28T20:00:10Z")
        #expect(events.allSatisfy { $0.at == start })
        #expect(events.first?.topic == TopicID("match/m%20one"))
        let rejections = try items("m.dvw", match(rows)).compactMap(\.rejection)
        #expect(rejections.map(\.reason) == ["a set ends at 1:1"])
    }

    @Test func theLastSetEndsTheMatch() throws {
        let rows = row("*p01:00", "20.00.10") + row("**1set") + row("ap00:01") + row("**2set") + "\0\0\r\n"
        let events = try items("m.dvw", match(rows)).compactMap(\.event)
        #expect(events.map(\.kind) == ["teams", "point", "set", "point", "set"])
        #expect(events.map(\.lifecycle) == [.start, nil, nil, nil, .end])
        #expect(events[2].fact?.values["set"] == 2)
        #expect(events[4].fact?.values["set"] == nil)
    }

    @Test func aPointWithoutAScore() throws {
        let rejections = try items("m.dvw", match(row("*pxx"))).compactMap(\.rejection)
        #expect(rejections.first?.reason.contains("*p08:05") == true)
    }

    @Test(arguments: ["28/12/2012", "", "12/28/99999"]) func datesThatAreNone(date: String) throws {
        let items = try items("m.dvw", match("", date: date))
        #expect(items.first?.rejection?.reason.contains("month first") == true)
        #expect(items.count == 1)
    }
}
