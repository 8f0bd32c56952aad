/// State of a transport: its connections, and the limit that keeps it from sending more. The sum of several transports has the worst limit.
public struct TransportFigures: Sendable, Equatable {
    /// The resource that due pushes wait for.
    public enum Limit: String, Sendable, CaseIterable {
        /// Every push that is due can leave.
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
    public var connections: Int
    /// Connections needed to bring a change to the largest audience in time, at the present round trip.
    public var connectionsWanted: Int
    /// Connections opened since the start; each took a handshake.
    public var connectionsOpened: Int
    /// The shortest time from a request to its answer; `nil` before it is known.
    public var roundTrip: Duration?
    /// Requests without an answer yet.
    public var inFlight: Int
    /// The limit that pushes wait for now.
    public var limit: Limit
    /// Time for which each limit has held; a limit that has never held is missing, and so is `nothing`.
    public var limitTimes: [Limit: Duration]
}

// In an extension, so that the memberwise initialiser remains (`ShardCounts`).
extension TransportFigures {
    package init() {
        self.init(
            connections: 0, connectionsWanted: 0, connectionsOpened: 0, roundTrip: nil, inFlight: 0, limit: .nothing,
            limitTimes: [:])
    }

    static func + (a: TransportFigures, b: TransportFigures) -> TransportFigures {
        func sum(_ count: (TransportFigures) -> Int) -> Int { count(a) + count(b) }
        let limit = b.limit.severity > a.limit.severity ? b.limit : a.limit
        let roundTrip = b.roundTrip.map { max(a.roundTrip ?? $0, $0) } ?? a.roundTrip
        return TransportFigures(
            connections: sum(\.connections), connectionsWanted: sum(\.connectionsWanted),
            connectionsOpened: sum(\.connectionsOpened), roundTrip: roundTrip, inFlight: sum(\.inFlight), limit: limit,
            limitTimes: a.limitTimes.merging(b.limitTimes, uniquingKeysWith: +))
    }
}

extension TransportFigures.Limit {
    fileprivate var severity: Int { TransportFigures.Limit.allCases.firstIndex(of: self) ?? 0 }
}
