/// How many members of an audience have been served with which version, so that "the last one has version 7 or newer" is a
/// fact and not an estimate.
///
/// One entry per version between the slowest member's and the newest: sixteen bytes for each version that somebody still
/// lacks. Amortised O(1) per settled delivery.
struct VersionLedger {
    private struct Entry {
        /// Hash of what this version shows.
        let display: UInt64
        var members = 0
    }

    /// Version of `entries[0]`; everybody has it or a newer one.
    private(set) var oldest: UInt32 = 0
    private var entries = [Entry(display: 0)]

    /// Opens an entry for the next version, which nobody has yet.
    mutating func open(display: UInt64) {
        entries.append(Entry(display: display))
        settle()
    }

    /// Whether somebody who has the one version sees what the other one shows: a state that changed and changed back.
    func showsTheSame(_ a: UInt32, _ b: UInt32) -> Bool {
        entries[Int(a - oldest)].display == entries[Int(b - oldest)].display
    }

    mutating func add(_ version: UInt32) { entries[Int(version - oldest)].members += 1 }

    /// Removes a member. Afterwards `oldest` may have risen.
    mutating func remove(_ version: UInt32) {
        entries[Int(version - oldest)].members -= 1
        settle()
    }

    /// So many members have gone from one version to a newer one. Afterwards `oldest` may have risen.
    mutating func advance(_ count: Int, from old: UInt32, to new: UInt32) {
        entries[Int(old - oldest)].members -= count
        entries[Int(new - oldest)].members += count
        settle()
    }

    private mutating func settle() {
        var gone = 0
        while gone < entries.count - 1, entries[gone].members == 0 { gone += 1 }
        guard gone > 0 else { return }
        entries.removeFirst(gone)
        oldest += UInt32(gone)
    }
}
