/// Which of a pool's connections is pulled for next.
///
/// Connections with the fewest errors go before others: errors come fast, so a connection that has nothing else is always roomy. Of
/// those the ones that answer soon go before the slow ones; then the narrow ones, for a connection grows wide by what it carries, and
/// all are to be wide when a goal comes; then the roomiest. Of equals it is the one that was offered first.
struct NextConnection {
    /// `nil` while none has been offered that has room.
    private(set) var index: Int?
    private(set) var room = 0
    private var rank = Int.max

    /// - Parameters:
    ///   - errors: that count at the moment.
    ///   - isNarrow: it has not carried enough to take as much as its peer may allow, and has carried that well.
    mutating func offer(_ index: Int, room: Int, errors: Int, isSlow: Bool, isNarrow: Bool) {
        guard room > 0 else { return }
        let rank = 4 * errors + (isSlow ? 2 : 0) + (isNarrow ? 0 : 1)
        guard rank < self.rank || rank == self.rank && room > self.room else { return }
        (self.index, self.room, self.rank) = (index, room, rank)
    }
}
