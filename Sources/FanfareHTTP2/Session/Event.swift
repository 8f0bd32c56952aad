/// What a session has to tell. Every request that was accepted ends in exactly one of `response`, `notProcessed` and
/// `lost`.
package enum Event: Sendable, Equatable {
    case response(Response)
    /// The peer has certainly not processed this request: refused, above GOAWAY's last stream, or never wholly sent.
    case notProcessed(tag: UInt64)
    /// No answer will come, and the request may have been processed: reset by the peer or by us (with the code), or the
    /// connection was lost (no code).
    case lost(tag: UInt64, code: ErrorCode?)
    /// The peer takes no more requests on this connection; those up to `lastStream` still run. `debug` is at most
    /// `ClientSession.debugTextMax` bytes of what it said.
    case goAway(lastStream: UInt32, code: ErrorCode, debug: EventBytes)
    /// The peer's limits have changed: look at `freeStreams` again.
    case settingsChanged
    /// The last `ping()` was answered.
    case pong
    /// No stream ID is left: the connection must be replaced. What is in flight still runs.
    case exhausted
    /// The peer broke the protocol. The output now ends in a GOAWAY with this code; write it, close the connection and
    /// call `connectionLost()`. `text` says what was wrong, for people.
    case failed(code: ErrorCode, text: EventBytes)
}

/// A final answer, complete.
package struct Response: Sendable, Equatable {
    package let stream: UInt32
    /// As given to `request`.
    package let tag: UInt64
    /// 200...599; what is no status ends as `Event.lost`.
    package let status: Int
    /// At most `Configuration.bodyMax` bytes.
    package let body: EventBytes
    /// Longer than `bodyMax`: the rest was not waited for.
    package let bodyIsCut: Bool
    /// `apns-id`, empty where there is none.
    package let apnsID: EventBytes
}

/// Bytes of an event: valid in the batch that the event came in.
package struct EventBytes: Sendable, Equatable {
    let start: Int32
    package let count: Int32
    package var isEmpty: Bool { count == 0 }

    static let none = EventBytes(start: 0, count: 0)
}

/// Events taken together, with the bytes they speak of. Reused from turn to turn, so that an answer allocates nothing.
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
