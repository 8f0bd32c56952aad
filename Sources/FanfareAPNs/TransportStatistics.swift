/// What a pool has done since it was made. Values: read, add up over shards, show.
package struct TransportStatistics: Sendable, Equatable {
    /// Pushes written to a connection. Each is one of the six below, or still in flight.
    package var sent: UInt64 = 0
    package var accepted: UInt64 = 0
    /// 410, `BadDeviceToken`, `DeviceTokenNotForTopic`.
    package var dead: UInt64 = 0
    /// 429 for one token.
    package var throttled: UInt64 = 0
    /// Certainly not processed (503, GOAWAY, refused stream, expired JWT, a fault of the configuration); their activities get the
    /// newest state again.
    package var notProcessed: UInt64 = 0
    /// Refused for good: a bug of ours.
    package var failed: UInt64 = 0
    /// No answer came, or will.
    package var uncertain: UInt64 = 0

    /// Never sent, since their payload could not be: too large for APNs, for example. Counted per delivery.
    package var unencodable: UInt64 = 0

    /// Bytes of request bodies written.
    package var bodyBytes: UInt64 = 0

    /// TLS and HTTP/2 agreed upon.
    package var connectionsOpened: UInt64 = 0
    /// Of those, the ones that broke or went silent. A drain after a GOAWAY is not a loss.
    package var connectionsLost: UInt64 = 0
    /// Attempts that never got as far as HTTP/2.
    package var connectFailures: UInt64 = 0

    /// Answers other than 200, by status and reason.
    package private(set) var reasons: [Reason: UInt64] = [:]

    /// `503 ServiceUnavailable`, as APNs said it.
    package struct Reason: Sendable, Hashable, CustomStringConvertible {
        package let status: Int
        /// Empty when APNs gave none.
        package let text: String
        package var description: String { text.isEmpty ? "\(status)" : "\(status) \(text)" }
    }

    /// Apple has about 40; a peer that makes up more shares one row per status.
    static let reasonsMax = 100

    package init() {}

    /// Sum of the outcomes; `sent` minus this is in flight.
    package var answered: UInt64 { accepted + dead + throttled + notProcessed + failed + uncertain }

    /// Returns whether this is the first answer of its kind, which is worth a line in the log.
    mutating func count(status: Int, reason: String) -> Bool {
        var key = Reason(status: status, text: reason)
        if reasons[key] == nil, reasons.count >= Self.reasonsMax { key = Reason(status: status, text: "(other)") }
        let before = reasons[key, default: 0]
        reasons[key] = before + 1
        return before == 0
    }

    package static func += (sum: inout TransportStatistics, other: TransportStatistics) {
        sum.sent += other.sent
        sum.accepted += other.accepted
        sum.dead += other.dead
        sum.throttled += other.throttled
        sum.notProcessed += other.notProcessed
        sum.failed += other.failed
        sum.uncertain += other.uncertain
        sum.unencodable += other.unencodable
        sum.bodyBytes += other.bodyBytes
        sum.connectionsOpened += other.connectionsOpened
        sum.connectionsLost += other.connectionsLost
        sum.connectFailures += other.connectFailures
        sum.reasons.merge(other.reasons, uniquingKeysWith: +)
    }
}
