import FanfareAPNs
import FanfareFanOut
import FanfareLoop
import Testing

/// A server that attacks on one connection must lose that one, with the right code and after a bounded number of bytes;
/// every push arrives on the others.
@Suite struct HostileServerTests {
    private let scratch: Scratch
    private static let pushes = 500
    // Codes of RFC 9113 §7.
    private static let protocolError: UInt32 = 1
    private static let flowControlError: UInt32 = 3
    private static let cancel: UInt32 = 8
    private static let enhanceYourCalm: UInt32 = 11

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
    }

    private func world(
        _ attack: HostileServer.Attack, hostileConnections: Int = 1
    ) throws -> (server: HostileServer, harness: PoolHarness) {
        let loop = try Loop()
        let server = try HostileServer(
            loop: loop, scratch: scratch, hostileConnections: hostileConnections, attack)
        let harness = try PoolHarness(
            loop: loop, source: MemorySource(activities: HostileServerTests.pushes, payload: examplePayload()),
            configuration: .init(
                endpoint: Endpoint(host: "localhost", port: server.port, caFile: scratch.path("ca.pem")),
                bundleID: "com.example.app"),
            credentials: try ProviderToken(keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789"))
        return (server, harness)
    }

    /// Attacks, waits until all pushes have settled and the hostile connection is over, and returns that one.
    private func survive(
        _ attack: HostileServer.Attack, until isOver: @escaping (HostileServer.Conversation) -> Bool = { $0.hasEnded }
    ) throws -> (victim: HostileServer.Conversation, harness: PoolHarness) {
        let (server, harness) = try world(attack)
        harness.run("settling") { harness.source.settled == HostileServerTests.pushes }
        harness.run("the end of the attack") { server.victims.first.map(isOver) == true }
        harness.close()
        return (try #require(server.victims.first), harness)
    }

    struct Flood: Sendable, CustomTestStringConvertible {
        let what: String
        let begins: @Sendable (UInt32) -> [UInt8]
        let goesOn: @Sendable (UInt32) -> [UInt8]
        let code: UInt32
        /// Bytes that the client may read before it recognises the flood; sockets hold some megabytes beyond them.
        let bytesMax: Int
        var testDescription: String { what }
    }

    private static let socketBytes = 16 << 20

    static let floods: [Flood] = [
        .init(
            what: "empty CONTINUATION", begins: { frame(1, stream: $0, [0x88]) }, goesOn: { frame(9, stream: $0, []) },
            code: enhanceYourCalm, bytesMax: 1 << 10),
        .init(
            what: "CONTINUATION of a field each", begins: { frame(1, stream: $0, [0x88]) },
            goesOn: { frame(9, stream: $0, [0, 1, 0x61, 100] + [UInt8](repeating: 0x62, count: 100)) },
            code: enhanceYourCalm, bytesMax: 64 << 10),
        .init(
            what: "PING", begins: { _ in [] }, goesOn: { _ in frame(6, [0, 0, 0, 0, 0, 0, 0, 0]) },
            code: enhanceYourCalm, bytesMax: 10_000 * 17),
        .init(
            what: "SETTINGS", begins: { _ in [] },
            goesOn: { _ in frame(4, [0, 1] + big(0) + [0, 1] + big(4096) + [0, 4] + big(1)) },
            code: enhanceYourCalm, bytesMax: 10_000 * 27),
        .init(
            what: "empty DATA", begins: { frame(1, flags: 4, stream: $0, [0x88]) },
            goesOn: { frame(0, stream: $0, []) }, code: enhanceYourCalm, bytesMax: 10_000 * 9),
        .init(
            what: "interim answers", begins: { _ in [] },
            goesOn: { frame(1, flags: 4, stream: $0, [8, 3] + "103".utf8) },
            code: enhanceYourCalm, bytesMax: 10_000 * 14),
        .init(
            what: "unknown frames", begins: { _ in [] }, goesOn: { frame(77, stream: $0, [1, 2, 3]) },
            code: enhanceYourCalm, bytesMax: 10_000 * 12),
        // The first 4 KB are the answer; the rest is for a closed stream.
        .init(
            what: "a body without end", begins: { frame(1, flags: 4, stream: $0, [0x88]) },
            goesOn: { frame(0, stream: $0, [UInt8](repeating: 0x7b, count: 100)) },
            code: enhanceYourCalm, bytesMax: 10_050 * 109),
        .init(
            what: "growing windows", begins: { _ in [] }, goesOn: { _ in frame(8, big(0x7fff_ffff)) },
            code: flowControlError, bytesMax: 1 << 10),
        .init(
            what: "answers to nobody", begins: { _ in [] }, goesOn: { HostileServer.accepted($0 + 1000) },
            code: protocolError, bytesMax: 1 << 10),
        .init(
            what: "answers twice", begins: { HostileServer.accepted($0) }, goesOn: { HostileServer.accepted($0) },
            code: enhanceYourCalm, bytesMax: 10_000 * 10),
    ]

    @Test(arguments: floods) func aServerThatFloodsLosesItsConnection(_ flood: Flood) throws {
        let (victim, harness) = try survive(.init(answer: flood.begins, flood: flood.goesOn))
        #expect(victim.goAwayCode == flood.code)
        #expect(victim.floodBytes <= flood.bytesMax + HostileServerTests.socketBytes, "\(victim.floodBytes) bytes")
        #expect(harness.source.count(.accepted) == HostileServerTests.pushes)
        #expect(harness.pool.statistics.connectionsLost == 1)
        #expect(harness.reports.count == 1 && harness.reports[0].contains("the server broke HTTP/2: "))
    }

    /// A field of 4 KB goes into the table once, and 30 KB of one-byte references stand for 120 MB. Only the request fails; the
    /// connection's table stays valid.
    @Test func aHeaderBombFailsItsRequestOnly() throws {
        let name: [UInt8] = [0x40, 1, 0x61]
        // 3,900 bytes: the length in HPACK's form is 127 and 3,773 (RFC 7541 §5.1).
        let field = name + [0x7f, 0xbd, 0x1d] + [UInt8](repeating: 0x62, count: 3900)
        let bomb = [0x88] + field + [UInt8](repeating: 0xbe, count: 12_000)
        let (victim, harness) = try survive(
            .init(answer: {
                frame(1, flags: 1, stream: $0, bomb)
                    + frame(9, flags: 4, stream: $0, [UInt8](repeating: 0xbe, count: 9000))
            }), until: { $0.resetCodes.contains(HostileServerTests.enhanceYourCalm) })
        #expect(victim.resetCodes == [HostileServerTests.enhanceYourCalm])
        #expect(harness.source.count(.uncertain) >= 1)
        #expect(harness.source.count(.accepted) == HostileServerTests.pushes)
    }

    /// The window has no room for the body: the answer ends a request that has not been sent completely.
    @Test func anEarlyAnswerEndsARequestThatIsNotYetSent() throws {
        let dead: [UInt8] = [8, 3] + Array("410".utf8)
        let (victim, harness) = try survive(
            .init(
                initialWindow: 0,
                answer: {
                    frame(1, flags: 4, stream: $0, dead)
                        + frame(0, flags: 1, stream: $0, Array(#"{"reason":"Unregistered"}"#.utf8))
                }), until: { !$0.resetCodes.isEmpty })
        #expect(victim.resetCodes == [HostileServerTests.cancel], "we give up the rest of the request")
        let source = harness.source
        #expect(source.count(.deadToken) > 0)
        #expect(source.count(.accepted) + source.count(.deadToken) == HostileServerTests.pushes)
        #expect(harness.pool.statistics.connectionsLost == 0)
    }

    /// One connection that refuses or breaks all streams does not keep pushes from arriving on another.
    @Test(arguments: [7, 2, 8] as [UInt32]) func resetsOnOneConnectionKeepNoPushFromArriving(_ code: UInt32) throws {
        let (_, harness) = try survive(
            .init(answer: { frame(3, stream: $0, big(code)) }), until: { _ in true })
        #expect(harness.source.count(.accepted) == HostileServerTests.pushes)
        #expect(harness.source.count(code == 7 ? .notProcessed : .uncertain) > 0)
    }

    /// A server that resets everything is left alone, and operators are told.
    @Test(arguments: [7, 2, 8] as [UInt32]) func aServerThatResetsEveryStreamIsLeftAlone(_ code: UInt32) throws {
        let (server, harness) = try world(.init(answer: { frame(3, stream: $0, big(code)) }), hostileConnections: .max)
        harness.run("trouble") { harness.pool.trouble != nil }
        #expect(server.requests < 20, "\(server.requests) requests to a server that resets them all")
        #expect(harness.pool.trouble?.kind == .service)
        #expect(harness.pool.trouble?.text.contains("resets requests") == true)
        harness.close()
    }
}
