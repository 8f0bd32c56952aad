import FanfareFanOut
package import FanfareModel

/// Counts of a pool's work since it was made. A value, to read, to add up over shards and to show.
package struct TransportStatistics: Sendable, Equatable {
    /// Pushes written to a connection. Each is accepted, dead, throttled, not processed, refused, uncertain, or still in flight.
    package var sent: UInt64 = 0
    package var accepted: UInt64 = 0
    /// Pushes whose tokens are dead: 410, `BadDeviceToken`, `DeviceTokenNotForTopic`.
    package var dead: UInt64 = 0
    /// Pushes that were throttled for their token: 429.
    package var throttled: UInt64 = 0
    /// Pushes that were certainly not processed (503, GOAWAY, refused stream, expired JWT, a fault of the configuration);
    /// their activities get the newest state again.
    package var notProcessed: UInt64 = 0
    /// Pushes that were refused for good, because of a bug of ours.
    package var refused: UInt64 = 0
    /// Pushes whose answer has not come and never will.
    package var uncertain: UInt64 = 0

    /// Deliveries that were never sent, because their payload cannot be: too large for APNs, for example.
    package var unencodable: UInt64 = 0

    /// Size of all request bodies written.
    package var sentSize = ByteCount.zero

    /// Connections that opened, with TLS and HTTP/2.
    package var connectionsOpened: UInt64 = 0
    /// Opened connections that broke or fell silent. A drain after a GOAWAY is not a loss.
    package var connectionsLost: UInt64 = 0
    /// Connection attempts that never reached HTTP/2.
    package var connectFailures: UInt64 = 0

    /// Answers other than 200, by status and reason.
    package private(set) var reasons: [Reason: UInt64] = [:]

    /// Status and reason as APNs gave them, such as `503 ServiceUnavailable`.
    package struct Reason: Sendable, Hashable, CustomStringConvertible {
        package let status: Int
        /// Text of the reason; empty if APNs gave none.
        package let text: String
        package var description: String { text.isEmpty ? "\(status)" : "\(status) \(text)" }
    }

    /// Maximum number of entries in `reasons`. Apple has about 40; a peer that invents more shares one entry per status.
    static let reasonsMax = 100

    package init() {}

    /// Sum of the outcomes; `sent` minus this is in flight.
    package var answered: UInt64 { accepted + dead + throttled + notProcessed + refused + uncertain }

    /// Counts the outcome of a push that was sent.
    @inline(__always) mutating func note(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .accepted: accepted += 1
        case .deadToken: dead += 1
        case .throttled: throttled += 1
        case .serviceError, .notProcessed: notProcessed += 1
        case .refused: refused += 1
        case .uncertain: uncertain += 1
        }
    }

    /// Counts an answer and returns `true` if it is the first of its kind, which is worth a line in the log.
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
        sum.refused += other.refused
        sum.uncertain += other.uncertain
        sum.unencodable += other.unencodable
        sum.sentSize += other.sentSize
        sum.connectionsOpened += other.connectionsOpened
        sum.connectionsLost += other.connectionsLost
        sum.connectFailures += other.connectFailures
        sum.reasons.merge(other.reasons, uniquingKeysWith: +)
    }
}
