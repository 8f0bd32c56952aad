import FanfareModel

/// Commit of people's rows that is on its way to the store, and its changes until they are carried out.
struct RowCommit {
    /// For each row, whether a change made it; `nil` if no rows are being written.
    private var areChanges: [Bool]?
    /// Changes that were sent to the store and are not ready.
    private(set) var changesSent = 0
    /// Changes that were sent to the store and are not carried out: the log times at which their cards count as joined, and their numbers.
    private var joins: [(joinedAt: FeedTime, count: Int)] = []
    var watch = CommitWatch()

    var isWriting: Bool { areChanges != nil }
    /// Log time at which a card counts as joined whose change is not carried out: the earliest one; `nil` if there is none.
    var joining: FeedTime? { joins.first?.joinedAt }

    /// - Parameters:
    ///   - areChanges: for each row, whether a change made it.
    ///   - joinedAt: log time at which the cards of the changes count as joined.
    mutating func begin(_ areChanges: [Bool], joinedAt: FeedTime, at clock: MonotonicTime) {
        self.areChanges = areChanges
        changesSent = areChanges.count(where: \.self)
        if changesSent > 0 { joins.append((joinedAt, changesSent)) }
        watch.since = clock
    }

    /// Ends the commit.
    ///
    /// - Parameter kept: for each row, if the store keeps it.
    /// - Returns: `kept` for the changes alone; `nil` if no rows were being written.
    mutating func end(kept: [Bool]) -> [Bool]? {
        watch.since = nil
        return areChanges.take().map { zip(kept, $0).compactMap { $1 ? $0 : nil } }
    }

    /// Notes that a change of the commit is ready.
    mutating func noteReady() { changesSent -= 1 }

    /// Notes that a change is carried out.
    mutating func noteCarriedOut() {
        joins[0].count -= 1
        if joins[0].count == 0 { joins.removeFirst() }
    }
}
