import FanfareLoop
import Foundation
import LoadJSON
import ServerTestSupport
import Testing

@testable import APNsSimulator

/// The built program, with clients that share no code with it: curl and Python's h2.
@Suite(.serialized) struct WireTests {
    static let skipCurl: Comment = "curl is not installed (apt-get install curl)"
    static let skipPython: Comment = "python3-h2 is not installed (apt-get install python3-h2)"

    /// Returns requests with different tokens of 80 bytes.
    private func requests(_ count: Int, providerToken: String, score: Int = 1, stamp: Int64? = nil) -> [Request] {
        (0..<count).map { index in
            let number = String(index, radix: 16)
            let token = String(repeating: "0", count: 160 - number.count) + number
            return Request(token: token, providerToken: providerToken, score: score, stamp: stamp)
        }
    }

    @Test(.enabled(if: Bench.has(Bench.curl), skipCurl)) func curlGetsApplesAnswers() throws {
        let simulator = try RunningSimulator()
        let good = Request(providerToken: try Bench.providerToken())
        var echoed = good
        echoed.set("apns-id", "123e4567-e89b-12d3-a456-42665544000a")
        let accepted = try simulator.curl(echoed)
        #expect(accepted.status == 200 && accepted.body.isEmpty)
        #expect(accepted.fields.contains("apns-id: 123e4567-e89b-12d3-a456-42665544000a"))
        #expect(try simulator.curl(good).fields.contains("apns-id: "))

        let stranger = try Bench.providerToken(key: ES256PrivateKey.generate())
        let old = try Bench.providerToken(issuedAt: Int64(Date().timeIntervalSince1970) - 3700)
        let changes: [(String, Int, (inout Request) -> Void)] = [
            ("MethodNotAllowed", 405, { $0.method = "PUT" }), ("BadDeviceToken", 400, { $0.token = "abc" }),
            ("MissingProviderToken", 403, { $0.set("authorization", nil) }),
            ("InvalidProviderToken", 403, { $0.set("authorization", stranger) }),
            ("ExpiredProviderToken", 403, { $0.set("authorization", old) }),
            ("InvalidPushType", 400, { $0.set("apns-push-type", "background") }),
            ("DeviceTokenNotForTopic", 400, { $0.set("apns-topic", Bench.bundleID) }),
            ("BadPriority", 400, { $0.set("apns-priority", "7") }),
            ("BadExpirationDate", 400, { $0.set("apns-expiration", "soon") }), ("PayloadEmpty", 400, { $0.body = "" }),
            ("PayloadTooLarge", 413, { $0.body = String(repeating: " ", count: 5000) + $0.body }),
            ("PayloadTooLarge", 413, { $0.body = String(repeating: " ", count: 300_000) }),
            ("BadRequestPayload", 400, { $0.body = "{\"aps\":{}}" }),
        ]
        for (reason, status, change) in changes {
            var request = good
            change(&request)
            let answer = try simulator.curl(request)
            #expect(answer.status == status && answer.body == "{\"reason\":\"\(reason)\"}", "\(reason): \(answer)")
        }
        let record = try simulator.stop()
        #expect(record.status == 0 && record.complaints.isEmpty)
        #expect(record.summary.hasPrefix("summary requests=15 accepted=2 "), "\(record.summary)")
        #expect(record.summary.contains(" PayloadTooLarge=2 ") && record.summary.contains(" connections=15 "))
        #expect(record.counts?["payloadFaults"] == ["aps.event is not start, update or end": 1])
        // One token, hashed; one state; the second push followed the first and carried the same state.
        #expect(record.tokens.count == 1 && record.accepted.count == 2)
        let digest = sha256([UInt8](Data(hex: good.token))).prefix(8).map { String(format: "%02x", $0) }.joined()
        #expect(record.tokens.first?["token"] == .string(digest))
        #expect(record.dump.first?["state"] == ["home": "Reds", "homeScore": 1])
        #expect(record.accepted.first?[3] == "u" && record.accepted.first?[4] == 10)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aConnectionAllowsOneStreamUntilItsFirstGoodAnswer() throws {
        let simulator = try RunningSimulator(["--max-streams", "77", "--window", "200000"])
        var refused = Request(providerToken: try Bench.providerToken())
        refused.set("authorization", nil)
        let conversation = try simulator.converse(
            [refused, refused] + requests(300, providerToken: try Bench.providerToken()), concurrent: 100)
        #expect(conversation.statuses == [403: 2, 200: 300])
        // SETTINGS_MAX_CONCURRENT_STREAMS is 3, SETTINGS_INITIAL_WINDOW_SIZE is 4 (RFC 9113 §6.5.2).
        let settings = (conversation.json["settings"]?.arrayValue ?? []).compactMap(\.arrayValue)
        #expect(settings.count == 2 && settings[0].contains([3, 1]) && settings[1].contains([3, 77]))
        #expect(settings.first?.contains([4, 200_000]) == true)
        #expect(conversation.json["windowUpdates"]?.arrayValue?.first == [0, .int(200_000 - 65_535)])
        let identifiers = conversation.answers.compactMap { $0?.apnsID }
        #expect(Set(identifiers).count == 302 && identifiers.allSatisfy { UUID(uuidString: $0) != nil })
        #expect(try simulator.stop().accepted.count == 300)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aSimulatorWithoutAStrictStartAllowsAllStreamsAtOnce() throws
    {
        let simulator = try RunningSimulator(["--strict-start", "off", "--max-streams", "5"])
        let conversation = try simulator.converse(requests(20, providerToken: try Bench.providerToken()), concurrent: 9)
        #expect(conversation.statuses == [200: 20])
        let settings = (conversation.json["settings"]?.arrayValue ?? []).compactMap(\.arrayValue)
        #expect(settings.map { $0.contains([3, 5]) } == [true])
        #expect(try simulator.stop().status == 0)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func sharesOfTokensMisbehaveTheSameInEveryRun() throws {
        let options = [
            "--dead-share", "0.3", "--error-share", "0.2", "--throttle-share", "0.5", "--throttle-interval", "80000000",
            "--seed", "5",
        ]
        let token = try Bench.providerToken()
        let conversations = try (0..<2).map { _ in
            let simulator = try RunningSimulator(options)
            let twice = requests(300, providerToken: token) + requests(300, providerToken: token, score: 2)
            let conversation = try simulator.converse(twice, concurrent: 40)
            return (conversation.answers, try simulator.stop())
        }
        let (answers, record) = conversations[0]
        #expect(answers.map { $0?.status } == conversations[1].0.map { $0?.status })
        let counts = Dictionary(answers.map { ($0?.reason ?? "none", 1) }, uniquingKeysWith: +)
        let dead = (counts["ExpiredToken"] ?? 0) + (counts["Unregistered"] ?? 0)
        // 600 requests: 30 % dead, 20 % of the rest fail; of 300 second pushes 0.7 × 0.5 × 0.8 × 0.8 are throttled.
        #expect(
            abs(dead - 180) < 50 && abs((counts["ServiceUnavailable"] ?? 0) - 84) < 40 && counts["Unregistered"] != nil)
        #expect(abs((counts["TooManyRequests"] ?? 0) - 67) < 40)
        #expect(record.tokens.count { $0["dead"] == true } * 2 == dead)
        #expect(record.accepted.count == answers.count { $0?.status == 200 } && record.unanswered == 0)
        #expect(answers.allSatisfy { ($0?.status == 200) == ($0?.reason == nil) })
    }

    /// Half of the answers take longer than a connection lives, so that some are due at a loss however late the client's requests come.
    private static let losses = [["60"], ["25ms", "--latency", "3..60", "--strict-start", "off"]]

    @Test(.enabled(if: Bench.hasPythonH2, skipPython), arguments: losses)
    func aLostConnectionLeavesExactlyTheUnansweredBehind(_ options: [String]) throws {
        let simulator = try RunningSimulator(["--lose-connections"] + options)
        let conversation = try simulator.converse(
            requests(500, providerToken: try Bench.providerToken()), concurrent: 50)
        let record = try simulator.stop()
        let answered = conversation.statuses[200] ?? 0
        #expect(conversation.json["connections"] != 1 && answered < 500)
        #expect(record.accepted.count == answered + record.unanswered)
        #expect(record.unanswered > 0)
        #expect(record.counts?["unanswered"] == .int(Int64(record.unanswered)))
        #expect(record.counts?["connectionsLost"] != 0)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython), arguments: ["0", "3..8"], [false, true])
    func aGoAwayNamesTheLastRequestAndAnswersIt(_ latency: String, bodiesLast: Bool) throws {
        let simulator = try RunningSimulator(["--goaway-every", "70", "--latency", latency])
        let conversation = try simulator.converse(
            requests(300, providerToken: try Bench.providerToken()), concurrent: 50, bodiesLast: bodiesLast)
        let record = try simulator.stop()
        let goAways = conversation.json["goAways"]?.arrayValue ?? []
        #expect(goAways.count >= 2)
        for goAway in goAways {
            // The 70th request of a connection is on stream 139.
            #expect(goAway["last"] == 139 && goAway["code"] == 0 && goAway["debug"] == "{\"reason\":\"Shutdown\"}")
        }
        // All requests up to it were answered, and none after it was taken.
        #expect(conversation.statuses[200] == record.accepted.count && record.unanswered == 0)
        #expect(record.counts?["goAways"] == .int(Int64(goAways.count)))
    }

    /// A useless connection stays open: it gives two answers, and then none or always the same one.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aWedgedConnectionAnswersPingsAndNothingElse() throws {
        let simulator = try RunningSimulator(["--wedge-after", "2"])
        let conversation = try simulator.converse(
            requests(6, providerToken: try Bench.providerToken()), concurrent: 6, pingsAndLeaves: true)
        let record = try simulator.stop()
        #expect(conversation.json["connections"] == 1 && conversation.json["pongs"] == 1)
        #expect(conversation.statuses == [200: 2, 0: 4])
        // The accepted requests are known only after the client has left.
        #expect(record.accepted.count == 6 && record.unanswered == 4)
        #expect(record.counts?["connectionsWedged"] == 1)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aWedgedConnectionMayAnswerAllAlike() throws {
        let simulator = try RunningSimulator(["--wedge-after", "2=InternalServerError"])
        let conversation = try simulator.converse(
            requests(6, providerToken: try Bench.providerToken()), concurrent: 1)
        let record = try simulator.stop()
        #expect(conversation.answers.map { $0?.status } == [200, 200, 500, 500, 500, 500])
        #expect(record.accepted.count == 2 && record.unanswered == 0)
        #expect(record.summary.contains(" wedged=1 ") && record.summary.contains(" InternalServerError=4 "))
    }

    /// The first of three tokens is answered, the second is refused unread, and the third is taken and then reset.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func streamsOfATokenAreReset() throws {
        let simulator = try RunningSimulator(["--answer", "1=REFUSED_STREAM", "--answer", "2=INTERNAL_ERROR"])
        let token = try Bench.providerToken()
        let conversation = try simulator.converse(
            ["00", "1111", "2222", "0000"].map { Request(token: $0, providerToken: token) }, concurrent: 1)
        let record = try simulator.stop()
        #expect(conversation.answers.map { $0?.status } == [200, nil, nil, 200])
        #expect(conversation.json["resets"] == [7, 2])
        #expect(conversation.json["connections"] == 1)
        #expect(record.accepted.count == 3 && record.unanswered == 1)
        #expect(record.counts?["refusedStreams"] == 1 && record.counts?["resetStreams"] == 1)
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aBadTokenCostsItsConnectionBehindTheAnswer() throws {
        let simulator = try RunningSimulator(["--lose-after", "BadDeviceToken"])
        let token = try Bench.providerToken()
        let conversation = try simulator.converse(
            ["00", "abc", "11", "22"].map { Request(token: $0, providerToken: token) }, concurrent: 1)
        let record = try simulator.stop()
        // The third request was sent before the client knew.
        #expect(conversation.answers.map { $0?.status } == [200, 400, nil, 200])
        #expect(conversation.answers[1]?.reason == "BadDeviceToken")
        #expect(conversation.json["connections"] == 2)
        #expect(record.accepted.count == 2 && record.unanswered == 0 && record.counts?["connectionsLost"] == 1)
    }

    /// Two workers that sign for themselves share a connection.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aSecondProviderTokenIsOneTooMany() throws {
        let simulator = try RunningSimulator()
        let now = Int64(Date().timeIntervalSince1970)
        let tokens = try (0..<2).map { try Bench.providerToken(issuedAt: now - $0) }
        let conversation = try simulator.converse(
            [0, 1, 0].map { Request(providerToken: tokens[$0]) }, concurrent: 1)
        #expect(conversation.answers.map { $0?.status } == [200, 429, 200])
        #expect(conversation.answers[1]?.reason == "TooManyProviderTokenUpdates")
        _ = try simulator.stop()
    }

    /// The key is revoked in the middle of a sweep, and restored: the old key's token is valid, invalid, and valid again.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func aKeyIsRevokedAndMendedWhileItIsUsed() throws {
        let other = FileManager.default.temporaryDirectory.appendingPathComponent("fanfare-key-\(UUID().uuidString)")
        try ES256PrivateKey.generate().publicKey.pem().write(to: other, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: other) }
        let key = try Bench.file("apns.pub.pem")
        let simulator = try RunningSimulator(["--public-key", "\(key),\(other.path)@20,\(key)@30"])
        let conversation = try simulator.converse(
            requests(40, providerToken: try Bench.providerToken()), concurrent: 1)
        let record = try simulator.stop()
        let good = Array(repeating: 200 as Int?, count: 20)
        #expect(conversation.answers.map { $0?.status } == good + Array(repeating: 403, count: 10) + good.prefix(10))
        #expect(record.accepted.count == 30)
    }

    /// The simulator's clock is an hour and a minute ahead: a token made now is too old there, and so is an update. If it is as far
    /// behind, the token is from the future.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython))
    func tokensAndStampsAreJudgedByTheSimulatorsClock() throws {
        let now = Int64(Date().timeIntervalSince1970)
        let tokens = try [0, 3660, -3660].map { try Bench.providerToken(issuedAt: now + $0) }
        func reasons(_ clock: String, _ requests: [Request]) throws -> [String?] {
            let simulator = try RunningSimulator(["--clock", clock])
            defer { _ = try? simulator.stop() }
            // One request at a time, each on a connection of its own.
            return try requests.map { try simulator.converse([$0], concurrent: 1).answers[0]?.reason }
        }
        let fresh = Request(providerToken: tokens[0])
        #expect(
            try reasons(
                "3660",
                [
                    fresh, Request(providerToken: tokens[1]), Request(providerToken: tokens[1], stamp: now + 3660),
                    Request(providerToken: tokens[1], stamp: now + 3600),
                    Request(providerToken: tokens[1], event: "end"),
                ]) == ["ExpiredProviderToken", "BadRequestPayload", nil, "BadRequestPayload", nil])
        #expect(
            try reasons("-3660", [fresh, Request(providerToken: tokens[2])]) == ["InvalidProviderToken", nil])
        #expect(
            try reasons("-28900", [Request(providerToken: try Bench.providerToken(issuedAt: now - 28_900))])
                == ["BadRequestPayload"], "more than eight hours ahead of it")
    }

    @Test(.enabled(if: Bench.has(Bench.curl), skipCurl)) func tokensMayBeAsLongAsFanfareTakesThem() throws {
        let simulator = try RunningSimulator()
        let token = try Bench.providerToken()
        for (bytes, status) in [(257, 200), (512, 200), (513, 400)] {
            let request = Request(token: String(repeating: "ab", count: bytes), providerToken: token)
            #expect(try simulator.curl(request).status == status, "\(bytes) bytes")
        }
        _ = try simulator.stop()
    }

    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func answersTakeTheirTime() throws {
        let simulator = try RunningSimulator(["--latency", "40..60"])
        let conversation = try simulator.converse(
            requests(200, providerToken: try Bench.providerToken()), concurrent: 100)
        #expect(conversation.statuses == [200: 200])
        // The client's clock and the simulator's round to milliseconds differently.
        #expect(conversation.answers.allSatisfy { ($0?.milliseconds ?? 0) > 38 })
        _ = try simulator.stop()
    }

    /// The formats of both programs match.
    @Test(.enabled(if: Bench.hasPythonH2, skipPython)) func theJudgeReadsWhatTheSimulatorWrites() throws {
        let simulator = try RunningSimulator(["--dead-share", "0.2"])
        let token = try Bench.providerToken()
        var pushes: [Request] = []
        for score in 0..<3 {
            let stamp = Int64(Date().timeIntervalSince1970) + Int64(score)
            pushes += requests(50, providerToken: token, score: score, stamp: stamp)
        }
        let conversation = try simulator.converse(pushes, concurrent: 1)
        let record = try simulator.stop()
        func judge(_ published: JSON, _ arguments: [String] = []) throws -> (status: Int32, verdict: JSON) {
            let state: JSON = [
                "topic": "match/1", "version": 3, "ended": false, "state": published, "published": published,
            ]
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "fanfare-judge-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (states, dump) = (folder.appendingPathComponent("states"), folder.appendingPathComponent("dump"))
            try Data(state.canonicalText.utf8).write(to: states)
            try Data(record.dump.map(\.canonicalText).joined(separator: "\n").utf8).write(to: dump)
            let output = try Bench.run(
                Bench.built("delivery-judge"), ["--states", states.path, "--dump", dump.path] + arguments)
            return (output.status, try JSON(parsing: Array(output.text.utf8)))
        }
        let good = try judge(["home": "Reds", "homeScore": 2], ["--tokens", "50", "--min-distinct", "3"])
        #expect(good.status == 0 && good.verdict["good"] == true, "\(good.verdict.canonicalText)")
        #expect(good.verdict["accepted"] == .int(Int64(conversation.statuses[200] ?? 0)))
        let stale = try judge(["home": "Reds", "homeScore": 3])
        #expect(stale.status == 1 && stale.verdict["violations"]?["stale"] == stale.verdict["tokens"]?["live"])
        #expect(try judge(["home": "Reds", "homeScore": 2], ["--tokens", "51"]).status == 1)
        #expect(try Bench.run(Bench.built("delivery-judge"), ["--states", "/nonexistent", "--dump", "x"]).status == 2)
    }

    @Test(.enabled(if: Bench.has(Bench.curl), skipCurl)) func strangersDoNoHarm() throws {
        let simulator = try RunningSimulator()
        let address = "localhost:\(simulator.port)"
        // Plain text, HTTP/1.1 over TLS, and TLS with meaningless bytes.
        #expect(try Bench.run(Bench.curl, ["-s", "http://\(address)/"]).status != 0)
        #expect(try Bench.run(Bench.curl, ["-sk", "--http1.1", "https://\(address)/"]).status != 0)
        _ = try Bench.run(
            "/usr/bin/openssl", ["s_client", "-quiet", "-alpn", "h2", "-connect", address],
            input: String(repeating: "garbage", count: 1000))
        #expect(try simulator.curl(Request(providerToken: try Bench.providerToken())).status == 200)
        let record = try simulator.stop()
        #expect(record.status == 0 && record.accepted.count == 1)
        #expect(record.complaints.contains("nghttp2_session_mem_recv"), "\(record.complaints)")
    }

    @Test func badArgumentsEndWithOneLine() throws {
        let program = Bench.built("apns-simulator")
        let usage = try Bench.run(program, ["--cert", "x"])
        #expect(usage.status == 2 && usage.errors.hasPrefix("apns-simulator: --key is missing\n"))
        let missing = try Bench.run(
            program, ["--cert", "/nonexistent.pem", "--key", "k", "--public-key", "p", "--bundle-id", "b"])
        #expect(missing.status == 1 && missing.errors.contains("/nonexistent.pem"))
        #expect(missing.errors.split(separator: "\n").count == 1)
        #expect(try Bench.run(program, ["--help"]).text == SimulatorOptions.help)
    }
}

extension Data {
    fileprivate init(hex: String) {
        let digits = Array(hex.utf8).map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? 0) }
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
