import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// One connection against all others: one of many servers behind the address is faulty, or does not know us.
@Suite struct LoneConnectionTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// One server has not heard of the key, has another clock, or belongs to another app: it refuses pushes that all others accept. No push
    /// waits for an operator, because the key is valid.
    @Test(arguments: [(403, "InvalidProviderToken"), (403, "ExpiredProviderToken"), (400, "TopicDisallowed")])
    func aConnectionThatAloneRefusesTheKeyIsReplaced(status: Int, reason: String) throws {
        let (server, harness) = try scratch.world(activities: 20_000, connections: 8) {
            $0.connection == 3 && $0.number >= 200
                ? AnsweringServer.refused($0, status, reason) : AnsweringServer.accepted($0)
        }
        var trouble: PoolTrouble?
        harness.run("settling") {
            trouble = trouble ?? harness.pool.trouble
            return harness.source.settled == 20_000 || trouble != nil
        }
        #expect(trouble == nil)
        #expect(harness.source.count(.accepted) == 20_000, "\(harness.source.outcomes)")
        #expect(server.requestsByConnection[3] > 200)
        harness.run("another connection instead of it") {
            server.connections == 9 && server.connectionsEnded == 1 || trouble != nil
        }
        let text = "localhost:\(server.port) refuses on a connection what it accepts on others; it is replaced"
        #expect(harness.reports == [text])
        harness.close()
    }

    /// A connection refuses the key from its first push on, beside wide ones: it stays narrow, but does not get more pushes for that.
    @Test func aConnectionThatRefusesTheKeyFromTheFirstPushIsReplaced() throws {
        let (server, harness) = try scratch.world(
            activities: 5000, connections: 4, settles: { _ in false },
            answer: {
                $0.connection == 4
                    ? AnsweringServer.refused($0, 403, "InvalidProviderToken") : AnsweringServer.accepted($0)
            })
        harness.run("wide connections") {
            server.connections == 4 && server.requestsByConnection.allSatisfy { $0 >= 1500 }
        }
        server.write(frame(7, big(0) + big(0)), on: 1)
        harness.run("one in its place") { server.connections == 5 && server.requestsByConnection[4] > 0 }
        let begins = harness.time.passed
        var trouble: PoolTrouble?
        harness.run("another one instead of that") {
            trouble = trouble ?? harness.pool.trouble
            return server.connections == 6 && server.connectionsEnded == 2 || trouble != nil
        }
        #expect(trouble == nil)
        #expect(harness.time.passed - begins < .seconds(10))
        #expect(server.requestsByConnection[4] < 500, "\(server.requestsByConnection)")
        harness.source.mayHandOut = 0
        harness.run("the last answers") { harness.source.inFlight == 0 }
        harness.close()
    }

    /// One server calls every valid token dead, or every valid request wrong: it gets no more pushes, and the affected activities get theirs
    /// from other servers.
    @Test(arguments: [
        (410, "Unregistered"), (410, "ExpiredToken"), (400, "BadDeviceToken"), (400, "BadExpirationDate"),
    ])
    func aConnectionThatAloneEndsActivitiesIsNotBelieved(status: Int, reason: String) throws {
        let (server, harness) = try scratch.world(activities: 20_000, connections: 8) {
            $0.connection == 3 && $0.number >= 200
                ? AnsweringServer.refused($0, status, reason) : AnsweringServer.accepted($0)
        }
        harness.run("settling") { harness.source.settled == 20_000 }
        #expect(harness.source.count(.accepted) >= 20_000 - 100, "\(harness.source.outcomes)")
        harness.run("another connection instead of it") { server.connections == 9 && server.connectionsEnded == 1 }
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// In quiet times one push follows the other: a connection that was disbelieved is not the first choice again.
    @Test func aDisbelievedConnectionIsNotTheFirstChoiceInAQuietService() throws {
        let (server, harness) = try scratch.world(activities: 4100, connections: 2) {
            $0.connection == 2 ? AnsweringServer.refused($0, 410, "Unregistered") : AnsweringServer.accepted($0)
        }
        harness.source.mayHandOut = 4000
        harness.run("a wide connection") { harness.source.settled == 4000 }
        let narrower = server.requestsByConnection[0] < server.requestsByConnection[1] ? 0 : 1
        server.write(frame(7, big(0) + big(0)), on: narrower)
        harness.run("one in its place") { server.connections == 3 && harness.pool.connectionsOpen == 2 }
        harness.run("one push after the other") {
            if harness.source.inFlight == 0, harness.source.settled < 4030 {
                harness.source.mayHandOut = harness.source.handedOut + 1
                harness.pool.workAvailable()
            }
            return harness.source.settled == 4030 || server.requestsByConnection[2] > 50
        }
        #expect(harness.source.count(.accepted) == 4030)
        #expect(server.requestsByConnection[2] <= 16, "\(server.requestsByConnection)")
        harness.close()
    }

    /// A pull brings a topic's followers to one connection, and all may have left: the tokens are tried on another one, and none is replaced.
    @Test func aTopicWhoseTokensAreAllDeadCostsNoConnection() throws {
        var dying = false
        let (server, harness) = try scratch.world(
            activities: 4000, settles: { _ in dying },
            answer: { dying ? AnsweringServer.refused($0, 410, "Unregistered") : AnsweringServer.accepted($0) })
        harness.run("good answers of both") {
            server.connections == 2 && server.requestsByConnection.allSatisfy { $0 >= 2000 }
        }
        harness.source.mayHandOut = 0
        harness.run("quiet") { harness.source.inFlight == 0 }
        dying = true
        harness.source.mayHandOut = harness.source.handedOut + 100
        harness.pool.workAvailable()
        harness.run("a hundred answers") {
            harness.source.inFlight == 0 && harness.source.handedOut == harness.source.mayHandOut
        }
        let asked = harness.source.count(.serviceError)
        #expect(harness.source.count(.deadToken) + asked == 100)
        #expect(server.connections == 2 && server.connectionsEnded == 0)
        #expect(harness.reports == [])
        harness.close()
    }

    /// Dead tokens are dead on all connections.
    @Test func aTokenThatIsDeadEverywhereIsBelievedAtOnce() throws {
        let (server, harness) = try scratch.world(activities: 20_000, connections: 8) {
            $0.number % 10 == 9
                ? AnsweringServer.refused($0, 410, "Unregistered") : AnsweringServer.accepted($0)
        }
        harness.run("settling") { harness.source.settled == 20_000 }
        #expect(harness.source.count(.serviceError) == 0, "\(harness.source.outcomes)")
        #expect(server.connections == 8)
        harness.close()
    }

    // MARK: Certificates

    /// The machine was suspended for three days, its clock was then set right, and only a connection could refute the time before. The
    /// server's certificate is younger than that.
    @Test func aCertificateThatIsValidByTheSystemsClockIsTaken() throws {
        try scratch.makeCertificates(validSince: .seconds(3600))
        let loop = try Loop()
        let server = try AnsweringServer(loop: loop, scratch: scratch, answer: AnsweringServer.accepted)
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: 10, payload: examplePayload()),
            configuration: PoolConfiguration(
                endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app", connections: 2),
            credentials: try ProviderToken(
                keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"),
            time: LoopTime(wallBehindSeconds: 3 * 86_400))
        let leaps = harness.leaps(of: .milliseconds(100))
        harness.run("pushes") { harness.source.settled == 10 }
        leaps.close()
        #expect(harness.reports.contains { $0.contains("look at this machine's clock, too") })
        harness.close()
    }
}
