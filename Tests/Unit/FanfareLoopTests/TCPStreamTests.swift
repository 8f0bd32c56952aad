import FanfareLoop
import Foundation
import Glibc
import Testing

@Suite struct TCPStreamTests {
    @Test func aTCPStreamCarriesBytesThereAndBack() throws {
        var echoed: [UInt8] = []
        try withLoop { loop in
            let address = try listen(loop) { stream in
                stream.onRead = { stream.write($0) }
                stream.resumeReading()
            }
            let stream = try TCPStream(loop: loop)
            stream.onConnect = { stream.write(Array("hello".utf8)) }
            stream.onRead = { bytes in
                echoed += bytes
                if echoed.count == 5 { loop.stop() }
            }
            stream.onClose = { Issue.record("closed: \(String(describing: $0))") }
            stream.connect(to: address)
        }
        #expect(String(decoding: echoed, as: UTF8.self) == "hello")
    }

    @Test func aRefusedConnectionSaysWhereAndWhy() throws {
        var failure: LoopError?
        try withLoop { loop in
            let stream = try TCPStream(loop: loop)
            stream.onConnect = { Issue.record("connected") }
            stream.onClose = { error in
                failure = error
                #expect(stream.isClosed)
                loop.stop()
            }
            stream.connect(to: try vacantAddress(loop), name: "feed.example")
            stream.write([1])
        }
        #expect(failure?.kind == .refused)
        #expect(failure?.place?.hasPrefix("feed.example:") == true)
    }

    @Test func writesBeforeTheConnectionAndFinishArriveWhole() throws {
        let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 8) }
        var received: [UInt8] = []
        var endings: [LoopError?] = []
        try withLoop { loop in
            let address = try listen(loop) { stream in
                stream.onRead = { received += $0 }
                stream.onClose = { endings.append($0) }
                stream.resumeReading()
            }
            let stream = try TCPStream(loop: loop)
            stream.onClose = { error in
                endings.append(error)
                loop.stop()
            }
            stream.connect(to: address)
            stream.write(sent)
            stream.finish()
            stream.write([0])  // too late
        }
        #expect(received == sent)
        #expect(endings == [nil, nil])
    }

    /// A server that goes says why, and then resets the connection. The client that writes first must hear it all the same.
    @Test func aFailedWriteComesAfterWhatThePeerHasSaid() throws {
        var heard: [UInt8] = []
        var failure: LoopError?
        try withLoop { loop in
            var server: TCPStream?
            let address = try listen(loop) { server = $0 }
            let stream = try TCPStream(loop: loop)
            stream.onRead = { heard += $0 }
            stream.onClose = { error in
                failure = error
                loop.stop()
            }
            var hasRequested = false
            stream.onConnect = {
                stream.pauseReading()
                stream.write(Array("request".utf8))
            }
            stream.onDrain = { hasRequested = true }
            var hasAnswered = false
            let next = LoopTimer(loop: loop) {
                guard let accepted = server, hasRequested else { return }
                guard hasAnswered else {
                    accepted.onDrain = { hasAnswered = true }
                    return accepted.write(Array("answer, goodbye".utf8))
                }
                server = nil
                // The system resets a connection that is closed with unread bytes.
                accepted.close()
                stream.resumeReading()
                stream.write(Array("next request".utf8))
            }
            next.start(after: .milliseconds(1), repeating: .milliseconds(1))
            stream.connect(to: address)
        }
        #expect(String(decoding: heard, as: UTF8.self) == "answer, goodbye")
        #expect(failure?.call == "write")
    }

    @Test func backpressureHoldsTheWriterBack() throws {
        let total = 32 << 20
        let chunk = Pattern(seed: 4).bytes(at: 0, count: 65_536)
        var received = 0
        var drains = 0
        try withLoop(deadline: .seconds(60)) { loop in
            let address = try listen(loop) { stream in
                var reads = 0
                let pause = LoopTimer(loop: loop) { stream.resumeReading() }
                stream.onRead = { bytes in
                    received += bytes.count
                    reads += 1
                    if reads.isMultiple(of: 100) {
                        stream.pauseReading()
                        pause.start(after: .milliseconds(1))
                    }
                    if received == total { loop.stop() }
                }
                stream.resumeReading()
            }
            let stream = try TCPStream(loop: loop)
            var sent = 0
            func fill() {
                while sent < total, stream.writeQueueBytes < 1 << 20 {
                    stream.write(chunk)
                    sent += chunk.count
                }
                #expect(stream.writeQueueBytes <= 1 << 20 + chunk.count)
            }
            stream.onConnect = { fill() }
            stream.onDrain = {
                drains += 1
                #expect(stream.writeQueueBytes == 0)
                fill()
            }
            stream.connect(to: address)
        }
        #expect(received == total)
        #expect(drains > 1)
    }

    @Test func aPeerThatDoesNotReadEndsTheConnectionAtTheLimit() throws {
        var failure: LoopError?
        try withLoop { loop in
            var silent: TCPStream?
            let address = try listen(loop) { silent = $0 }  // never reads
            let stream = try TCPStream(loop: loop)
            stream.writeQueueBytesMax = 4 << 20
            stream.onConnect = { for _ in 0..<100 { stream.write([UInt8](repeating: 0, count: 1 << 20)) } }
            stream.onClose = { error in
                failure = error
                silent?.close()
                loop.stop()
            }
            stream.connect(to: address)
        }
        #expect(failure?.kind == .tooLarge)
    }

    @Test func aPeerThatVanishesIsAnError() throws {
        var failure: LoopError??
        try withLoop { loop in
            var accepted: TCPStream?
            var hasArrived = false
            // A socket that is closed over bytes it has not read resets the connection.
            func vanish() { if hasArrived { accepted?.close() } }
            let address = try listen(loop) {
                accepted = $0
                vanish()
            }
            let stream = try TCPStream(loop: loop)
            stream.onConnect = { stream.write([1]) }
            stream.onDrain = {
                hasArrived = true
                vanish()
            }
            stream.onClose = { error in
                failure = .some(error)
                loop.stop()
            }
            stream.connect(to: address)
        }
        #expect(failure??.kind == .connectionLost)
    }

    @Test func nothingIsCalledAfterClose() throws {
        var calls: [String] = []
        try withLoop { loop in
            let address = try listen(loop) { stream in
                stream.write([1, 2, 3])
                stream.resumeReading()
            }
            let stream = try TCPStream(loop: loop)
            stream.onConnect = { calls.append("connect") }
            stream.onDrain = { calls.append("drain") }
            stream.onRead = { _ in
                calls.append("read")
                stream.close()
                stream.close()
                stream.pauseReading()
                stream.resumeReading()
                stream.write([1])
                stream.finish()
                LoopTimer(loop: loop) { loop.stop() }.start(after: .milliseconds(5))
            }
            stream.onClose = { _ in calls.append("close") }
            stream.connect(to: address)
        }
        #expect(calls == ["connect", "read"])
    }

    @Test func theSystemChecksAConnectionThatIsQuiet() throws {
        var settings: [[CInt]] = []
        try withLoop { loop in
            let address = try listen(loop) { $0.resumeReading() }
            let client = try TCPStream(loop: loop)
            client.onConnect = {
                for descriptor in CInt(0)..<CInt(1024) where peerPort(of: descriptor) == address.port {
                    settings.append([
                        option(SO_KEEPALIVE, SOL_SOCKET, of: descriptor), option(TCP_KEEPIDLE, tcp, of: descriptor),
                    ])
                }
                loop.stop()
            }
            client.connect(to: address)
        }
        #expect(settings == [[1, 60]])
    }

    @Test func resolvesAfreshAndFromTheLoop() throws {
        var found: [SocketAddress] = []
        var failure: LoopError?
        try withLoop { loop in
            var answers = 0
            func answered() {
                answers += 1
                if answers == 2 { loop.stop() }
            }
            let dropped = try Resolver.system.resolve(loop: loop, host: "127.0.0.1", port: 1) { _ in
                Issue.record("a cancelled look-up was answered")
            }
            try Resolver.system.resolve(loop: loop, host: "127.0.0.1", port: 443) { result in
                found = (try? result.get()) ?? []
                answered()
            }
            // ".invalid" never exists (RFC 6761 §6.4).
            try Resolver.system.resolve(loop: loop, host: "nowhere.invalid", port: 443) { result in
                if case .failure(let error) = result { failure = error }
                answered()
            }
            dropped.cancel()
            #expect(found.isEmpty)
        }
        #expect(found == [SocketAddress(ip: "127.0.0.1", port: 443)])
        #expect(failure?.kind == .nameNotFound)
        #expect(failure?.place == "nowhere.invalid:443")
    }

    @Test func aLoopClosesWithALookUpOnItsWay() throws {
        let loop = try Loop()
        for host in ["nowhere.invalid", "127.0.0.1"] {
            try Resolver.system.resolve(loop: loop, host: host, port: 1) { _ in Issue.record("answered after close") }
        }
        loop.close()
    }

    @Test(arguments: ["127.0.0.1", "::1", "2001:db8::17"])
    func addressesReadAndPrintAlike(ip: String) throws {
        let address = try #require(SocketAddress(ip: ip, port: 2197))
        #expect(address.ip == ip)
        #expect(address.port == 2197)
        #expect(address.description == (ip.contains(":") ? "[\(ip)]:2197" : "\(ip):2197"))
    }

    @Test func namesAreNotAddresses() {
        for text in ["localhost", "", "1.2.3", "300.1.1.1"] { #expect(SocketAddress(ip: text, port: 1) == nil) }
    }
}

/// IPPROTO_TCP, RFC 9293.
private let tcp: CInt = 6

/// The port of the peer to which the IPv4 socket `descriptor` is connected: bytes 2 and 3 of a `sockaddr_in`, ip(7).
private func peerPort(of descriptor: CInt) -> UInt16? {
    var address = [UInt8](repeating: 0, count: 128)
    var size = socklen_t(address.count)
    let status = address.withUnsafeMutableBytes { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { getpeername(descriptor, $0.baseAddress, &size) }
    }
    return status == 0 && size == 16 ? UInt16(address[2]) << 8 | UInt16(address[3]) : nil
}

private func option(_ name: CInt, _ level: CInt, of descriptor: CInt) -> CInt {
    var value: CInt = -1
    var size = socklen_t(MemoryLayout<CInt>.size)
    return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1
}
