import FanfareLoop
import Foundation
import LoadJSON
import ServerTestSupport
import Testing

@testable import APNsSimulator

@Suite struct ProviderTokenTests {
    private let key = Result { try ES256PrivateKey.generate() }
    private let now: Int64 = 1_790_000_000

    private func check(_ keyID: String? = nil, _ teamID: String? = nil) throws -> ProviderTokenCheck {
        let publicKey = try key.get().publicKey
        return ProviderTokenCheck(keyID: keyID, teamID: teamID) { publicKey.verify($1, of: $0) }
    }

    /// Checks a token on a connection of its own.
    private func ask(_ check: inout ProviderTokenCheck, _ value: String, at now: Int64) -> Answer? {
        var past = ProviderTokenPast()
        return ask(&check, value, after: &past, at: now)
    }

    private func ask(
        _ check: inout ProviderTokenCheck, _ value: String, after past: inout ProviderTokenPast, at now: Int64
    ) -> Answer? {
        Array(value.utf8).withUnsafeBytes { check.check($0, after: &past, now: now) }
    }

    @Test func aGoodTokenIsVerifiedOnceAndExpiresAfterAnHour() throws {
        var check = try check("ABC1234567", "TEAM123456")
        let token = try Bench.providerToken(key: key.get(), issuedAt: now)
        for later in [0, 1, 3600] as [Int64] { #expect(ask(&check, token, at: now + later) == nil) }
        #expect(ask(&check, token, at: now + 3601) == .expiredProviderToken)
        #expect(ask(&check, token, at: now - 3601) == .invalidProviderToken)
        #expect(check.verifications == 1)
    }

    /// A connection accepts another token every twenty minutes at most, whatever `iat` says; another connection has a history of its own.
    @Test func aConnectionTakesAnotherTokenOnlyNowAndThen() throws {
        var check = try check()
        var past = ProviderTokenPast()
        let tokens = try (0..<3).map { try Bench.providerToken(key: key.get(), issuedAt: now + $0) }
        let stranger = try Bench.providerToken(key: ES256PrivateKey.generate(), issuedAt: now)
        #expect(ask(&check, stranger, after: &past, at: now) == .invalidProviderToken, "which is no token of its past")
        #expect(ask(&check, tokens[0], after: &past, at: now) == nil)
        #expect(ask(&check, tokens[1], after: &past, at: now + 1199) == .tooManyProviderTokenUpdates)
        #expect(ask(&check, tokens[0], after: &past, at: now + 1199) == nil)
        #expect(ask(&check, tokens[1], at: now + 1199) == nil)
        #expect(ask(&check, tokens[1], after: &past, at: now + 1200) == nil)
        #expect(ask(&check, tokens[0], after: &past, at: now + 1201) == .tooManyProviderTokenUpdates)
        #expect(ask(&check, tokens[2], after: &past, at: now + 2400) == nil)
    }

    @Test func anotherKeyMakesTokensOfTheFirstOneInvalid() throws {
        var check = try check()
        let other = try ES256PrivateKey.generate()
        let old = try Bench.providerToken(key: key.get(), issuedAt: now)
        let new = try Bench.providerToken(key: other, issuedAt: now)
        #expect(ask(&check, old, at: now) == nil)
        #expect(ask(&check, new, at: now) == .invalidProviderToken)
        let publicKey = other.publicKey
        check.trust { publicKey.verify($1, of: $0) }
        #expect(ask(&check, old, at: now) == .invalidProviderToken)
        #expect(ask(&check, new, at: now) == nil)
    }

    @Test func severalTokensAreRememberedAndNotWithoutEnd() throws {
        var check = try check()
        let tokens = try (0..<9).map { try Bench.providerToken(key: key.get(), issuedAt: now + $0) }
        for token in tokens[..<8] + tokens[..<8] { #expect(ask(&check, token, at: now) == nil) }
        #expect(check.verifications == 8)
        #expect(ask(&check, tokens[8], at: now) == nil)
        for token in tokens { #expect(ask(&check, token, at: now) == nil) }
        #expect(check.verifications > 9)
    }

    @Test func aJWTThatTheKeyHasNotSignedIsInvalid() throws {
        var check = try check("ABC1234567", "TEAM123456")
        let good = try Bench.providerToken(key: key.get(), issuedAt: now)
        let parts = good.split(separator: ".")
        for value in [
            try Bench.providerToken(key: ES256PrivateKey.generate(), issuedAt: now),
            try Bench.providerToken(key: key.get(), issuedAt: now, header: #"{"alg":"HS256","kid":"ABC1234567"}"#),
            try Bench.providerToken(key: key.get(), issuedAt: now, header: #"{"alg":"ES256","kid":"OTHER"}"#),
            try Bench.providerToken(key: key.get(), issuedAt: now, header: #"{"alg":"ES256"}"#),
            "bearer ", "bearer a.b", "bearer a.b.c", "\(parts[0]).\(parts[1]).", good + ".x", good + "A",
            String(good.dropLast()), "bearer " + String(repeating: "x", count: 5000),
        ] {
            #expect(ask(&check, value, at: now) == .invalidProviderToken, "\(value)")
        }
        #expect(ask(&check, String(good.dropFirst(7)), at: now) == .missingProviderToken)
        #expect(ask(&check, "", at: now) == .missingProviderToken)
        #expect(ask(&check, good, at: now) == nil)
        var otherTeam = try self.check(nil, "OTHERTEAM1")
        #expect(ask(&otherTeam, good, at: now) == .invalidProviderToken)
    }
}

@Suite struct AcceptedPushesTests {
    private let calm = Behaviour(seed: 1, deadShare: 0, throttleShare: 0, errorShare: 0, throttleMilliseconds: 1)

    private func accepted() -> AcceptedPushes {
        AcceptedPushes(behaviour: calm) { bytes in bytes.withUnsafeBytes { Fingerprint($0).high } }
    }

    /// A dictionary is the model; the table grows several times.
    @Test func tokensAndTheirEntriesAreKeptInOrder() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = seed
        func draw(_ bound: Int) -> Int {
            random = mixed(random)
            return Int(random % UInt64(bound))
        }
        let accepted = accepted()
        var model: [[UInt8]: [UInt32]] = [:]
        let state = try #require(accepted.intern(state: Array("{}".utf8)))
        for arrival in 0..<UInt32(20_000) {
            let number = draw(3000)
            let bytes =
                [UInt8](repeating: UInt8(number % 251), count: 1 + number % 100) + [
                    UInt8(number >> 8), UInt8(number & 255),
                ]
            let token = try #require(accepted.token(bytes[...]))
            let payload = RecordedPayload(event: .update, stamp: Int64(arrival), state: state, alert: nil)
            _ = accepted.accept(token, payload: payload, isImmediate: false, arrival: arrival)
            model[bytes, default: []].append(arrival)
        }
        #expect(accepted.tokens.count == model.count, "seed \(seed)")
        var entries: [AcceptedPushes.Entry] = []
        for (bytes, arrivals) in model {
            let token = accepted[try #require(accepted.token(bytes[...]))]
            accepted.entries(of: token, into: &entries)
            #expect(entries.map(\.arrival) == arrivals, "seed \(seed)")
        }
    }

    @Test func recordsAreAsSmallAsTheySay() {
        #expect(MemoryLayout<AcceptedPushes.Entry>.stride == 20)
        #expect(MemoryLayout<AcceptedPushes.Token>.stride == 32)
    }

    @Test func theDumpHoldsEverythingThatWasRecorded() throws {
        let accepted = accepted()
        let states = ["{\"a\":1}", "{\"a\":2}"].compactMap { accepted.intern(state: Array($0.utf8)) }
        let alert = try #require(accepted.intern(alert: Array("{\"body\":\"Smith\",\"title\":\"1-0\"}".utf8)))
        let token = try #require(accepted.token([1, 2, 3]))
        _ = accepted.token([4])
        let pushes: [(RecordedPayload, Bool)] = [
            (RecordedPayload(event: .start, stamp: 10, state: states[0], alert: nil), false),
            (RecordedPayload(event: .update, stamp: 11, state: states[1], alert: alert), true),
            (RecordedPayload(event: .end, stamp: 12, state: nil, alert: nil), true),
        ]
        for (index, push) in pushes.enumerated() {
            let entry = accepted.accept(token, payload: push.0, isImmediate: push.1, arrival: UInt32(index))
            if index == 1, let entry { accepted.markUnanswered(entry) }
        }
        let path = "/tmp/fanfare-pushes-\(UInt64.random(in: 0...UInt64.max)).ndjson"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try accepted.dump(to: path, statistics: Statistics(), seed: 9)
        var reader = try JSONLineReader(path: path)
        var lines: [JSON] = []
        while let line = try reader.next() { lines.append(line) }
        #expect(lines.map { $0["type"] } == ["state", "state", "alert", "token", "token", "counters"])
        let names = lines[..<3].map { $0["hash"] ?? nil }
        #expect(Set(names).count == 3)
        #expect(lines[0]["state"] == ["a": 1])
        #expect(lines[1]["state"] == ["a": 2])
        #expect(lines[2]["title"] == "1-0" && lines[2]["body"] == "Smith")
        let expected: JSON = [
            [0, names[0], 10, "s", 5, nil], [1, names[1], 11, "u", 10, names[2], "unanswered"],
            [2, nil, 12, "e", 10, nil],
        ]
        #expect(lines[3]["accepted"] == expected)
        #expect(lines[4]["accepted"] == [] && lines[4]["dead"] == false && lines[4]["token"] != lines[3]["token"])
        #expect(lines[5]["accepted"] == 3 && lines[5]["unrecorded"] == 0 && lines[5]["seed"] == "9")
    }
}

@Suite struct DelayQueueTests {
    /// A plain list is the model; time advances in steps of any size.
    @Test func delayQueueGivesEachStreamWhenItIsDue() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = seed
        func draw(_ bound: Int) -> Int {
            random = mixed(random)
            return Int(random % UInt64(bound))
        }
        let delayMax = 1 + draw(50)
        var queue = DelayQueue(delayMax: delayMax, now: 0)
        var model: [(due: Int64, stream: Int32)] = []
        var now: Int64 = 0
        for stream in 0..<Int32(5000) {
            if draw(3) > 0 {
                let delay = draw(delayMax + 1)
                queue.add(DelayQueue.Waiting(connection: 1, stream: stream), delay: delay, at: now)
                model.append((now + Int64(max(delay, 1)), stream))
            } else {
                now += Int64(draw(2 * delayMax))
                var taken: [Int32] = []
                queue.take(until: now) { taken.append($0.stream) }
                let due = model.filter { $0.due <= now }
                model.removeAll { $0.due <= now }
                #expect(Set(taken) == Set(due.map(\.stream)) && taken.count == due.count, "seed \(seed)")
                #expect(queue.count == model.count, "seed \(seed)")
            }
        }
    }
}

@Suite struct TroubleTests {
    typealias Schedule = ValueSchedule

    /// Every millisecond of a few periods is compared with the meaning of the syntax.
    @Test(arguments: [nil, 12] as [Int?]) func schedulesChangeWhenTheySay(period: Int?) {
        let schedule = Schedule(5, [.init(at: 3, value: 1), .init(at: 7, value: 9)], period: period)
        func meant(_ now: Int) -> Int {
            let now = period.map { now % $0 } ?? now
            return now < 3 ? 5 : now < 7 ? 1 : 9
        }
        for now in 0..<40 {
            #expect(schedule.value(at: now) == meant(now))
            let next = (now + 1..<60).first { meant($0) != meant($0 - 1) }
            #expect(schedule.change(after: now) == next, "at \(now)")
        }
        #expect(Schedule(5).change(after: 0) == nil)
    }

    @Test func skewedLatenciesHaveTheirMedianAndTheirTail() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var state = seed
        let latency = AnswerDelay.skewed(median: 50, p99: 400)
        let delays = (0..<20_000).map { _ in
            latency.draw {
                state &+= 1
                return mixed(state)
            }
        }.sorted()
        #expect(abs(delays[10_000] - 50) <= 3, "seed \(seed)")
        #expect(abs(delays[19_800] - 400) <= 80, "seed \(seed)")
        #expect(delays[19_999] <= latency.most, "seed \(seed)")
    }

    @Test func mixesGoByHowATokenBegins() {
        func covers(_ prefix: String, _ token: [UInt8]) -> Bool {
            AnswerMix(prefix: prefix, answer: .expiredToken).covers(token[...])
        }
        #expect(covers("", [0]) && covers("0", [0x0f]) && covers("0a", [0x0a]) && covers("0ab", [0x0a, 0xb1]))
        #expect(!covers("1", [0x0f]) && !covers("0ab", [0x0a]) && !covers("0b", [0x0a]))
    }

    /// An answer that a mix draws for a token is permanent and among the accepted pushes; an answer for a request is drawn each time.
    @Test func aMixIsAboutTokensOrAboutRequests() throws {
        let behaviour = Behaviour(
            seed: 5, deadShare: 0, throttleShare: 0, errorShare: 0, throttleMilliseconds: 1,
            mixes: [
                .init(prefix: "0", answer: .unregistered, share: 0.5),
                .init(prefix: "1", answer: .serviceUnavailable, share: 0.5),
            ])
        let service = ServiceTests.service(behaviour)
        var dead = 0
        var failed = 0
        for number in 0..<400 {
            for digit in ["0", "1", "2"] {
                var sketch = ServiceTests.Sketch()
                sketch.path = "/3/device/\(digit)\(String(number + 4096, radix: 16))f"
                sketch.path += sketch.path.utf8.count % 2 == 0 ? "" : "0"
                let answers = (0..<8).map { _ in ServiceTests.answer(sketch, by: service).0 }
                switch digit {
                case "0":
                    #expect(Set(answers).count == 1)
                    dead += answers[0] == .unregistered ? 1 : 0
                case "1": failed += answers.count { $0 == .serviceUnavailable }
                default: #expect(Set(answers) == [.accepted])
                }
            }
        }
        #expect(abs(dead - 200) < 60 && service.accepted.tokens.count { $0.isDead } == dead)
        #expect(abs(failed - 1600) < 150)
    }
}

@Suite struct OptionsTests {
    private let needed = ["--cert", "c", "--key", "k", "--public-key", "p", "--bundle-id", "b"]

    @Test func everyOptionIsRead() throws {
        let options = try SimulatorOptions(
            arguments: needed + [
                "--listen", "[::1]:8443", "--key-id", "K", "--team-id", "T", "--dump", "d", "--dead-share", "0.05",
                "--throttle-share", "0.1", "--throttle-interval", "500", "--error-share", "1", "--lose-connections",
                "100ms", "--goaway-every", "1000", "--latency", "5..20", "--max-streams", "50", "--window", "100000",
                "--strict-start", "off", "--seed", "42",
            ])
        #expect(options.host == "::1" && options.port == 8443 && options.certificateFile == "c")
        #expect(options.keyID == "K" && options.teamID == "T" && options.dumpFile == "d")
        #expect(options.deadShare == 0.05 && options.throttleShare == 0.1 && options.errorShare == 1)
        #expect(options.losesConnection == .milliseconds(100) && options.goesAway == .requests(1000))
        #expect(options.latency == .even(5...20))
        #expect(options.streams == .init(50) && options.windows == .init(100_000))
        #expect(!options.isStrictAtStart && options.seed == 42 && options.throttleMilliseconds == 500)
        let other = try SimulatorOptions(arguments: needed + ["--lose-connections", "10", "--latency", "7"])
        #expect(other.losesConnection == .requests(10) && other.latency == .even(7...7))
    }

    @Test func everyTroubleIsRead() throws {
        let options = try SimulatorOptions(
            arguments: needed + [
                "--goaway-every", "250ms", "--answer", "0A=ExpiredToken", "--answer", "=ServiceUnavailable*0.25",
                "--refuse-share", "0.1", "--reset-share", "0.2", "--refuse-connections", "0.3", "--down", "100..2000",
                "--silent-after", "7", "--read-rate", "9000", "--latency", "20~300", "--max-streams",
                "1000,1@2000,500@2500/5000", "--window", "65535,10@50", "--answer", "ff00=REFUSED_STREAM", "--answer",
                "FF=INTERNAL_ERROR*0.5", "--lose-after", "BadDeviceToken", "--wedge-after",
                "50=InternalServerError*0.5", "--public-key", "p,q@5000,p@7000ms", "--clock", "-3600", "--stamp-age",
                "60",
            ])
        #expect(options.goesAway == .milliseconds(250))
        #expect(
            options.mixes == [
                .init(prefix: "0a", answer: .expiredToken), .init(prefix: "", answer: .serviceUnavailable, share: 0.25),
            ])
        #expect(
            options.resets == [
                .init(prefix: "ff00", code: .refusedStream), .init(prefix: "ff", code: .internalError, share: 0.5),
            ])
        #expect(options.losesConnectionAt == .badDeviceToken)
        #expect(options.wedge == .init(afterRequests: 50, answer: .internalServerError, share: 0.5))
        #expect(options.publicKeyFile == "p")
        #expect(
            options.keyChanges == [
                .init(file: "q", after: .requests(5000)), .init(file: "p", after: .milliseconds(7000)),
            ])
        #expect(options.clockAheadSeconds == -3600 && options.stampAgeMaxSeconds == 60)
        #expect(options.refuseShare == 0.1 && options.resetShare == 0.2 && options.refuseConnectionsShare == 0.3)
        #expect(options.outageMilliseconds == 100..<2000)
        #expect(options.silentAfterRequests == 7 && options.readBytesPerSecond == 9000)
        #expect(options.latency == .skewed(median: 20, p99: 300))
        #expect(
            options.streams == .init(1000, [.init(at: 2000, value: 1), .init(at: 2500, value: 500)], period: 5000))
        #expect(options.windows == .init(65_535, [.init(at: 50, value: 10)]))
    }

    @Test(arguments: [
        ["--answer", "ExpiredToken"], ["--answer", "0g=ExpiredToken"], ["--answer", "00=accepted"],
        ["--answer", "00=ExpiredToken*2"], ["--answer", "00=CANCEL"], ["--answer", "00=REFUSED_STREAM*"],
        ["--lose-after", "accepted"], ["--wedge-after", "x"], ["--wedge-after", "5="], ["--wedge-after", "5*2"],
        ["--wedge-after", "5=accepted"], ["--public-key", "p,q"], ["--public-key", "p,@5"], ["--public-key", "p,q@0"],
        ["--clock", "x"], ["--stamp-age", "-1"], ["--down", "5..5"], ["--down", "7"], ["--latency", "9~5"],
        ["--latency", "0~5"], ["--max-streams", "5,1"], ["--max-streams", "5,1@20,2@20"], ["--max-streams", "5/20"],
        ["--max-streams", "5,1@20/20"], ["--window", "0"], ["--silent-after", "0"], ["--read-rate", "0"],
        ["--listen", "8443"], ["--listen", "127.0.0.1:x"], ["--dead-share", "2"], ["--latency", "5.."],
        ["--latency", "9..5"], ["--latency", "5.5"], ["--lose-connections", "0"], ["--lose-connections", "ms"],
        ["--seed", "-1"], ["--nonsense", "1"], ["--seed"], ["--strict-start", "maybe"], ["--listen", "0.0.0.0:1"],
        ["--cert", ""],
    ])
    func nonsenseIsRefusedWithTheOptionsName(_ arguments: [String]) {
        let error = #expect(throws: UsageError.self) { try SimulatorOptions(arguments: needed + arguments) }
        #expect(error?.description.hasPrefix(arguments[0]) == true)
    }

    @Test func listeningInPublicHasToBeMeant() throws {
        #expect(try SimulatorOptions(arguments: needed + ["--listen", "0.0.0.0:1", "--public"]).isPublic)
    }

    @Test func theHelpNamesEveryOption() {
        for option in [
            "--listen", "--public", "--window", "--strict-start", "--throttle-interval", "--answer", "--refuse-share",
            "--reset-share", "--refuse-connections", "--down", "--silent-after", "--read-rate",
            "--lose-after", "--wedge-after", "--clock", "--stamp-age", "REFUSED_STREAM",
        ] {
            #expect(SimulatorOptions.help.contains(option))
        }
    }
}

@Suite struct LimitedReportsTests {
    @Test func reportsBeyondTheTwentiethAreLeftOut() {
        var lines: [String] = []
        var reports = LimitedReports()
        reports.onReport = { lines.append($0) }
        for number in 1...30 { reports.say("report \(number)") }
        #expect(lines.count == 21 && lines[19] == "report 20")
        #expect(lines.last == "further reports of this kind are left out")
    }
}

@Suite struct LingeringConnectionsTests {
    @Test func connectionsAreClosedTwoSecondsAfterTheirEndsInOrder() {
        var lingering = LingeringConnections()
        lingering.add(7, at: 0)
        lingering.add(3, at: 500)
        let closed = [UInt32(1999), 2000, 2400, 2500, 9000].map { lingering.popDue(at: $0) }
        #expect(closed == [nil, 7, nil, 3, nil])
    }
}

@Suite struct TroubleCourseTests {
    @Test func aSeedDrawsTheSameTroubleAgain() {
        var (first, second, other) = (TroubleCourse(seed: 4), TroubleCourse(seed: 4), TroubleCourse(seed: 5))
        let draws = (0..<10).map { _ in first.draw() }
        let again = (0..<10).map { _ in second.draw() }
        let others = (0..<10).map { _ in other.draw() }
        #expect(draws == again && draws != others && Set(draws).count == 10)
    }

    @Test func aKeyTakesEffectBehindItsNumberOfRequests() throws {
        let key = try ES256PrivateKey.generate().publicKey
        var course = TroubleCourse(seed: 1)
        course.change(to: key, afterRequests: 3)
        let changes = (0..<5).map { _ in course.countRequest() != nil }
        #expect(changes == [false, false, true, false, false] && course.requests == 5)
    }
}
