import APNsSimulator
import Dispatch
import FanfareAPNs
import FanfareLoop
import Foundation
import ServerTestSupport
import Testing

/// Some addresses lead nowhere: pushes soon go to another one, and none is lost on the way.
@Suite struct AddressesTests {
    private let scratch: Scratch
    private let credentials: ProviderToken

    init() throws {
        scratch = try Scratch()
        try scratch.makeCertificates()
        credentials = try ProviderToken(
            keyFile: scratch.path("apns.p8"), keyID: "K123456789", teamID: "T123456789")
    }

    /// Number of connections: enough that each address is the first for one of them, because the order within a family is drawn.
    private static let connections = 8

    private func harness(_ loop: Loop, _ resolver: Resolver, connections: Int = connections) throws -> PoolHarness {
        var configuration = PoolConfiguration(
            endpoint: Endpoint(host: "localhost", port: 443, caFile: scratch.path("ca.pem")),
            bundleID: "com.example.app", connections: connections)
        // Longer than any of these tests may take: a test that waits for it fails.
        configuration.connectTimeout = .seconds(300)
        configuration.resolver = resolver
        return try PoolHarness(
            loop: loop, source: MemorySource(activities: 1000, payload: examplePayload()),
            configuration: configuration, credentials: credentials)
    }

    private func expectAllIsWell(
        with resolver: Resolver, _ loop: Loop, _ simulator: Simulator, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let harness = try harness(loop, resolver)
        harness.run("all connections") {
            harness.source.settled == 1000 && harness.pool.connectionsOpen == Self.connections
        }
        harness.close()
        let statistics = harness.pool.statistics
        #expect(statistics.connectFailures == 0 && statistics.connectionsLost == 0, sourceLocation: sourceLocation)
        #expect(statistics.uncertain == 0, sourceLocation: sourceLocation)
        #expect(harness.reports.isEmpty, sourceLocation: sourceLocation)
        simulator.close()
        loop.close()
    }

    private func address(_ ip: String, _ port: UInt16) throws -> SocketAddress {
        try #require(SocketAddress(ip: ip, port: port))
    }

    private func always(_ addresses: [SocketAddress]) -> Resolver {
        Resolver { (_, _) throws(LoopError) in addresses }
    }

    /// A port whose system drops the packets of connecting clients, because its listener's queue is full.
    private final class BlackHole {
        private var sockets: [Int32] = []
        private(set) var port: UInt16 = 0

        init() throws {
            func socketOnLoopback() -> Int32 {
                let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                sockets.append(made)
                return made
            }
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = socketOnLoopback()
            let isListening = withUnsafeMutablePointer(to: &place) { place in
                place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, size) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &size) == 0
                }
            }
            try #require(isListening)
            port = UInt16(bigEndian: place.sin_port)
            for _ in 0..<8 {
                let filler = socketOnLoopback()
                withUnsafePointer(to: &place) { place in
                    place.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(filler, $0, size) }
                }
            }
        }

        deinit { for socket in sockets { close(socket) } }
    }

    @Test func anAddressThatLeadsNowhereCostsAMoment() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let hole = try BlackHole()
        try expectAllIsWell(
            with: always([address("127.0.0.1", hole.port), address("127.0.0.1", simulator.port)]), loop, simulator)
        withExtendedLifetime(hole) {}
    }

    /// An overloaded front end completes TLS and then falls silent. Bytes written for it do not go to the next address.
    @Test func aServerThatFallsSilentBehindTLSIsLeftForTheNextAddress() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let silent = try ScriptedServer(loop: loop, scratch: scratch, says: [])
        try expectAllIsWell(
            with: always([address("127.0.0.1", silent.port), address("127.0.0.1", simulator.port)]), loop, simulator)
    }

    /// All connections begin with the family that the system prefers. Only the timer for the next attempt wakes the pool then.
    @Test func aFamilyThatFallsSilentIsLeftForTheOther() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let silent = try ScriptedServer(loop: loop, scratch: scratch, host: "::1", says: [])
        try expectAllIsWell(
            with: always([address("::1", silent.port), address("127.0.0.1", simulator.port)]), loop, simulator)
    }

    /// A tunnel lets only small packets through: each connection opens, its first push is answered, and no other.
    @Test func aFamilyThatOpensAndThenSwallowsIsLeftForTheOther() throws {
        let loop = try Loop()
        let swallowing = try AnsweringServer(loop: loop, scratch: scratch, host: "::1") {
            $0.number == 0 ? AnsweringServer.accepted($0) : []
        }
        swallowing.pongsAfter = .seconds(86_400)
        let sound = try AnsweringServer(loop: loop, scratch: scratch, answer: AnsweringServer.accepted)
        let harness = try harness(
            loop, always([address("::1", swallowing.port), address("127.0.0.1", sound.port)]), connections: 1)
        let leaps = harness.leaps(of: .milliseconds(20))
        harness.run("all pushes") { harness.source.settled == 1000 || swallowing.connections > 5 }
        leaps.close()
        #expect(harness.source.settled == 1000)
        #expect(swallowing.connections <= 4, "a slow machine's races aside there are 2")
        #expect(harness.pool.statistics.uncertain < 100)
        harness.close()
    }

    /// The beginning of a frame from one server must not be joined to the bytes of the next one.
    @Test func halfAFrameOfOneServerIsNotTheNextOnes() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let silent = try ScriptedServer(loop: loop, scratch: scratch, says: [0, 0, 60, 4])
        try expectAllIsWell(
            with: always([address("127.0.0.1", silent.port), address("127.0.0.1", simulator.port)]), loop, simulator)
    }

    @Test func aServerThatHangsUpDuringTheHandshakeIsLeftForTheNextAddress() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let rude = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { client in
            client.onRead = { _ in client.close() }
            client.resumeReading()
        }
        try expectAllIsWell(
            with: always([address("127.0.0.1", rude.port), address("127.0.0.1", simulator.port)]), loop, simulator)
    }

    /// Another server answers at the addresses of one family, a hotel's portal or a wrong entry; the other family works.
    @Test func aForeignCertificateInOneFamilyIsLeftForTheOther() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let foreign = try Scratch()
        try foreign.makeCertificates()
        let context = try TLSContext.server(
            certificateFile: foreign.path("server.pem"), keyFile: foreign.path("server.key"))
        var strangers: [TLSStream] = []
        let listener = try TCPListener(loop: loop, host: "::1", port: 0) {
            if let stream = try? TLSStream(accepting: $0, context: context) { strangers.append(stream) }
        }
        try expectAllIsWell(
            with: always([address("::1", listener.port), address("127.0.0.1", simulator.port)]), loop, simulator)
        #expect(!strangers.isEmpty)
    }

    /// The kernel refuses some addresses at once: those of a family that it lacks or cannot route. One of these is link-local, without
    /// its link.
    @Test func anAddressThatTheKernelRefusesIsLeftForTheNext() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        try expectAllIsWell(
            with: always([address("fe80::1", 443), address("127.0.0.1", simulator.port)]), loop, simulator)
    }

    /// The first name server is dead, so each look-up takes seconds, and the formerly good addresses now lead nowhere.
    @Test func aSlowNameServerIsWaitedForWhenTheGoodAddressesFail() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let relay = try Relay(loop: loop, to: SocketAddress(ip: "127.0.0.1", port: simulator.port))
        let before = try address("127.0.0.1", relay.port)
        let after = try address("127.0.0.1", simulator.port)
        let isSlow = Locked(false)
        let answers = DispatchSemaphore(value: 0)
        let resolver = Resolver { (_, _) throws(LoopError) in
            guard isSlow.withLock({ $0 }) else { return [before] }
            answers.wait()
            return [after]
        }
        let harness = try harness(loop, resolver)
        harness.run("settling") {
            harness.source.settled == 1000 && harness.pool.connectionsOpen == Self.connections
        }
        isSlow.withLock { $0 = true }
        relay.isClosed = true
        relay.cut()
        let answer = LoopTimer(loop: loop) { answers.signal() }
        answer.start(after: .seconds(3), repeating: .seconds(3))
        let opened = harness.pool.statistics.connectionsOpened
        harness.run("new connections") {
            harness.pool.statistics.connectionsOpened >= opened + UInt64(Self.connections)
        }
        #expect(harness.pool.statistics.connectFailures == 0)
        answer.close()
        harness.close()
        simulator.close()
        answers.signal()
    }

    /// The name server's answer leads nowhere, and the addresses of the earlier connections work.
    @Test func aNameServerThatLiesIsNotBelievedForEver() throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let relay = try Relay(loop: loop, to: SocketAddress(ip: "127.0.0.1", port: simulator.port))
        let good = try address("127.0.0.1", relay.port)
        // No listener has this port.
        let wrong = try address("127.0.0.1", 1)
        let lies = Locked(false)
        let harness = try harness(
            loop, Resolver { (_, _) throws(LoopError) in lies.withLock { $0 } ? [wrong] : [good] })
        harness.run("settling") {
            harness.source.settled == 1000 && harness.pool.connectionsOpen == Self.connections
        }
        lies.withLock { $0 = true }
        let opened = harness.pool.statistics.connectionsOpened
        relay.cut()
        harness.run("new connections") {
            harness.pool.statistics.connectionsOpened >= opened + UInt64(Self.connections)
        }
        #expect(harness.pool.statistics.connectFailures == 0)
        harness.close()
        simulator.close()
    }

    enum Outage: CaseIterable, Sendable { case refuses, isSilent }

    /// APNs works and the name servers do not: connections that end are replaced all the same.
    @Test(arguments: Outage.allCases) func connectionsAreReplacedWhileNoNameServerAnswers(outage: Outage) throws {
        let loop = try Loop()
        let simulator = try Simulator(scratch.simulatorOptions, loop: loop)
        let relay = try Relay(loop: loop, to: address("127.0.0.1", simulator.port))
        let good = try address("127.0.0.1", relay.port)
        let isOut = Locked(false)
        let never = DispatchSemaphore(value: 0)
        let resolver = Resolver { (_, _) throws(LoopError) in
            guard isOut.withLock({ $0 }) else { return [good] }
            if outage == .isSilent { never.wait() }
            throw LoopError(.nameNotFound, call: "test", place: "localhost:443", reason: "no name server")
        }
        let harness = try harness(loop, resolver)
        harness.run("settling") {
            harness.source.settled == 1000 && harness.pool.connectionsOpen == Self.connections
        }
        isOut.withLock { $0 = true }
        let opened = harness.pool.statistics.connectionsOpened
        relay.cut()
        harness.run("new connections") {
            harness.pool.statistics.connectionsOpened >= opened + UInt64(Self.connections)
        }
        #expect(harness.reports.contains { $0.hasSuffix("; trying the addresses that were good last") })
        #expect(harness.pool.statistics.connectFailures == 0)
        harness.close()
        simulator.close()
        never.signal()
    }
}
