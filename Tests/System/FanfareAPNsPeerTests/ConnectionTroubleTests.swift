import CountAllocations
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Foundation
import Testing

/// A connection that errs, hangs or ends: the choice of the next one, what becomes of its pushes, and the reports.
@Suite struct ConnectionTroubleTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    // MARK: A connection that only errs

    /// All requests on the first connection fail after fifty pushes, for ever; the service behind it works.
    @Test(arguments: [1, 2]) func aConnectionThatOnlyErrsIsReplaced(connections: Int) throws {
        let (server, harness) = try scratch.world(activities: 1000, connections: connections) {
            $0.connection == 0 && $0.number >= 50
                ? AnsweringServer.refused($0, 500, "InternalServerError") : AnsweringServer.accepted($0)
        }
        harness.run("settling") { harness.source.settled == 1000 }
        harness.run("another connection instead of it") {
            server.connections == connections + 1 && server.connectionsEnded == 1
        }
        #expect(harness.source.count(.accepted) == 1000)
        #expect(harness.pool.trouble == nil)
        let text = "answers every request 500 InternalServerError on a connection; it is replaced"
        #expect(harness.reports.count { $0.hasSuffix(text) } == 1, "\(harness.reports)")
        harness.close()
    }

    /// Some servers go on refusing on a connection that has seen an expired JWT. The clock was wrong here, and another JWT is minted only
    /// much later: it is used on another connection.
    @Test func anotherJWTIsNotUsedOnAConnectionThatHasSeenAnExpiredOne() throws {
        func answer(_ request: AnsweringServer.Request) -> [UInt8] {
            request.connection == 0
                ? AnsweringServer.refused(request, 403, "ExpiredProviderToken") : AnsweringServer.accepted(request)
        }
        let (server, harness) = try scratch.world(activities: 1, connections: 1, { $0.waitForEver() }, answer: answer)
        harness.run("the stop") { harness.pool.trouble?.kind == .configuration }
        #expect(server.connections == 1)
        harness.time.leap(.seconds(46 * 60))
        harness.pool.workAvailable()
        harness.run("settling, or a second stop") { harness.source.settled == 1 || server.requestsByConnection[0] > 10 }
        #expect(server.requestsByConnection == [10, 1])
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    /// Limits the buffers of this process's sockets at either end of connections to a port; the default ones would hold megabytes.
    private func keepBuffersSmall(of port: UInt16) {
        for file in 3..<CInt(1024) {
            let isEnd = [getsockname, getpeername].contains { name in
                var address = sockaddr_in()
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let result = withUnsafeMutablePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(file, $0, &size) }
                }
                return result == 0 && address.sin_family == AF_INET && UInt16(bigEndian: address.sin_port) == port
            }
            guard isEnd else { continue }
            var bytes: CInt = 64 * 1024
            for option in [SO_SNDBUF, SO_RCVBUF] {
                setsockopt(file, SOL_SOCKET, option, &bytes, socklen_t(MemoryLayout<CInt>.size))
            }
        }
    }

    /// The server stops reading, and ends with unread bytes: pushes that never left this process, some half a megabyte, were certainly not
    /// processed, and keep their alerts.
    @Test func pushesThatNeverLeftAreNotProcessed() throws {
        let payload = examplePayload()
        payload.encodedBody = Array(#"{"aps":{}}"#.utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 4000)
        payload.isEncoded = true
        let (server, harness) = try scratch.world(
            activities: 10_000, connections: 1, settles: { _ in true }, payload: payload, { $0.waitForEver() },
            answer: AnsweringServer.accepted)
        harness.source.mayHandOut = 2000
        harness.pool.workAvailable()
        harness.run("being wide") { harness.source.settled == 2000 }
        server.stopReading(connection: 0)
        keepBuffersSmall(of: server.port)
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        var (turns, seen) = (0, -1)
        harness.run("buffers being full") {
            turns = harness.source.inFlight == seen ? turns + 1 : 0
            seen = harness.source.inFlight
            return turns == 50
        }
        #expect((200..<1000).contains(seen), "more fits the buffers than may be in flight: \(seen)")
        harness.source.mayHandOut = harness.source.handedOut
        server.end(connection: 0)
        harness.run("the end") { harness.source.inFlight == 0 }
        #expect(harness.source.count(.notProcessed) >= 100, "\(harness.source.outcomes)")
        #expect(harness.source.count(.uncertain) > 0, "what has left may have been processed")
        harness.close()
    }

    /// A connection starts with one push. The first answer makes it as wide as TCP's first round trip, and no wider: an early end takes
    /// no more requests with it.
    @Test func theFirstAnswerMakesAConnectionAsWideAsTCPIs() throws {
        var asked: [AnsweringServer.Request] = []
        func answer(_ request: AnsweringServer.Request) -> [UInt8] {
            asked.append(request)
            return request.number == 0 ? AnsweringServer.accepted(request) : []
        }
        let (server, harness) = try scratch.world(
            activities: 1000, connections: 1, { $0.waitForEver() }, answer: answer)
        func quiet(_ what: String) {
            var (turns, seen) = (0, -1)
            harness.run(what) {
                turns = asked.count == seen ? turns + 1 : 0
                seen = asked.count
                return turns == 20
            }
        }
        quiet("what follows the first answer")
        let width = asked.count - 1
        // 14,600 bytes, with bodies of 80 to 512 bytes.
        #expect((16...33).contains(width), "\(width)")
        for request in asked.dropFirst() { server.write(AnsweringServer.accepted(request), on: 0) }
        quiet("what follows those")
        #expect(asked.count == 1 + width + 2 * width)
        for request in asked.dropFirst(1 + width) { server.write(AnsweringServer.accepted(request), on: 0) }
        harness.source.mayHandOut = 0
        harness.run("the last answers") { harness.source.inFlight == 0 }
        harness.close()
    }

    /// There is one card, and its connection is faulty: no other activity can show that the token is not the cause.
    @Test func aLoneActivityIsTriedOnAnotherConnection() throws {
        let (server, harness) = try scratch.world(activities: 1, connections: 1) {
            $0.connection == 0 ? AnsweringServer.refused($0, 503, "ServiceUnavailable") : AnsweringServer.accepted($0)
        }
        harness.run("settling") { harness.source.settled == 1 }
        #expect(server.connections == 2)
        harness.close()
    }

    /// The gate closes at the answers of one connection; the push that is tried then goes to the other one.
    @Test func aTryGoesToAnotherConnectionThanTheOneThatFailed() throws {
        let (server, harness) = try scratch.world(activities: 1000, connections: 2) {
            $0.connection == 0
                ? AnsweringServer.refused($0, 500, "InternalServerError") : AnsweringServer.accepted($0)
        }
        // On a busy machine the second handshake may take longer than a try, which then has no other connection to go to.
        harness.source.mayHandOut = 0
        harness.run("two connections") { harness.pool.connectionsOpen == 2 }
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("settling") { harness.source.settled == 1000 }
        // Slow start lets 8 go to a connection that never succeeds, one at a time.
        #expect(server.requestsByConnection[0] <= 16, "\(server.requestsByConnection)")
        harness.close()
    }

    /// Two thousand pushes have made a connection wide; from then on only PINGs are answered on it. The requests in flight are
    /// lost, and then one push at a time until the connection is replaced.
    @Test(arguments: [1, 2]) func aConnectionThatAnswersNothingButPingsCostsOneWidth(connections: Int) throws {
        let (server, harness) = try scratch.world(
            activities: 20_000, connections: connections,
            {
                $0.requestTimeout = .seconds(1)
                $0.pingAfter = .milliseconds(300)
            }, answer: { $0.connection == 0 && $0.number >= 2000 ? [] : AnsweringServer.accepted($0) })
        harness.run("settling") { harness.source.settled == 20_000 }
        harness.run("another connection instead of it") {
            server.connectionsEnded == 1 && server.connections == connections + 1
        }
        #expect((1...1010).contains(harness.source.count(.uncertain)), "\(harness.source.outcomes)")
        #expect(harness.source.count(.accepted) == 20_000)
        #expect(server.connections == connections + 1)
        #expect(harness.pool.statistics.connectionsLost == 0, "none went silent")
        let text = "leaves requests unanswered on a connection; it is replaced"
        #expect(harness.reports.count { $0.hasSuffix(text) } == 1, "\(harness.reports)")
        harness.close()
    }

    /// A token whose pushes are never answered, on any connection, says nothing about the connections.
    @Test func aTokenThatIsNeverAnsweredCostsOneConnection() throws {
        let (server, harness) = try scratch.world(
            activities: 1, connections: 1, { $0.requestTimeout = .milliseconds(50) }, answer: { _ in [] })
        harness.run("six timeouts") { harness.source.count(.uncertain) >= 6 }
        #expect(server.connections == 2)
        #expect(harness.pool.trouble == nil)
        harness.close()
    }

    // MARK: Connections that end soon

    /// Each connection takes one push and ends with a GOAWAY: the waits between connections grow.
    @Test func connectionsThatEndAfterOnePushAreOpenedEverMoreRarely() throws {
        let (server, harness) = try scratch.world(activities: 100_000, connections: 1) {
            AnsweringServer.accepted($0) + AnsweringServer.goAway(after: $0)
        }
        let begun = ContinuousClock.now
        harness.run("five connections") { server.connections == 5 }
        // 0.1 + 0.2 + 0.4 + 0.8 s, each from its upper half.
        #expect(ContinuousClock.now - begun >= .milliseconds(750))
        harness.close()
    }

    /// A firewall ends each connection after an hour, with five pushes or none on it: the next one is opened at once, and nothing is
    /// reported.
    @Test(arguments: [5, 0]) func connectionsThatEndAfterAnHourAreReplacedAtOnce(pushes: Int) throws {
        let (server, harness) = try scratch.world(activities: 1000, connections: 1) {
            AnsweringServer.accepted($0)
        }
        harness.source.mayHandOut = 0
        let nudge = harness.leaps(of: .zero)
        for round in 1...12 {
            let before = harness.time.passed
            harness.run("connection \(round)") {
                harness.pool.connectionsOpen == 1 && server.connections == round
            }
            // A tenth of a second is no wait; ten seconds would be one.
            #expect(harness.time.passed - before < .seconds(5))
            harness.time.leap(.seconds(3600))
            harness.source.mayHandOut += pushes
            harness.run("round \(round)") { harness.source.settled == round * pushes }
            server.goAway()
            harness.run("the end of connection \(round)") { server.connectionsEnded == round }
            #expect(harness.pool.trouble == nil)
        }
        nudge.close()
        harness.close()
    }

    /// A server that goes sends a GOAWAY to all its clients, on all connections: those of this pool come back spread over a
    /// second, which is fifty milliseconds for each of twenty.
    @Test func connectionsThatAreToldToGoTogetherComeBackOneAfterTheOther() throws {
        let connections = 20
        let (server, harness) = try scratch.world(activities: 20_000, connections: connections) {
            AnsweringServer.accepted($0)
        }
        harness.source.mayHandOut = 0
        harness.run("all connections") { harness.pool.isReady }
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        // Each connection has carried pushes by then: one that has not waits behind earlier ones.
        harness.run("some pushes on each") {
            server.connections == connections && server.requestsByConnection.allSatisfy { $0 >= 200 }
        }
        let goesAway = harness.time.passed
        server.goAway()
        var returns: [Duration] = []
        harness.run("the connections that come instead") {
            while returns.count < server.connections - connections {
                returns.append(harness.time.passed - goesAway)
            }
            return returns.count == connections
        }
        let first = try #require(returns.first)
        let last = try #require(returns.last)
        print("told: \(connections) connections that were told to go came back within \(first) to \(last)")
        // The chance that twenty draws from a second lie in a third of it is one in a hundred million.
        #expect(last - first > .milliseconds(330))
        harness.close()
    }

    /// A connection is replaced at each answer, and the next one gets the same: operators must hear that nothing is delivered.
    @Test(arguments: [
        (403, "UnrelatedKeyIdInToken", PoolTrouble.Kind.configuration),
        (429, "TooManyProviderTokenUpdates", .service), (503, "Shutdown", .service), (400, "IdleTimeout", .service),
    ])
    func connectionsInVainAreTrouble(status: Int, reason: String, kind: PoolTrouble.Kind) throws {
        let (server, harness) = try scratch.world(activities: 100, connections: 2) {
            AnsweringServer.refused($0, status, reason)
        }
        harness.run("trouble") { harness.pool.trouble != nil }
        #expect(harness.pool.trouble?.kind == kind)
        #expect(harness.pool.trouble?.text.contains("\(status) \(reason) on one connection after the other") == true)
        #expect(server.connections < 10)
        harness.close()
    }

    /// A peer sends PINGs and answers, and does not read: the output that waits for it stays bounded.
    @Test(.enabled(if: allocations_are_counted(), "under a sanitizer its forty megabytes take minutes"))
    func aServerThatDoesNotReadLosesItsConnection() throws {
        var held: [AnsweringServer.Request] = []
        var holds = true
        let (server, harness) = try scratch.world(
            activities: 2000, connections: 1,
            // Forty megabytes take minutes on a loaded machine, and the peer would time out first.
            { $0.waitForEver() },
            answer: {
                guard holds, $0.number >= 500 else { return AnsweringServer.accepted($0) }
                held.append($0)
                return []
            })
        harness.run("pushes in flight") { held.count >= 400 }
        holds = false
        server.stopReading(connection: 0)
        // Fewer PINGs in a read than a flood has, with frames of unknown types between them, and few enough between two answers.
        let ping = frame(6, [0, 0, 0, 0, 0, 0, 0, 0]) + frame(77, [UInt8](repeating: 0, count: 60))
        let pings = [UInt8]((0..<4500).flatMap { _ in ping })
        for request in held.prefix(100) { server.write(pings + AnsweringServer.accepted(request), on: 0) }
        var rest = held.dropFirst(100)
        let text = "localhost:\(server.port): the server does not read; connecting again"
        harness.run("the end of the connection") {
            if server.connections == 2 { return true }
            // The capacity of the system's buffers depends on the machine's load.
            if let request = rest.popFirst() { server.write(pings + AnsweringServer.accepted(request), on: 0) }
            return false
        }
        #expect(harness.reports == [text])
        harness.run("settling") { harness.source.settled == 2000 }
        harness.close()
    }

    /// MAX_CONCURRENT_STREAMS is 0 for good: the connection carries nothing, and is not kept.
    @Test func aConnectionThatAllowsNoRequestsIsReplacedAndPeopleAreTold() throws {
        let (server, harness) = try scratch.world(
            activities: 10, connections: 1, settings: [0, 3] + big(0),
            {
                $0.noStreamsTimeout = .milliseconds(50)
            }, answer: { AnsweringServer.accepted($0) })
        harness.run("trouble") { harness.pool.trouble != nil }
        #expect(server.connections >= 4)
        #expect(harness.pool.trouble?.kind == .service)
        #expect(harness.reports.contains { $0.hasSuffix("allows no requests on a connection; it is replaced") })
        harness.close()
    }
}
