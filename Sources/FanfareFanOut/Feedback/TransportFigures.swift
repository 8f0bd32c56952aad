/// State of a transport: its connections, and the limit that keeps it from sending more. The sum of several has the worst limit.
public struct TransportFigures: Sendable, Equatable {
    /// The resource that pushes wait for while some are due.
    public enum Limit: String, Sendable, CaseIterable {
        /// No push is due that could not leave.
        case nothing
        /// Requests that a connection may have in flight.
        case streams
        /// Bytes that a connection may have in flight (HTTP/2's flow control).
        case window
        /// The time of the shard's own thread.
        case processor
        /// A service in trouble, or one whose throughput does not grow with more connections.
        case peer
    }

    /// Connections that are open now.
    public var connections = 0
    /// Connections needed to bring a change to the largest audience in time, at the present round trip.
    public var connectionsWanted = 0
    /// Connections opened since the start; each took a handshake.
    public var connectionsOpened = 0
    /// The shortest time from a request to its answer, in nanoseconds; 0 before it is known.
    public var roundTrip: Int64 = 0
    /// Requests without an answer yet.
    public var inFlight = 0
    /// The limit that pushes wait for now.
    public var limit = Limit.nothing
    /// Nanoseconds for which each limit held, in the order of `Limit.allCases`; `nothing` is not counted.
    public var held = [Int64](repeating: 0, count: Limit.allCases.count)

    package init() {}

    package static func += (sum: inout TransportFigures, other: TransportFigures) {
        sum.connections += other.connections
        sum.connectionsWanted += other.connectionsWanted
        sum.connectionsOpened += other.connectionsOpened
        sum.roundTrip = max(sum.roundTrip, other.roundTrip)
        sum.inFlight += other.inFlight
        if other.limit.severity > sum.limit.severity { sum.limit = other.limit }
        for index in sum.held.indices { sum.held[index] += other.held[index] }
    }
}

extension TransportFigures.Limit {
    fileprivate var severity: Int { TransportFigures.Limit.allCases.firstIndex(of: self) ?? 0 }
}
