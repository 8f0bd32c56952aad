/// Event of a session. Every accepted request ends in exactly one of `response`, `notProcessed` and `lost`.
package enum Event: Sendable, Equatable {
    case response(Response)
    /// The peer has certainly not processed this request: it was refused, lies above GOAWAY's last stream, or was never wholly sent.
    case notProcessed(tag: UInt64)
    /// No answer will come, and the peer may have processed the request: the peer or we reset it (with the code), or the
    /// connection was lost (no code).
    case lost(tag: UInt64, code: ErrorCode?)
    /// The peer accepts no more requests on this connection; requests up to `lastStream` continue. `debug` is at most
    /// `ClientSession.debugTextMax` bytes of the frame's debug data.
    case goAway(lastStream: UInt32, code: ErrorCode, debug: EventBytes)
    /// The peer's limits have changed, and `freeStreams` with them.
    case settingsChanged
    /// The peer answered the last `ping()`.
    case pong
    /// No stream ID is left, so the connection must be replaced. Requests in flight continue.
    case exhausted
    /// The peer broke the protocol. The output now ends in a GOAWAY with this code; the caller writes it, closes the
    /// connection and calls `connectionLost()`. `text` describes the violation for people.
    case failed(code: ErrorCode, text: EventBytes)
}

/// Complete final response.
package struct Response: Sendable, Equatable {
    package let stream: UInt32
    /// Tag that the caller passed to `request`.
    package let tag: UInt64
    /// HTTP status, 200...599; an answer with any other value ends as `Event.lost`.
    package let status: Int
    /// Body, at most `SessionConfiguration.bodyMax` bytes.
    package let body: EventBytes
    /// `true` when the body was longer than `bodyMax`; the session did not wait for the rest.
    package let bodyIsCut: Bool
    /// Value of `apns-id`; empty if the answer has none.
    package let apnsID: EventBytes
}

/// Bytes of an event, valid in the batch that contains the event.
package struct EventBytes: Sendable, Equatable {
    let start: Int32
    package let count: Int32
    package var isEmpty: Bool { count == 0 }

    static let none = EventBytes(start: 0, count: 0)
}

/// Events that are taken together, with their bytes. A batch is reused from turn to turn, so that an answer allocates nothing.
package struct EventBatch: Sendable {
    package internal(set) var events: [Event] = []
    var storage: [UInt8] = []

    package init() {}

    package subscript(bytes: EventBytes) -> ArraySlice<UInt8> {
        storage[Int(bytes.start)..<Int(bytes.start + bytes.count)]
    }

    package func text(_ bytes: EventBytes) -> String { String(decoding: self[bytes], as: UTF8.self) }

    package mutating func removeAll() {
        events.removeAll(keepingCapacity: true)
        storage.removeAll(keepingCapacity: true)
    }

    mutating func store(_ bytes: some Collection<UInt8>) -> EventBytes {
        let start = storage.count
        storage.append(contentsOf: bytes)
        return EventBytes(start: Int32(start), count: Int32(storage.count - start))
    }

    mutating func store(_ bytes: Span<UInt8>) -> EventBytes {
        guard !bytes.isEmpty else { return .none }
        let start = storage.count
        storage.append(bytes)
        return EventBytes(start: Int32(start), count: Int32(bytes.count))
    }
}
