package import FanfareLoop
internal import ServerTestSupport

/// Relays connections to a server as if the server were far away.
///
/// The bytes pass unchanged, so HTTP/2 and TLS behave as over a distance. Opening a connection takes TCP's round trip; each of its
/// directions is a `Way`. Time advances in steps of a millisecond. Confined to its loop's thread.
package final class Relay {
    private static let tick = Duration.milliseconds(1)
    /// Bytes due within half a tick are delivered, so that delays are right on average.
    private static let earliness: Int64 = 500_000

    private let options: RelayOptions
    private let way: Way.Options
    private let target: SocketAddress
    private let loop: Loop
    private let now: () -> Int64
    private var listener: TCPListener?
    private var timer: LoopTimer?
    private var isTicking = false
    private var passages: [Passage] = []
    private var stalls: Stalls?

    /// Connections accepted and relayed; `turnedAway` counts connections closed at once, `bytes` the bytes relayed.
    package private(set) var accepted = 0
    package private(set) var turnedAway = 0
    package private(set) var bytes = 0

    /// Starts to listen at once.
    ///
    /// - Parameter now: monotonic nanoseconds.
    package init(
        _ options: RelayOptions, loop: Loop, now: @escaping () -> Int64 = Clock.monotonicNanoseconds
    ) throws(LoopError) {
        self.options = options
        self.loop = loop
        self.now = now
        way = options.way
        stalls = Stalls(options)
        guard let address = SocketAddress(ip: options.target.host, port: options.target.port) else {
            throw LoopError(
                .nameNotFound, call: "--to", place: "\(options.target.host):\(options.target.port)",
                reason: "give an address, as 127.0.0.1:8443")
        }
        target = address
        listener = try TCPListener(loop: loop, host: options.listen.host, port: options.listen.port) {
            [unowned self] in accept($0)
        }
        timer = LoopTimer(loop: loop) { [unowned self] in move() }
    }

    package var port: UInt16 { listener?.port ?? 0 }

    /// Ends all connections; bytes on their way are lost.
    package func close() {
        listener?.close()
        timer?.close()
        for passage in passages { passage.close() }
        passages = []
    }

    private func accept(_ client: TCPStream) {
        guard passages.count < options.connectionsMax, let server = try? TCPStream(loop: loop) else {
            turnedAway += 1
            return client.close()
        }
        accepted += 1
        let seed = options.seed &+ UInt64(accepted)
        passages.append(Passage(from: client, to: server, way, seed: seed, since: now()))
        server.connect(to: target)
        guard !isTicking else { return }
        isTicking = true
        timer?.start(after: Relay.tick, repeating: Relay.tick)
    }

    private func move() {
        let now = now() + Relay.earliness
        if !passages.isEmpty, let (stalled, until) = stalls?.draw(at: now, of: passages.count) {
            passages[stalled].stall(until: until)
        }
        for passage in passages { bytes += passage.move(at: now) }
        passages.removeAll { $0.hasEnded }
        guard passages.isEmpty else { return }
        isTicking = false
        timer?.stop()
    }

    /// A client's connection and the connection to the server that belongs to it.
    private final class Passage {
        private let there: Direction
        private let back: Direction
        private let opensAt: Int64
        private var isOpen = false
        private var stalledUntil = Int64.min

        init(from client: TCPStream, to server: TCPStream, _ way: Way.Options, seed: UInt64, since now: Int64) {
            there = Direction(from: client, to: server, Way(way, seed: 2 &* seed))
            back = Direction(from: server, to: client, Way(way, seed: 2 &* seed &+ 1))
            // A client may write as soon as TCP's handshake is done, which took no time on this side of the distance.
            opensAt = now + way.roundTrip
        }

        var hasEnded: Bool { there.hasEnded && back.hasEnded }

        /// - Returns: number of bytes that have arrived.
        func move(at now: Int64) -> Int {
            if !isOpen, now >= opensAt {
                isOpen = true
                there.resume()
                back.resume()
            }
            guard isOpen else { return 0 }
            let isStalled = now < stalledUntil
            return there.move(at: now, isStalled: isStalled) + back.move(at: now, isStalled: isStalled)
        }

        func stall(until moment: Int64) { stalledUntil = moment }

        func close() {
            there.close()
            back.close()
        }
    }

    /// Bytes on their way from one end of a connection to the other.
    private final class Direction {
        /// Most bytes waiting in the far end's socket; beyond that, arrived bytes stay in the way.
        private static let unsentBytesMax = 1 << 20

        private let near: TCPStream
        private let far: TCPStream
        private var way: Way
        /// Bytes read since the last move.
        private var read: [[UInt8]] = []
        private var isPaused = true
        /// Is `true` when no more bytes will come; those on their way still arrive.
        private var nearHasEnded = false
        /// Is `true` when the far end has ended, too.
        private(set) var hasEnded = false

        init(from near: TCPStream, to far: TCPStream, _ way: Way) {
            self.near = near
            self.far = far
            self.way = way
            near.pauseReading()
            near.onRead = { [unowned self] in read.append(Array($0)) }
            near.onClose = { [unowned self] _ in nearHasEnded = true }
        }

        deinit { close() }

        func resume() {
            guard isPaused else { return }
            isPaused = false
            near.resumeReading()
        }

        /// - Parameter isStalled: `true` while bytes may enter and none arrives.
        func move(at now: Int64, isStalled: Bool) -> Int {
            guard !hasEnded else { return 0 }
            for bytes in read { way.enter(bytes, at: now) }
            read.removeAll(keepingCapacity: true)
            var moved = 0
            if !isStalled, far.writeQueueBytes < Direction.unsentBytesMax {
                way.arrive(at: now) { bytes in
                    bytes.withUnsafeBytes { far.write($0) }
                    moved += bytes.count
                    return far.writeQueueBytes < Direction.unsentBytesMax
                }
            }
            // The far end is not closed yet: bytes written just now leave at the end of the loop's turn.
            if nearHasEnded, way.count == 0 { far.finish() }
            if far.isClosed {
                hasEnded = true
            } else if way.isFull {
                if !isPaused { near.pauseReading() }
                isPaused = true
            } else {
                resume()
            }
            return moved
        }

        func close() {
            near.close()
            far.close()
        }
    }
}
