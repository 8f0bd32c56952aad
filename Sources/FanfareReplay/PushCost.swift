import FanfareAPNs
package import FanfareFanOut
package import FanfareModel

/// What a push weighs, and how many of its kind go out in a second where the peer's windows are the limit: a body waits until the
/// connection's window has room for it, which comes back a round trip later.
package struct PushCost: Sendable, Equatable {
    /// Bytes that a peer takes on a connection before it says that it takes more, if it does not enlarge that (RFC 9113 §6.9.2).
    package static let window = 65_535
    package static let roundTrip = Duration.milliseconds(50)
    /// As many as an app has on a host at most, where its options say nothing else.
    package static let connections = 64
    /// Requests that a connection has in flight at most, however small they are.
    private static let streams = 1000

    /// Of the request's body.
    package let bodyBytes: Int
    /// The same with the request's header fields and HTTP/2's frames; to an ordinary token, with ids as Apple gives them out.
    package var wireBytes: Int { bodyBytes + RequestBytes.besideBody }

    /// Of a push as it is sent; `nil` where APNs would not take it.
    package init?(_ payload: Payload) {
        guard let body = try? PayloadEncoder.body(of: payload) else { return nil }
        bodyBytes = body.count
    }

    /// Of the push to those who follow the topic alone, with the alert.
    package init?(_ publication: Publication) {
        let isEnd = publication.event == .end
        self.init(
            Payload(
                event: isEnd ? .end : .update, subject: publication.topicID.rawValue, state: publication.state.bytes,
                stamp: PushCost.date, staleDate: publication.staleAfter.map { _ in PushCost.date },
                dismissalDate: isEnd ? publication.dismissAfter.map { _ in PushCost.date } : nil,
                alert: publication.alert?.text, priority: publication.priority,
                relevanceScore: publication.relevance.map(Double.init)))
    }

    /// Of an update without an alert and with a content state of so many bytes.
    package init?(stateBytes: Int) {
        guard stateBytes >= 2 else { return nil }
        let state =
            [UInt8(ascii: "{")] + [UInt8](repeating: UInt8(ascii: "x"), count: stateBytes - 2) + [UInt8(ascii: "}")]
        self.init(
            Payload(
                event: .update, subject: "", state: state, stamp: PushCost.date, staleDate: PushCost.date,
                dismissalDate: nil, alert: nil, priority: .immediate))
    }

    /// All dates of these centuries have as many digits.
    private static let date: Int64 = 1_790_000_000

    /// At that distance and with that window.
    package func pushesPerSecond(connections: Int = 1) -> Int {
        let atOnce = min(PushCost.streams, PushCost.window / bodyBytes)
        return Int(1000 / PushCost.roundTrip.milliseconds) * atOnce * connections
    }
}
