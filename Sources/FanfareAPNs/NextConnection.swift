/// Which of a pool's connections is pulled for next.
///
/// Connections with the fewest errors go before others: errors come fast, so a connection that has nothing else is always roomy. Of
/// those the ones that answer soon go before the slow ones; then the narrow ones, for a connection grows wide by what it carries, and
/// all are to be wide when a goal comes; then the roomiest, where the room of one that answers two or three times as late counts for half
/// or a third. Of equals it is the one that was offered first.
struct NextConnection {
    /// `nil` while none has been offered that has room.
    private(set) var index: Int?
    private(set) var room = 0
    private var rank = Int.max
    private var weight = 0

    /// - Parameters:
    ///   - errors: that count at the moment.
    ///   - lag: how many times as long as in the middle of all an answer takes.
    ///   - isNarrow: it has not carried enough to take as much as its peer may allow, and has carried that well.
    mutating func offer(_ index: Int, room: Int, errors: Int, isSlow: Bool, lag: Int = 1, isNarrow: Bool) {
        guard room > 0 else { return }
        let rank = 4 * errors + (isSlow ? 2 : 0) + (isNarrow ? 0 : 1)
        let weight = max(1, room / max(1, lag))
        guard rank < self.rank || rank == self.rank && weight > self.weight else { return }
        (self.index, self.room, self.rank, self.weight) = (index, room, rank, weight)
    }
}
