import FanfareModel

/// The rows of lineups by selection, in a hash table that grows by small steps.
///
/// The selections stay in the lineups' table, which says what a row has, so that no selection is stored twice.
struct SelectionIndex {
    private var table = SegmentTable()

    /// Number of rows.
    var count: Int { table.count }

    /// - Parameter pinned: index of the favourite in the topics; `nil` if there is none.
    static func hash(_ topics: some Collection<TopicIndex>, _ pinned: Int?) -> UInt64 {
        topics.reduce(UInt64(truncatingIfNeeded: pinned ?? -1)) { $0.mixed &+ UInt64($1.place) }.mixed
    }

    /// - Parameter isWanted: returns whether a row has the selection with the hash.
    func find(_ hash: UInt64, where isWanted: (Int) -> Bool) -> Int? { table.find(hash, where: isWanted) }

    /// Inserts a row, whose selection must not be in the table.
    ///
    /// - Parameter hash: returns the hash of a row's selection.
    mutating func insert(_ row: Int, hash: (Int) -> UInt64) { table.insert(row, hash: hash) }

    /// Removes a row, which must be in the table.
    ///
    /// - Parameter hash: returns the hash of a row's selection.
    mutating func remove(_ row: Int, hash: (Int) -> UInt64) { table.remove(row, hash: hash) }

    // MARK: Checks

    /// Greatest number of buckets of a segment.
    var longestSegment: Int { table.longestSegment }

    /// Describes a wrong count, a row in two buckets, or too few free buckets; `nil` if there is none.
    func violation() -> String? { table.violation().map { "lineups by selection: \($0)" } }
}
