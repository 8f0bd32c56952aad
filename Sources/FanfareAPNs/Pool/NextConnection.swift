/// Chooses the connection that is pulled for next.
///
/// Connections with the fewest errors go first: errors come fast, so a connection that brings nothing else always has room.
/// Connections with normal answer times go next, before slow ones; then the one with the fewest requests in flight, where each request on
/// a connection that answers two or three times as late counts as two or three. Thus a goal spreads evenly over all connections, and none
/// needs more round trips than the others. The one that was offered first wins among equals.
///
/// A pull takes many requests. A connection that answers late takes so few of them that it has no more than its part once the next pull goes to
/// another connection.
struct NextConnection {
    /// Maximum number of requests per pull: enough to make a pull's cost small, few enough to spread over connections.
    static let pullMax = 128

    /// Index of the chosen connection; `nil` until one with room has been offered.
    private(set) var index: Int?
    /// Requests that the chosen connection takes in one pull.
    var room: Int {
        guard lag > 1, runnerUp < .max else { return min(free, NextConnection.pullMax) }
        return min(free, max(1, (runnerUp + NextConnection.pullMax) / lag - inFlight))
    }
    /// Room of the chosen connection, its requests in flight, and its lag.
    private var free = 0
    private var inFlight = 0
    private var lag = 1
    private var rank = Int.max
    private var burden = Int.max
    /// Least burden of the others with the same rank.
    private var runnerUp = Int.max

    /// - Parameters:
    ///   - inFlight: requests on the connection that wait for their answers.
    ///   - errors: errors that count at the moment.
    ///   - lag: answer time of the connection, as a multiple of the median of all.
    mutating func offer(_ index: Int, room: Int, inFlight: Int, errors: Int, isSlow: Bool, lag: Int = 1) {
        guard room > 0 else { return }
        let rank = 2 * errors + (isSlow ? 1 : 0)
        let burden = (inFlight + 1) * max(1, lag)
        guard rank < self.rank || rank == self.rank && burden < self.burden else {
            if rank == self.rank { runnerUp = min(runnerUp, burden) }
            return
        }
        runnerUp = rank == self.rank ? self.burden : .max
        (self.index, self.rank, self.burden) = (index, rank, burden)
        (free, self.inFlight, self.lag) = (room, inFlight, lag)
    }
}
