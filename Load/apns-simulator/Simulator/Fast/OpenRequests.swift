/// A request whose end has not arrived.
struct FastRequest {
    let stream: UInt32
    /// Fingerprint of the token.
    let token: UInt64
    let refusal: Answer?
    var bodyBytes = 0
    /// Bytes used of the stream's window.
    var windowUsed = 0
}

/// The requests of a client whose ends have not arrived.
struct OpenRequests {
    /// The latest request. Bodies follow their heads, so the next DATA frame nearly always belongs to it.
    private var current: FastRequest?
    /// Further open requests, of a client that waits for a window or writes requests side by side.
    private var others: [UInt32: FastRequest] = [:]

    var count: Int { (current == nil ? 0 : 1) + others.count }

    /// Puts a request back, or a new one in, as the latest.
    mutating func put(_ request: FastRequest) {
        if let current { others[current.stream] = current }
        current = request
    }

    /// Removes and returns the request of a stream; `nil` if the stream has none.
    mutating func take(_ stream: UInt32) -> FastRequest? {
        if let request = current, request.stream == stream {
            current = nil
            return request
        }
        return others.isEmpty ? nil : others.removeValue(forKey: stream)
    }
}
