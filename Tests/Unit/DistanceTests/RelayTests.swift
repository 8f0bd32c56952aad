import FanfareLoop
import ServerTestSupport
import Testing

@testable import Distance

/// On real sockets: milliseconds are counted by the relay's own clock, and nothing is said about how much longer things take.
@Suite struct RelayTests {
    /// A server that sends back what it gets, a relay before it, and a loop that stops in the end whatever happens.
    private final class Scene {
        let loop: Loop
        let relay: Relay
        private var server: TCPListener?
        private(set) var clients: [TCPStream] = []
        private(set) var served: [TCPStream] = []
        var whenServed: ((TCPStream) -> Void)?

        init(_ change: (inout RelayOptions) -> Void) throws {
            loop = try Loop()
            var take: (TCPStream) -> Void = { _ in }
            let server = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { take($0) }
            self.server = server
            var options = RelayOptions()
            options.target.port = server.port
            change(&options)
            relay = try Relay(options, loop: loop)
            take = { [unowned self] stream in
                served.append(stream)
                stream.onRead = { [unowned stream] in stream.write($0) }
                stream.resumeReading()
                whenServed?(stream)
            }
        }

        func connect() throws -> TCPStream {
            let client = try TCPStream(loop: loop)
            clients.append(client)
            client.connect(to: try #require(SocketAddress(ip: "127.0.0.1", port: relay.port)))
            return client
        }

        /// Runs until `done` has been called.
        func run(_ what: String) {
            let watchdog = LoopTimer(loop: loop) { [loop] in
                Issue.record("\(what): not within three minutes")
                loop.stop()
            }
            watchdog.start(after: .seconds(180))
            loop.run()
            watchdog.close()
        }

        func done() { loop.stop() }

        deinit {
            relay.close()
            loop.close()
        }
    }

    /// TCP's handshake is one round trip, what is sent and comes back another.
    @Test func anAnswerTakesTwoRoundTripsFromTheBeginningAndOneFromThenOn() throws {
        let scene = try Scene { $0.roundTripMilliseconds = 40 }
        let client = try scene.connect()
        let began = Clock.monotonicNanoseconds()
        var answers: [Int64] = []
        client.onRead = { [unowned client] bytes in
            answers.append(Clock.monotonicNanoseconds())
            if answers.count < 2 { client.write(bytes) } else { scene.done() }
        }
        client.write([1])
        scene.run("two answers")
        try #require(answers.count == 2)
        // A tick counts what is due within half of it.
        #expect(answers[0] - began >= 78_000_000)
        #expect(answers[1] - answers[0] >= 38_000_000)
    }

    @Test func sentBytesArriveWholeAndInOrder() throws {
        let scene = try Scene {
            $0.roundTripMilliseconds = 4
            $0.jitterMilliseconds = 3
        }
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        var received: [UInt8] = []
        let client = try scene.connect()
        client.onRead = {
            received += $0
            if received.count >= sent.count { scene.done() }
        }
        client.write(sent)
        scene.run("three million bytes there and back")
        #expect(received == sent)
        #expect(scene.relay.bytes == 2 * sent.count)
    }

    /// Its buffers are bounded: what the server does not take stays with the client.
    @Test func aServerThatDoesNotReadHoldsItsClientBack() throws {
        let scene = try Scene { $0.slowStart = .never }
        let client = try scene.connect()
        client.write(Array(repeating: 1, count: 60 << 20))
        var left = client.writeQueueBytes
        var ticksWithout = 0
        let timer = LoopTimer(loop: scene.loop) {
            for stream in scene.served { stream.pauseReading() }
            ticksWithout = client.writeQueueBytes < left ? 0 : ticksWithout + 1
            left = client.writeQueueBytes
            if ticksWithout == 200 { scene.done() }
        }
        timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
        scene.run("until nothing moves any more")
        timer.close()
        #expect(left > 10 << 20)
    }

    @Test func theEndOfOneSideIsTheEndOfTheOtherAfterWhatWasSentBefore() throws {
        let scene = try Scene { $0.roundTripMilliseconds = 20 }
        let client = try scene.connect()
        var received = 0
        var endedAfter: Int?
        client.onRead = { received += $0.count }
        client.onClose = { _ in
            endedAfter = received
            scene.done()
        }
        client.onConnect = { [unowned client] in client.write([1, 2, 3]) }
        scene.whenServed = { stream in
            stream.onRead = { [unowned stream] _ in
                stream.onRead = { _ in }
                stream.write([4, 5])
                stream.finish()
            }
        }
        scene.run("the end")
        #expect(endedAfter == 2)
    }

    @Test func aServerThatIsNotThereEndsTheConnection() throws {
        let scene = try Scene { $0.target.port = 1 }
        let client = try scene.connect()
        var hasEnded = false
        client.onClose = { _ in
            hasEnded = true
            scene.done()
        }
        scene.run("the end")
        #expect(hasEnded)
    }

    @Test func connectionsBeyondTheMostAreClosedAtOnce() throws {
        let scene = try Scene { $0.connectionsMax = 2 }
        for _ in 0..<2 { try scene.connect().onClose = { _ in Issue.record("one of the first two was closed") } }
        let third = try scene.connect()
        third.onClose = { _ in scene.done() }
        scene.run("the third one's end")
        #expect(scene.relay.accepted == 2 && scene.relay.turnedAway == 1)
    }
}

@Suite struct RelayOptionsTests {
    @Test func relayOptionsAreRead() throws {
        let options = try RelayOptions(arguments: [
            "--to", "127.0.0.1:8443", "--listen", "[::1]:99", "--round-trip", "50", "--jitter", "2.5", "--rate",
            "1000000",
            "--loss", "0.01", "--slow-start", "off", "--connections", "8", "--seed", "7",
        ])
        #expect(options.target == RelayOptions.Place(host: "127.0.0.1", port: 8443))
        #expect(options.listen == RelayOptions.Place(host: "::1", port: 99))
        #expect(options.roundTripMilliseconds == 50 && options.jitterMilliseconds == 2.5)
        #expect(options.bytesPerSecond == 1_000_000 && options.lossShare == 0.01 && options.slowStart == .never)
        #expect(options.connectionsMax == 8 && options.seed == 7)
    }

    @Test(arguments: [
        ([], "--to is missing"),
        (["--to", "127.0.0.1:1"], "--round-trip is missing"),
        (["--round-trip"], "--round-trip: unknown, or a value is missing"),
        (["--to", "127.0.0.1:0"], "--to 127.0.0.1:0: expected ADDRESS:PORT"),
        (["--round-trip", "-1"], "--round-trip -1: expected milliseconds from 0 to 60000"),
        (["--loss", "2"], "--loss 2: expected a share from 0 to 1"),
        (["--rate", "0"], "--rate 0: expected a whole number from 1 to 2147483647"),
        (["--slow-start", "yes"], "--slow-start yes: expected on, first or off"),
        (["--round-trip", "5", "--round-trip", "6"], "--round-trip: given twice"),
        (["--latency", "5"], "--latency: unknown option; --help lists them"),
        (
            ["--to", "127.0.0.1:1", "--round-trip", "5", "--listen", "0.0.0.0:1"],
            "--listen 0.0.0.0: not a loopback address, as 127.0.0.1 and ::1 are"
        ),
    ])
    func relayOptionsThatMakeNoSenseAreNamed(arguments: [String], complaint: String) {
        #expect(throws: UsageError.self) { try RelayOptions(arguments: arguments) }
        do { _ = try RelayOptions(arguments: arguments) } catch { #expect(error.description == complaint) }
    }
}
