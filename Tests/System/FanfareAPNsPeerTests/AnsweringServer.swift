import FanfareLoop
import ServerTestSupport

/// A server that speaks as much HTTP/2 as a push needs, with frames written by hand. The test chooses each answer by connection and by
/// request: servers fail like that, and rules by token cannot.
final class AnsweringServer {
    /// A complete request. Connections and their requests count from 0.
    struct Request {
        let connection: Int
        let number: Int
        let stream: UInt32
    }

    /// Returns the frames for a request; the same function serves all connections.
    typealias Answer = (Request) -> [UInt8]

    private let context: TLSContext
    private let settings: [UInt8]
    private let answer: Answer
    private let windowUpdate: UInt32
    private let pingAnswers: PingAnswers
    private var listener: TCPListener!  // set in init, which hands `self` to its callback
    private var conversations: [Conversation] = []
    private(set) var requests = 0
    /// Connections that were closed because the maximum was reached.
    private(set) var turnedAway = 0
    /// Connections on which the client has sent a GOAWAY.
    var goAwaysHeard: Int { conversations.count { $0.hasHeardGoAway } }
    /// Greatest number of concurrent handshakes so far.
    private(set) var handshakesMost = 0
    /// Maximum of open connections; further ones are closed.
    var connectionsMax = Int.max
    /// Number of answers after which a connection is ended without a GOAWAY.
    var answersMost = Int.max
    /// Whether the server sends SETTINGS after TLS's handshake; connections that wait for them get them when this becomes `true`.
    var greets = true { didSet { if greets { for conversation in conversations { conversation.greet() } } } }
    /// Connections that wait for the server's SETTINGS.
    var ungreeted: Int { conversations.count { !$0.isReady && !$0.hasEnded } }
    var pings: Int { pingAnswers.count }
    /// Delay of answers to PINGs, which simulates distance.
    var pongsAfter: Duration {
        get { pingAnswers.delay }
        set { pingAnswers.delay = newValue }
    }
    /// Connections whose PINGs are not answered.
    var pongsWithheld: Set<Int> {
        get { pingAnswers.withheld }
        set { pingAnswers.withheld = newValue }
    }

    /// - Parameters:
    ///   - settings: the payload of its SETTINGS frame.
    ///   - windowUpdate: of a connection, beyond the first 65,535 bytes; 0: none.
    init(
        loop: Loop, scratch: Scratch, host: String = "127.0.0.1", port: UInt16 = 0, settings: [UInt8] = [],
        windowUpdate: UInt32 = 1 << 30, answer: @escaping Answer
    ) throws {
        context = try TLSContext.server(
            certificateFile: scratch.path("server.pem"), keyFile: scratch.path("server.key"))
        self.settings = settings
        self.answer = answer
        self.windowUpdate = windowUpdate
        pingAnswers = PingAnswers(loop)
        listener = try TCPListener(loop: loop, host: host, port: port) { [unowned self] in accept($0) }
    }

    var port: UInt16 { listener.port }
    var connections: Int { conversations.count }
    var connectionsEnded: Int { conversations.count { $0.hasEnded } }
    /// Number of requests on each connection, in the order in which the connections were opened.
    var requestsByConnection: [Int] { conversations.map(\.requests) }

    /// Ends all connections with a GOAWAY, as a firewall's timer or a deployment does.
    func goAway() { for conversation in conversations { conversation.write(frame(7, big(0) + big(0))) } }

    /// Ends a connection without any HTTP/2 frame.
    func end(connection: Int) { conversations[connection].end() }

    /// Sends a delayed answer.
    func write(_ frames: [UInt8], on connection: Int) { conversations[connection].write(frames) }

    func stopReading(connection: Int) { conversations[connection].stopReading() }

    private func accept(_ tcp: TCPStream) {
        guard conversations.count(where: { !$0.hasEnded }) < connectionsMax else {
            turnedAway += 1
            return tcp.close()
        }
        guard let stream = try? TLSStream(accepting: tcp, context: context) else { return tcp.close() }
        let index = conversations.count
        let window = windowUpdate > 0 ? frame(8, big(windowUpdate)) : []
        let conversation = Conversation(stream, greeting: frame(4, settings) + window) {
            [unowned self] in
            greets
        } answer: { [unowned self] number, id in
            requests += 1
            if number + 1 >= answersMost { conversations[index].reset() }
            return answer(Request(connection: index, number: number, stream: id))
        }
        conversation.pong = { [unowned self, unowned conversation] in
            pingAnswers.answer($0, of: index, write: conversation.write)
        }
        conversations.append(conversation)
        handshakesMost = max(handshakesMost, conversations.count { !$0.isReady && !$0.hasEnded })
    }

    static func accepted(_ request: Request) -> [UInt8] { frame(1, flags: 5, stream: request.stream, [0x88]) }

    static func refused(_ request: Request, _ status: Int, _ reason: String) -> [UInt8] {
        frame(1, flags: 4, stream: request.stream, [8, 3] + Array("\(status)".utf8))
            + frame(0, flags: 1, stream: request.stream, Array(#"{"reason":"\#(reason)"}"#.utf8))
    }

    /// Returns an answer without a reason, which APNs never gives.
    static func refused(_ request: Request, _ status: Int) -> [UInt8] {
        frame(1, flags: 5, stream: request.stream, [8, 3] + Array("\(status)".utf8))
    }

    static func reset(_ request: Request, _ code: UInt32) -> [UInt8] { frame(3, stream: request.stream, big(code)) }

    /// Returns a GOAWAY after which no later request is processed.
    static func goAway(after request: Request, code: UInt32 = 0) -> [UInt8] {
        frame(7, big(request.stream) + big(code))
    }

    private final class Conversation {
        private let stream: TLSStream
        private let answer: (_ number: Int, _ stream: UInt32) -> [UInt8]
        private var input: [UInt8] = []
        private var hasGreeted = false
        private(set) var requests = 0
        private(set) var hasEnded = false
        private(set) var hasHeardGoAway = false
        private let greeting: [UInt8]
        private var hasHandshake = false
        /// Is `true` after the server has sent its SETTINGS.
        private(set) var isReady = false
        private var isOver = false
        var pong: (([UInt8]) -> Void)?

        init(
            _ stream: TLSStream, greeting: [UInt8], greets: @escaping () -> Bool,
            answer: @escaping (Int, UInt32) -> [UInt8]
        ) {
            self.stream = stream
            self.greeting = greeting
            self.answer = answer
            stream.onReady = { [unowned self] _ in
                hasHandshake = true
                if greets() { greet() }
            }
            stream.onRead = { [unowned self] in
                input += $0
                if isReady { takeFrames() }
            }
            stream.onClose = { [unowned self] _ in hasEnded = true }
        }

        func greet() {
            guard hasHandshake, !isReady else { return }
            isReady = true
            stream.write(greeting)
            takeFrames()
        }

        func write(_ bytes: [UInt8]) { if !stream.isClosed { stream.write(bytes) } }

        func stopReading() { stream.pauseReading() }

        func end() {
            stream.close()
            hasEnded = true
        }

        /// Resets the connection after the frames of this turn are written.
        func reset() { isOver = true }

        private func takeFrames() {
            let preface = 24
            if !hasGreeted {
                guard input.count >= preface else { return }
                input.removeFirst(preface)
                hasGreeted = true
            }
            var position = 0
            var answers: [UInt8] = []
            while input.count - position >= 9 {
                let length = Int(input[position]) << 16 | Int(input[position + 1]) << 8 | Int(input[position + 2])
                guard input.count - position >= 9 + length else { break }
                let flags = input[position + 4]
                let id = input[(position + 5)..<(position + 9)].reduce(0) { $0 << 8 | UInt32($1) }
                switch input[position + 3] {
                case 0 where flags & 1 != 0:
                    answers += answer(requests, id)
                    requests += 1
                case 4 where flags & 1 == 0: answers += frame(4, flags: 1, [])
                case 7: hasHeardGoAway = true
                case 6 where flags & 1 == 0:
                    pong?(Array(input[(position + 9)..<(position + 9 + length)]))
                default: break
                }
                position += 9 + length
            }
            input.removeFirst(position)
            if !answers.isEmpty { write(answers) }
            if isOver { stream.finish() }
        }
    }
}
