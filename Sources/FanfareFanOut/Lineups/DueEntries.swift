import FanfareQueues

/// Rows of lineups that are due, first come, first served, from which entries that do not count are removed little by little: a pass examines a few
/// entries at a time and keeps one entry of each lineup that is due.
struct DueEntries {
    /// Entries that the present pass has examined and kept, one of each row at most.
    private var kept = Queue<UInt32>()
    /// Entries that the present pass has still to examine, all behind those of `kept`.
    private var rest = Queue<UInt32>()
    /// For each row a bit, which is set if `kept` has an entry of the row.
    private var keptRows: [UInt64] = []

    var count: Int { kept.count + rest.count }
    var isEmpty: Bool { kept.isEmpty && rest.isEmpty }
    /// Entries, oldest first; for checks.
    var elements: [Int] { (Array(kept.elements) + rest.elements).map { Int($0) } }

    /// Returns whether the present pass has kept an entry of the row.
    func hasKept(_ row: Int) -> Bool {
        row >> 6 < keptRows.count && keptRows[row >> 6] & DueEntries.bit(of: row) != 0
    }

    private static func bit(of row: Int) -> UInt64 { 1 &<< UInt64(row & 63) }

    mutating func append(_ row: Int) { rest.append(UInt32(row)) }

    mutating func popFirst() -> Int? {
        guard let row = kept.popFirst().map(Int.init) else { return rest.popFirst().map(Int.init) }
        keptRows[row >> 6] &= ~DueEntries.bit(of: row)
        return row
    }

    /// Makes any entry the first one, of those that the pass has kept if there are any.
    mutating func drawFirst(by random: UInt64) {
        if kept.isEmpty { rest.drawFirst(by: random) } else { kept.drawFirst(by: random) }
    }

    mutating func removeAll() {
        guard !isEmpty else { return }
        forgetKeptRows()
        (kept, rest) = (Queue(), Queue())
    }

    /// Examines the next entry of the pass; another pass begins after the last entry.
    ///
    /// - Returns: `true` if the entry is removed, because its lineup is not due or has an earlier entry.
    mutating func examineNext(isDue: (Int) -> Bool) -> Bool {
        if rest.isEmpty {
            forgetKeptRows()
            swap(&kept, &rest)
        }
        guard let row = rest.popFirst().map(Int.init) else { return false }
        guard isDue(row) else { return true }
        guard !hasKept(row) else { return true }
        while keptRows.count <= row >> 6 { keptRows.append(0) }
        keptRows[row >> 6] |= DueEntries.bit(of: row)
        kept.append(UInt32(row))
        return false
    }

    /// Clears all bits: a million lineups have 16,000 words of them.
    private mutating func forgetKeptRows() {
        if kept.count < keptRows.count {
            for row in kept.elements { keptRows[Int(row >> 6)] = 0 }
        } else {
            for word in keptRows.indices { keptRows[word] = 0 }
        }
    }

    /// Describes bits that differ from the rows of the entries that the pass has kept; `nil` if there are none.
    func violation() -> String? {
        let marked = keptRows.reduce(0) { $0 + $1.nonzeroBitCount }
        guard marked == kept.count, kept.elements.allSatisfy({ hasKept(Int($0)) }) else {
            return "a pass has kept \(kept.count) due lineups and marks \(marked)"
        }
        return nil
    }
}
