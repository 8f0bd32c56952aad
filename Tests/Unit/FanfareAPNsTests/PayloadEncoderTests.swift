import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareAPNs

@Suite struct PayloadEncoderTests {
    /// 2026-09-21T14:13:20Z: 1,790,000,000 in Unix seconds, and 811,692,800 as ActivityKit counts dates.
    static let kickOff = FeedTime(seconds: 1_790_000_000)

    static func payload(
        _ event: Payload.Event, state: String = #"{"home":2}"#, stale: Int64? = nil, dismissal: Int64? = nil,
        alert: AlertText? = nil, relevance: Double? = nil, start: Payload.Start? = nil
    ) -> Payload {
        Payload(
            event: event, logLabel: "match/1", state: Array(state.utf8), stamp: 1_790_000_000, staleDate: stale,
            dismissalDate: dismissal, alert: alert, priority: .immediate, relevanceScore: relevance, start: start)
    }

    static func encoded(_ state: JSONValue) -> String {
        String(decoding: EncodedState(state.objectValue ?? JSONObject()).bytes, as: UTF8.self)
    }

    @Test func updateHasUnixDatesAroundAStateThatCountsFrom2001() throws {
        let state = Self.encoded(["away": 1, "clock": .double(Self.kickOff.activityKitSeconds)])
        let payload = Self.payload(
            .update, state: state, stale: 1_790_000_600)
        #expect(
            String(decoding: try PayloadEncoder.body(of: payload), as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"away":1,"clock":811692800},"#
                + #""stale-date":1790000600}}"#)
    }

    /// The body of a lineup's push is joined from pieces, and has the bytes that its payload would have.
    @Test(arguments: [nil, 60]) func joinedBodyIsThatOfThePayload(relevance: Int?) throws {
        let shard = Shard(lineups: LineupRules(gather: .zero))
        var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
        func publish(_ topic: String, _ score: Int64, alert: Alert? = nil) {
            shard.apply(
                .publish(
                    Publication.test(
                        UInt64(score) + 1, of: TopicID(topic), version: UInt32(score) + 1,
                        state: ["score": .int(score)], alert: alert, relevance: relevance, staleAfter: .seconds(600))),
                at: moment)
        }
        var batch = DeliveryBatch()
        func pull() -> [Delivery] {
            batch.removeAll()
            shard.pull(limit: 10, at: moment, into: &batch)
            let completions = batch.deliveries.map {
                DeliveryCompletion(slot: $0.slot, generation: $0.generation, outcome: .accepted)
            }
            shard.complete(completions, at: moment)
            return batch.deliveries
        }
        publish("a", 0)
        publish("b", 1)
        for (number, topics) in [["a", "b"], ["b", "a"]].enumerated() {
            let key = AudienceKey.lineup(topics.map { TopicID($0) })
            shard.apply(.follow(ActivityID(UInt64(number)), key, token: [UInt8(number)]), at: moment)
        }
        #expect(pull().count == 2)
        var alert: Alert?
        for score in Int64(2)...4 {
            moment.wallMilliseconds += 30_000
            moment.monotonic += .seconds(30)
            publish("b", score, alert: alert)
            let deliveries = pull()
            // Without an alert the score changes nothing in the card that has the other topic in its spotlight.
            #expect(deliveries.count == (alert == nil ? 1 : 2))
            for delivery in deliveries {
                let joined = try #require(batch.joinedPayload(of: delivery))
                var body: [UInt8] = []
                try PayloadEncoder.encode(joined, of: batch, into: &body)
                #expect(try body == PayloadEncoder.body(of: batch.payload(of: delivery)))
                #expect((batch.alert(of: joined)?.json.isEmpty == false) == (alert != nil))
            }
            alert = Alert(
                cause: "goal \(score)", class: .essential, text: AlertText(title: "Goal \(score)", body: "again"),
                freshFor: .seconds(60), highlight: nil)
        }
    }

    @Test func phoneDecodesTheStatesDate() throws {
        struct ContentState: Decodable { var clock: Date }
        struct Body: Decodable {
            struct APS: Decodable {
                var timestamp: Int
                var contentState: ContentState
                enum CodingKeys: String, CodingKey {
                    case timestamp
                    case contentState = "content-state"
                }
            }
            var aps: APS
        }
        let state = Self.encoded(["clock": .double(Self.kickOff.activityKitSeconds)])
        let body = try PayloadEncoder.body(of: Self.payload(.update, state: state))
        // The default strategies are ActivityKit's own (spec §6.1).
        let decoded = try JSONDecoder().decode(Body.self, from: Data(body))
        #expect(decoded.aps.contentState.clock == Date(timeIntervalSince1970: TimeInterval(decoded.aps.timestamp)))
    }

    @Test func alertIsNestedAndEscaped() throws {
        let alert = AlertText(title: "Goal \"1:0\"", body: "Müller\n90'", sound: "goal.caf")
        #expect(
            String(decoding: try PayloadEncoder.body(of: Self.payload(.update, alert: alert)), as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"home":2},"alert":"#
                + #"{"title":"Goal \"1:0\"","body":"Müller\n90'","sound":"goal.caf"}}}"#)
    }

    @Test func endIsDismissed() throws {
        let payload = Self.payload(.end, dismissal: 1_790_010_800)
        #expect(
            String(decoding: try PayloadEncoder.body(of: payload), as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"end","content-state":{"home":2},"#
                + #""dismissal-date":1790010800}}"#)
    }

    @Test func endWithoutAStateLeavesTheCardAsItIs() throws {
        let body = try PayloadEncoder.body(of: Self.payload(.end, state: "", dismissal: 0))
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"end","dismissal-date":0}}"#)
    }

    @Test func onlyEndsAreDismissed() throws {
        let body = try PayloadEncoder.body(of: Self.payload(.update, dismissal: 1_790_010_800))
        #expect(!String(decoding: body, as: UTF8.self).contains("dismissal"))
    }

    @Test func limitIsExactAndNamesSubjectAndSize() throws {
        func state(_ bytes: Int) -> String { #"{"t":""# + String(repeating: "x", count: bytes - 8) + #""}"# }
        let around = try PayloadEncoder.body(of: Self.payload(.update, state: state(100))).count - 100
        let fits = try PayloadEncoder.body(of: Self.payload(.update, state: state(4096 - around)))
        #expect(fits.count == 4096)
        let fault = #expect(throws: PayloadFault.self) {
            try PayloadEncoder.body(of: Self.payload(.update, state: state(4097 - around)))
        }
        #expect(fault?.problem == .tooLarge(.bytes(4097)))
        #expect(
            fault?.description == "match/1: the payload has 4097 bytes, APNs takes 4096; shorten the content state "
                + "or the attributes")
    }

    @Test(arguments: ["", "7", "[1]", "{", "null"])
    func stateMustBeAnObject(state: String) {
        #expect(throws: PayloadFault(logLabel: "match/1", problem: .stateIsNotAnObject)) {
            try PayloadEncoder.body(of: Self.payload(.update, state: state))
        }
    }

    // MARK: Every shape

    static let kickOffAlert = AlertText(title: "Kick-off", body: "The match has started", sound: "default")

    static func start(
        type: String = "MatchAttributes", attributes: String = #"{"matchId":"m1"}"#, collapseID: String? = nil
    ) -> Payload.Start {
        Payload.Start(attributesType: type, attributes: Array(attributes.utf8), collapseID: collapseID)
    }

    @Test func startAsksForAToken() throws {
        let payload = Self.payload(
            .start, stale: 1_790_003_600, alert: Self.kickOffAlert, relevance: 75, start: Self.start())
        #expect(
            String(decoding: try PayloadEncoder.body(of: payload), as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"start","attributes-type":"MatchAttributes","#
                + #""attributes":{"matchId":"m1"},"input-push-token":1,"content-state":{"home":2},"#
                + #""stale-date":1790003600,"relevance-score":75,"#
                + #""alert":{"title":"Kick-off","body":"The match has started","sound":"default"}}}"#)
    }

    @Test func localisedLinesAreObjects() throws {
        let alert = AlertText(
            title: .localized(key: "GOAL %@", arguments: ["Spurs \"A\""]), body: .localized(key: "NO_ARGUMENTS"),
            sound: "goal.caf")
        #expect(
            String(decoding: try PayloadEncoder.body(of: Self.payload(.update, alert: alert)), as: UTF8.self)
                == #"{"aps":{"timestamp":1790000000,"event":"update","content-state":{"home":2},"alert":"#
                + #"{"title":{"loc-key":"GOAL %@","loc-args":["Spurs \"A\""]},"body":{"loc-key":"NO_ARGUMENTS"},"#
                + #""sound":"goal.caf"}}}"#)
    }

    @Test(arguments: [(0, "0"), (75, "75"), (-1.5, "-1.5"), (0.1, "0.1")] as [(Double, String)])
    func relevanceIsAnyNumber(score: Double, text: String) throws {
        let body = try PayloadEncoder.body(of: Self.payload(.update, relevance: score))
        #expect(String(decoding: body, as: UTF8.self).hasSuffix(",\"relevance-score\":\(text)}}"))
    }

    @Test func theEncoderRefusesPayloadsThatPhonesIgnoreAndNamesTheirTopic() {
        func problem(_ payload: Payload) -> PayloadFault.Problem? {
            let fault = #expect(throws: PayloadFault.self) { try PayloadEncoder.body(of: payload) }
            #expect(fault?.description.hasPrefix("match/1: ") == true)
            return fault?.problem
        }
        func problem(_ start: Payload.Start?) -> PayloadFault.Problem? {
            problem(Self.payload(.start, alert: Self.kickOffAlert, start: start))
        }
        #expect(problem(nil) == .startWithoutAttributes)
        #expect(problem(Self.start(type: "")) == .startWithoutAttributes)
        #expect(problem(Self.start(attributes: "[]")) == .startWithoutAttributes)
        #expect(problem(Self.start(collapseID: "")) == .collapseID(.zero))
        #expect(problem(Self.start(collapseID: "a b")) == .collapseID(.bytes(3)))
        #expect(problem(Self.start(collapseID: String(repeating: "x", count: 65))) == .collapseID(.bytes(65)))
        #expect(problem(Self.payload(.start, start: Self.start())) == .startWithoutAlert)
        #expect(problem(Self.payload(.update, relevance: .nan)) == .relevanceIsNotANumber)
        let large = #"{"x":"\#(String(repeating: "x", count: 4096))"}"#
        guard case .tooLarge = problem(Self.start(attributes: large)) else {
            Issue.record("attributes count, too")
            return
        }
    }

    /// A start is stored for minutes while its phone is offline; an expiry of 0 would lose it in one moment offline.
    @Test func startsAreKeptForMinutes() {
        #expect(PayloadEncoder.expiration(of: Self.payload(.start, start: Self.start())) == 1_790_000_600)
    }

    @Test func onlyStartsCollapse() {
        var fields = RequestFields(endpoint: .sandbox, bundleID: "com.example.app")
        let update = fields.fields(of: Self.payload(.update))
        let start = fields.fields(of: Self.payload(.start, start: Self.start()))
        let collapsing = fields.fields(of: Self.payload(.start, start: Self.start(collapseID: "match-1")))
        let other = fields.fields(of: Self.payload(.start, start: Self.start(collapseID: "match-2")))
        #expect(start == update)
        #expect(collapsing != update && other != collapsing)
        #expect(fields.fields(of: Self.payload(.update)) == update)
    }

    @Test func updatesExpireWithTheirStatesAndEndsAreKept() {
        #expect(PayloadEncoder.expiration(of: Self.payload(.update)) == 1_790_000_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.update, stale: 1_790_003_600)) == 1_790_003_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.update, stale: 1_790_000_001)) == 1_790_000_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.end)) == 1_790_043_200)
    }

    /// A sent body keeps its bytes, because a closed window may still hold them back.
    @Test func aBodyIsWrittenOverAnotherUnlessThatIsKept() throws {
        func address(_ bytes: [UInt8]) -> UnsafePointer<UInt8>? { bytes.withUnsafeBufferPointer(\.baseAddress) }
        let long = Self.payload(.update, state: #"{"text":"longer than the other one"}"#)
        let short = Self.payload(.end, state: "{}")
        var body: [UInt8] = []
        try PayloadEncoder.encode(long, into: &body)
        let room = address(body)
        try PayloadEncoder.encode(short, into: &body)
        #expect(try body == PayloadEncoder.body(of: short))
        #expect(address(body) == room)
        let kept = body
        try PayloadEncoder.encode(long, into: &body)
        #expect(try kept == PayloadEncoder.body(of: short))
        #expect(try body == PayloadEncoder.body(of: long))
    }
}
