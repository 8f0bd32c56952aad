/// Chooses the connection that is pulled for next.
///
/// Connections with the fewest errors go first: errors come fast, so a connection that brings nothing else always has room.
/// Connections with normal answer times go next, before slow ones; then the one with the fewest requests in flight, where each request on
/// a connection that answers two or three times as late counts as two or three. Thus a goal spreads evenly over all connections, and none
/// needs more round trips than the others. The one that was offered first wins among equals.
struct NextConnection {
    /// Index of the chosen connection; `nil` until one with room has been offered.
    private(set) var index: Int?
    private(set) var room = 0
    private var rank = Int.max
    private var burden = Int.max

    /// - Parameters:
    ///   - inFlight: requests on the connection that wait for their answers.
    ///   - errors: errors that count at the moment.
    ///   - lag: answer time of the connection, as a multiple of the median of all.
    mutating func offer(_ index: Int, room: Int, inFlight: Int, errors: Int, isSlow: Bool, lag: Int = 1) {
        guard room > 0 else { return }
        let rank = 2 * errors + (isSlow ? 1 : 0)
        let burden = (inFlight + 1) * max(1, lag)
        guard rank < self.rank || rank == self.rank && burden < self.burden else { return }
        (self.index, self.room, self.rank, self.burden) = (index, room, rank, burden)
    }
}
