import FanfareCore
import Foundation
import Testing

@testable import FanfareAPNs

@Suite struct PayloadEncoderTests {
    /// 2026-09-21T14:13:20Z: 1,790,000,000 in Unix seconds, and 811,692,800 as ActivityKit counts dates.
    static let kickOff = FeedTime(seconds: 1_790_000_000)

    static func payload(
        _ event: Payload.Event, state: String = #"{"home":2}"#, stale: Int64? = nil, dismissal: Int64? = nil,
        alert: AlertText? = nil
    ) -> Payload {
        Payload(
            event: event, subject: "match/1", state: Array(state.utf8), stamp: 1_790_000_000, staleDate: stale,
            dismissalDate: dismissal, alert: alert, priority: .immediate)
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
        // Default strategies: ActivityKit's own (spec §6.1).
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
        #expect(fault?.problem == .tooLarge(bytes: 4097))
        #expect(fault?.description == "match/1: the payload has 4097 bytes, APNs takes 4096; shorten the content state")
    }

    @Test(arguments: ["", "7", "[1]", "{", "null"])
    func stateMustBeAnObject(state: String) {
        #expect(throws: PayloadFault(subject: "match/1", problem: .stateIsNotAnObject)) {
            try PayloadEncoder.body(of: Self.payload(.update, state: state))
        }
    }

    @Test func startIsRefusedWithoutAttributes() {
        #expect(throws: PayloadFault(subject: "match/1", problem: .startWithoutAttributes)) {
            try PayloadEncoder.body(of: Self.payload(.start))
        }
    }

    @Test func updatesExpireWithTheirStatesAndEndsAreKept() {
        #expect(PayloadEncoder.expiration(of: Self.payload(.update)) == 1_790_000_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.update, stale: 1_790_003_600)) == 1_790_003_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.update, stale: 1_790_000_001)) == 1_790_000_600)
        #expect(PayloadEncoder.expiration(of: Self.payload(.end)) == 1_790_043_200)
    }
}
