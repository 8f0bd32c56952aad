import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// A peer with a fixed rate of answers, for all connections in turn: many requests of a goal's minute are in its queue for longer
/// than the timeout of a request.
@Suite struct SlowPeerTests {
    private static let connections = 8
    private static let perSecond = 1500
    private static let requestTimeout = Duration.seconds(4)

    private final class Queue {
        var isThere = false
        /// Index of a connection on which only PINGs are answered any more.
        var wedged: Int?
        private var lines: [[AnsweringServer.Request]] = Array(repeating: [], count: 4 * SlowPeerTests.connections)
        private var heads = Array(repeating: 0, count: 4 * SlowPeerTests.connections)
        private var last = 0
        private var answered = 0

        func stand(_ request: AnsweringServer.Request) { lines[request.connection].append(request) }

        /// - Returns: the requests to answer in this time, taken from the connections in turn.
        func take(in time: Duration) -> [AnsweringServer.Request] {
            let due = Int(time / .milliseconds(1)) * SlowPeerTests.perSecond / 1000
            var (taken, passed) = ([AnsweringServer.Request](), 0)
            while answered + taken.count < due, passed < lines.count {
                last = (last + 1) % lines.count
                passed += 1
                guard heads[last] < lines[last].count else { continue }
                taken.append(lines[last][heads[last]])
                heads[last] += 1
                passed = 0
            }
            answered = due
            return taken
        }
    }

    private let scratch: Scratch
    private let queue = Queue()

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    /// Returns a pool whose connections are all wide; the queue begins after that.
    private func world(activities: Int) throws -> (server: AnsweringServer, harness: PoolHarness, peer: LoopTimer) {
        let loop = try Loop()
        let queue = queue
        let server = try AnsweringServer(loop: loop, scratch: scratch) {
            guard queue.isThere else { return AnsweringServer.accepted($0) }
            if $0.connection != queue.wedged { queue.stand($0) }
            return []
        }
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: Self.connections)
        configuration.requestTimeout = Self.requestTimeout
        let source = MemorySource(activities: activities, payload: examplePayload())
        source.mayHandOut = 0
        let harness = try PoolHarness(
            loop: loop, source: source, configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        harness.run("being ready") { harness.pool.isReady }
        // A few requests at a time go to the narrow connections. Each begins with one at a time, and takes one more with each answer.
        var round = 0
        while server.requestsByConnection.contains(where: { $0 < 999 }), round < 200 {
            round += 1
            source.mayHandOut = round * 100
            harness.pool.workAvailable()
            harness.run("round \(round)") { source.settled == round * 100 }
        }
        #expect(server.requestsByConnection.allSatisfy { $0 >= 999 }, "\(server.requestsByConnection)")
        queue.isThere = true
        // The peer's clock is the pool's: if the machine is delayed, so is the peer.
        let begins = harness.time.passed
        let peer = LoopTimer(loop: loop) {
            for request in queue.take(in: harness.time.passed - begins) where request.connection != queue.wedged {
                server.write(AnsweringServer.accepted(request), on: request.connection)
            }
        }
        peer.start(after: .zero, repeating: .milliseconds(5))
        return (server, harness, peer)
    }

    @Test func pushesInThePeersQueueAreNotLost() throws {
        let (server, harness, peer) = try world(activities: 40_000)
        let warmUp = harness.source.settled
        harness.source.mayHandOut = warmUp + 12_000
        harness.pool.workAvailable()
        harness.run("more than its time's") { harness.source.inFlight > 4 * Self.perSecond }
        harness.run("all answers") { harness.source.completed == warmUp + 12_000 }
        #expect(harness.source.count(.uncertain) == 0, "\(harness.source.outcomes)")
        #expect(server.connections == Self.connections)
        #expect(harness.pool.trouble == nil && harness.reports.isEmpty, "\(harness.reports)")
        peer.close()
        harness.close()
    }

    /// A connection stops answering while others have a queue: the pool detects it after a request's timeout.
    @Test func aConnectionThatFallsSilentBesideAQueueIsFoundInTime() throws {
        let (server, harness, peer) = try world(activities: 60_000)
        let warmUp = harness.source.settled
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("a queue") { harness.source.settled >= warmUp + 8000 }
        let falls = harness.time.passed
        queue.wedged = 0
        harness.run("what is lost") { harness.source.count(.uncertain) > 0 }
        #expect(harness.time.passed - falls < Self.requestTimeout * 1.5, "\(harness.time.passed - falls)")
        harness.run("another connection instead of it") { server.connections == Self.connections + 1 }
        harness.source.mayHandOut = 0
        harness.run("the last answers") { harness.source.inFlight == 0 }
        #expect(harness.source.count(.uncertain) <= 1010, "\(harness.source.outcomes)")
        peer.close()
        harness.close()
    }
}
