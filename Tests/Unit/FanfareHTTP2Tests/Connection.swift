import HTTP2TestSupport

@testable import FanfareHTTP2

/// A session beyond its greeting, and what tests do with it.
final class Connection {
    static let shape = RequestShape(authority: "api.push.apple.com", fields: [HeaderField("apns-priority", "5")])
    var session: ClientSession

    init(
        _ configuration: ClientSession.Configuration = .init(), settings pairs: [(UInt16, UInt32)] = [],
        greeted: Bool = true
    ) {
        session = ClientSession(configuration: configuration)
        guard greeted else { return }
        session.receive(settings(pairs))
        _ = session.drain()
        _ = session.takeEvents()
    }

    /// One request with a tag; the first one is on stream 1.
    @discardableResult
    func request(_ tag: UInt64, body: [UInt8] = []) -> Bool {
        let token: [UInt8] = [0xab]
        return session.request(shape: Self.shape, token: token.span, body: body, tag: tag)
    }

    func receive(_ bytes: [UInt8]...) { for piece in bytes { session.receive(piece) } }

    /// The event of a session that failed, or nil.
    func failure() -> ErrorCode? {
        guard case .failed(let code, _) = session.takeEvents().last else { return nil }
        return code
    }

    func responses() -> [(tag: UInt64, status: Int, body: [UInt8], apnsID: [UInt8])] {
        var batch = EventBatch()
        session.takeEvents(into: &batch)
        return batch.events.compactMap {
            guard case .response(let response) = $0 else { return nil }
            return (response.tag, response.status, Array(batch[response.body]), Array(batch[response.apnsID]))
        }
    }

    // `#expect` cannot look into a value that cannot be copied, so what tests look at is handed out here.
    var state: ClientSession.State { session.state }
    var freeStreams: Int { session.freeStreams }
    var openStreams: Int { session.openStreams }
    var freeWindow: Int { session.freeWindow }
    var settingsReceived: Bool { session.settingsReceived }
    var stalled: [UInt32] { session.stalled.streams }
    var receiveWindow: Int { session.own.windowLeft }
    func events() -> [Event] { session.takeEvents() }
    func frames() -> [Sent] { session.drainFrames() }
    func output() -> [UInt8] { session.drain() }
}

/// An answer's header block: `:status` as a literal, then fields in full.
func headers(
    _ stream: UInt32, status: String? = "200", _ fields: [(String, String)] = [], end: Bool = true
) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in (status.map { [(":status", $0)] } ?? []) + fields {
        block.append(0)
        for text in [name, value] { block += [UInt8(text.utf8.count)] + Array(text.utf8) }
    }
    return frame(
        FrameType.headers, flags: FrameFlag.endHeaders | (end ? FrameFlag.endStream : 0), stream: stream, block)
}

func data(_ stream: UInt32, _ body: [UInt8], end: Bool = true) -> [UInt8] {
    frame(FrameType.data, flags: end ? FrameFlag.endStream : 0, stream: stream, body)
}

func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
    frame(FrameType.windowUpdate, stream: stream, big(increment))
}
