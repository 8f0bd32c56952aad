/// What a session has to tell. Every request that was accepted ends in exactly one of `response`, `notProcessed` and
/// `lost`.
public enum Event: Sendable, Equatable {
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
public struct Response: Sendable, Equatable {
    public let stream: UInt32
    /// As given to `request`.
    public let tag: UInt64
    /// 200...599; what is no status ends as `Event.lost`.
    public let status: Int
    /// At most `Configuration.bodyMax` bytes.
    public let body: EventBytes
    /// Longer than `bodyMax`: the rest was not waited for.
    public let bodyIsCut: Bool
    /// `apns-id`, empty where there is none.
    public let apnsID: EventBytes
}

/// Bytes of an event: valid in the batch that the event came in.
public struct EventBytes: Sendable, Equatable {
    let start: Int32
    public let count: Int32
    public var isEmpty: Bool { count == 0 }

    static let none = EventBytes(start: 0, count: 0)
}

/// Events taken together, with the bytes they speak of. Reused from turn to turn, so that an answer allocates nothing.
public struct EventBatch: Sendable {
    public internal(set) var events: [Event] = []
    var storage: [UInt8] = []

    public init() {}

    public subscript(bytes: EventBytes) -> ArraySlice<UInt8> {
        storage[Int(bytes.start)..<Int(bytes.start + bytes.count)]
    }

    public func text(_ bytes: EventBytes) -> String { String(decoding: self[bytes], as: UTF8.self) }

    public mutating func removeAll() {
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
