import FanfareModel

/// A hash table of the rows of lineups by selection: open addressing with linear probing, four bytes per bucket, at most three quarters full.
///
/// The selections stay in the lineups' table, which says what a row has, so that no selection is stored twice.
struct SelectionIndex {
    /// A bucket has the row plus 1.
    private var buckets: [UInt32] = Array(repeating: 0, count: 16)
    /// Number of rows.
    private(set) var count = 0

    /// - Parameter pinned: index of the favourite in the topics; `nil` if there is none.
    static func hash(_ topics: some Collection<TopicIndex>, _ pinned: Int?) -> UInt64 {
        topics.reduce(UInt64(truncatingIfNeeded: pinned ?? -1)) { $0.mixed &+ UInt64($1.place) }.mixed
    }

    /// - Parameter isWanted: returns whether a row has the selection with the hash.
    func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? {
        var bucket = home(hash)
        while buckets[bucket] != 0 {
            let row = Int(buckets[bucket]) - 1
            if isWanted(row) { return row }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// Inserts a row, whose selection must not be in the table.
    ///
    /// - Parameters:
    ///   - rows: the places of all rows, of which `hash` reads one after the other when the table grows: reading them in the order of the
    ///     buckets would miss the caches.
    ///   - hash: returns the hash of a row's selection; `nil` for a place without a row.
    mutating func insert(_ row: Int, rows: Range<Int>, hash: (Int) -> UInt64?) {
        if (count + 1) * 4 > buckets.count * 3 {
            buckets = Array(repeating: 0, count: buckets.count * 2)
            for other in rows where other != row {
                if let hash = hash(other) { place(other, hash) }
            }
        }
        count += 1
        if let hash = hash(row) { place(row, hash) }
    }

    /// Removes a row. Rows that it displaced move back, as in `SlotTable`.
    ///
    /// - Parameter hash: returns the hash of a row's selection.
    mutating func remove(_ row: Int, hash: (Int) -> UInt64) {
        let mask = buckets.count - 1
        var hole = home(hash(row))
        while Int(buckets[hole]) != row + 1 { hole = (hole + 1) & mask }
        var next = (hole + 1) & mask
        while buckets[next] != 0 {
            let distance = (next - home(hash(Int(buckets[next]) - 1))) & mask
            if distance >= (next - hole) & mask {
                buckets[hole] = buckets[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        buckets[hole] = 0
        count -= 1
    }

    /// Describes a wrong count, a row in two buckets, or too few free buckets; `nil` if there is none.
    func violation() -> String? {
        let filled = buckets.filter { $0 != 0 }
        guard filled.count == count, Set(filled).count == count, count * 4 <= buckets.count * 3 else {
            return "\(count) selections are counted, \(filled.count) of \(buckets.count) buckets have one"
        }
        return nil
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 20) & (buckets.count - 1) }

    private mutating func place(_ row: Int, _ hash: UInt64) {
        var bucket = home(hash)
        while buckets[bucket] != 0 { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = UInt32(row) + 1
    }
}
