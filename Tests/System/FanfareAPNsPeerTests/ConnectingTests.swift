import APNsSimulator
import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// The messages that operators read while there is no connection; no delivery is pulled meanwhile.
@Suite struct ConnectingTests {
    private let scratch: Scratch
    private let credentials: ProviderToken

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
        credentials = try ProviderToken(
            keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
    }

    private func pool(
        _ loop: Loop, _ endpoint: Endpoint, _ change: (inout PoolConfiguration) -> Void = { _ in }
    ) throws -> PoolHarness {
        var configuration = PoolConfiguration(endpoint: endpoint, bundleID: "com.example.app")
        change(&configuration)
        return try PoolHarness(
            loop: loop, source: MemorySource(activities: 10, payload: examplePayload()), configuration: configuration,
            credentials: credentials)
    }

    private func simulator(_ loop: Loop, port: UInt16 = 0) throws -> Simulator {
        var options = scratch.simulatorOptions
        options.port = port
        return try Simulator(options, loop: loop)
    }

    private func trouble(_ harness: PoolHarness) -> String {
        harness.run("trouble") { harness.pool.statistics.connectFailures >= 3 }
        let trouble = harness.pool.trouble
        harness.close()
        #expect(trouble?.kind == .connection)
        #expect(harness.source.handedOut == 0)
        #expect(harness.reports == trouble.map { [$0.text] }, "said once")
        return trouble?.text ?? ""
    }

    @Test func aRefusedConnectionIsReportedAndTriedAgain() throws {
        // Port 1: another process could take a port that is free now.
        let text = trouble(try pool(Loop(), Endpoint(host: "127.0.0.1", port: 1)))
        #expect(text == "127.0.0.1:1: connection refused (connect); trying again")
    }

    @Test func anUnknownHostIsReported() throws {
        let text = trouble(try pool(Loop(), Endpoint(host: "no-such-host.invalid")))
        #expect(text.hasPrefix("no-such-host.invalid:443: "))
    }

    @Test func anUntrustedCertificateIsReported() throws {
        let loop = try Loop()
        let simulator = try simulator(loop)
        let other = try Scratch()
        try other.makeCertificates()
        let text = trouble(
            try pool(loop, Endpoint(host: "localhost", port: simulator.port, caFile: other.path("ca.pem"))))
        #expect(text.hasPrefix("localhost:\(simulator.port): ") && text.contains("certificate"), "\(text)")
    }

    @Test func aCertificateForAnotherNameIsReported() throws {
        let loop = try Loop()
        let simulator = try simulator(loop)
        let text = trouble(
            try pool(
                loop,
                Endpoint(
                    host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem"),
                    serverName: "api.push.apple.com")))
        #expect(text.contains("certificate"), "\(text)")
    }

    @Test func aMissingCAFileIsAnError() throws {
        #expect(throws: LoopError.self) {
            try pool(Loop(), Endpoint(host: "localhost", port: 1, caFile: scratch.path("none.pem")))
        }
    }

    @Test func aServerThatIsSilentWhileConnectingIsReported() throws {
        let loop = try Loop()
        let relay = try Relay(loop: loop, to: nil)
        let text = trouble(
            try pool(loop, Endpoint(host: "127.0.0.1", port: relay.port)) { $0.connectTimeout = .milliseconds(500) })
        #expect(text == "127.0.0.1:\(relay.port): no answer while connecting; trying again")
    }

    /// The connection must not stay half alive: no request is sent on it, it is ended, and its replacement waits.
    @Test func aGoAwayRightBehindTheSettingsEndsTheConnection() throws {
        let loop = try Loop()
        let server = try ScriptedServer(
            loop: loop, scratch: scratch, says: ScriptedServer.emptySettings + ScriptedServer.goAway)
        let harness = try pool(loop, Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem"))) {
            $0.connections = 1
        }
        harness.run("three farewells") { server.ended >= 3 }
        #expect(harness.source.handedOut == 0)
        #expect(harness.pool.statistics.connectionsOpened >= 3)
        #expect(harness.reports == ["localhost:\(server.port) ends a connection: no reason given; it is replaced"])
        harness.close()
    }

    @Test func aServerThatDoesNotSpeakHTTP2IsReported() throws {
        let loop = try Loop()
        let server = try ScriptedServer(loop: loop, scratch: scratch, says: Array("HTTP/1.1 400 Bad\r\n\r\n".utf8))
        let text = trouble(
            try pool(loop, Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem"))))
        #expect(text.hasPrefix("localhost:\(server.port): the server broke HTTP/2: "), "\(text)")
    }

    @Test func aServerThatBreaksHTTP2LaterLosesItsConnections() throws {
        let loop = try Loop()
        let server = try ScriptedServer(
            loop: loop, scratch: scratch, says: ScriptedServer.emptySettings + ScriptedServer.wrongPing)
        let harness = try pool(loop, Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem"))) {
            $0.connections = 1
        }
        harness.run("two losses") { harness.pool.statistics.connectionsLost >= 2 }
        #expect(harness.reports.contains { $0.contains("the server broke HTTP/2: ") })
        harness.close()
    }

    /// The owner forgot to close the pool: its connections end with it, and no callback is called.
    @Test func aPoolDroppedWithoutClosingEndsItsConnections() throws {
        let loop = try Loop()
        let simulator = try simulator(loop)
        let source = MemorySource(activities: 100_000, payload: examplePayload())
        var pool: ConnectionPool? = try ConnectionPool(
            loop: loop, source: source, credentials: credentials,
            configuration: .init(
                endpoint: Endpoint(host: "localhost", port: simulator.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app"), onReport: { _ in })
        source.whenCompleted = { if source.completed > 100 { loop.stop() } }
        loop.run()
        #expect(pool?.connectionsOpen ?? 0 > 0)
        source.whenCompleted = nil
        pool = nil
        let completed = source.completed
        let timer = LoopTimer(loop: loop) { loop.stop() }
        timer.start(after: .milliseconds(50))
        loop.run()
        #expect(source.completed == completed)
        simulator.close()
        loop.close()
    }

    @Test func aPoolGoesOnWhenItsServerComes() throws {
        let loop = try Loop()
        let port = try freePort()
        let harness = try pool(loop, Endpoint(host: "localhost", port: port, caFile: scratch.path("ca.pem")))
        harness.run("trouble") { harness.pool.trouble != nil }
        let simulator = try simulator(loop, port: port)
        harness.run("settling") { harness.source.settled == 10 }
        #expect(harness.pool.trouble == nil)
        harness.close()
        simulator.close()
    }

    /// A connection dies silently: a PING detects it before requests time out, and another connection takes over.
    @Test func aHalfOpenConnectionIsReplacedAfterAPing() throws {
        let loop = try Loop()
        let simulator = try simulator(loop)
        let relay = try Relay(loop: loop, to: SocketAddress(ip: "127.0.0.1", port: simulator.port))
        let source = MemorySource(activities: 10_000, payload: examplePayload())
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: relay.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app")
        configuration.pingAfter = .milliseconds(500)
        configuration.pingTimeout = .milliseconds(500)
        let harness = try PoolHarness(
            loop: loop, source: source, configuration: configuration, credentials: credentials)
        harness.run("some pushes") { source.completed > 1000 }
        relay.isSilent = true
        harness.run("both losses") { harness.pool.statistics.connectionsLost >= 2 }
        #expect(source.count(.uncertain) > 0)
        relay.isSilent = false
        harness.run("settling") { source.settled == 10_000 }
        harness.close()
        simulator.close()
        #expect(harness.reports.contains("localhost:\(relay.port): the server went silent; connecting again"))
    }
}
