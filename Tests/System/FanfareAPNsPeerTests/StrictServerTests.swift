import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// A server that shares no code with us and raises on any violation: every push must be completed exactly once, without
/// a violation.
@Suite(.enabled(if: StrictServer.isInstalled, "apt install python3-h2"))
struct StrictServerTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    private func push(_ count: Int, connections: Int = 2, _ order: StrictServer.Order) throws -> StrictServer.Findings {
        let server = try StrictServer(order, scratch: scratch)
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        configuration.waitForEver()
        let harness = try PoolHarness(
            source: MemorySource(activities: count, payload: examplePayload()), configuration: configuration,
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        harness.run("\(count) pushes") { harness.source.settled == count }
        harness.close()
        let findings = try server.finish()
        #expect(findings.violations.isEmpty)
        #expect(findings.repeats == 0)
        #expect(findings.accepted == harness.source.count(.accepted))
        // If a connection's first answers are all dead tokens, the tokens are tried on another one.
        let askedAgain = findings.dead - harness.source.count(.deadToken)
        #expect((0...findings.connections).contains(askedAgain))
        #expect(findings.accepted + findings.dead == count + askedAgain)
        #expect(harness.source.count(.uncertain) == 0)
        #expect(harness.pool.statistics.connectionsLost == 0)
        #expect(harness.reports.isEmpty)
        return findings
    }

    @Test func strictServerAcceptsEveryPush() throws {
        let findings = try push(3000, .init(pingEvery: 100, hold: 20))
        #expect(findings.connections == 2)
        #expect(findings.pings >= 28)
    }

    /// Bodies cross in pieces of 37 bytes, many of them at once.
    @Test func pushesPassSmallWindowsThatChangeMidway() throws {
        let findings = try push(
            2000,
            .init(
                settings: [[[4, 37]], [[4, 0], [4, 200]], [[4, 65_535]], [[4, 1]]], settingsEvery: 20, hold: 10))
        #expect(findings.acknowledgements > 8)
    }

    @Test func pushesPassHeaderTablesThatShrinkAndGrow() throws {
        let findings = try push(
            3000,
            .init(
                settings: [[[1, 0]], [[1, 4096]], [[1, 64]], [[1, 0]], [[1, 300]], [[1, 65_536]]], settingsEvery: 30))
        #expect(findings.acknowledgements > 12)
    }

    /// Streams 100 → 1 → 1,000 → 2, with requests in flight above the new limit.
    @Test func pushesPassStreamLimitsThatShrinkAndGrow() throws {
        let findings = try push(
            3000, .init(settings: [[[3, 100]], [[3, 1]], [[3, 1000]], [[3, 2]]], settingsEvery: 60, hold: 8))
        #expect(findings.acknowledgements > 8)
    }

    /// Every response's header block in many frames, dead tokens with padded bodies and interim answers before them.
    @Test func answersInPiecesWithPaddingAndInterimOnesAreRead() throws {
        let findings = try push(3000, .init(pieceBytes: 9, deadBelow: 64, hold: 20))
        #expect(findings.dead > 600 && findings.dead < 900)
    }

    /// Requests that crossed a GOAWAY are sent again elsewhere, once; no stream is opened after the client has read it.
    @Test func requestsThatCrossAGoAwayAreSentAgainOnce() throws {
        let findings = try push(3000, .init(goAwayEvery: 170, hold: 10))
        #expect(findings.goAways >= 16)
    }

    @Test func pushesPassEverySettingAndGoAwayAtOnce() throws {
        let findings = try push(
            4000, connections: 3,
            .init(
                settings: [
                    [[3, 100], [4, 300]], [[1, 0], [3, 1]], [[1, 512], [3, 1000], [4, 50], [5, 20_000]],
                ],
                settingsEvery: 25, goAwayEvery: 400, pingEvery: 17, pieceBytes: 30, deadBelow: 32, hold: 12))
        #expect(findings.goAways >= 8)
        #expect(findings.acknowledgements > 20)
    }

    /// The judge itself finds each of these violations.
    @Test(
        arguments: [
            // DATA on stream 0.
            [0, 0, 1, 0, 0, 0, 0, 0, 0, 7],
            // HEADERS with nothing but `GET`.
            [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x82],
            // HEADERS with nothing but `GET`, after a dynamic table of 4,097 bytes.
            [0, 0, 4, 1, 5, 0, 0, 0, 1, 0x3f, 0xe2, 0x1f, 0x82],
        ] as [[UInt8]])
    func strictServerFindsEachForbiddenFrame(_ frame: [UInt8]) throws {
        let server = try StrictServer(.init(), scratch: scratch)
        let loop = try Loop()
        defer { loop.close() }
        let tcp = try TCPStream(loop: loop)
        let address = try #require(SocketAddress(ip: "127.0.0.1", port: server.port))
        tcp.connect(to: address, name: "localhost")
        let stream = try TLSStream(over: tcp, context: .client(caFile: scratch.path("ca.pem")), host: "localhost")
        stream.onReady = { _ in
            stream.write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + ScriptedServer.emptySettings + frame)
            stream.finish()
        }
        stream.onClose = { _ in loop.stop() }
        loop.run()
        let findings = try server.finish()
        #expect(findings.violations.count == 1, "\(findings.violations)")
    }
}
