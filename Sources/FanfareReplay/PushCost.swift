import FanfareAPNs
package import FanfareFanOut
package import FanfareModel

/// Size of a push, and the number of such pushes per second where the peer's windows are the limit: a body waits until the connection's
/// window has room for it, and the room comes back a round trip later.
package struct PushCost: Sendable, Equatable {
    /// Size of the bodies that a peer accepts on a connection before its WINDOW_UPDATE, unless its settings enlarge the window (RFC 9113 §6.9.2).
    package static let window = ByteCount.bytes(65_535)
    package static let roundTrip = Duration.milliseconds(50)
    /// Default limit of an app's connections to one host.
    package static let connections = 64
    /// Most requests in flight on a connection, however small they are.
    private static let streams = 1000

    /// Size of the request's body.
    package let bodySize: ByteCount
    /// Body, header fields and HTTP/2 frames together, for an ordinary token and ids of Apple's length.
    package var wireSize: ByteCount { bodySize + RequestSize.besideBody }

    /// Cost of a push as it is sent; `nil` if APNs would refuse it.
    package init?(_ payload: Payload) {
        guard let body = try? PayloadEncoder.body(of: payload) else { return nil }
        bodySize = .bytes(body.count)
    }

    /// Cost of the push to activities that follow this topic alone, with the alert.
    package init?(_ publication: Publication) {
        let isEnd = publication.event == .end
        self.init(
            Payload(
                event: isEnd ? .end : .update, logLabel: publication.topicID.rawValue, state: publication.state.bytes,
                stamp: PushCost.date, staleDate: publication.staleAfter.map { _ in PushCost.date },
                dismissalDate: isEnd ? publication.dismissal.map { _ in PushCost.date } : nil,
                alert: publication.alert?.text, priority: publication.priority,
                relevanceScore: publication.relevance.map(Double.init)))
    }

    /// Cost of an update without an alert and with a content state of this size.
    package init?(stateSize: ByteCount) {
        guard stateSize.bytes >= 2 else { return nil }
        let filler = [UInt8](repeating: UInt8(ascii: "x"), count: stateSize.bytes - 2)
        let state = [UInt8(ascii: "{")] + filler + [UInt8(ascii: "}")]
        self.init(
            Payload(
                event: .update, logLabel: "", state: state, stamp: PushCost.date, staleDate: PushCost.date,
                dismissalDate: nil, alert: nil, priority: .immediate))
    }

    /// Any date of this time: all dates of these centuries have as many digits.
    private static let date: Int64 = 1_790_000_000

    /// Pushes per second at `roundTrip` and with `window`.
    package func pushesPerSecond(connections: Int = 1) -> Int {
        let atOnce = min(PushCost.streams, PushCost.window.bytes / bodySize.bytes)
        return Int(1000 / PushCost.roundTrip.milliseconds) * atOnce * connections
    }
}
