/// How many members of an audience have been served with which version, so that "the last one has version 7 or newer" is a
/// fact and not an estimate.
///
/// One counter per version between the slowest member's and the newest: eight bytes for each version that somebody still
/// lacks. Amortised O(1) per settled delivery.
struct VersionLedger {
    /// Version of `counts[0]`; everybody has it or a newer one.
    private(set) var oldest: UInt32 = 0
    private var counts: [Int] = [0]

    var newest: UInt32 { oldest + UInt32(counts.count - 1) }

    func count(at version: UInt32) -> Int {
        version < oldest || version > newest ? 0 : counts[Int(version - oldest)]
    }

    /// Opens a counter for the next version, which nobody has yet.
    mutating func open() {
        counts.append(0)
        settle()
    }

    mutating func add(_ version: UInt32) { counts[Int(version - oldest)] += 1 }

    /// Removes a member. Afterwards `oldest` may have risen.
    mutating func remove(_ version: UInt32) {
        counts[Int(version - oldest)] -= 1
        settle()
    }

    /// A member has gone from one version to a newer one. Afterwards `oldest` may have risen.
    mutating func advance(from old: UInt32, to new: UInt32) {
        counts[Int(old - oldest)] -= 1
        counts[Int(new - oldest)] += 1
        settle()
    }

    private mutating func settle() {
        var gone = 0
        while gone < counts.count - 1, counts[gone] == 0 { gone += 1 }
        guard gone > 0 else { return }
        counts.removeFirst(gone)
        oldest += UInt32(gone)
    }
}
