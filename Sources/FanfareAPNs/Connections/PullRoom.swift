import FanfareModel

/// Number of requests for which a connection is pulled for.
///
/// Each pull costs its own records, writes and reads, however small it is, so a full connection waits until a sixteenth of its capacity is free. A
/// wide connection waits only until a few requests find room: a peer may return its window long before it answers, and the requests in flight then
/// say little about the capacity.
enum PullRoom {
    /// Returns the number of requests that a connection takes now; 0 if a pull for them would be too small.
    ///
    /// - Parameters:
    ///   - streams: requests that the peer allows beside those in flight.
    ///   - window: bytes that are free in the connection's window.
    ///   - inFlight: requests in flight on the connection.
    ///   - bodySize: usual size of a body, by which the window is divided.
    static func requests(streams: Int, window: Int, inFlight: Int, bodySize: ByteCount) -> Int {
        let inWindow = window / max(1, bodySize.bytes)
        // An idle connection always takes one request, because a peer may open its window only once it is used up.
        let room = min(streams, inFlight == 0 ? max(1, inWindow) : inWindow)
        let most = inWindow < streams ? minInWindow : minInStreams
        return room > 0 && room >= min(most, (inFlight + room) / pullsPerRoundTrip) ? room : 0
    }

    private static let pullsPerRoundTrip = 16
    private static let minInStreams = 16
    /// Minimum where the window is the limit: any window has room for this many bodies, however large they are.
    private static let minInWindow = 4
}
