/// Numbers of an audience's members that lack its newest version, and of its starts. Each of them is counted in one number at most.
struct LackCounts {
    /// Members with a pending push, and starts once there is something to show.
    private(set) var owed = 0
    /// Members whose newest version was refused for good, so that they get only a newer one.
    private(set) var refused = 0

    /// Is `true` when nobody lacks the newest version.
    var isEmpty: Bool { owed == 0 && refused == 0 }

    /// Counts anew for a version that all members and starts lack.
    mutating func restart(owed count: Int) { (owed, refused) = (count, 0) }

    /// Adds members to each number; a negative number takes some away.
    @inline(__always)
    mutating func add(owed: Int = 0, refused: Int = 0) {
        self.owed += owed
        self.refused += refused
    }

    /// Describes a number that is negative, or greater than an audience of so many members and starts allows; `nil` if there is none.
    func violation(members: Int, starts: Int) -> String? {
        guard owed >= 0, refused >= 0, refused <= members, owed + refused <= members + starts else {
            return "\(members) members and \(starts) starts are owed \(owed) pushes, and were refused \(refused)"
        }
        return nil
    }
}
