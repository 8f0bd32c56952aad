/// Which of a pool's connections is pulled for next.
///
/// Connections with the fewest errors go before others: errors come fast, so a connection that has nothing else always has room. Of those the
/// ones that answer soon go before the slow ones; then the one with the least in flight, where each request on one that answers two or three
/// times as late counts for two or three. So a goal spreads over all alike, and none needs round trips that the others do not. Of equals it is
/// the one that was offered first.
struct NextConnection {
    /// `nil` while none has been offered that has room.
    private(set) var index: Int?
    private(set) var room = 0
    private var rank = Int.max
    private var burden = Int.max

    /// - Parameters:
    ///   - inFlight: requests on it that wait for their answers.
    ///   - errors: that count at the moment.
    ///   - lag: how many times as long as in the middle of all an answer takes.
    mutating func offer(_ index: Int, room: Int, inFlight: Int, errors: Int, isSlow: Bool, lag: Int = 1) {
        guard room > 0 else { return }
        let rank = 2 * errors + (isSlow ? 1 : 0)
        let burden = (inFlight + 1) * max(1, lag)
        guard rank < self.rank || rank == self.rank && burden < self.burden else { return }
        (self.index, self.room, self.rank, self.burden) = (index, room, rank, burden)
    }
}
