import FanfareLoop
import LoadJSON
import Testing

@testable import APNsSimulator

/// All checks of the service, by one request and one answer each, with injected time.
@Suite struct ServiceTests {
    static let now = Instant(unixSeconds: 1_790_000_000, sinceStartMilliseconds: 5)

    /// The parts of a request, for a test to change.
    struct Sketch {
        var method = "POST"
        var path = "/3/device/00fc13adff785122"
        var fields: [(String, String)] = [
            ("authorization", "bearer good"), ("apns-push-type", "liveactivity"),
            ("apns-topic", "com.example.scores.push-type.liveactivity"), ("apns-priority", "10"),
            ("apns-expiration", "1790000600"),
        ]
        var aps = "\"timestamp\":1790000000,\"event\":\"update\",\"content-state\":{\"score\":1}"
        var body: String?

        func with(_ name: String, _ value: String?) -> Sketch {
            var copy = self
            copy.fields.removeAll { $0.0 == name }
            if let value { copy.fields.append((name, value)) }
            return copy
        }
    }

    static func service(
        _ behaviour: Behaviour = .init(seed: 1, deadShare: 0, throttleShare: 0, errorShare: 0, throttleMilliseconds: 1),
        limits: AcceptedPushLimits = .init()
    ) -> Service {
        let accepted = AcceptedPushes(behaviour: behaviour, limits: limits) { bytes in
            bytes.withUnsafeBytes { Fingerprint($0).high }
        }
        let check = ProviderTokenCheck(keyID: nil, teamID: nil) { _, _ in false }
        return Service(bundleID: Bench.bundleID, behaviour: behaviour, accepted: accepted, providerToken: check)
    }

    static func answer(_ sketch: Sketch, by service: Service, at now: Instant = now) -> (Answer, EntryIndex?) {
        var head = RequestHead()
        let fields = [(":method", sketch.method), (":path", sketch.path)] + sketch.fields
        for (name, value) in fields {
            Array(name.utf8).withUnsafeBytes { name in
                Array(value.utf8).withUnsafeBytes { value in
                    head.field(name, value, expected: service.expected) {
                        $0.equals("bearer good") ? nil : .invalidProviderToken
                    }
                }
            }
        }
        return service.answer(head, body: Array((sketch.body ?? "{\"aps\":{\(sketch.aps)}}").utf8), at: now)
    }

    @Test func aGoodRequestIsAcceptedAndRecorded() {
        let service = ServiceTests.service()
        let (answer, entry) = ServiceTests.answer(Sketch(), by: service)
        #expect(answer == .accepted)
        let record = entry.map { service.accepted[$0] }
        #expect(record?.stamp == 1_790_000_000 && record?.event == .update && record?.arrival == 5)
        #expect(record?.flags == [.immediate, .hasState])
        #expect(service.statistics.requests == 1 && service.statistics[.accepted] == 1)
    }

    @Test(
        arguments: [
            (Sketch(method: "GET"), Answer.methodNotAllowed), (Sketch(path: "/4/device/00"), .badPath),
            (Sketch(path: ""), .badPath), (Sketch(path: "/3/device/"), .missingDeviceToken),
            (Sketch(path: "/3/device/0"), .badDeviceToken), (Sketch(path: "/3/device/0g"), .badDeviceToken),
            (Sketch(path: "/3/device/00/"), .badDeviceToken), (Sketch(path: "/3/device/AbCd"), .accepted),
            (Sketch(path: "/3/device/" + String(repeating: "00", count: 512)), .accepted),
            (Sketch(path: "/3/device/" + String(repeating: "00", count: 513)), .badDeviceToken),
            (Sketch().with("authorization", nil), .missingProviderToken),
            (Sketch().with("authorization", "bearer bad"), .invalidProviderToken),
            (Sketch().with("apns-push-type", nil), .invalidPushType),
            (Sketch().with("apns-push-type", "alert"), .invalidPushType),
            (Sketch().with("apns-topic", nil), .missingTopic),
            (Sketch().with("apns-topic", "com.example.scores"), .deviceTokenNotForTopic),
            (Sketch().with("apns-topic", "com.example.other.push-type.liveactivity"), .badTopic),
            (Sketch().with("apns-priority", nil), .accepted), (Sketch().with("apns-priority", "5"), .accepted),
            (Sketch().with("apns-priority", "1"), .badPriority), (Sketch().with("apns-priority", "high"), .badPriority),
            (Sketch().with("apns-expiration", nil), .accepted), (Sketch().with("apns-expiration", "0"), .accepted),
            (Sketch().with("apns-expiration", "1790000000000"), .badExpirationDate),
            (Sketch().with("apns-expiration", "-1"), .badExpirationDate),
            (Sketch().with("apns-expiration", ""), .badExpirationDate),
            (Sketch().with("apns-collapse-id", String(repeating: "x", count: 64)), .accepted),
            (Sketch().with("apns-collapse-id", String(repeating: "x", count: 65)), .badCollapseId),
            (Sketch().with("apns-id", "123e4567-e89b-12d3-a456-42665544000a"), .accepted),
            (Sketch().with("apns-id", "123e4567-e89b-12d3-a456-42665544000"), .badMessageId),
            (Sketch(fields: Sketch().fields + [("apns-priority", "10")]), .duplicateHeaders),
            (Sketch(body: ""), .payloadEmpty),
            (Sketch(body: "{\"aps\":\"" + String(repeating: "x", count: 4087) + "\"}"), .payloadTooLarge),
        ] as [(Sketch, Answer)]) func eachCheckHasItsAnswer(_ sketch: Sketch, _ expected: Answer)
    {
        #expect(ServiceTests.answer(sketch, by: ServiceTests.service()).0 == expected)
    }

    /// All 256 bytes in both places of a hex pair.
    @Test func aTokenIsItsHexDigits() {
        for place in 0..<2 {
            for byte in UInt8.min...UInt8.max {
                var digits = Array("0f".utf8)
                digits[place] = byte
                var head = RequestHead()
                let path = Array("/3/device/".utf8) + digits
                path.withUnsafeBytes { path in
                    Array(":path".utf8).withUnsafeBytes {
                        head.field($0, path, expected: Expected(bundleID: "")) { _ in nil }
                    }
                }
                let text = String(decoding: digits, as: UTF8.self)
                let isHex = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
                #expect(Array(head.token) == (isHex ? [UInt8(text, radix: 16)] : []), "\(digits)")
            }
        }
    }

    @Test func theLargestBodyIsFourKilobytes() {
        let envelope = "{\"aps\":{\"timestamp\":1790000000,\"event\":\"update\",\"content-state\":{\"x\":\"\"}}}"
        let filler = String(repeating: "x", count: 4096 - envelope.utf8.count)
        let sketch = Sketch(body: envelope.replacing("\"\"", with: "\"\(filler)\""))
        #expect(sketch.body?.utf8.count == 4096)
        #expect(ServiceTests.answer(sketch, by: ServiceTests.service()).0 == .accepted)
    }

    @Test(arguments: [
        ("not JSON", "not JSON"), ("[]", "no object aps"), ("{\"aps\":1}", "no object aps"),
        ("{\"aps\":{},\"aps\":{}}", "a key comes twice"),
    ])
    func aBodyThatIsNoPayloadIsRefused(_ body: String, _ fault: String) throws {
        let service = ServiceTests.service()
        #expect(ServiceTests.answer(Sketch(body: body), by: service).0 == .badRequestPayload)
        #expect(try #require(service.statistics.payloadFaults.keys.first).contains(fault))
    }

    @Test(arguments: [
        ("", "event"), ("\"event\":\"stop\"", "event"), ("\"event\":\"update\"", "timestamp"),
        ("\"event\":\"update\",\"timestamp\":\"1790000000\"", "timestamp"),
        ("\"event\":\"update\",\"timestamp\":1790000000000", "milliseconds"),
        ("\"event\":\"update\",\"timestamp\":1790000000.5", "whole seconds"),
        ("\"event\":\"update\",\"timestamp\":-5", "timestamp"),
        ("\"event\":\"update\",\"timestamp\":1790000000", "content-state"),
        ("\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":[]", "content-state"),
        ("\"event\":\"update\",\"timestamp\":1790028801,\"content-state\":{}", "8 h ahead"),
        ("\"event\":\"update\",\"timestamp\":1789999969,\"content-state\":{}", "30 s old"),
        ("\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"stale-date\":1789971200", "stale-date"),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"stale-date\":1790000600000",
            "milliseconds"
        ),
        ("\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"dismissal-date\":0", "dismissal-date"),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"relevance-score\":\"1\"",
            "relevance-score"
        ),
        ("\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"alert\":\"Goal\"", "alert is no object"),
        ("\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"alert\":{\"title\":\"Goal\"}", "body"),
        ("\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{}", "attributes-type"),
        (
            "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\"",
            "aps.attributes"
        ),
        (
            "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\",\"attributes\":{}",
            "alert"
        ),
        (
            "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\",\"attributes\":{},"
                + "\"alert\":{\"title\":\"t\",\"body\":\"b\"},\"input-push-token\":true",
            "input-push-token is not 1"
        ),
        (
            "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\",\"attributes\":{},"
                + "\"alert\":{\"title\":\"t\",\"body\":\"b\"},\"input-push-channel\":\"a-b\"",
            "not base64"
        ),
        (
            "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\",\"attributes\":{},"
                + "\"alert\":{\"title\":\"t\",\"body\":\"b\"},\"input-push-token\":1,\"input-push-channel\":\"aGk=\"",
            "beside"
        ),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},"
                + "\"input-push-token\":1",
            "belong to a start"
        ),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},"
                + "\"alert\":{\"title-loc-key\":\"goal\",\"title\":\"t\",\"body\":\"b\"}",
            "title-loc-key"
        ),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},"
                + "\"alert\":{\"title\":{\"loc-key\":\"goal\",\"loc-args\":[1]},\"body\":\"b\"}",
            "loc-args"
        ),
        (
            "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},"
                + "\"alert\":{\"title\":\"t\",\"body\":\"b\",\"sound\":{}}",
            "sound"
        ),
    ])
    func payloadsThatPhonesDropAreRefusedWithTheReason(_ aps: String, _ fault: String) throws {
        let service = ServiceTests.service()
        #expect(ServiceTests.answer(Sketch(aps: aps), by: service).0 == .badRequestPayload)
        #expect(try #require(service.statistics.payloadFaults.keys.first).contains(fault))
        // The remembered answer is the same.
        #expect(ServiceTests.answer(Sketch(aps: aps), by: service).0 == .badRequestPayload)
        #expect(service.statistics.payloadFaults.values.first == 2 && service.accepted.entryCount == 0)
    }

    @Test(arguments: [
        "\"event\":\"end\",\"timestamp\":1789900000,\"dismissal-date\":0",
        "\"event\":\"update\",\"timestamp\":1789999970,\"content-state\":{}",
        "\"event\":\"update\",\"timestamp\":1790028800,\"content-state\":{},\"relevance-score\":75.5,\"other\":[1]",
        "\"event\":\"update\",\"timestamp\":1790000000,\"content-state\":{},\"stale-date\":1790000600.25",
        "\"event\":\"start\",\"timestamp\":1790000000,\"content-state\":{},\"attributes-type\":\"M\",\"attributes\":{},"
            + "\"input-push-channel\":\"aGk=\","
            + "\"alert\":{\"title\":{\"loc-key\":\"goal\",\"loc-args\":[\"x\"]},\"body\":\"\",\"sound\":\"a.caf\"}",
    ])
    func payloadsThatPhonesTakeAreAccepted(_ aps: String) {
        let service = ServiceTests.service()
        #expect(
            ServiceTests.answer(Sketch(aps: aps), by: service).0 == .accepted, "\(service.statistics.payloadFaults)")
    }

    @Test func aRememberedBodyGrowsOldAllTheSame() {
        let service = ServiceTests.service()
        #expect(ServiceTests.answer(Sketch(), by: service).0 == .accepted)
        var later = ServiceTests.now
        later.unixSeconds += Int64(SimulatorOptions.stampAgeMaxSeconds) + 1
        #expect(ServiceTests.answer(Sketch(), by: service, at: later).0 == .badRequestPayload)
    }

    @Test func theSameAlertIsTheSameWhateverItsSound() {
        let service = ServiceTests.service()
        for sound in ["a", "b"] {
            var sketch = Sketch()
            sketch.aps += ",\"alert\":{\"title\":\"1-0\",\"body\":\"Smith\",\"sound\":\"\(sound)\"}"
            #expect(ServiceTests.answer(sketch, by: service).0 == .accepted)
        }
        #expect(service.accepted.alerts.count == 1 && service.accepted.entryCount == 2)
    }

    @Test func tokensMisbehaveAsDrawn() throws {
        let seed: UInt64 = 7
        let behaviour = Behaviour(
            seed: seed, deadShare: 0.3, throttleShare: 0.2, errorShare: 0.1, throttleMilliseconds: 1000)
        let service = ServiceTests.service(behaviour)
        var counts: [Answer: Int] = [:]
        for index in 0..<4000 {
            var sketch = Sketch()
            sketch.path = "/3/device/" + String(index + 65_536, radix: 16) + "0"
            sketch.path += sketch.path.utf8.count % 2 == 0 ? "" : "0"
            for wait in [0, 500, 1500] as [UInt32] {
                let now = Instant(unixSeconds: 1_790_000_000, sinceStartMilliseconds: wait)
                counts[ServiceTests.answer(sketch, by: service, at: now).0, default: 0] += 1
            }
        }
        // 12,000 requests: 30 % meet dead tokens, and 10 % of the rest fail. A throttled token refuses the second push,
        // unless the first or the second failed: 0.7 × 0.2 × 0.9 × 0.9 of 4,000.
        let dead = (counts[.expiredToken] ?? 0) + (counts[.unregistered] ?? 0)
        #expect(abs(dead - 3600) < 300, "seed \(seed)")
        #expect(abs((counts[.unregistered] ?? 0) - dead / 4) < 200, "seed \(seed)")
        #expect(abs((counts[.serviceUnavailable] ?? 0) - 840) < 120, "seed \(seed)")
        #expect(abs((counts[.tooManyRequests] ?? 0) - 453) < 100, "seed \(seed)")
        #expect(service.accepted.tokens.count { $0.isDead } == dead / 3)
        #expect(service.accepted.entryCount == counts[.accepted])
    }

    @Test func pushBeyondTheAcceptedPushesRoomIsCountedAndAccepted() {
        var limits = AcceptedPushLimits()
        limits.tokensMax = 1
        limits.entriesMax = 2
        limits.stateBytesMax = 12
        let service = ServiceTests.service(limits: limits)
        var sketch = Sketch()
        for _ in 0..<3 { #expect(ServiceTests.answer(sketch, by: service).0 == .accepted) }
        #expect(service.accepted.unrecorded == 1)
        sketch.aps = sketch.aps.replacing("\"score\":1", with: "\"score\":2")
        #expect(ServiceTests.answer(sketch, by: service).0 == .accepted)
        sketch.path = "/3/device/1111"
        #expect(ServiceTests.answer(sketch, by: service).0 == .accepted)
        #expect(service.accepted.unrecorded == 3)
    }
}
