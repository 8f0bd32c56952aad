import FanfareFeeds
import FanfareModel
import Foundation
import Testing

/// PWHL and DataVolley files as nobody should write them, and what only a made-up one shows.
@Suite struct ScoreboardDecoderTests {
    private func items(_ name: String, _ text: String) throws -> [FeedItem] {
        let folder = try Folder()
        let feed = try Feed(paths: [try folder.write(name, text)])
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

    /// A play-off goes on until somebody scores.
    @Test func everyOvertimeOfAPlayOffIsAPeriodOfItsOwn() throws {
        let goal = #","team":{"id":2},"game_goal_id":"9""#
        let rows = [
            row("faceoff", "3", "20:00"), row("faceoff", "OT1", "19:00"), row("faceoff", "OT2", "1:00"),
            row("goal", "6", "0:30", goal),
        ]
        let items = try items("g.json", game(rows.joined(separator: ",")))
        #expect(items.compactMap(\.rejection).isEmpty)
        let periods = items.compactMap(\.event).filter { $0.kind == "period" }
        #expect(periods.map { $0.fact?.id } == ["period/3", "period/OT", "period/OT2", "period/OT3", "period/FT"])
        #expect(periods.map { $0.fact?.values["period"] } == ["3", "OT", "OT", "OT", "FT"])
        #expect(zip(periods, periods.dropFirst()).allSatisfy { $0.at < $1.at })
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
        (#"{"event":"goal","details":{"period":{"id":"99"},"time":"1:00"}}"#, "expected 1, 2, 3, 4, OT1"),
        (#"{"event":"goal","details":{"period":{"id":"1"},"time":"99:00"}}"#, "not a game clock"),
        (#"{"event":"goal","details":{"period":{"id":"1"},"time":"1:00","team":{"id":5}}}"#, "neither side"),
        (#"{"event":"shootout","details":{}}"#, "neither side"), (#"{"event":3}"#, "no `event`"), ("7", "no `event`"),
    ])
    func rowsThatMeanNothingAreRejected(row: String, says: String) throws {
        let items = try items("g.json", game(row))
        #expect(items.compactMap(\.rejection).contains { $0.reason.contains(says) && $0.location.hasSuffix("event 1") })
    }

    @Test func aGameWithoutANameCannotBeRead() throws {
        let items = try items("g.json", game("", details: #""id":"x""#))
        #expect(items.count == 1)
        #expect(items.first?.rejection?.reason.contains("names the game") == true)
    }

    @Test(arguments: [
        "", #","GameDateISO8601":"2099-12-31T23:00:00Z""#, #","GameDateISO8601":"1 April""#,
        #","GameDateISO8601":null"#,
    ])
    func noGameIsRefusedForItsDate(date: String) throws {
        let text = game(row("faceoff", "1", "0:00"), details: #""id":7"# + date)
        let undated = try items("g.json", text)
        #expect(undated.compactMap(\.rejection).isEmpty)
        #expect(undated.first?.notice?.contains("option `kickoff`") == true)
        #expect(undated.compactMap(\.event).count == 4)
        let folder = try Folder()
        let kickoff = try #require(FeedTime(rfc3339: "2026-04-01T19:00:00Z"))
        let feed = try Feed(paths: [try folder.write("g.json", text)], options: FeedOptions(kickoff: kickoff))
        let dated = feed.all().map(\.item)
        #expect(dated.compactMap(\.notice).isEmpty)
        #expect(dated.compactMap(\.event).dropFirst().first?.at == kickoff)
    }

    @Test func aKickOffOverridesTheScheduleOfAGame() throws {
        let folder = try Folder()
        let kickoff = try #require(FeedTime(rfc3339: "2026-05-01T20:15:00Z"))
        let feed = try Feed(
            paths: [try folder.write("g.json", game(row("faceoff", "1", "0:00")))],
            options: FeedOptions(kickoff: kickoff))
        #expect(feed.events().map(\.at).dropFirst().first == kickoff)
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

    @Test func aFileThatWasCopiedDuringPlayDoesNotEndTheMatch() throws {
        let rows = row("*p01:00", "20.00.10") + row("**1set") + row("ap00:01") + row("**2set") + row("*p01:00")
        let events = try items("m.dvw", match(rows)).compactMap(\.event)
        #expect(events.map(\.kind) == ["teams", "point", "set", "point", "set", "point"])
        #expect(!events.contains { $0.lifecycle == .end })
        #expect(events[4].fact?.values["set"] == 3)
    }

    @Test func aPointThatIsCutShortIsRejected() throws {
        let items = try items("m.dvw", match(row("*p12:10") + "*p12:1"))
        #expect(items.compactMap(\.rejection?.reason) == ["*p12:1: the row is cut short"])
    }

    @Test func aPointWithoutAScoreIsRejected() throws {
        let rejections = try items("m.dvw", match(row("*pxx"))).compactMap(\.rejection)
        #expect(rejections.first?.reason.contains("*p08:05") == true)
    }

    /// - Parameters:
    ///   - serial: the days since 1899 that the header's second line counts.
    ///   - made: when the file was made, as its header says.
    private func dated(_ date: String, serial: String = "", made: String = "") -> String {
        match(row("*p01:00", "20.00.10")).replacing(
            "12/28/2012;20.00.00;\r\n", with: "\(date);20.00.00;\r\n;;\(serial);;;;\r\n"
        ).replacing("[3MATCH]", with: "GENERATOR-DAY: \(made)\r\n[3MATCH]")
    }

    @Test(arguments: [
        ("28/12/2012", "", "", "2012-12-28"), ("12/28/2012", "", "", "2012-12-28"),
        ("28.12.2012", "", "", "2012-12-28"),
        ("2012-12-28", "", "", "2012-12-28"), ("28/12/12", "", "", "2012-12-28"),
        ("28-12-2012 20:00", "", "", "2012-12-28"),
        // A spreadsheet's serial number says which of the two it is, and what a date says that cannot be read.
        ("04/02/2020", "43865", "", "2020-02-04"), ("04/02/2020", "43923", "", "2020-04-02"),
        ("", "43865", "", "2020-02-04"), ("2020年2月4日", "43865", "", "2020-02-04"),
        // One machine writes all its dates alike.
        ("08/11/2020", "", "15/10/2020 19.57.05", "2020-11-08"),
        ("08/11/2020", "", "10/15/2020 19.57.05", "2020-08-11"),
        ("08/11/2020", "", "15-10-2020 20:00", "2020-11-08"), ("8.11.2020", "", "", "2020-11-08"),
        ("11/11/2020", "", "", "2020-11-11"),
    ])
    func aDateIsReadAsItsCountryWritesIt(date: String, serial: String, made: String, day: String) throws {
        let items = try items("m.dvw", dated(date, serial: serial, made: made))
        let start = items.compactMap(\.event).first?.at
        #expect(start == FeedTime(rfc3339: day + "T20:00:10Z"), "\(start?.description ?? "no event")")
        #expect(items.compactMap(\.rejection).isEmpty)
        #expect(items.compactMap(\.notice).isEmpty == !(date == "8.11.2020"))
    }

    @Test func aDateThatMayBeTwoIsToldAndAKickOffSettlesIt() throws {
        let notices = try items("m.dvw", dated("08/11/2020")).compactMap(\.notice)
        #expect(notices.count == 1)
        #expect(notices.first?.contains("2020-08-11 or 2020-11-08") == true, "\(notices)")
        let folder = try Folder()
        let kickoff = try #require(FeedTime(rfc3339: "2020-11-08T18:30:00Z"))
        let feed = try Feed(
            paths: [try folder.write("m.dvw", dated("08/11/2020"))], options: FeedOptions(kickoff: kickoff))
        let items = feed.all().map(\.item)
        #expect(items.compactMap(\.notice).isEmpty && items.compactMap(\.event).allSatisfy { $0.at == kickoff })
    }

    @Test(arguments: ["", "31/31/2012", "12/28/99999", "yesterday"])
    func noMatchIsRefusedForItsDate(date: String) throws {
        let items = try items("m.dvw", match(row("*p01:00", "20.00.10"), date: date))
        #expect(items.compactMap(\.rejection).isEmpty && items.compactMap(\.event).count == 2)
        #expect(items.first?.notice?.contains("option `kickoff`") == true)
    }

    @Test(arguments: [".", ":", "-"]) func aTimeOfDayIsReadWithAnySeparator(separator: String) throws {
        let clock = "18.45.07".replacing(".", with: separator)
        #expect(
            try items("m.dvw", match(row("*p01:00", clock))).compactMap(\.event).first?.at
                == FeedTime(rfc3339: "2012-12-28T18:45:07Z"))
    }

    /// A scout's machine that does not know the time writes midnight.
    @Test(arguments: [0, 1, 3]) func aStrayTimeOfDayMovesNoOtherRow(index: Int) throws {
        var clocks = ["18.45.07", "18.46.00", "18.47.00"]
        clocks.insert("00.00.00", at: index)
        let rows = clocks.enumerated().map { row("*p0\($0 + 1):00", $1) }.joined()
        let times = try items("m.dvw", match(rows)).compactMap(\.event).map(\.at)
        let expected = try clocks.enumerated().map { position, clock in
            let known = position == index ? clocks[max(0, position - 1)] : clock
            let time = known == "00.00.00" ? "18.45.07" : known
            return try #require(FeedTime(rfc3339: "2012-12-28T\(time.replacing(".", with: ":"))Z"))
        }
        #expect(Array(times.dropFirst()) == expected, "\(times)")
        #expect(times.first == expected.first)
    }

    @Test func aMatchMayLastBeyondMidnight() throws {
        let rows = row("*p01:00", "23.59.58") + row("*p02:00", "00.00.40") + row("*p03:00", "00.00.38")
        let events = try items("m.dvw", match(rows)).compactMap(\.event)
        #expect(
            events.map(\.at.description).suffix(3) == [
                "2012-12-28T23:59:58.000Z", "2012-12-29T00:00:40.000Z", "2012-12-29T00:00:40.000Z",
            ])
    }

    @Test(arguments: [
        ("Zenit-Kazań/Będzin Łódź", String.Encoding.windowsCP1250), ("Зенит Казань Динамо Москва", .windowsCP1251),
        ("Ολυμπιακός Πειραιώς ΠΑΟΚ Θεσσαλονίκη", .windowsCP1253), ("São José dos Pinhais", .windowsCP1252),
        ("Zenit-Kazań", .utf8), ("Łódź", .utf16),
    ])
    func oldCodePagesAreReadByTheirLetters(name: String, encoding: String.Encoding) throws {
        let text = match(row("*p01:00", "20.00.10")).replacing("67;A;2;", with: "67;\(name);2;")
        let folder = try Folder()
        let bytes = try #require(text.data(using: encoding))
        let feed = try Feed(paths: [try folder.write("m.dvw", Array(bytes))])
        #expect(feed.events().first?.fact?.values["home"] == .string(name))
    }
}
