import FanfareModel

/// Checkpoint of a core that is being written while it goes on deciding: the core's memory as of one moment, in rows.
///
/// A topic is written when its turn comes, or before it changes for the first time. So all rows are of the moment at which the round began, no
/// call waits for all topics, and rows beyond those asked for are of topics that have changed.
struct CheckpointRound: Sendable {
    /// A bit for each place whose topic is not written yet.
    private var owed: [UInt64]
    private var count: Int
    /// Word of `owed` at which the walk goes on.
    private var walk = 0
    /// Rows that the owner has not taken yet.
    private(set) var rows: [[UInt8]] = []
    private(set) var bytes = 0
    /// Topic that has no serial form, because its reducer has none.
    private(set) var unwritable: TopicID?

    /// - Parameter places: places of all topics of the checkpoint.
    init(places: [Int]) {
        owed = Array(repeating: 0, count: (places.max() ?? -1) / 64 + 1)
        for place in places { owed[place >> 6] |= 1 << UInt64(place & 63) }
        count = places.count
    }

    /// Is `true` once every topic is written.
    var isWhole: Bool { count == 0 }

    func owes(_ place: Int) -> Bool {
        let word = place >> 6
        return word < owed.count && owed[word] & 1 << UInt64(place & 63) != 0
    }

    /// Place of the next topic to be written; `nil` once every topic is.
    mutating func next() -> Int? {
        while walk < owed.count {
            if owed[walk] != 0 { return walk << 6 | owed[walk].trailingZeroBitCount }
            walk += 1
        }
        return nil
    }

    /// Writes a topic that is owed.
    mutating func write(_ topic: borrowing Topic, at place: Int) {
        owed[place >> 6] &= ~(1 << UInt64(place & 63))
        count -= 1
        var writer = SerialWriter()
        writer.write(byte: CheckpointRow.topic.rawValue)
        if topic.write(to: &writer) { append(writer.bytes) } else { unwritable = topic.id }
    }

    mutating func append(_ row: [UInt8]) {
        rows.append(row)
        bytes += row.count
    }

    mutating func takeRows() -> [[UInt8]] {
        defer { (rows, bytes) = ([], 0) }
        return rows
    }
}

/// First byte of a checkpoint's row. A number never changes its meaning, because checkpoints of earlier releases contain it.
enum CheckpointRow: UInt8 { case core = 1, topic = 2 }
