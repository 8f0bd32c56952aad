import FanfareLoop
import ServerTestSupport

/// A server that speaks as much HTTP/2 as a push needs, with frames written by hand. Its first connections are hostile: they attack from
/// their first request on. All later ones answer 200.
final class HostileServer {
    /// The behaviour of a hostile connection.
    struct Attack {
        /// Initial window in its SETTINGS.
        var initialWindow: UInt32 = 65_535
        /// Frames in answer to each request, once its HEADERS are there.
        var answer: (_ stream: UInt32) -> [UInt8] = { _ in [] }
        /// Frames after the first answer, repeated as fast as the client reads them.
        var flood: (_ stream: UInt32) -> [UInt8] = { _ in [] }
    }

    private let context: TLSContext
    private let attack: Attack
    private let hostileConnections: Int
    private var listener: TCPListener!  // set in init, which hands `self` to its callback
    private var conversations: [Conversation] = []

    init(loop: Loop, scratch: Scratch, hostileConnections: Int = 1, _ attack: Attack) throws {
        context = try TLSContext.server(
            certificateFile: scratch.path("server.pem"), keyFile: scratch.path("server.key"))
        self.attack = attack
        self.hostileConnections = hostileConnections
        listener = try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { [unowned self] in accept($0) }
    }

    var port: UInt16 { listener.port }
    /// The hostile connections so far.
    var victims: [Conversation] { Array(conversations.prefix(hostileConnections)) }
    var requests: Int { conversations.reduce(0) { $0 + $1.requests } }

    private func accept(_ tcp: TCPStream) {
        guard let stream = try? TLSStream(accepting: tcp, context: context) else { return tcp.close() }
        conversations.append(
            Conversation(stream, conversations.count < hostileConnections ? attack : nil))
    }

    final class Conversation {
        private let stream: TLSStream
        private let attack: Attack?
        private var input: [UInt8] = []
        private var hasGreeted = false
        private var flooded: UInt32?
        fileprivate var requests = 0
        /// Bytes of the flood that have been handed to TLS.
        private(set) var floodBytes = 0
        /// Codes of the client's GOAWAY and RST_STREAM frames (RFC 9113 §7).
        private(set) var goAwayCode: UInt32?
        private(set) var resetCodes: Set<UInt32> = []
        private(set) var hasEnded = false

        init(_ stream: TLSStream, _ attack: Attack?) {
            self.stream = stream
            self.attack = attack
            stream.onReady = { _ in
                stream.write(
                    frame(4, [0, 4] + big(attack?.initialWindow ?? 65_535)) + frame(8, big(1 << 30)))
            }
            stream.onRead = { [unowned self] in
                input += $0
                takeFrames()
            }
            stream.onDrain = { [unowned self] in goOnFlooding() }
            stream.onClose = { [unowned self] _ in hasEnded = true }
        }

        private func takeFrames() {
            let preface = 24
            if !hasGreeted {
                guard input.count >= preface else { return }
                input.removeFirst(preface)
                hasGreeted = true
            }
            var position = 0
            while input.count - position >= 9 {
                let length = Int(input[position]) << 16 | Int(input[position + 1]) << 8 | Int(input[position + 2])
                guard input.count - position >= 9 + length else { break }
                let id = number(input[(position + 5)..<(position + 9)])
                let payload = input[(position + 9)..<(position + 9 + length)]
                take(type: input[position + 3], flags: input[position + 4], stream: id, payload)
                position += 9 + length
            }
            input.removeFirst(position)
        }

        private func take(type: UInt8, flags: UInt8, stream id: UInt32, _ payload: ArraySlice<UInt8>) {
            switch type {
            case 0 where attack == nil && flags & 1 != 0: stream.write(HostileServer.accepted(id))
            case 1:
                requests += 1
                guard let attack else { return }
                stream.write(attack.answer(id))
                guard flooded == nil else { return }
                flooded = id
                goOnFlooding()
            case 3: resetCodes.insert(number(payload))
            case 4 where flags & 1 == 0: stream.write(frame(4, flags: 1, []))
            case 7 where payload.count >= 8: goAwayCode = number(payload.dropFirst(4).prefix(4))
            default: break
            }
        }

        private func goOnFlooding() {
            guard let attack, let flooded, !stream.isClosed else { return }
            let bytes = attack.flood(flooded)
            guard !bytes.isEmpty else { return }
            // A burst fills about one socket buffer.
            var burst: [UInt8] = []
            while burst.count < 64 * 1024 { burst += bytes }
            floodBytes += burst.count
            stream.write(burst)
        }
    }

    /// Returns the frames of a 200 that ends the stream.
    static func accepted(_ stream: UInt32) -> [UInt8] { frame(1, flags: 5, stream: stream, [0x88]) }
}

func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8]) -> [UInt8] {
    [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 0xff), UInt8(payload.count & 0xff), type, flags]
        + big(stream) + payload
}

func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }
