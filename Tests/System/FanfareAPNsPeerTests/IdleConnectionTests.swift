import APNsSimulator
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// Routers silently forget connections without traffic.
@Suite struct IdleConnectionTests {
    /// Two connections that have pushed and are then idle.
    private final class Scene {
        let loop: Loop
        let simulator: Simulator
        let relay: Relay
        let source: MemorySource
        let harness: PoolHarness
        private let scratch: Scratch

        /// - Parameter first: pushes before the idle time; enough of them widen the connections fully.
        init(
            first: Int, then rest: Int, _ change: (inout PoolConfiguration) -> Void = { _ in }
        ) throws {
            scratch = try Scratch()
            try scratch.makeCertificates()
            loop = try Loop()
            simulator = try Simulator(scratch.simulatorOptions, loop: loop)
            relay = try Relay(loop: loop, to: SocketAddress(ip: "127.0.0.1", port: simulator.port))
            var configuration = PoolConfiguration(
                endpoint: Endpoint(host: "localhost", port: relay.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app")
            change(&configuration)
            source = MemorySource(activities: first + rest, payload: examplePayload())
            source.mayHandOut = first
            harness = try PoolHarness(
                loop: loop, source: source, configuration: configuration,
                credentials: ProviderToken(
                    keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
            harness.run("the first pushes") { [source, harness] in
                source.settled == first && harness.pool.connectionsOpen == 2
            }
        }

        func publish() {
            source.mayHandOut = .max
            harness.pool.workAvailable()
        }

        func close() {
            harness.close()
            simulator.close()
        }
    }

    /// A goal comes after a quiet time. A request on a dead connection would lose its alert, so none is sent before the peer has answered.
    @Test func aConnectionThatDiedWhileItWasIdleCostsNoPush() throws {
        let scene = try Scene(first: 4000, then: 10_000) { $0.pingTimeout = .seconds(2) }
        scene.harness.time.leap(.seconds(30))
        scene.relay.isSilent = true
        scene.publish()
        scene.harness.run("both losses") { scene.harness.pool.statistics.connectionsLost == 2 }
        #expect(scene.source.count(.uncertain) == 0)
        #expect(scene.source.handedOut == 4000)
        scene.relay.isSilent = false
        scene.harness.run("settling") { scene.source.settled == 14_000 }
        #expect(scene.source.count(.uncertain) == 0)
        scene.close()
    }

    @Test func afterIdlenessTheFullWidthIsBackWithinARoundTrip() throws {
        let scene = try Scene(first: 4000, then: 10_000)
        scene.harness.time.leap(.seconds(30))
        var sentBeforeAnAnswer: Int?
        scene.source.whenCompleted = { [source = scene.source] in
            sentBeforeAnAnswer = sentBeforeAnAnswer ?? source.handedOut - 4000
        }
        scene.publish()
        #expect(scene.source.handedOut == 4000, "nothing leaves before an answer")
        scene.harness.run("settling") { scene.source.settled == 14_000 }
        // A new connection may have one request in flight before its first answer.
        #expect((sentBeforeAnAnswer ?? 0) >= 128)
        #expect(scene.source.count(.uncertain) == 0 && scene.harness.pool.statistics.connectionsLost == 0)
        scene.source.whenCompleted = nil
        scene.close()
    }

    /// The first connection to answer a PING has room for all of a goal, which would need many more round trips there than on all of them.
    @Test func aGoalAfterIdlenessIsSpreadOverAllConnections() throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        let (server, harness) = try scratch.world(
            activities: 4400, connections: 4, { $0.bearStalls() }, answer: AnsweringServer.accepted)
        harness.source.mayHandOut = 4000
        harness.run("wide connections") { harness.source.settled == 4000 && harness.pool.connectionsOpen == 4 }
        harness.time.leap(.seconds(30))
        let before = server.requestsByConnection
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("the goal") { harness.source.settled == 4400 }
        let carried = zip(server.requestsByConnection, before).map { $0 - $1 }
        // An even share is a hundred, in pulls of 128 at most.
        #expect(carried.count == 4 && carried.allSatisfy { 1...200 ~= $0 }, "\(carried)")
        harness.close()
    }

    /// One of two connections does not answer the PING, and the service answers no push for long: all have left on the other one meanwhile.
    @Test func aConnectionThatAnswersNoPingIsNotWaitedFor() throws {
        let scratch = try Scratch()
        try scratch.makeCertificates()
        var waiting: [AnsweringServer.Request] = []
        var isQuick = true
        let (server, harness) = try scratch.world(
            activities: 2500, connections: 2, { $0.bearStalls() },
            answer: {
                if isQuick { return AnsweringServer.accepted($0) }
                waiting.append($0)
                return []
            })
        harness.source.mayHandOut = 2000
        harness.run("wide connections") { harness.source.settled == 2000 && harness.pool.connectionsOpen == 2 }
        isQuick = false
        harness.time.leap(.seconds(30))
        server.pongsWithheld = [1]
        harness.source.mayHandOut = .max
        harness.pool.workAvailable()
        harness.run("the last push") { harness.source.handedOut == 2500 }
        harness.run("the server") { waiting.count == 500 }
        #expect(harness.source.settled == 2000)
        for request in waiting { server.write(AnsweringServer.accepted(request), on: request.connection) }
        harness.run("the answers") { harness.source.settled == 2500 }
        harness.close()
    }

    /// A machine was suspended for an hour with its timers: work that was due in that time has not been done, and later work must not wait
    /// for it.
    @Test func aMachineThatSleptFindsItsDeadConnectionsAtOnce() throws {
        let scene = try Scene(first: 100, then: 100) {
            $0.requestTimeout = .seconds(86_400)
            $0.pingAfter = .seconds(44)
            $0.pingTimeout = .seconds(1)
        }
        // The limit for dialling is over then, and the check of idle connections is due next.
        var isFar = false
        let timer = LoopTimer(loop: scene.loop) { isFar = true }
        timer.start(after: .milliseconds(2500))
        scene.harness.run("a timer that is far") { isFar }
        timer.close()
        scene.harness.time.leap(.seconds(3600))
        scene.relay.isSilent = true
        let begins = scene.harness.time.passed
        scene.publish()
        scene.harness.run("both losses") { scene.harness.pool.statistics.connectionsLost == 2 }
        #expect(scene.harness.time.passed - begins < .seconds(10), "\(scene.harness.time.passed - begins)")
        scene.relay.isSilent = false
        scene.harness.run("settling") { scene.source.settled == 200 }
        #expect(scene.source.count(.uncertain) == 0)
        scene.close()
    }

    /// The pool detects the dead connection before it is needed.
    @Test func aConnectionThatDiesWhileItIsIdleIsReplacedBeforeAnybodyNeedsIt() throws {
        let scene = try Scene(first: 100, then: 100) {
            $0.idlePingAfter = .milliseconds(100)
            $0.pingTimeout = .seconds(2)
        }
        scene.relay.isSilent = true
        scene.harness.run("both losses") { scene.harness.pool.statistics.connectionsLost >= 2 }
        scene.relay.isSilent = false
        scene.harness.run("both replaced") { scene.harness.pool.connectionsOpen == 2 }
        scene.publish()
        scene.harness.run("settling") { scene.source.settled == 200 }
        #expect(scene.source.count(.uncertain) == 0)
        scene.close()
    }

    /// The connection is checked ten times, without consequences.
    @Test func aConnectionThatIsWellStaysThroughIdleness() throws {
        let scene = try Scene(first: 100, then: 100) { $0.idlePingAfter = .milliseconds(20) }
        let opened = scene.harness.pool.statistics.connectionsOpened
        var checks = 0
        scene.relay.onBytes = { checks += 1 }
        scene.harness.run("checks and their answers") { checks >= 40 }
        scene.publish()
        scene.harness.run("settling") { scene.source.settled == 200 }
        #expect(scene.harness.pool.statistics.connectionsOpened == opened)
        #expect(scene.harness.reports.isEmpty)
        scene.close()
    }
}
