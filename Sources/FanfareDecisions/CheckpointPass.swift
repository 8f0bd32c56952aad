import FanfareModel

/// Checkpoint of a core that is being written while it goes on deciding: the core's memory as of one moment, in rows.
///
/// A topic is written when its turn comes, or before it changes for the first time. So all rows are of the moment at which the pass began, no
/// call waits for all topics, and rows beyond those asked for are of topics that have changed.
struct CheckpointPass: Sendable {
    /// Birth number of the first topic that is not in the checkpoint.
    private let end: UInt64
    /// A bit for each place whose topic is written.
    private var written: [UInt64]
    private let places: Int
    /// Place at which the walk goes on.
    private(set) var walk = 0
    /// Rows that the owner has not taken yet, and their size.
    private(set) var rows: [[UInt8]] = []
    private(set) var size = ByteCount.zero
    /// Topic that has no serial form, because its reducer has none, or is too large.
    private(set) var unwritable: TopicID?
    /// Is `true` once nothing more is written, because it would have cost too much.
    private(set) var isGivenUp = false

    /// Size of the rows that may wait for the owner. Every topic that changes adds to it, however slow the disk is.
    private static let sizeMax = ByteCount.mebibytes(64)

    /// - Parameters:
    ///   - end: birth number of the next topic.
    ///   - places: number of places that may have topics.
    ///   - first: row that precedes those of the topics.
    init(end: UInt64, places: Int, first: [UInt8]) {
        self.end = end
        self.places = places
        written = Array(repeating: 0, count: (places + 63) / 64)
        append(first)
    }

    /// Is `true` once every topic is written.
    var isWhole: Bool { walk == places && !isGivenUp }

    /// - Parameter birth: birth number of the topic in that place; 0 if it is vacant.
    func owes(_ place: Int, birth: UInt64) -> Bool {
        birth > 0 && birth < end && !isGivenUp && written[place >> 6] & 1 << UInt64(place & 63) == 0
    }

    /// Place of the next topic to be considered; `nil` once all were.
    mutating func next() -> Int? {
        guard walk < places else { return nil }
        walk += 1
        return walk - 1
    }

    /// Takes the row of a topic that is owed.
    ///
    /// - Parameter row: `nil` if the topic has no serial form.
    mutating func write(_ row: [UInt8]?, of topic: TopicID, at place: Int) {
        written[place >> 6] |= 1 << UInt64(place & 63)
        guard let row, row.count < CheckpointPass.sizeMax.bytes else { return unwritable = topic }
        append(row)
        if size > CheckpointPass.sizeMax { giveUp() }
    }

    private mutating func append(_ row: [UInt8]) {
        rows.append(row)
        size += .bytes(row.count)
    }

    mutating func giveUp() {
        isGivenUp = true
        (rows, size) = ([], .zero)
    }

    mutating func takeRows() -> [[UInt8]] {
        defer { (rows, size) = ([], .zero) }
        return rows
    }

    /// Describes rows of another size than the counted one, a walk beyond the places, or rows of a checkpoint that is given up; `nil` if there is
    /// none.
    func violation() -> String? {
        let bytes = rows.reduce(0) { $0 + $1.count }
        guard size == .bytes(bytes), rows.isEmpty || !isGivenUp else {
            return "a checkpoint counts \(size.bytes) bytes of rows that have \(bytes)"
        }
        return walk <= places ? nil : "the walk of a checkpoint is at place \(walk) of \(places)"
    }
}

/// First byte of a checkpoint's row. A number never changes its meaning, because checkpoints of earlier releases contain it.
enum CheckpointRow: UInt8 { case core = 1, topic = 2 }
