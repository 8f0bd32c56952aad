/// Limits that we set for the peer.
struct OwnLimits {
    /// Receive window of the connection as our SETTINGS and WINDOW_UPDATE announce it, in bytes.
    let window: Int
    /// Bytes that the peer may still send before our next WINDOW_UPDATE.
    private(set) var windowLeft: Int
    /// `true` once the peer has acknowledged our SETTINGS, so that they hold.
    private(set) var areAcknowledged = false

    init(window: Int) {
        self.window = window
        windowLeft = window
    }

    /// Takes the peer's acknowledgement of our SETTINGS, of which we send one frame.
    mutating func acknowledge() throws(ConnectionError) {
        guard !areAcknowledged else {
            throw ConnectionError(code: .protocolError, text: "SETTINGS acknowledged twice")
        }
        areAcknowledged = true
    }

    /// Takes the payload of a DATA frame. Padding counts towards the window, and so does DATA for closed streams (RFC 9113 §6.9).
    mutating func receive(_ count: Int) throws(ConnectionError) {
        windowLeft -= count
        guard windowLeft >= 0 else {
            throw ConnectionError(
                code: .flowControlError, text: "\(-windowLeft) bytes of DATA beyond the connection's window")
        }
    }

    /// Returns the bytes by which a WINDOW_UPDATE is to widen the window again, once more than half of it is used; 0 before.
    mutating func renewal() -> Int {
        guard windowLeft < window / 2 else { return 0 }
        defer { windowLeft = window }
        return window - windowLeft
    }
}
