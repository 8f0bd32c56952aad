import FanfareModel
import Foundation
import Testing

@testable import FanfareFeeds

@Suite struct DFLTests {
    private let info = #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <PutDataRequest><MatchInformation>
        <General MatchId="M-1" PlannedKickoffTime="2022-10-15T11:00:00.000+00:00" HomeTeamName="Brücke" HomeTeamId="H"
          GuestTeamName="Fähre" GuestTeamId="G"/>
        <Teams><Team TeamId="H"><Players><Player PersonId="h1" Shortname="H. Éins"/><Player PersonId="h2" Shortname="H. Zwei"/></Players></Team>
        <Team TeamId="G"><Players><Player PersonId="g1" Shortname="G. Eins"/></Players></Team></Teams>
        </MatchInformation></PutDataRequest>
        """#

    private func row(_ id: String, _ time: String, _ content: String, match: String = "M-1") -> String {
        #"<Event EventId="\#(id)" EventTime="2022-10-15T\#(time)+02:00" MatchId="\#(match)">"# + content + "</Event>\n"
    }

    private func document(_ rows: [String]) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PutDataRequest>\n" + rows.joined() + "</PutDataRequest>\n"
    }

    private func items(_ document: String, info: String? = nil) throws -> [FeedItem] {
        let folder = try Folder()
        try folder.write("meta.xml", info ?? self.info)
        try folder.write("events.xml", document)
        let feed = try Feed(paths: [folder.path])
        #expect(feed.skippedFiles.isEmpty)
        return feed.all().map(\.item)
    }

    private func events(_ rows: [String]) throws -> [FeedEvent] { try items(document(rows)).compactMap(\.event) }

    private func at(_ time: String) throws -> FeedTime {
        try #require(FeedTime(rfc3339: "2022-10-15T\(time)+02:00"))
    }

    @Test func startsTenMinutesBeforeThePlannedKickoff() throws {
        let start = try #require(try events([row("1", "13:01:28.310", "<Play/>")]).first)
        #expect(start.at == (try at("12:50:00.000")))
        #expect(start.lifecycle == .start)
        #expect(start.topic == TopicID("match/M-1"))
        #expect(start.topicKind == .football)
        #expect(start.fact?.values == ["home": "Brücke", "away": "Fähre"])
    }

    /// .NET's "no date", what databases begin with, and the first minutes of our own time.
    @Test(arguments: ["0001-01-01T00:00:00Z", "1900-01-01T00:00:00Z", "1970-01-01T00:05:00Z", "9999-12-31T23:59:59Z"])
    func aPlannedKickoffThatIsNoDateIsNoneAtAll(planned: String) throws {
        let info = info.replacingOccurrences(of: "2022-10-15T11:00:00.000+00:00", with: planned)
        let rows = [row("1", "13:01:28.310", #"<KickOff GameSection="firstHalf"><Play/></KickOff>"#)]
        let start = try #require(try items(document(rows), info: info).first?.event)
        #expect(start.lifecycle == .start && start.at.isPlausible)
        let before = try at("12:51:28.310")
        #expect(planned.hasPrefix("1970") || start.at == before, "ten minutes, as where the file has none")
    }

    @Test func theDFLDecoderReadsPeriodsFromKickOffsAndWhistles() throws {
        let events = try events([
            row("1", "13:01:28.310", #"<KickOff GameSection="firstHalf"><Play/></KickOff>"#),
            row("2", "13:47:31.000", #"<FinalWhistle GameSection="firstHalf"/>"#),
            row("3", "14:03:29.010", #"<KickOff GameSection="secondHalf"/>"#), row("4", "14:05:00.000", "<KickOff/>"),
            row("5", "14:54:41.000", #"<FinalWhistle GameSection="secondHalf"/>"#),
            row("6", "14:50:00.000", #"<Caution CardColor="yellow" Team="H" Player="h1"/>"#),
        ])
        #expect(events.dropFirst().map { $0.fact?.values["period"] } == ["1H", "HT", "2H", nil, "FT", nil])
        #expect(events.map(\.lifecycle) == [.start, nil, nil, nil, nil, .end, nil])
        #expect(events[1].fact?.id == "1")
        #expect(events[1].at == (try at("13:01:28.310")))
        #expect(events[6].kind == "card")
    }

    @Test func extraTimeFollowsWhereTheFileHasIt() throws {
        let events = try events([
            row("1", "14:54:41.000", #"<FinalWhistle GameSection="secondHalf"/>"#),
            row("2", "15:00:00.000", #"<KickOff GameSection="firstHalfExtra"/>"#),
            row("3", "15:15:00.000", #"<FinalWhistle GameSection="firstHalfExtra"/>"#),
            row("4", "15:16:00.000", #"<KickOff GameSection="secondHalfExtra"/>"#),
            row("5", "15:32:00.000", #"<FinalWhistle GameSection="secondHalfExtra"/>"#),
        ])
        #expect(events.dropFirst().map { $0.fact?.values["period"] } == ["ETB", "ET1", nil, "ET2", "FT"])
        #expect(events.filter { $0.lifecycle == .end }.map(\.id) == ["5"])
    }

    /// A kick after the last whistle, by its own time, makes a shoot-out: rows that were only entered late do not.
    @Test(arguments: [true, false]) func aCupTieIsDecidedByItsShootout(hasSection: Bool) throws {
        func kick(_ id: String, _ time: String, _ team: String, _ player: String, _ end: String) -> String {
            row(
                id, time, #"<Penalty><ShotAtGoal Team="\#(team)" Player="\#(player)"><\#(end)/></ShotAtGoal></Penalty>"#
            )
        }
        var rows = [
            row("1", "13:01:28.310", #"<KickOff GameSection="firstHalf"/>"#),
            row("2", "15:32:00.000", #"<FinalWhistle GameSection="secondHalfExtra"/>"#),
            row("3", "15:31:00.000", #"<Caution CardColor="yellow" Team="H" Player="h1"/>"#),
            kick("4", "15:37:00.000", "H", "h1", "SuccessfulShot"), kick("5", "15:38:00.000", "G", "g1", "SavedShot"),
            kick("6", "15:39:00.000", "H", "h2", "ShotWide"), kick("7", "15:40:00.000", "G", "g1", "SuccessfulShot"),
        ]
        if hasSection {
            rows.insert(row("k", "15:36:00.000", #"<KickOff GameSection="penaltyShootout"/>"#), at: 3)
            rows.append(row("w", "15:41:00.000", #"<FinalWhistle GameSection="penaltyShootout"/>"#))
        }
        let events = try events(rows)
        #expect(events.compactMap { $0.fact?.values["period"] }.filter { $0 != "PEN" } == ["1H", "FT"])
        #expect(events.contains { $0.fact?.values["period"] == "PEN" && $0.at == (try? at("15:32:00.000")) })
        let kicks = events.compactMap(\.fact).filter { $0.kind == "shootoutKick" }
        #expect(kicks.map(\.values["scored"]) == [true, false, false, true])
        #expect(kicks.map(\.values["side"]) == ["home", "away", "home", "away"])
        #expect(!events.contains { $0.fact?.kind == "goal" })
        let end = try at(hasSection ? "15:41:00.000" : "15:40:00.000")
        #expect(events.filter { $0.lifecycle == .end }.map(\.at) == [end])
        #expect(events.last?.lifecycle == .end)
    }

    @Test func aPenaltyInPlayThatWasEnteredAfterTheWhistleIsNoShootout() throws {
        let events = try events([
            row("1", "14:54:41.000", #"<FinalWhistle GameSection="secondHalf"/>"#),
            row(
                "2", "14:30:00.000",
                #"<Penalty><ShotAtGoal Team="H" Player="h1"><SuccessfulShot/></ShotAtGoal></Penalty>"#),
        ])
        #expect(events.map(\.lifecycle) == [.start, .end, nil])
        #expect(events.last?.fact?.kind == "goal")
    }

    @Test func aPartOfAMatchThatNobodyKnowsIsNoticed() throws {
        let items = try items(
            document([
                row("1", "13:01:28.310", #"<KickOff GameSection="thirdHalf"/>"#),
                row("2", "13:47:31.000", #"<FinalWhistle GameSection="thirdHalf"/>"#),
                row("3", "14:05:00.000", "<KickOff/>"),
            ]))
        let notices = items.compactMap(\.notice)
        #expect(notices.count == 2 && notices.allSatisfy { $0.contains("thirdHalf") }, "\(notices)")
        #expect(items.compactMap(\.event).count == 4)
    }

    @Test func theDFLDecoderReadsGoals() throws {
        let shot = #"<ShotAtGoal Team="G" Player="g1"><SuccessfulShot/></ShotAtGoal>"#
        let goals = try events([
            row("1", "13:10:00.000", shot), row("2", "13:11:00.000", "<Penalty>" + shot + "</Penalty>"),
            row("3", "13:12:00.000", "<FreeKick>" + shot + "</FreeKick>"),
            row("4", "13:13:00.000", #"<ShotAtGoal Team="G" Player="g1"><SavedShot/></ShotAtGoal>"#),
            row("5", "13:14:00.000", #"<OwnGoal Team="H" Player="h2"/>"#),
        ]).filter { $0.kind == "goal" }
        #expect(goals.map(\.id) == ["1", "2", "3", "5"])
        #expect(goals[0].fact?.values == ["side": "away", "player": "G. Eins"])
        #expect(goals[1].fact?.values == ["side": "away", "player": "G. Eins", "penalty": true])
        #expect(goals[3].fact?.values == ["side": "away", "player": "H. Zwei", "ownGoal": true])
    }

    @Test func theDFLDecoderReadsCardsSubstitutionsAndWithdrawals() throws {
        let events = try events([
            row("1", "13:10:00.000", #"<Caution CardColor="yellowRed" Team="G" Player="g1"/>"#),
            row("2", "13:11:00.000", #"<Caution CardColor="red" Team="H" Player="h1"/>"#),
            row("3", "13:12:00.000", #"<Substitution Team="H" PlayerIn="h2" PlayerOut="h1"/>"#),
            row("2", "13:12:00.000", "<Delete/>"), row("4", "13:13:00.000", "<OtherBallAction/>"),
        ]).dropFirst()
        #expect(
            events.map(\.change.self).first
                == .fact(
                    Fact(
                        id: "1", kind: "card", at: try at("13:10:00.000"),
                        values: ["side": "away", "color": "secondYellow", "player": "G. Eins"])))
        #expect(events.compactMap { $0.fact?.values["color"] } == ["secondYellow", "red"])
        #expect(
            events.compactMap(\.fact).first { $0.kind == "substitution" }?.values
                == ["side": "home", "playerIn": "H. Zwei", "playerOut": "H. Éins"])
        #expect(events.contains { $0.change == .retraction(of: "2") && $0.kind == "delete" })
        #expect(events.last?.kind == "otherBallAction")
        #expect(events.last?.change == .nothing)
    }

    @Test func theDFLDecoderRejectsBrokenRowsWithTheirLine() throws {
        let items = try items(
            document([
                row("1", "13:10:00.000", "<Play/>"), row("", "13:10:00.000", "<Play/>"), row("3", "soon", "<Play/>"),
                row("4", "13:10:00.000", "<Play/>", match: "M-2"), row("5", "13:10:00.000", #"<Caution Team="X"/>"#),
                row("6", "13:11:00.000", "<Play/>"),
            ]))
        let rejections = items.compactMap(\.rejection)
        #expect(rejections.map { $0.location.split(separator: ":").last } == ["4", "5", "6", "7"])
        #expect(items.compactMap(\.event).map(\.id) == ["teams", "1", "6"])
    }

    @Test func aTruncatedFileGivesItsRowsAndOneRejection() throws {
        let whole = document([row("1", "13:10:00.000", "<Play/>"), row("2", "13:11:00.000", "<Play/>")])
        let items = try items(String(whole.prefix(whole.count - 60)))
        #expect(items.compactMap(\.event).map(\.id) == ["teams", "1"])
        #expect(items.last?.rejection?.reason == "the document is not complete")
        #expect(items.last?.rejection?.location.hasSuffix("events.xml:4") == true, "\(items)")
    }

    @Test func theDFLDecoderRefusesEntities() throws {
        let bomb = #"""
            <!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
            <PutDataRequest><Event EventId="1" EventTime="&c;" MatchId="M-1"><Play/></Event></PutDataRequest>
            """#
        let items = try items(bomb)
        #expect(items.count == 1)
        #expect(items.first?.rejection?.reason.contains("<!DOCTYPE") == true, "\(items)")
    }

    /// Foundation's parser reads the content of each, and one of these has none.
    @Test(arguments: [
        "<a><?x?></a>", #"<?xmF-8"?><a></a>"#, #"<?xml version="1.0"?><a><?x?></a>"#, "<?xml-x?><a></a>",
        "\u{FEFF}<?xml version='1.0'?><?xml-stylesheet href='a'?><a></a>", "<?xml?><a></a>",
    ])
    func aDocumentWithAProcessingInstructionIsRefused(text: String) {
        let document = DFLDocument(Array(text.utf8))
        #expect(document.defect?.reason.contains("processing instruction") == true)
    }

    @Test func theDFLDecoderRefusesDeepNestingAndBadBytes() throws {
        let deep = String(repeating: "<a>", count: 10_000) + String(repeating: "</a>", count: 10_000)
        let nested = try items(document([row("1", "13:10:00.000", "<Play/>"), row("2", "13:10:00.000", deep)]))
        #expect(nested.last?.rejection?.reason == "nested too deep (more than 64 levels)")
        #expect(nested.compactMap(\.event).map(\.id) == ["teams", "1"])

        let folder = try Folder()
        try folder.write("meta.xml", info)
        var bytes = Array(document([row("1", "13:10:00.000", "<Play/>"), row("2", "13:10:00.000", "<X/>")]).utf8)
        let position = try #require(bytes.firstIndex(of: UInt8(ascii: "X")))
        bytes[position] = 0xFF
        let file = try folder.write("events.xml", bytes)
        let feed = try Feed(paths: [file])
        let items = feed.all().map(\.item)
        #expect(items.map(\.rejection) == [FeedRejection(location: "\(file):4", reason: "invalid UTF-8")])
    }

    /// Of a folder the other matches go on.
    @Test func withoutMatchInformationThatMatchIsRejected() throws {
        let folder = try Folder()
        try folder.write("meta.xml", info)
        try folder.write("a.xml", document([row("1", "13:10:00.000", "<Play/>", match: "M-2")]))
        try folder.write("b.xml", document([row("1", "13:10:00.000", "<Play/>")]))
        let feed = try Feed(paths: [folder.path])
        let items = feed.all().map(\.item)
        #expect(items.compactMap(\.event).map(\.id) == ["teams", "1"])
        let rejections = items.compactMap(\.rejection)
        #expect(rejections.count == 1 && rejections[0].reason.contains("MatchInformation"), "\(rejections)")
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func noBytesCrashTheDFLDecoder(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        var bytes = Array(document((0..<4).map { row("\($0)", "13:10:00.000", "<Play><Pass/></Play>") }).utf8)
        for _ in 0..<Int.random(in: 1...4, using: &dice) {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 9...130, using: &dice)
        }
        let folder = try Folder()
        try folder.write("meta.xml", info)
        let file = try folder.write("events.xml", bytes)
        let feed = try Feed(paths: [file], options: FeedOptions(format: .dfl))
        #expect(!feed.all().isEmpty, "seed \(seed)")
    }

    /// ASCII in UTF-16 is valid UTF-8 with NULs between, in which no search finds a document type.
    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func aDocumentInUTF16HidesNoDocumentType(encoding: String.Encoding) throws {
        let text =
            #"<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><PutDataRequest><Event EventId="&a;" EventTime=""/></PutDataRequest>"#
        let document = DFLDocument(Array(try #require(text.data(using: encoding))))
        #expect(document.rows.isEmpty)
        #expect(document.defect?.reason.contains("not UTF-8") == true)
    }

    /// UTF-7 writes a document type without its letters.
    @Test(arguments: [
        #"<?xml version="1.0" encoding="UTF-7"?>"#, #"<?xml version="1.0" encoding = "UTF-7"?>"#,
        "<?xml version='1.0'\n encoding\t=\n'utf-7' ?>",
        "<?xml version=\"1.0\"" + String(repeating: " ", count: 300) + "encoding=\"UTF-7\"?>",
        #"<?xml version="1.0" encoding="UTF-7" standalone="utf-8"?>"#,
        #"<?xml version="1.0" encoding="UTF-7" standalone='encoding="utf-8"'?>"#,
        #"<?xml version="1.0" standalone="encoding='utf-8'" encoding="UTF-7"?>"#,
    ])
    func aDocumentInAnotherEncodingIsRefused(declaration: String) {
        for mark in ["", "\u{FEFF}"] {
            let document = DFLDocument(Array((mark + declaration + "<PutDataRequest></PutDataRequest>").utf8))
            #expect(document.defect?.reason == "the document is not declared as UTF-8")
        }
    }

    @Test(arguments: [
        #"<?xml version="1.0"?>"#, #"<?xml version="1.0" encoding="UTF-8"?>"#,
        "<?xml version='1.1'\n encoding\t=\n'utf-8' ?>",
        #"<?xml version="1.0" encoding="us-ascii" standalone="no"?>"#, #"<?xml version="1.0" standalone='yes'?>"#, "",
        "<?xml version=\"1.0\"" + String(repeating: " ", count: 300) + "encoding=\"UTF-8\"?>",
    ])
    func aDocumentInUTF8IsRead(declaration: String) {
        for mark in ["", "\u{FEFF}"] {
            let document = DFLDocument(Array((mark + declaration + "<PutDataRequest></PutDataRequest>").utf8))
            #expect(document.defect == nil, "\(document.defect?.reason ?? "")")
        }
    }

    /// The parser goes on behind such a declaration, into what it has swallowed.
    @Test(arguments: [
        #"<?xml version="1.0"><?x?><a></a>"#, #"<?xml version="1.0" y><?x?><a></a>"#,
        #"<?xml version="1.0" y?><a></a>"#,
        #"<?xml version="1.0" encoding="UTF-8"><?x?><a></a>"#,
    ])
    func aDocumentWithAFaultyDeclarationIsRefused(text: String) {
        #expect(DFLDocument(Array(text.utf8)).defect?.line == 1)
    }
}
