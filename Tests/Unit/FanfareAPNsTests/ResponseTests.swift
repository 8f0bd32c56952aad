import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ResponseTests {
    /// The table of spec §7, row by row, written independently of the code.
    static let rows: [(Int, String, ResponseClass)] = [
        (400, "BadDeviceToken", .deadToken), (400, "DeviceTokenNotForTopic", .deadToken),
        (400, "BadTopic", .configurationFault), (400, "MissingTopic", .configurationFault),
        (400, "TopicDisallowed", .configurationFault), (400, "BadCollapseId", .requestFault),
        (400, "BadExpirationDate", .requestFault), (400, "BadMessageId", .requestFault),
        (400, "BadPriority", .requestFault), (400, "DuplicateHeaders", .requestFault),
        (400, "InvalidPushType", .requestFault), (400, "MissingDeviceToken", .requestFault),
        (400, "PayloadEmpty", .requestFault), (400, "IdleTimeout", .reconnect),
        (403, "ExpiredProviderToken", .refreshToken), (403, "InvalidProviderToken", .configurationFault),
        (403, "MissingProviderToken", .configurationFault), (403, "UnrelatedKeyIdInToken", .reconnect),
        (403, "BadEnvironmentKeyIdInToken", .configurationFault),
        (403, "BadEnvironmentKeyInToken", .configurationFault), (403, "BadCertificate", .configurationFault),
        (403, "BadCertificateEnvironment", .configurationFault), (403, "Forbidden", .configurationFault),
        (404, "BadPath", .requestFault), (405, "MethodNotAllowed", .requestFault),
        (410, "ExpiredToken", .deadToken), (410, "Unregistered", .deadToken),
        (413, "PayloadTooLarge", .requestFault), (429, "TooManyProviderTokenUpdates", .reconnect),
        (429, "TooManyRequests", .throttled), (500, "InternalServerError", .retryLater),
        (503, "ServiceUnavailable", .retryLater), (503, "Service Unavailable", .retryLater),
        (503, "Shutdown", .reconnect),
    ]

    @Test func eachStatusAndReasonHasItsResponseClass() {
        for (status, reason, expected) in Self.rows {
            #expect(ResponseRule.rule(status: status, reason: reason).class == expected, "\(status) \(reason)")
        }
        #expect(ResponseRule.table.count == Self.rows.count)
        #expect(ResponseRule.rule(status: 200, reason: nil).class == .accepted)
    }

    @Test func configurationFaultsAdvise() {
        for rule in ResponseRule.table where rule.class == .configurationFault {
            #expect(rule.advice != nil, "\(rule.reason)")
        }
    }

    @Test(arguments: [
        (403, ResponseClass.configurationFault), (413, .requestFault), (418, .stranger),
        (429, .throttled), (500, .retryLater), (502, .retryLater), (503, .retryLater), (302, .stranger),
        (201, .stranger),
    ])
    func unknownReasonsGoByStatus(status: Int, expected: ResponseClass) {
        for reason in ["SomethingNew", "", nil] {
            let rule = ResponseRule.rule(status: status, reason: reason)
            #expect(rule.class == expected)
            #expect(rule.reason == reason ?? "")
        }
    }

    /// APNs gives a reason for a bad request; a server that gives none is not APNs.
    @Test func aBadRequestWithoutAReasonIsAStrangers() {
        #expect(ResponseRule.rule(status: 400, reason: "SomethingNew").class == .requestFault)
        #expect(ResponseRule.rule(status: 400, reason: nil).class == .stranger)
    }

    /// APNs gives a reason for a dead token; another server may answer that a page is gone.
    @Test func aTokenIsNotDeadWithoutAReason() {
        #expect(ResponseRule.rule(status: 410, reason: "SomethingNew").class == .deadToken)
        #expect(ResponseRule.rule(status: 410, reason: "").class == .retryLater)
        #expect(ResponseRule.rule(status: 410, reason: nil).class == .retryLater)
    }

    @Test func aKnownReasonWithAnotherStatusGoesByStatus() {
        #expect(ResponseRule.rule(status: 503, reason: "BadDeviceToken").class == .retryLater)
    }

    @Test func bodyHasReasonAndTimestamp() {
        let body = ErrorBody(Array(#"{"reason":"Unregistered","timestamp":1790000000123}"#.utf8))
        #expect(body.reason == "Unregistered")
        #expect(body.timestampMilliseconds == 1_790_000_000_123)
        let other = ErrorBody(Array("{ \"timestamp\" : 5,\r\n\t\"more\": 1, \"reason\" : \"Shutdown\" }".utf8))
        #expect(other.reason == "Shutdown")
        #expect(other.timestampMilliseconds == 5)
    }

    @Test(arguments: [
        "", "{", "}", "null", "[]", "<html>", #"{"reason":"#, #"{"reason":7}"#, #"{"reason":"Open"#, #"{"reason":{}}"#,
        #"{"timestamp":"x"}"#, #"{"timestamp":-}"#, #"{"timestamp":99999999999999999999}"#, #"{"reason":"a\u0041"}"#,
    ])
    func anErrorBodyOfUnexpectedJSONHasNoReasonAndNoTimestamp(text: String) {
        let body = ErrorBody(Array(text.utf8))
        #expect(body.reason == nil)
        #expect(body.timestampMilliseconds == nil)
    }

    @Test func reasonsAreSafeToPrint() {
        let text = "{\"reason\":\"Bad\u{1b}[31mÜ" + String(repeating: "x", count: 4000) + "\"}"
        let reason = ErrorBody(Array(text.utf8)).reason
        #expect(reason?.hasPrefix("Bad[31mxxx") == true)
        #expect(reason?.utf8.count == ErrorBody.reasonSizeMax.bytes)
    }

    @Test func garbageInAnErrorBodyNeverCrashesTheReader() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(state: seed)
        let sample = Array(#"{"reason":"Unregistered","timestamp":1790000000123}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
            let reason = ErrorBody(bytes).reason ?? ""
            #expect(reason.utf8.allSatisfy { (0x20..<0x7f).contains($0) }, "seed \(seed)")
        }
    }
}

/// Sebastiano Vigna's splitmix64: a seed replays its whole sequence.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}
