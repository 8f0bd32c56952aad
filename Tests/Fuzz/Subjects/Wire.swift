import FanfareAPNs
import FanfareHTTP2
import FanfareModel

/// A server's bytes. The first one says how they are cut and how much of our output the server has read before each piece.
func runFrames(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let pieceBytes = [1, 7, 64, 4096][Int(first & 3)]
    var conversation = Conversation(smallTables: first & 4 != 0)
    for start in stride(from: 1, to: bytes.count, by: pieceBytes) {
        conversation.request()
        conversation.receive(Array(bytes[start..<min(start + pieceBytes, bytes.count)]), isRead: first & 8 != 0)
    }
    conversation.end()
}

/// Header blocks, each a length and that many bytes, as answers to a request each; so that tables live on from block to
/// block.
func runHPACK(_ bytes: [UInt8]) {
    var conversation = Conversation(smallTables: false)
    conversation.receive([0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 0, 4, 1, 0, 0, 0, 0], isRead: true)
    var position = 0
    var stream: UInt32 = 1
    while position < bytes.count {
        let block = bytes[(position + 1)...].prefix(Int(bytes[position]))
        position += 1 + block.count
        conversation.request()
        conversation.receive(
            [0, 0, UInt8(block.count), 1, 5] + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) }
                + block,
            isRead: true)
        stream += 2
    }
    conversation.end()
}

func runErrorBody(_ bytes: [UInt8]) {
    guard let reason = ErrorBody(bytes).reason else { return }
    promise(reason.utf8.count <= ErrorBody.reasonSizeMax.bytes, "a reason of \(reason.utf8.count) bytes")
    promise(reason.utf8.allSatisfy { 0x20..<0x7f ~= $0 }, "an unprintable reason")
}

/// A session and its books: every request ends once, and what it keeps is bounded.
private struct Conversation: ~Copyable {
    private var session: ClientSession
    private var events = EventBatch()
    private var open: Set<UInt64> = []
    private var nextTag: UInt64 = 0
    private let shape = RequestShape(authority: "localhost", fields: [HeaderField("apns-priority", "5")])

    init(smallTables: Bool) {
        var configuration = ClientSession.Configuration()
        configuration.streamsMax = 8
        configuration.bodyMax = 64
        if smallTables { (configuration.decoderTableSize, configuration.encoderTableSize) = (100, 64) }
        session = ClientSession(configuration: configuration)
    }

    mutating func request() {
        let token: [UInt8] = [1, 2, 3, 4]
        let accepted = session.request(
            shape: shape, token: token.span, body: [UInt8](repeating: 7, count: 100), tag: nextTag)
        guard accepted else { return }
        open.insert(nextTag)
        nextTag += 1
    }

    mutating func receive(_ bytes: [UInt8], isRead: Bool) {
        bytes.withUnsafeBytes { session.receive($0) }
        // 8 requests of at most a kilobyte, 1,000 replies of 17 bytes, a GOAWAY, and a reset or window update of 13 bytes
        // per frame just read.
        promise(session.outputCount < 64 * 1024 + 2 * bytes.count || !isRead, "\(session.outputCount) bytes of output")
        if isRead { session.take(session.outputCount) }
        takeEvents()
    }

    mutating func end() {
        session.connectionLost()
        takeEvents()
        promise(open.isEmpty && session.openStreams == 0, "\(open.count) requests never ended")
    }

    private mutating func takeEvents() {
        session.takeEvents(into: &events)
        for event in events.events {
            switch event {
            case .response(let response):
                ended(response.tag)
                promise(200...599 ~= response.status, "status \(response.status)")
                promise(response.body.count <= 64, "a body of \(response.body.count) bytes")
                promise(events[response.apnsID].count == response.apnsID.count, "an apns-id out of bounds")
            case .notProcessed(let tag), .lost(let tag, _): ended(tag)
            case .goAway(_, _, let text), .failed(_, let text): _ = events.text(text)
            case .settingsChanged, .pong, .exhausted: break
            }
        }
        promise(session.openStreams == open.count, "\(session.openStreams) streams for \(open.count) requests")
    }

    private mutating func ended(_ tag: UInt64) {
        promise(open.remove(tag) != nil, "request \(tag) ended twice, or never was")
    }
}
