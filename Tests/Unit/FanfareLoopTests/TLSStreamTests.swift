import Foundation
import ServerTestSupport
import Testing

@testable import FanfareLoop

@Suite struct TLSStreamTests {
    /// Accepts TLS connections and sends back what it gets.
    private func echoServer(_ loop: Loop, _ context: TLSContext) throws -> SocketAddress {
        try listen(loop) { tcp in
            guard let tls = try? TLSStream(accepting: tcp, context: context) else { return }
            tls.onRead = { tls.write($0) }
            tls.onClose = { _ in }
        }
    }

    private func connect(
        _ loop: Loop, _ address: SocketAddress, _ context: TLSContext, host: String, wallSeconds: Int64? = nil
    ) throws -> TLSStream {
        let tcp = try TCPStream(loop: loop)
        let tls = try TLSStream(over: tcp, context: context, host: host, wallSeconds: wallSeconds)
        tcp.connect(to: address, name: host)
        return tls
    }

    /// The error with which a connection attempt ends.
    private func refusal(
        host: String, client: TLSContext, wallSeconds: Int64? = nil, server: (Loop) throws -> SocketAddress
    ) throws -> LoopError {
        var failure: LoopError?
        try withLoop { loop in
            let tls = try connect(loop, try server(loop), client, host: host, wallSeconds: wallSeconds)
            tls.onReady = { _ in
                Issue.record("the handshake succeeded")
                loop.stop()
            }
            tls.onClose = { error in
                failure = error
                loop.stop()
            }
        }
        return try #require(failure)
    }

    /// The system's clock is a year wrong, and somebody knows.
    @Test func aCertificateIsValidAtTheTimeThatOneGoesBy() throws {
        let day = 86_400 as Int64
        let expired = try TLSPair(validSince: .seconds(400 * day), validFor: .seconds(-300 * day))
        let now = Clock.wallMilliseconds() / 1000
        try withLoop { loop in
            let tls = try connect(
                loop, try echoServer(loop, expired.server), expired.client, host: "localhost",
                wallSeconds: now - 365 * day)
            tls.onReady = { _ in loop.stop() }
            tls.onClose = { Issue.record("closed: \(String(describing: $0))") }
        }
        let valid = try TLSPair()
        for (pair, time, reason) in [
            (expired, nil, "expired"), (valid, now + 365 * day, "expired"), (valid, now - 365 * day, "not yet valid"),
        ] {
            let error = try refusal(host: "localhost", client: pair.client, wallSeconds: time) {
                try echoServer($0, pair.server)
            }
            #expect(error.kind == .certificate && "\(error)".contains(reason), "\(error)")
            #expect("\(error)".contains("; look at this machine's clock, too"))
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func aTLSStreamEchoesAndAgreesOnHTTP2(host: String) throws {
        let pair = try TLSPair()
        var agreed: String?
        var echoed: [UInt8] = []
        try withLoop { loop in
            let tls = try connect(loop, try echoServer(loop, pair.server), pair.client, host: host)
            tls.write(Array("before the handshake, ".utf8))
            tls.onReady = { alpn in
                agreed = alpn
                tls.write(Array("and after it".utf8))
            }
            tls.onRead = { bytes in
                echoed += bytes
                if echoed.count == 34 { loop.stop() }
            }
            tls.onClose = { Issue.record("closed: \(String(describing: $0))") }
        }
        #expect(agreed == "h2")
        #expect(String(decoding: echoed, as: UTF8.self) == "before the handshake, and after it")
    }

    /// Sizes around a record's, before the handshake, in its callback and after: none may be lost, cut or moved.
    @Test(arguments: [1, 16_383, 16_384, 16_385, 40_000])
    func aTLSStreamKeepsTheOrderOfWritesOfAnySize(size: Int) throws {
        let pair = try TLSPair()
        let sent = Pattern(seed: UInt64(size))
        var echoed: [UInt8] = []
        try withLoop { loop in
            let tls = try connect(loop, try echoServer(loop, pair.server), pair.client, host: "localhost")
            var written = 0
            func writeMore() {
                tls.write(sent.bytes(at: written, count: size))
                written += size
            }
            writeMore()
            tls.onReady = { _ in for _ in 0..<3 { writeMore() } }
            tls.onRead = { bytes in
                echoed += bytes
                if echoed.count == 4 * size { writeMore() }
                if echoed.count == 5 * size { loop.stop() }
            }
            tls.onClose = { Issue.record("closed: \(String(describing: $0))") }
        }
        #expect(echoed == (0..<5).flatMap { sent.bytes(at: $0 * size, count: size) })
    }

    /// Each direction has its own key, and the peer answers a new one with a new one.
    @Test func aKeyIsReplacedBeforeItIsWornOut() throws {
        let pair = try TLSPair()
        let sent = Pattern(seed: 13)
        let size = 16_384
        var echoed: [UInt8] = []
        var keyUpdates = 0
        try withLoop { loop in
            let tls = try connect(loop, try echoServer(loop, pair.server), pair.client, host: "localhost")
            tls.keyUse.recordsMax = 3
            tls.onReady = { _ in for round in 0..<20 { tls.write(sent.bytes(at: round * size, count: size)) } }
            tls.onRead = { bytes in
                echoed += bytes
                keyUpdates = tls.keyUse.updates
                if echoed.count == 20 * size { loop.stop() }
            }
            tls.onClose = { Issue.record("closed: \(String(describing: $0))") }
        }
        #expect(echoed == (0..<20).flatMap { sent.bytes(at: $0 * size, count: size) })
        #expect(keyUpdates >= 5)
    }

    /// RFC 9113, appendix A: whatever has no ephemeral key or no authenticated encryption.
    @Test func offersNoCipherSuiteThatHTTP2Forbids() throws {
        var hello: [UInt8] = []
        try withLoop { loop in
            let address = try listen(loop) { tcp in
                tcp.onRead = {
                    hello += $0
                    loop.stop()
                }
                tcp.resumeReading()
            }
            _ = try connect(loop, address, .client(), host: "localhost")
        }
        // Record header, handshake header, version, random, session id, then the suites (RFC 8446 §4.1.2).
        let sessionID = 5 + 4 + 2 + 32
        try #require(hello.count > sessionID && hello[0] == 22 && hello[5] == 1)
        let start = sessionID + 1 + Int(hello[sessionID])
        let count = Int(hello[start]) << 8 | Int(hello[start + 1])
        let suites = stride(from: start + 2, to: start + 2 + count, by: 2).map {
            UInt16(hello[$0]) << 8 | UInt16(hello[$0 + 1])
        }
        let ofTLS13: Set<UInt16> = [0x1301, 0x1302, 0x1303]
        let ofTLS12: Set<UInt16> = [0xc02b, 0xc02c, 0xc02f, 0xc030, 0xcca8, 0xcca9]
        let noRenegotiation: Set<UInt16> = [0x00ff]  // no suite, but a signal that stands among them (RFC 5746 §3.3)
        #expect(Set(suites).isSubset(of: ofTLS13.union(ofTLS12).union(noRenegotiation)))
        #expect(!ofTLS13.isDisjoint(with: suites) && !ofTLS12.isDisjoint(with: suites))
    }

    @Test func aWildcardIsAWholeLabel() throws {
        let pair = try TLSPair(hosts: ["ap*.example.com"])
        let failure = try refusal(host: "apns.example.com", client: pair.client) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
    }

    @Test func aCommonNameIsNoHostsName() throws {
        let pair = try TLSPair(hosts: ["127.0.0.2"], commonName: "localhost")
        let failure = try refusal(host: "localhost", client: pair.client) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
    }

    @Test func aTLSStreamRefusesACertificateForAnotherHost() throws {
        let pair = try TLSPair(hosts: ["elsewhere.example"])
        let failure = try refusal(host: "localhost", client: pair.client) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
        #expect(failure.description.hasPrefix("localhost:"))
        #expect(failure.reason.contains("hostname mismatch"))
    }

    @Test func aTLSStreamRefusesAnAddressThatTheCertificateIsNotFor() throws {
        let pair = try TLSPair(hosts: ["localhost"])
        let failure = try refusal(host: "127.0.0.1", client: pair.client) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
        #expect(failure.reason.contains("IP address mismatch"))
    }

    @Test func aTLSStreamRefusesAnUntrustedCertificateAndNamesTheFileGiven() throws {
        let pair = try TLSPair()
        let stranger = try TLSPair()
        let failure = try refusal(host: "localhost", client: stranger.client) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
        let path = stranger.certificate.path
        #expect(
            failure.reason
                == "certificate verify failed: self-signed certificate; not signed by a certificate in \(path)")
    }

    @Test func aTLSStreamRefusesACertificateThatTheSystemDoesNotTrustAndSaysWhatToDo() throws {
        let pair = try TLSPair()
        let failure = try refusal(host: "localhost", client: .client()) { try echoServer($0, pair.server) }
        #expect(failure.kind == .certificate)
        #expect(failure.reason == "certificate verify failed: self-signed certificate; pass --ca FILE")
    }

    @Test func aTLSStreamRefusesAPortWithoutTLS() throws {
        let pair = try TLSPair()
        let failure = try refusal(host: "localhost", client: pair.client) { loop in
            try listen(loop) { tcp in
                tcp.write(Array("220 mail.example ESMTP\r\n".utf8))
                tcp.resumeReading()
            }
        }
        #expect(failure.kind == .tls)
        #expect(failure.reason.contains("does not speak TLS"))
    }

    @Test func aTLSStreamReportsARefusedConnection() throws {
        let pair = try TLSPair()
        let failure = try refusal(host: "localhost", client: pair.client) { try vacantAddress($0) }
        #expect(failure.kind == .refused)
        #expect(failure.description.hasPrefix("localhost:"))
        #expect(failure.description.hasSuffix(": connection refused (connect)"))
    }

    @Test func aTLSStreamReportsAPeerThatLeavesDuringTheHandshake() throws {
        let pair = try TLSPair()
        let failure = try refusal(host: "localhost", client: pair.client) { loop in try listen(loop) { $0.close() } }
        #expect(failure.kind == .connectionLost)
    }

    @Test func aTLSStreamEndsInOrderBothWays() throws {
        let pair = try TLSPair()
        var endings: [LoopError?] = []
        var received = 0
        try withLoop { loop in
            let address = try listen(loop) { tcp in
                guard let tls = try? TLSStream(accepting: tcp, context: pair.server) else { return }
                tls.onRead = { received += $0.count }
                tls.onClose = { error in
                    endings.append(error)
                    if endings.count == 2 { loop.stop() }
                }
            }
            let tls = try connect(loop, address, pair.client, host: "localhost")
            tls.onReady = { _ in
                tls.write([UInt8](repeating: 7, count: 100_000))
                tls.finish()
            }
            tls.onClose = { error in
                endings.append(error)
                if endings.count == 2 { loop.stop() }
            }
        }
        #expect(received == 100_000)
        #expect(endings == [nil, nil])
    }

    /// The peer does not read, and then the stream is closed: what the peer can read after that is what has left, to the byte.
    @Test(arguments: [1000, 16_384, 100_000]) func aTLSStreamTellsWhatHasNotLeft(size: Int) throws {
        let pair = try TLSPair()
        var (written, received, unsent) = (0, 0, 0)
        try withLoop { loop in
            var server: TLSStream?
            let address = try listen(loop) { tcp in
                server = try? TLSStream(accepting: tcp, context: pair.server)
                server?.onReady = { _ in server?.pauseReading() }
                server?.onRead = { received += $0.count }
                server?.onClose = { _ in loop.stop() }
            }
            let tls = try connect(loop, address, pair.client, host: "localhost")
            let writes = LoopTimer(loop: loop) {
                guard tls.writeQueueBytes < 1 << 20 else {
                    tls.close()
                    unsent = tls.plainBytesUnsent
                    server?.resumeReading()
                    return
                }
                for _ in 0..<10 {
                    tls.write([UInt8](repeating: 7, count: size))
                    written += size
                }
            }
            tls.onReady = { _ in writes.start(after: .zero, repeating: .milliseconds(1)) }
            tls.onClose = { _ in }
        }
        #expect(unsent >= 1 << 19 && unsent < written, "\(unsent) of \(written)")
        #expect(received == written - unsent)
    }

    @Test func aTLSStreamTellsACutOffFromCloseNotify() throws {
        let pair = try TLSPair()
        var ending: LoopError??
        try withLoop { loop in
            var accepted: TCPStream?
            let address = try listen(loop) { tcp in
                accepted = tcp
                let tls = try? TLSStream(accepting: tcp, context: pair.server)
                tls?.onReady = { _ in accepted?.close() }
            }
            let tls = try connect(loop, address, pair.client, host: "localhost")
            tls.onClose = { error in
                ending = .some(error)
                loop.stop()
            }
        }
        #expect(ending??.kind == .connectionLost)
    }

    /// Both ends send more than the buffers between them hold, and each stops writing when its queue is long and reading
    /// now and then: every byte must arrive, in order, and the queues stay short.
    @Test func aTLSStreamCarriesMuchBothWaysWithBackpressure() throws {
        let pair = try TLSPair()
        let total = 8 << 20
        let queueMax = 256 << 10
        let upwards = Pattern(seed: 1)
        let downwards = Pattern(seed: 2)
        var finished = 0
        var longestQueue = 0

        func exchange(_ loop: Loop, _ tls: TLSStream, sending: Pattern, expecting: Pattern) {
            var sent = 0
            var received = 0
            var reads = 0
            let pause = LoopTimer(loop: loop) { tls.resumeReading() }
            func fill() {
                while sent < total, tls.writeQueueBytes < queueMax {
                    let chunk = min(3000, total - sent)
                    tls.write(sending.bytes(at: sent, count: chunk))
                    sent += chunk
                    longestQueue = max(longestQueue, tls.writeQueueBytes)
                }
            }
            tls.onReady = { _ in fill() }
            tls.onDrain = { fill() }
            tls.onRead = { bytes in
                if Array(bytes) != expecting.bytes(at: received, count: bytes.count) {
                    Issue.record("wrong bytes after \(received)")
                    loop.stop()
                }
                received += bytes.count
                reads += 1
                if reads.isMultiple(of: 16) {
                    tls.pauseReading()
                    pause.start(after: .milliseconds(1))
                }
                if received == total {
                    finished += 1
                    if finished == 2 { loop.stop() }
                }
            }
            tls.onClose = { Issue.record("closed: \(String(describing: $0))") }
        }

        try withLoop(deadline: .seconds(120)) { loop in
            let address = try listen(loop) { tcp in
                guard let tls = try? TLSStream(accepting: tcp, context: pair.server) else { return }
                exchange(loop, tls, sending: downwards, expecting: upwards)
            }
            let tls = try connect(loop, address, pair.client, host: "localhost")
            exchange(loop, tls, sending: upwards, expecting: downwards)
        }
        #expect(finished == 2)
        #expect(longestQueue < queueMax + 64 << 10)
    }

    @Test func aTLSStreamClosesFromWithinItsCallbacks() throws {
        let pair = try TLSPair()
        var calls: [String] = []
        try withLoop { loop in
            let address = try echoServer(loop, pair.server)
            let first = try connect(loop, address, pair.client, host: "localhost")
            first.onReady = { _ in
                calls.append("ready")
                first.close()
                first.close()
                first.write([1])
            }
            first.onClose = { _ in calls.append("close") }
            let second = try connect(loop, address, pair.client, host: "localhost")
            second.onReady = { _ in second.write([1]) }
            second.onRead = { _ in
                calls.append("read")
                second.close()
                loop.turnAgain()
                loop.stop()
            }
            second.onClose = { _ in calls.append("close") }
        }
        #expect(calls.sorted() == ["read", "ready"])
    }

    @Test func namesTheFileThatCannotBeUsed() throws {
        let empty = try TemporaryFile("")
        #expect(throws: LoopError.self) { try TLSContext.client(caFile: empty.path) }
        do {
            _ = try TLSContext.server(certificateFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem")
            Issue.record("a missing certificate was accepted")
        } catch {
            #expect(error.place == "/nowhere/cert.pem")
        }
    }
}
