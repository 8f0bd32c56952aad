import FanfareModel
import Testing

@testable import FanfareFeeds

@Suite struct WyscoutTests {
    private let kickoff = FeedTime(seconds: 1_526_220_000)  // 2018-05-13T14:00:00Z

    private let metadata = #"""
        [{"wyId": 7, "dateutc": "2018-05-13 14:00:00",
          "teamsData": {"2": {"side": "home"}, "1": {"side": "away"}}}]
        """#

    private func event(
        _ id: Int, _ period: String, _ seconds: Double, _ name: String = "Pass", sub: String = "", tags: [Int] = [],
        team: Int = 1, player: Int = 10
    ) -> String {
        let tags = tags.map { #"{"id": \#($0)}"# }.joined(separator: ",")
        return
            #"{"id": \#(id), "matchId": 7, "matchPeriod": "\#(period)", "eventSec": \#(seconds), "eventName": "\#(name)", "#
            + #""subEventName": "\#(sub)", "tags": [\#(tags)], "teamId": \#(team), "playerId": \#(player)}"#
    }

    private func document(_ events: [String]) -> String {
        #"{"events": [\#(events.joined(separator: ","))], "#
            + #""teams": {"1": {"team": {"name": "Stra\\u00dfe"}}, "2": {"team": {"name": "Hill"}}}, "#
            + #""players": {"1": [{"player": {"wyId": 10, "shortName": "\\u0110. M\\ud83d\\ude00"}}, {"player": null}]}}"#
    }

    private func items(_ events: [String]) throws -> [FeedItem] {
        let folder = try Folder()
        try folder.write("matches-metadata.json", metadata)
        try folder.write("matches/7.json", document(events))
        let feed = try Feed(paths: [folder.path + "/matches"])
        return feed.all().map(\.item)
    }

    private func facts(_ events: [String]) throws -> [Fact] { try items(events).compactMap(\.event?.fact) }

    @Test func infersStartPeriodsAndEnd() throws {
        let events = try items([
            event(3, "1H", 1.5), event(4, "1H", 2700), event(5, "2H", 2), event(6, "2H", 3000), event(7, "E1", 1),
            event(8, "E1", 900), event(9, "E2", 0), event(10, "E2", 900),
            event(11, "P", 30, "Free Kick", sub: "Penalty"),
        ]).compactMap(\.event)
        let second = 2700.0 + 900
        let extra = second + 3000 + 300
        let expected: [(String, Double)] = [
            ("teams", -600), ("period/1H", 0), ("3", 1.5), ("4", 2700), ("period/HT", 2700), ("period/2H", second),
            ("5", second + 2), ("6", second + 3000), ("period/ETB", second + 3000), ("period/ET1", extra),
            ("7", extra + 1), ("8", extra + 900), ("period/ET2", extra + 900), ("9", extra + 900), ("10", extra + 1800),
            ("period/PEN", extra + 1800), ("11", extra + 1830), ("period/FT", extra + 1830),
        ]
        #expect(events.map(\.id) == expected.map(\.0))
        #expect(events.map(\.at) == expected.map { kickoff + .milliseconds(Int64($0.1 * 1000)) })
        #expect(events.first?.lifecycle == .start)
        #expect(events.first?.topicKind == .football)
        #expect(events.first?.fact?.values == ["home": "Hill", "away": "Straße"])
        #expect(events.last?.lifecycle == .end)
        #expect(events.filter { $0.lifecycle != nil }.count == 2)
        #expect(Set(events.map(\.topic)) == [TopicID("match/7")])
    }

    @Test func theWyscoutDecoderReadsGoalsAndNotTheBeatenKeeper() throws {
        let goals = try facts([
            event(1, "1H", 1, "Shot", tags: [101], team: 2), event(2, "1H", 2, "Save attempt", tags: [101], team: 1),
            event(3, "1H", 3, "Free Kick", sub: "Penalty", tags: [101], team: 1),
            event(4, "1H", 4, "Others on the ball", tags: [102], team: 1), event(5, "1H", 5, "Shot", tags: [1801]),
        ]).filter { $0.kind == "goal" }
        #expect(
            goals.map(\.values) == [
                ["side": "home", "player": "Đ. M😀"], ["side": "away", "player": "Đ. M😀", "penalty": true],
                ["side": "home", "player": "Đ. M😀", "ownGoal": true],
            ])
        #expect(goals.map(\.id) == ["1", "3", "4"])
    }

    @Test func theWyscoutDecoderReadsCards() throws {
        let cards = try facts([
            event(1, "1H", 1, "Foul", tags: [1702]), event(2, "1H", 2, "Foul", tags: [1703]),
            event(3, "1H", 3, "Foul", tags: [1701], team: 2, player: 0),
        ]).filter { $0.kind == "card" }
        #expect(cards.compactMap { $0.values["color"]?.stringValue } == ["yellow", "secondYellow", "red"])
        #expect(cards.compactMap { $0.values["side"]?.stringValue } == ["away", "away", "home"])
        #expect(cards[2].values["player"] == nil)
    }

    @Test func aShootoutKickIsNoGoal() throws {
        let facts = try facts([
            event(1, "1H", 1), event(2, "P", 1, "Free Kick", sub: "Penalty", tags: [101]),
            event(3, "P", 2, "Free Kick", sub: "Penalty", tags: [1801], team: 2),
            event(4, "P", 3, "Save attempt", tags: [101]),
        ])
        #expect(facts.filter { $0.kind == "goal" }.isEmpty)
        let kicks = facts.filter { $0.kind == "shootoutKick" }
        #expect(kicks.map { $0.values["scored"] } == [true, false])
        #expect(kicks.map { $0.values["side"] } == ["away", "home"])
    }

    @Test func namesRawEventsAsTheProviderDoes() throws {
        let events = try items([event(1, "1H", 1, "Others on the ball"), event(2, "1H", 1, "Pass")]).compactMap(\.event)
        #expect(events.filter { $0.change == .nothing }.map(\.kind) == ["othersOnTheBall", "pass"])
    }

    @Test func theWyscoutDecoderRejectsBrokenEventsAndGoesOn() throws {
        let items = try items([
            event(1, "1H", 1), #"{"id": 2}"#, #"{"id": "x", "eventName": "Pass"}"#, event(3, "3H", 1),
            event(4, "1H", -5),
            event(5, "1H", 1_526_220_000_000), event(6, "1H", 9, "Shot", tags: [101], team: 99), event(7, "1H", 10),
        ])
        let rejections = items.compactMap(\.rejection)
        #expect(rejections.map { $0.location.split(separator: "#").last } == ["2", "3", "4", "5", "6", "7"])
        #expect(rejections.allSatisfy { $0.topic == TopicID("match/7") })
        #expect(rejections.last?.reason == "the event's `teamId` is neither of the two teams of the match")
        #expect(items.compactMap(\.event).filter { $0.change == .nothing }.map(\.id) == ["1", "7"])
        #expect(items.last?.event?.lifecycle == .end)
    }

    @Test func withoutMetadataTheMatchIsReadAndAKickoffSaysWhenItWas() throws {
        let folder = try Folder()
        let file = try folder.write("7.json", document([event(1, "1H", 1, "Shot", tags: [101])]))
        let undated = try Feed(paths: [file])
        let items = undated.all().map(\.item)
        #expect(items.first?.notice?.contains("option `kickoff`") == true)
        #expect(items.compactMap(\.event).count == 4 && items.compactMap(\.rejection).isEmpty)
        #expect(items.compactMap(\.event).allSatisfy { $0.at.isPlausible })

        let feed = try Feed(paths: [file], options: FeedOptions(kickoff: FeedTime(seconds: 1000)))
        let events = feed.events()
        #expect(events.first?.at == FeedTime(seconds: 400))
        // The first team of the file is at home.
        #expect(events.first?.fact?.values == ["home": "Straße", "away": "Hill"])
        #expect(events.first { $0.kind == "goal" }?.fact?.values["side"] == "home")
    }

    @Test func aBrokenDocumentIsOneRejectionAndTheOthersGoOn() throws {
        let folder = try Folder()
        try folder.write("matches-metadata.json", metadata)
        let whole = document([event(1, "1H", 1), event(2, "1H", 2)])
        let broken = try folder.write("a.json", String(whole.dropLast(40)))
        try folder.write("b.json", whole)
        let feed = try Feed(paths: [folder.path])
        let items = feed.all().map(\.item)
        #expect(items.first?.rejection?.location == broken)
        #expect(items.first?.rejection?.reason.contains("is the file complete?") == true)
        #expect(items.compactMap(\.event).count == 5)
    }

    @Test func anOversizeDocumentIsRefused() throws {
        let folder = try Folder()
        let file = try folder.write("7.json", document([event(1, "1H", 1)]))
        let feed = try Feed(paths: [file], options: FeedOptions(kickoff: kickoff, documentSizeMax: .bytes(100)))
        #expect(feed.all().map(\.item.rejection?.reason) == ["the document is larger than 100 bytes"])
    }

    @Test(arguments: [
        ("plain", "plain"), (#"M\u00fcller"#, "Müller"), (#"\ud83d\ude00"#, "😀"), (#"a\u12"#, #"a\u12"#),
        (#"\u+123"#, #"\u+123"#), (#"\uzzzz"#, #"\uzzzz"#), (#"\ud83d"#, "\u{FFFD}"),
    ])
    func unescapesNamesASecondTime(_ text: String, _ expected: String) {
        #expect(WyscoutDocument.unescaped(text) == expected)
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func noBytesCrashTheWyscoutDecoder(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        var bytes = Array(document([event(1, "1H", 1), event(2, "2H", 3, "Shot", tags: [101])]).utf8)
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 32...126, using: &dice)
        }
        let folder = try Folder()
        let file = try folder.write("7.json", bytes)
        let feed = try Feed(paths: [file], options: FeedOptions(format: .wyscout, kickoff: kickoff))
        #expect(!feed.all().isEmpty, "seed \(seed)")
    }
}
