/// Numbers of a shard's members, and of their lineups, by what they lack; starts that are due count, too.
///
/// They are the sums of what the audiences count: whoever changes a number of an audience changes the sum here.
struct MemberCounts: Equatable {
    /// Members with a pending push, and starts whose audience has something to show.
    private(set) var owed = 0
    /// Members whose newest version was refused for good.
    private(set) var refused = 0
    /// Members of lineups.
    private(set) var inLineups = 0
    /// Number of lineups with changes that wait for their minimum interval.
    private(set) var deferredLineups = 0

    /// Adds members to each number; a negative number takes some away.
    @inline(__always)
    mutating func add(owed: Int = 0, refused: Int = 0, inLineups: Int = 0) {
        self.owed += owed
        self.refused += refused
        self.inLineups += inLineups
    }

    /// Adds a lineup whose changes wait.
    mutating func noteDeferred() { deferredLineups += 1 }

    /// Takes away a lineup whose changes waited.
    mutating func noteTaken() { deferredLineups -= 1 }
}
