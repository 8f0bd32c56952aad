import FanfareDecisions
import FanfareModel
import Testing

@testable import FanfareFeeds

@Suite struct NativeTests {
    @Test(arguments: [("mute", FeedEvent.Operation.mute), ("resume", .resume), ("republish", .republish)])
    func ordersOfOperatorsAreRead(name: String, operation: FeedEvent.Operation) throws {
        let event = try #require(decode(#"{"topic":"t","at":1,"id":"o1","operator":"\#(name)"}"#).first?.event)
        #expect(event.change == .operation(operation))
        #expect(event.kind == name)
    }

    /// Some providers number by unsigned hashes.
    @Test(arguments: ["9223372036854775808", "18446744073709551615"]) func anIDMayHaveSixtyFourBits(id: String) throws {
        let event = try #require(decode(#"{"topic":"t","at":1,"id":\#(id),"set":{"a":1}}"#).first?.event)
        #expect(event.id == id)
    }

    /// Nothing would ever happen, and nobody would know why. Said once per name, before the line it stands in.
    @Test func membersThatLookLikeSlipsAreToldOnceWithWhatMayHaveBeenMeant() {
        let line = #"{"topic":"t","at":1,"patsch":{"a":1},"topicKnd":"ride"}"#
        let items = decode(line + "\n" + line + "\n" + #"{"topic":"t","at":1,"retract":"g"}"#)
        #expect(items.count == 5)
        #expect(
            items.first?.notice
                == "test:1: unknown member `patsch` (did you mean `set`?); unknown member `topicKnd` (did you mean `topicKind`?)"
        )
        #expect(items[1].event?.change == .nothing && items[2].event != nil)
        #expect(items[3].notice == "test:3: unknown member `retract` (did you mean `retracts`?)")
    }

    /// A feed may carry more than is read, and one whose names are all different is not kept in mind.
    @Test func unknownMembersOfEventsGetNoNotice() {
        let line = #"{"topic":"t","at":1,"kind":"pass","player":"Ö","side":"home","set":{"patch":1,"colour":"red"}}"#
        #expect(decode(line).allSatisfy { $0.notice == nil })
        let many = (0..<1000).map { #"{"topic":"t","at":1,"patch\#($0)":1}"# }.joined(separator: "\n")
        #expect((1...256).contains(decode(many).count { $0.notice != nil }))
    }

    @Test func ordersThatMeanNothingAreRejected() {
        #expect(
            decode(#"{"topic":"t","at":1,"operator":"stop"}"#).first?.rejection?.reason.contains("none of mute, unmute")
                == true)
        #expect(
            decode(#"{"topic":"t","at":1,"operator":"mute","set":{}}"#).first?.rejection?.reason.contains("beside")
                == true)
    }

    @Test func ordersForAllTopicsOfAKindOrAppAreRead() throws {
        let all = try #require(decode(#"{"topic":"*","at":1,"operator":"pause"}"#).first?.event)
        #expect(all.topic == .every && all.topicKind == nil && all.change == .operation(.pause))
        let kind = try #require(decode(#"{"topic":"*","topicKind":"ride","at":1,"operator":"mute"}"#).first?.event)
        #expect(kind.topic == .every && kind.topicKind == .ride && kind.app == nil)
        let app = try #require(
            decode(#"{"topic":"*","app":"com.example/development","at":1,"operator":"mute"}"#).first?.event)
        #expect(app.app == AppID(bundleID: "com.example", environment: .development) && app.alert == nil)
    }

    @Test(arguments: [
        (#""topic":"t","operator":"mute""#, "for topic *"), (#""topic":"*","set":{}"#, "for topic *"),
        (#""topic":"*","operator":"mute","topicKind":"ride""#, "no kind"),
    ])
    func onlyOrdersForAllNameAnApp(members: String, told: String) {
        #expect(decode("{\"at\":1,\"app\":\"one\",\(members)}").first?.rejection?.reason.contains(told) == true)
        let line = #"{"topic":"*","app":"one/beta","at":1,"operator":"mute"}"#
        #expect(decode(line).first?.rejection?.reason.contains("BUNDLE/development") == true)
    }

    @Test func correctionsOfOperatorsAreRead() throws {
        let patch = try #require(decode(#"{"topic":"t","at":1,"operator":"correct","set":{"a":1}}"#).first?.event)
        #expect(patch.isCorrection && patch.change == .patch(["a": 1]) && patch.kind == "correct")
        let goal = #"{"topic":"t","at":1,"kind":"goal","operator":"correct","fact":{"id":"g","side":"home"}}"#
        #expect(decode(goal).first?.event?.isCorrection == true)
        #expect(decode(#"{"topic":"t","at":1,"set":{"a":1}}"#).first?.event?.isCorrection == false)
        #expect(
            decode(#"{"topic":"t","at":1,"operator":"correct"}"#).first?.rejection?.reason.contains("corrects without")
                == true)
    }

    private let kickoff = FeedTime(seconds: 1_781_204_400)  // 2026-06-11T19:00:00Z

    @Test func theNativeDecoderReadsAFact() throws {
        let event = try #require(
            decode(
                #"{"topic":"match/7","topicKind":"football","at":"2026-06-11T19:00:00Z","id":"e1","kind":"goal","#
                    + #""fact":{"id":"g1","side":"home","player":"Ö. Üs"}}"#
            ).first?.event)
        #expect(event.topic == TopicID("match/7"))
        #expect(event.topicKind == .football)
        #expect(event.at == kickoff)
        #expect(event.id == "e1")
        #expect(event.kind == "goal")
        let values: JSONObject = ["side": "home", "player": "Ö. Üs"]
        #expect(event.change == .fact(Fact(id: "g1", kind: "goal", at: kickoff, values: values)))
    }

    @Test func aFactsOwnKindWins() throws {
        let line = #"{"topic":"t","at":0,"kind":"booking","fact":{"id":7,"kind":"card","color":"red"}}"#
        let event = try #require(decode(line).first?.event)
        #expect(event.kind == "booking")
        #expect(event.fact?.kind == "card")
        #expect(event.fact?.id == "7")
        #expect(event.fact?.values == ["color": "red"])
    }

    @Test func theNativeDecoderReadsPatchesRetractionsAndAlerts() throws {
        let items = decode(
            #"""
            {"topic":"order/1","at":1781204400,"seq":3,"set":{"status":"placed","eta":null,"n":[1,2.5,true]}}
            {"topic":"order/1","at":1781204400.25,"retracts":"g1","kind":"cancelled"}
            {"topic":"order/1","at":1781204401,"kind":"end","alert":{"title":"Here","body":"At the door","sound":"bell"}}
            """#)
        let events = items.compactMap(\.event)
        #expect(events.count == 3)
        #expect(events[0].seq == 3)
        #expect(events[0].kind == "patch")
        #expect(events[0].change == .patch(["status": "placed", "eta": .null, "n": [1, 2.5, true]]))
        #expect(events[1].change == .retraction(of: "g1"))
        #expect(events[1].at == FeedTime(milliseconds: 1_781_204_400_250))
        #expect(events[2].lifecycle == .end)
        #expect(events[2].change == .nothing)
        #expect(events[2].alert == AlertText(title: "Here", body: "At the door", sound: "bell"))
    }

    @Test func alertsMayNameWordsThatTheAppHas() {
        let items = decode(
            #"{"topic":"t","at":1,"alert":{"title":{"loc-key":"GOAL","loc-args":["Spurs","2"]},"body":{"loc-key":"B"}}}"#
        )
        #expect(
            items.first?.event?.alert
                == AlertText(
                    title: .localized(key: "GOAL", arguments: ["Spurs", "2"]), body: .localized(key: "B")))
    }

    @Test func skipsBlankLinesAndAByteOrderMark() {
        let items = decode(
            "\u{FEFF}{\"topic\":\"t\",\"at\":1,\"kind\":\"start\"}\r\n\r\n  \n{\"topic\":\"t\",\"at\":2}\n")
        #expect(items.compactMap(\.event).map(\.kind) == ["start", "event"])
        #expect(items.count == 2)
    }

    struct BadLine: CustomTestStringConvertible {
        let line: String
        let reason: String
        var testDescription: String { reason }
    }

    @Test(arguments: [
        BadLine(line: #"{"topic":"t","at":1"#, reason: "malformed JSON"),
        BadLine(line: #"{"topic":"t","at":1} x"#, reason: "malformed JSON"),
        BadLine(line: #"[1]"#, reason: "not a JSON object"),
        BadLine(line: #"{"at":1}"#, reason: "no `topic`"),
        BadLine(line: #"{"topic":"","at":1}"#, reason: "`topic` is empty"),
        BadLine(line: #"{"topic":5,"at":1}"#, reason: "`topic` is not a string"),
        BadLine(line: #"{"topic":"t"}"#, reason: "no `at`"),
        BadLine(line: #"{"topic":"t","at":"soon"}"#, reason: "not an RFC 3339 time"),
        BadLine(line: #"{"topic":"t","at":true}"#, reason: "neither an RFC 3339 time nor Unix seconds"),
        BadLine(line: #"{"topic":"t","at":1781204400000}"#, reason: "milliseconds?"),
        BadLine(line: #"{"topic":"t","at":-1}"#, reason: "outside 1970 to 2100"),
        BadLine(line: #"{"topic":"t","at":1e300}"#, reason: "outside 1970 to 2100"),
        BadLine(line: #"{"topic":"t","at":"2150-01-01T00:00:00Z"}"#, reason: "outside 1970 to 2100"),
        BadLine(line: #"{"topic":"t","at":1,"seq":-1}"#, reason: "`seq`"),
        BadLine(line: #"{"topic":"t","at":1,"set":3}"#, reason: "`set` is not an object"),
        BadLine(line: #"{"topic":"t","at":1,"fact":{"kind":"goal"}}"#, reason: "`fact` has no `id`"),
        BadLine(line: #"{"topic":"t","at":1,"fact":{"id":"a"}}"#, reason: "neither `kind` nor `fact.kind`"),
        BadLine(line: #"{"topic":"t","at":1,"set":{},"retracts":"a"}"#, reason: "more than one of"),
        BadLine(line: #"{"topic":"t","at":1,"alert":{"body":"b"}}"#, reason: "`alert` has no `title`"),
        BadLine(line: #"{"topic":"t","at":1,"alert":{"title":{}}}"#, reason: "`alert.title` has no `loc-key`"),
        BadLine(
            line: #"{"topic":"t","at":1,"alert":{"title":{"loc-key":"k","loc-args":[1]}}}"#,
            reason: "`alert.title.loc-args` is not a string"),
        BadLine(line: #"{"topic":"t","at":1,"id":{}}"#, reason: "`id` is neither"),
    ])
    func theNativeDecoderRejectsABadLineAndGoesOn(_ bad: BadLine) throws {
        let good = #"{"topic":"t","at":1}"#
        let items = decode("\(good)\n\(bad.line)\n\(good)\n")
        #expect(items.count == 3)
        let rejection = try #require(items[1].rejection)
        #expect(rejection.location == "test:2")
        #expect(rejection.reason.contains(bad.reason), "\(rejection.reason)")
        #expect(items[2].event != nil)
    }

    @Test func aRejectionNamesTopicAndTimeOnceKnown() throws {
        let rejection = try #require(decode(#"{"topic":"t","at":9,"seq":-1}"#).first?.rejection)
        #expect(rejection.topic == TopicID("t"))
        #expect(rejection.at == FeedTime(seconds: 9))
    }

    @Test func theNativeDecoderRejectsInvalidUTF8() throws {
        var bytes = Array(#"{"topic":"t","at":1,"kind":"X"}"#.utf8)
        let position = try #require(bytes.firstIndex(of: UInt8(ascii: "X")))
        bytes[position] = 0xFF
        let rejection = try #require(decode(bytes).first?.rejection)
        #expect(rejection.reason == "invalid UTF-8 (the input ends within this line)")
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func theNativeDecoderRejectsDeepNesting(_ open: String, _ close: String) throws {
        let nested = String(repeating: open, count: 10_000) + "1" + String(repeating: close, count: 10_000)
        let items = decode(#"{"topic":"t","at":1,"set":{"a":\#(nested)}}"# + "\n" + #"{"topic":"t","at":1}"# + "\n")
        #expect(items.first?.rejection?.reason == "nested too deep (more than 64 levels)")
        #expect(items.last?.event != nil)
    }

    @Test func theNativeDecoderRejectsAnOverlongLineOnceAndGoesOn() {
        let good = #"{"topic":"t","at":1}"#
        let text = good + "\n" + String(repeating: "x", count: 200_000) + "\n" + good + "\n"
        let items = decode(text, lineSizeMax: .bytes(1000))
        #expect(items.count == 3)
        #expect(items[1].rejection?.location == "test:2")
        #expect(items[1].rejection?.reason == "the line is longer than 1000 bytes")
        #expect(items[2].event != nil)
    }

    @Test func saysThatTheInputEndsWithinALine() {
        let items = decode(#"{"topic":"t","at":1}"# + "\n" + #"{"topic":"t","a"#)
        #expect(items.count == 2)
        #expect(items[1].rejection?.location == "test:2")
        #expect(items[1].rejection?.reason.hasSuffix("(the input ends within this line)") == true)
    }

    /// Any bytes, cut anywhere, give the same items as the same bytes in one piece, and never a crash.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func theEventsOfAFeedDoNotDependOnItsChunks(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var bytes = Array(
            String(
                repeating: #"{"topic":"match/é","at":1.5,"kind":"goal","fact":{"id":"g","n":[1,{"a":null}]}}"# + "\n",
                count: 20
            ).utf8)
        for _ in 0..<Int.random(in: 0..<30, using: &dice) {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        let whole = decode(bytes, lineSizeMax: .bytes(150))

        var decoder = NativeLineDecoder(name: "test", lineSizeMax: .bytes(150))
        var items: [FeedItem] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...40, using: &dice))
            decoder.decode(Array(chunk), into: &items)
            rest = rest.dropFirst(chunk.count)
        }
        decoder.finish(into: &items)
        #expect(items == whole, "seed \(seed)")
    }

    private func item(ofTopicWith bytes: Int) -> FeedItem? {
        decode(#"{"topic":"\#(String(repeating: "t", count: bytes))","at":1,"set":{"a":1}}"# + "\n").first
    }

    @Test func aLineMayNameEachTopicThatAnyRulesAllow() {
        #expect(item(ofTopicWith: 512)?.event != nil)
        #expect(item(ofTopicWith: 513)?.rejection?.reason == "`topic` has 513 bytes, at most 512 are allowed")
    }

    @Test(arguments: [20, 300]) func theRulesSayHowLongATopicsIDMayBe(bytes: Int) throws {
        var rules = Rules.builtIn
        rules.limits.topicIDSizeMax = .bytes(bytes)
        var core = DecisionCore(rules: rules, isLive: false)
        var decisions: [Decision] = []
        for size in [bytes, bytes + 1] {
            let event = try #require(item(ofTopicWith: size)?.event)
            core.apply(event, now: event.at, into: &decisions)
        }
        let rejected = decisions.compactMap { decision in
            if case .record(let record) = decision, record.outcome == .rejected { record.reason } else { nil }
        }
        #expect(rejected == ["a topic's id has 1 to \(bytes) bytes, not \(bytes + 1)"])
    }

    @Test func theRoomOfManyBytesGoesWithTheLastOfThem() {
        var lines = LineSplitter(lineSizeMax: .bytes(100), chunkSize: .bytes(1000))
        let usual = lines.capacity
        for _ in 0..<10_000 {
            _ = lines.fill { room in
                room.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "\n"))
                return room.count
            }
        }
        #expect(lines.capacity >= .mebibytes(1))
        while lines.next() != nil {}
        _ = lines.fill { _ in 0 }
        #expect(lines.capacity == usual)
    }

    private func decode(_ text: String, lineSizeMax: ByteCount = .mebibytes(1)) -> [FeedItem] {
        decode(Array(text.utf8), lineSizeMax: lineSizeMax)
    }

    private func decode(_ bytes: [UInt8], lineSizeMax: ByteCount = .mebibytes(1)) -> [FeedItem] {
        var decoder = NativeLineDecoder(name: "test", lineSizeMax: lineSizeMax)
        var items: [FeedItem] = []
        decoder.decode(bytes, into: &items)
        decoder.finish(into: &items)
        return items
    }

    /// A stranger may choose the keys; they take no longer than others.
    @Test(.timeLimit(.minutes(1))) func aPatchWithKeysInFallingOrderIsReadLikeAnyOther() throws {
        let keys = (0..<60_000).map { "k\(900_000 - $0)" }
        let members = keys.map { "\"\($0)\":1" }.joined(separator: ",")
        let line = #"{"topic":"t","at":1,"set":{"# + members + #","k900000":2}}"#
        guard case .patch(let patch)? = decode(line).first?.event?.change else {
            Issue.record("no patch")
            return
        }
        #expect(patch.members.count == keys.count)
        #expect(patch["k900000"] == 2 && patch["k840001"] == 1)
    }
}
