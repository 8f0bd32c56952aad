import FanfareModel

/// Rows of a log that a reader takes in one transaction. Their number is bounded because a transaction that stays open, behind a pager for example,
/// keeps LMDB from using pages again. Their size is bounded because a restart that needs more memory than there is ends before it notes the entry
/// that it is about to decide (`RecallProgress`), so that no later restart sets an entry aside and all of them end there.
struct RowBatch {
    /// Greatest number of rows.
    static let rowsMax = 1000
    /// Size of the rows that one transaction reads or writes.
    static let sizeMax = ByteCount.mebibytes(16)

    private(set) var rows: [(position: LogPosition, bytes: [UInt8])] = []
    /// Size of the rows: less than `sizeMax` without the last one.
    private(set) var size = ByteCount.zero
    private let most: Int
    private let sizeMax: ByteCount

    /// Makes an empty batch.
    ///
    /// - Parameters:
    ///   - most: greatest number of rows, from 1.
    ///   - sizeMax: size after which no row follows.
    init(most: Int = RowBatch.rowsMax, sizeMax: ByteCount = RowBatch.sizeMax) {
        (self.most, self.sizeMax) = (most, sizeMax)
    }

    /// Is `true` if more rows may follow in the log; a batch that is not full has the log's last row.
    var isFull: Bool { rows.count >= most || size >= sizeMax }

    /// Adds a row, however large it is: an empty batch is never full.
    mutating func append(_ row: [UInt8], at position: LogPosition) {
        rows.append((position, row))
        size += .bytes(row.count)
    }

    /// Describes rows out of order, too many rows, or a wrong size; `nil` if there are none. For tests.
    func violation() -> String? {
        let bytes = rows.reduce(0) { $0 + $1.bytes.count }
        let bytesBefore = bytes - (rows.last?.bytes.count ?? 0)
        guard size == .bytes(bytes), rows.count <= max(1, most), rows.isEmpty || bytesBefore < sizeMax.bytes else {
            return
                "\(rows.count) rows, at most \(most), have \(bytes) bytes; the batch counts \(size), at most \(sizeMax)"
        }
        guard zip(rows, rows.dropFirst()).allSatisfy({ $0.position < $1.position }) else {
            return "rows are not in the order of the log"
        }
        return nil
    }
}
