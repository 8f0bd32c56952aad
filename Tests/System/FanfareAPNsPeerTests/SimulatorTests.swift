import APNsSimulator
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import FanfareModel
import Foundation
import Testing

/// The pool against the simulator, which shares no protocol code with us and misbehaves on request.
@Suite struct SimulatorTests {
    /// Certificates, a simulator and a pool that pushes to it, all on one loop.
    private final class World {
        let scratch: Scratch
        let simulator: Simulator
        let harness: PoolHarness
        let credentials: ProviderToken
        var pool: ConnectionPool { harness.pool }
        var source: MemorySource { harness.source }

        init(
            activities: Int, simulator change: (inout SimulatorOptions) -> Void = { _ in },
            pool configure: (inout PoolConfiguration) -> Void = { _ in },
            payload: Payload = examplePayload(), credentials: ProviderToken? = nil,
            time: LoopTime = LoopTime(),
            settles: @escaping (DeliveryOutcome) -> Bool = { [.accepted, .deadToken, .refused].contains($0) }
        ) throws {
            scratch = try Scratch()
            try scratch.makeCertificates()
            var options = scratch.simulatorOptions
            // The payload is made once for all pushes, and a sanitizer slows the test down.
            options.stampAgeMaxSeconds = 3600
            change(&options)
            let loop = try Loop()
            simulator = try Simulator(options, loop: loop)
            var configuration = PoolConfiguration(
                endpoint: Endpoint(host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app")
            configure(&configuration)
            self.credentials =
                try credentials
                ?? ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
            harness = try PoolHarness(
                loop: loop, source: MemorySource(activities: activities, payload: payload, settles: settles),
                configuration: configuration, credentials: self.credentials, time: time)
        }

        func runUntilSettled() {
            harness.run("settling") { [harness] in harness.source.settled == harness.source.activities }
        }

        func close() {
            harness.close()
            simulator.close()
        }
    }

    @Test func everyPushIsAccepted() throws {
        let world = try World(activities: 20_000)
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 20_000)
        #expect(world.simulator.statistics[.accepted] == 20_000)
        #expect(world.simulator.statistics.connections == 2)
        #expect(world.harness.reports.isEmpty)
    }

    @Test func deadTokens503sAnd429sInOneRunLoseNoPush() throws {
        let world = try World(activities: 20_000) {
            $0.deadShare = 0.05
            $0.errorShare = 0.02
            $0.throttleShare = 0.1
        }
        world.runUntilSettled()
        world.close()
        let source = world.source
        #expect(source.count(.deadToken) > 800 && source.count(.deadToken) < 1200)
        #expect(source.count(.accepted) + source.count(.deadToken) == 20_000)
        #expect(source.count(.serviceError) > 200)
        #expect(world.simulator.statistics[.accepted] == source.count(.accepted))
        #expect(world.pool.statistics.reasons.keys.contains { $0.text == "ExpiredToken" })
        #expect(world.pool.trouble == nil, "2 % of 503s are not worth stopping")
    }

    /// Answers are lost with their connections: those outcomes are uncertain, and no others.
    @Test(arguments: [1000, 97])
    func answersLostWithConnectionsAreUnknown(every requests: Int) throws {
        let world = try World(activities: 5000) { $0.losesConnection = .requests(requests) }
        world.runUntilSettled()
        world.close()
        let simulator = world.simulator.statistics
        #expect(world.source.count(.accepted) == 5000)
        #expect(simulator.connectionsLost > 1)
        #expect(world.pool.statistics.connectionsLost > 0)
        #expect(world.source.count(.uncertain) > 0)
        // Pushes accepted more often than needed are requests whose answers never left.
        #expect(simulator[.accepted] - 5000 <= simulator.unanswered)
    }

    /// Connections break again and again, and a fifth of the answers are 503. The clock stands still, so a push that had to wait for time
    /// would never leave: none does.
    @Test func lossesAnd503sLetNoPushWaitForTime() throws {
        let world = try World(
            activities: 20_000,
            simulator: {
                $0.losesConnection = .requests(1500)
                $0.errorShare = 0.2
            }, time: LoopTime(goesOn: false))
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 20_000)
        #expect(world.source.count(.serviceError) > 3000)
        #expect(world.simulator.statistics.connectionsLost > 10)
        #expect(world.pool.trouble == nil)
    }

    /// A GOAWAY says which requests were processed, so no outcome is uncertain and no push is sent twice.
    @Test func aGoAwayLeavesNoOutcomeUncertain() throws {
        let world = try World(activities: 5000) { $0.goesAway = .requests(700) }
        world.runUntilSettled()
        world.close()
        #expect(world.simulator.statistics.goAways >= 7)
        #expect(world.source.count(.accepted) == 5000)
        #expect(world.source.count(.uncertain) == 0)
        #expect(world.simulator.statistics[.accepted] == 5000)
        #expect(world.pool.statistics.connectionsLost == 0)
    }

    @Test func aServiceInTroubleIsLeftAlone() throws {
        let world = try World(activities: 20_000) { $0.errorShare = 1 }
        world.harness.run("trouble") { [pool = world.pool] in pool.trouble != nil }
        #expect(world.pool.trouble?.kind == .service)
        let sent = world.pool.statistics.sent
        #expect(sent < 20, "\(sent) requests to a service that answers 503 to all")
        world.close()
        #expect(world.harness.reports.contains { $0.contains("503 ServiceUnavailable") })
    }

    @Test func aConnectionCarriesOneRequestUntilItsFirstAnswer() throws {
        let world = try World(activities: 500) {
            $0.isStrictAtStart = false
        } pool: {
            $0.connections = 3
        }
        world.runUntilSettled()
        world.close()
        #expect(world.source.inFlightBeforeFirstAnswer <= 3)
    }

    /// The payload needs no room on a connection, so only the source bounds the work; the loop still turns.
    @Test func aPayloadTooLargeIsRefusedAndSaidOnce() throws {
        let payload = Payload(
            event: .update, logLabel: "match/1", state: Array(#"{"t":"\#(String(repeating: "x", count: 5000))"}"#.utf8),
            stamp: 1_790_000_000, staleDate: nil, dismissalDate: nil, alert: nil, priority: .immediate)
        // More activities than one turn of the pool takes.
        let world = try World(activities: 40_000, payload: payload)
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.refused) == 40_000)
        #expect(world.pool.statistics.sent == 0)
        #expect(world.pool.statistics.unencodable == 40_000)
        #expect(world.harness.reports.count { $0.hasPrefix("match/1: the payload has 5") } == 1)
    }

    /// Every shape of request passes the simulator's independent reading of the specification.
    @Test(arguments: ["update", "localised", "end", "private end", "start", "start, bare"])
    func everyShapeIsAccepted(name: String) throws {
        let now = Clock.wallMilliseconds() / 1000
        let alert = AlertText(title: "Kick-off", body: "Spurs – Leicester", sound: "default")
        func start(collapseID: String?) -> Payload.Start {
            Payload.Start(
                attributesType: "MatchAttributes", attributes: Array(#"{"matchId":"m1"}"#.utf8), collapseID: collapseID)
        }
        func payload(
            _ event: Payload.Event, state: String = #"{"away":1,"home":2}"#, stale: Int64? = 600,
            dismissal: Int64? = nil, alert: AlertText? = nil, relevance: Double? = 75.5, start: Payload.Start? = nil
        ) -> Payload {
            Payload(
                event: event, logLabel: name, state: Array(state.utf8), stamp: now, staleDate: stale.map { now + $0 },
                dismissalDate: dismissal.map { now + $0 }, alert: alert, priority: .conserving,
                relevanceScore: relevance, start: start)
        }
        let shape =
            switch name {
            case "update": payload(.update)
            case "localised":
                payload(.update, alert: AlertText(title: .localized(key: "G", arguments: ["2", "1"]), body: "Kane"))
            case "end": payload(.end, dismissal: 900, alert: alert)
            case "private end": payload(.end, state: "", stale: nil, dismissal: -1, relevance: nil)
            case "start": payload(.start, alert: alert, start: start(collapseID: "match-1"))
            default: payload(.start, stale: nil, alert: alert, relevance: nil, start: start(collapseID: nil))
            }
        let world = try World(activities: 3, payload: shape)
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 3, "\(world.simulator.statistics.payloadFaults)")
    }

    // MARK: Trouble with connections

    /// The limit changes between one and a thousand repeatedly: requests refused meanwhile were not processed, and none is lost.
    @Test func streamLimitsThatShrinkAndGrowLoseNoPush() throws {
        let world = try World(activities: 20_000) {
            $0.streams = .init(1000, [.init(at: 20, value: 1), .init(at: 40, value: 1000)], period: 60)
            $0.windows = .init(65_535, [.init(at: 30, value: 300)], period: 50)
        }
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 20_000)
        #expect(world.source.count(.uncertain) == 0)
        #expect(world.simulator.statistics[.accepted] == 20_000)
        #expect(world.pool.statistics.connectionsLost == 0)
    }

    /// The GOAWAYs come by the clock, so the load carried by then depends on the machine.
    @Test func goAwaysByTheClockLeaveNoOutcomeUncertain() throws {
        let world = try World(
            activities: 5000, simulator: { $0.goesAway = .milliseconds(15) }, settles: { _ in false })
        world.harness.run("four farewells") { [simulator = world.simulator] in simulator.statistics.goAways > 3 }
        world.close()
        #expect(world.source.count(.accepted) == world.simulator.statistics[.accepted])
        #expect(world.source.count(.accepted) > 0)
        #expect(world.source.count(.uncertain) == 0)
        #expect(world.pool.statistics.connectionsLost == 0)
    }

    /// A refused stream is sent again; the outcome of a reset one is uncertain.
    @Test func refusedStreamsAreSentAgainAndResetOnesAreUnknown() throws {
        let world = try World(activities: 5000) {
            $0.refuseShare = 0.02
            $0.resetShare = 0.02
        }
        world.runUntilSettled()
        world.close()
        let simulator = world.simulator.statistics
        #expect(simulator.refusedStreams > 50 && simulator.failedStreams > 50)
        // An activity that is refused twice in a row waits by itself.
        let notProcessed = world.source.count(.notProcessed) + world.source.count(.serviceError)
        #expect(notProcessed >= simulator.refusedStreams)
        #expect(world.source.count(.uncertain) == simulator.failedStreams)
        #expect(simulator.unanswered == simulator.failedStreams)
        #expect(simulator[.accepted] == 5000 + simulator.unanswered)
    }

    @Test func connectionsThatFallSilentAreReplaced() throws {
        let world = try World(activities: 400) {
            $0.silentAfterRequests = 100
        } pool: {
            $0.pingAfter = .milliseconds(500)
            $0.pingTimeout = .milliseconds(500)
        }
        world.runUntilSettled()
        world.close()
        #expect(world.simulator.statistics.connectionsSilent >= 2)
        #expect(world.source.count(.accepted) == 400)
        #expect(world.source.count(.uncertain) > 0)
        // At least the request that made the connection fall silent.
        #expect(world.simulator.statistics.unanswered >= world.simulator.statistics.connectionsSilent)
        #expect(world.harness.reports.contains { $0.hasSuffix("the server went silent; connecting again") })
    }

    /// The rate gives a lower bound of the duration; the test does not check an upper one.
    @Test func aServerThatReadsSlowlyGetsEveryPush() throws {
        let world = try World(activities: 1000) {
            $0.readBytesPerSecond = 400_000
        } pool: {
            $0.connections = 1
        }
        let started = ContinuousClock.now
        world.runUntilSettled()
        let bytes = Double(world.pool.statistics.sentSize.bytes)
        #expect(ContinuousClock.now - started > .seconds(bytes / 400_000 / 2))
        world.close()
        #expect(world.source.count(.accepted) == 1000)
    }

    @Test func pushesOutlastAnOutageAndRefusedConnections() throws {
        let world = try World(activities: 20_000) {
            // An outage may be over before much has happened, or before anything has.
            $0.outageMilliseconds = 0..<50
            $0.refuseConnectionsShare = 0.3
        }
        world.harness.run("some pushes") { [source = world.source] in source.completed > 1000 }
        world.simulator.goDown()
        let failures = world.pool.statistics.connectFailures
        world.harness.run("nobody listens") { [pool = world.pool] in
            pool.statistics.connectFailures > failures && pool.connectionsOpen == 0
        }
        world.simulator.comeUp()
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 20_000)
        #expect(world.pool.statistics.connectFailures > 0)
        #expect(world.simulator.statistics[.accepted] - 20_000 <= world.simulator.statistics.unanswered)
    }

    @Test func outcomesFollowHowATokenBegins() throws {
        let world = try World(activities: 3200) {
            $0.mixes = [
                .init(prefix: "0", answer: .badDeviceToken), .init(prefix: "1", answer: .tooManyRequests, share: 0.5),
                .init(prefix: "2f", answer: .internalServerError, share: 0.5),
            ]
        }
        world.runUntilSettled()
        world.close()
        let dead = (0..<3200 as Range<UInt32>).count { MemorySource.token($0)[0] < 16 }
        #expect(world.source.count(.deadToken) == dead)
        #expect(world.source.count(.accepted) == 3200 - dead)
        #expect(world.source.count(.throttled) > 100)
        #expect(world.source.count(.serviceError) > 2)
    }

    // MARK: Misconfiguration

    @Test func aWrongBundleIDStopsBeforeTwentyFaults() throws {
        let world = try World(activities: 500) { _ in
        } pool: {
            $0.bundleID = "com.example.other"
        }
        world.harness.run("the stop") { [pool = world.pool] in pool.trouble != nil }
        world.close()
        // The other connection may have one more in flight.
        #expect((10...11).contains(world.source.count(.notProcessed)))
        #expect(world.pool.statistics.refused == 0, "nothing is lost: it goes out once the bundle id is mended")
        #expect(world.pool.trouble?.kind == .configuration)
        #expect(world.pool.trouble?.text.contains("BadTopic: check the bundle id; pushing has stopped") == true)
        #expect(world.harness.reports.count == 2, "\(world.harness.reports)")
    }

    @Test func aWrongKeyStopsBeforeTwentyFaults() throws {
        let key = try ES256PrivateKey.generate()
        let world = try World(
            activities: 500, credentials: ProviderToken(key: key, keyID: "K123456789", teamID: "T123456789"))
        world.harness.run("the stop") { [pool = world.pool] in pool.trouble != nil }
        world.close()
        // The other connection may have one more in flight.
        #expect((10...11).contains(world.source.count(.notProcessed)))
        #expect(world.pool.trouble?.text.contains("InvalidProviderToken: check key file, key id") == true)
    }

    /// The link to the key points to another key: connections that used the old key are replaced, and no push fails.
    @Test func aRotatedKeyGetsConnectionsOfItsOwn() throws {
        let keys = try Scratch()
        try keys.makeCertificates()
        let link = keys.path("current.p8")
        for id in ["AAAAAAAAAA", "BBBBBBBBBB"] {
            try FileManager.default.copyItem(atPath: keys.path("apns.p8"), toPath: keys.path("AuthKey_\(id).p8"))
        }
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: keys.path("AuthKey_AAAAAAAAAA.p8"))
        let credentials = try ProviderToken(keyFile: link, keyID: nil, teamID: "T123456789")
        let world = try World(
            activities: 20_000, simulator: { $0.publicKeyFile = keys.path("apns.pub.pem") },
            // The ten seconds that pass at once must not time a request out.
            pool: { $0.requestTimeout = .seconds(86_400) }, credentials: credentials)
        world.harness.run("some pushes") { [source = world.source] in source.completed > 5000 }
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: keys.path("AuthKey_BBBBBBBBBB.p8"))
        world.harness.time.leap(.seconds(10))
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 20_000)
        #expect(world.simulator.statistics[.accepted] == 20_000)
        #expect(world.simulator.statistics.requests == 20_000)
        // On a busy machine all pushes may be gone before the second connection has been replaced.
        #expect((3...4).contains(world.simulator.statistics.connections))
        #expect(world.harness.reports == ["the provider key has changed; connections are replaced"])
    }

    /// Pushing has stopped because of a wrong key; the right one replaces it without a restart. People do not wait for
    /// the minute between two tries, but for the ten seconds between two checks of the file.
    @Test(arguments: [11, 61] as [Int64]) func aWrongKeyMendedInItsPlaceIsTakenUp(secondsLater: Int64) throws {
        let keys = try Scratch()
        try keys.makeCertificates()
        let right = try Scratch()
        try right.makeCertificates()
        let credentials = try ProviderToken(keyFile: keys.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
        let world = try World(
            activities: 500, simulator: { $0.publicKeyFile = right.path("apns.pub.pem") }, credentials: credentials)
        world.harness.run("the stop") { [world] in world.pool.trouble != nil && world.source.inFlight == 0 }
        try FileManager.default.removeItem(atPath: keys.path("apns.p8"))
        try FileManager.default.copyItem(atPath: right.path("apns.p8"), toPath: keys.path("apns.p8"))
        world.harness.time.leap(.seconds(secondsLater))
        let nudge = world.harness.leaps(of: .zero, every: .milliseconds(20))
        let mended = world.harness.time.passed
        world.runUntilSettled()
        #expect(world.harness.time.passed - mended < .seconds(30))
        nudge.close()
        world.close()
        #expect(world.source.count(.notProcessed) < 20)
        #expect(world.source.count(.accepted) == 500, "\(world.source.outcomes)")
        #expect(world.pool.trouble == nil)
    }

    /// A connection that is still being opened when the key changes is given up at once.
    @Test func aConnectionThatIsBeingMadeWhenTheKeyChangesIsGivenUp() throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let relay = try Relay(loop: loop, to: SocketAddress(ip: "127.0.0.1", port: simulator.port))
        relay.carriesAtMost = 1
        // The simulator trusts another key, so the push is refused, and there is always one left to be tried.
        let link = scratch.path("current.p8")
        for id in ["AAAAAAAAAA", "BBBBBBBBBB"] {
            let key = scratch.path("AuthKey_\(id).p8")
            try ES256PrivateKey.generate().pem().write(toFile: key, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.path("AuthKey_AAAAAAAAAA.p8"))
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "127.0.0.1", port: relay.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app")
        configuration.connectTimeout = .seconds(3600)
        configuration.drainTimeout = .seconds(3600)
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: 10, payload: examplePayload()), configuration: configuration,
            credentials: ProviderToken(keyFile: link, keyID: nil, teamID: "T123456789"))
        harness.run("the first answer") { harness.source.completed >= 1 }
        #expect(harness.pool.connectionsOpen == 1)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.path("AuthKey_BBBBBBBBBB.p8"))
        harness.time.leap(.seconds(11))
        let nudge = harness.leaps(of: .zero, every: .milliseconds(20))
        harness.run("the change of key") { harness.reports.contains { $0.hasPrefix("the provider key has changed") } }
        nudge.close()
        // Closing waits for nothing: the deadline of this run is far below both time limits.
        harness.close()
        simulator.close()
    }

    /// Our clock is 50 minutes late, so a JWT that is 22 minutes old by it has expired: one is minted for all connections.
    @Test func anExpiredTokenIsReplacedOnce() throws {
        let world = try World(activities: 2000, time: LoopTime(wallBehindSeconds: 3000))
        // No push has been sent before the loop runs, so the pool begins with this JWT.
        let minted = Clock.wallMilliseconds() / 1000 - 3000 - 1300
        func moment(after seconds: Int64) -> Moment {
            Moment(
                wallMilliseconds: (minted + seconds) * 1000,
                monotonicNanoseconds: Clock.monotonicNanoseconds() + (seconds - 1300) * 1_000_000_000)
        }
        let before = try world.credentials.current(at: moment(after: 0))
        world.runUntilSettled()
        world.close()
        #expect(world.source.count(.accepted) == 2000)
        #expect(world.source.count(.refused) == 0)
        #expect(world.simulator.statistics[.expiredProviderToken] >= 1)
        #expect(try world.credentials.current(at: moment(after: 1300)).serial == before.serial + 1)
    }

    /// The clock is two hours late: minting again does not help, and is not tried.
    @Test func aWrongClockIsSaid() throws {
        let world = try World(activities: 500, time: LoopTime(wallBehindSeconds: 7200))
        world.harness.run("the stop") { [pool = world.pool] in pool.trouble != nil }
        world.close()
        #expect(world.pool.trouble?.text.contains("check this machine's clock") == true)
        #expect((10...11).contains(world.source.count(.notProcessed)))
    }

    // MARK: Time

    @Test func anOverdueAnswerIsUnknown() throws {
        let world = try World(
            activities: 200, simulator: { $0.latency = .even(20_000...20_000) },
            pool: { $0.requestTimeout = .milliseconds(200) }, settles: { $0 == .uncertain })
        world.harness.run("the timeouts") { [source = world.source] in source.count(.uncertain) >= 4 }
        #expect(world.pool.statistics.connectionsLost == 0, "the connection is well")
        world.close()
    }

    @Test func closingWaitsForAnswers() throws {
        let world = try World(activities: 2) { $0.latency = .even(300...300) }
        world.harness.run("two in flight") { [source = world.source] in source.handedOut == 2 }
        world.close()
        #expect(world.source.count(.accepted) == 2)
    }

    @Test func closingDoesNotWaitForEver() throws {
        let world = try World(activities: 2) {
            $0.latency = .even(20_000...20_000)
        } pool: {
            $0.drainTimeout = .milliseconds(100)
        }
        world.harness.run("two in flight") { [source = world.source] in source.handedOut == 2 }
        world.close()
        #expect(world.source.count(.uncertain) == 2)
    }
}
