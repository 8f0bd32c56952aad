/// Counts the members of an audience by the version that they have, so that "each member has version 7 or newer" is a fact and not an
/// estimate.
///
/// There is one entry for each version that a member has or that a push in flight carries, and one for the newest. So the entries are at
/// most twice as many as the members, plus one, however far behind the slowest member is; in a sweep there are two or three.
struct VersionCounts {
    private struct Entry {
        let version: UInt32
        /// Hash of the version's visible content.
        let displayHash: UInt64
        var members = 0
        /// Number of pushes in flight that carry the version, whose activities become its members when the pushes are accepted.
        var inFlight = 0
    }

    /// Entries in order of version. The last one is the newest version's, and the only one that may be empty.
    private var entries = ShortList(Entry(version: 0, displayHash: 0))

    /// The oldest version that a member has; the newest version if there are no members. A member with a push in flight has that push's
    /// version or an older one, so the first entry has members or is the newest.
    var oldest: UInt32 { entries[0].version }

    /// Resets the counts to one member, which has the newest version.
    mutating func rest(_ version: UInt32, displayHash: UInt64) {
        entries = ShortList(Entry(version: version, displayHash: displayHash, members: 1))
    }

    /// Is `true` when no member has an older version than the newest, and no push is in flight.
    var isResting: Bool { entries.count == 1 && entries[0].inFlight == 0 }

    /// Adds an entry for the next version, which no member has yet.
    mutating func add(_ version: UInt32, displayHash: UInt64) {
        let overtaken = entries.count - 1
        entries.append(Entry(version: version, displayHash: displayHash))
        drop(overtaken)
    }

    /// Returns whether a version shows the same as the newest one, as after a change and its reversal.
    func showsTheNewest(_ version: UInt32) -> Bool {
        entries[index(of: version)].displayHash == entries[entries.count - 1].displayHash
    }

    /// Returns whether a member has this version or a newer one, or a push in flight carries one.
    func hasReached(_ version: UInt32) -> Bool {
        for index in (0..<entries.count).reversed() {
            guard entries[index].version >= version else { return false }
            if entries[index].members > 0 || entries[index].inFlight > 0 { return true }
        }
        return false
    }

    /// Hash of the newest version's visible content.
    var newestDisplayHash: UInt64 { entries[entries.count - 1].displayHash }

    /// Adds a joiner, which has missed nothing: it counts as having the newest version.
    mutating func join() { entries[entries.count - 1].members += 1 }

    /// Adds a member that has been shown this version before it joined.
    mutating func join(having version: UInt32, displayHash: UInt64) {
        let index = index(of: version)
        if entries[index].version != version {
            entries.insert(Entry(version: version, displayHash: displayHash), at: index)
        }
        entries[index].members += 1
    }

    /// Removes a member that has this version.
    mutating func remove(_ version: UInt32) {
        let index = index(of: version)
        entries[index].members -= 1
        drop(index)
    }

    /// Notes that pushes of the newest version have left.
    mutating func noteSent(_ count: Int) { entries[entries.count - 1].inFlight += count }

    /// Notes that pushes of this version have been answered, or no longer count.
    mutating func conclude(_ count: Int, _ version: UInt32) {
        let index = index(of: version)
        entries[index].inFlight -= count
        drop(index)
    }

    /// Moves members from one version to a newer one.
    mutating func advance(_ count: Int, from old: UInt32, to new: UInt32) {
        entries[index(of: new)].members += count
        let index = index(of: old)
        entries[index].members -= count
        drop(index)
    }

    /// Returns whether these are exactly these counts, and no entry for any other version but the newest; for checks.
    func matches(members: [UInt32: Int], inFlight: [UInt32: Int]) -> Bool {
        Set(entries.all.map(\.version))
            == Set(members.keys).union(inFlight.keys).union([entries[entries.count - 1].version])
            && entries.all.allSatisfy {
                $0.members == members[$0.version] ?? 0 && $0.inFlight == inFlight[$0.version] ?? 0
            }
    }

    /// Describes entries out of order, an older entry that nothing needs, or a count below zero; `nil` if there are none.
    func violation() -> String? {
        let all = entries.all
        guard !all.isEmpty, zip(all, all.dropFirst()).allSatisfy({ $0.version < $1.version }),
            all.allSatisfy({ $0.members >= 0 && $0.inFlight >= 0 }),
            all.dropLast().allSatisfy({ $0.members > 0 || $0.inFlight > 0 })
        else {
            return
                "versions \(all.map(\.version)) have \(all.map(\.members)) members, and \(all.map(\.inFlight)) pushes carry them"
        }
        return nil
    }

    /// Removes an entry without members and pushes in flight, unless it is the newest.
    private mutating func drop(_ index: Int) {
        guard index < entries.count - 1, entries[index].members == 0, entries[index].inFlight == 0 else { return }
        entries.remove(at: index)
    }

    private func index(of version: UInt32) -> Int {
        var low = 0
        var high = entries.count - 1
        if entries[high].version == version { return high }
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].version < version { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
