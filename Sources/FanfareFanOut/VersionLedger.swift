/// How many members of an audience have been served with which version, so that "the last one has version 7 or newer" is a
/// fact and not an estimate.
///
/// One entry for each version that some member has, or that a push in flight to one carries, and one for the newest. So there
/// are at most twice as many as members, and one more, however far behind the slowest is; in a sweep there are two or three.
struct VersionLedger {
    private struct Entry {
        let version: UInt32
        /// Hash of what this version shows.
        let display: UInt64
        var members = 0
        /// Pushes in flight that carry it: it will have members when they come back.
        var flying = 0
    }

    /// By version. The last one is the newest version's, and the only one that may be empty.
    private var entries = ShortList(Entry(version: 0, display: 0))

    /// Everybody has this version or a newer one. Who has a push in flight has an older version than that push, or the same: so
    /// the first entry has members, or is the newest.
    var oldest: UInt32 { entries[0].version }

    /// One member has the newest version, and there is no other.
    mutating func rest(_ version: UInt32, display: UInt64) {
        entries = ShortList(Entry(version: version, display: display, members: 1))
    }

    /// Nobody has an older version than the newest, and no push is in flight.
    var isResting: Bool { entries.count == 1 && entries[0].flying == 0 }

    /// Opens an entry for the next version, which nobody has yet.
    mutating func open(_ version: UInt32, display: UInt64) {
        let overtaken = entries.count - 1
        entries.append(Entry(version: version, display: display))
        drop(overtaken)
    }

    /// Whether somebody who has this version sees what the newest one shows: a state that changed and changed back.
    func showsTheNewest(_ version: UInt32) -> Bool {
        entries[index(of: version)].display == entries[entries.count - 1].display
    }

    /// Hash of what the newest version shows.
    var newestDisplay: UInt64 { entries[entries.count - 1].display }

    /// A joiner has missed nothing: it counts as having the newest version.
    mutating func join() { entries[entries.count - 1].members += 1 }

    /// A member that has been shown this version before it joined.
    mutating func join(having version: UInt32, display: UInt64) {
        let index = index(of: version)
        if entries[index].version != version { entries.insert(Entry(version: version, display: display), at: index) }
        entries[index].members += 1
    }

    /// Removes a member.
    mutating func remove(_ version: UInt32) {
        let index = index(of: version)
        entries[index].members -= 1
        drop(index)
    }

    /// So many pushes of the newest version have left.
    mutating func depart(_ count: Int) { entries[entries.count - 1].flying += count }

    /// So many pushes of this version have come back, or matter no more.
    mutating func land(_ count: Int, _ version: UInt32) {
        let index = index(of: version)
        entries[index].flying -= count
        drop(index)
    }

    /// So many members have gone from one version to a newer one.
    mutating func advance(_ count: Int, from old: UInt32, to new: UInt32) {
        entries[index(of: new)].members += count
        let index = index(of: old)
        entries[index].members -= count
        drop(index)
    }

    /// For checks: whether it says this of each version, and nothing of any other one but the newest.
    func tells(members: [UInt32: Int], flying: [UInt32: Int]) -> Bool {
        Set(entries.all.map(\.version))
            == Set(members.keys).union(flying.keys).union([entries[entries.count - 1].version])
            && entries.all.allSatisfy {
                $0.members == members[$0.version] ?? 0 && $0.flying == flying[$0.version] ?? 0
            }
    }

    /// Removes the entry when nobody has, or is about to have, its version.
    private mutating func drop(_ index: Int) {
        guard index < entries.count - 1, entries[index].members == 0, entries[index].flying == 0 else { return }
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
