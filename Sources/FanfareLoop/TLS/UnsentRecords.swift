/// How much plaintext lies in records that have not wholly left this process. Nobody can read a record of which a byte is missing.
struct UnsentRecords {
    /// Bytes, in the order in which they leave.
    private var records: [(plain: Int, wire: Int)] = []
    /// Those before it have left.
    private var first = 0
    /// Bytes on the wire of those from `first` on.
    private var wire = 0

    /// - Parameters:
    ///   - plain: bytes in the record.
    ///   - wire: bytes that were written for it, what went before it and is no plaintext included.
    ///   - unsent: bytes that have been written and have not left, this record's included.
    mutating func append(plain: Int, wire: Int, unsent: Int) {
        records.append((plain, wire))
        self.wire += wire
        while first < records.count, self.wire - records[first].wire >= unsent {
            self.wire -= records[first].wire
            first += 1
        }
        // Moved only when half of them are gone.
        guard 2 * first > records.count else { return }
        records.removeFirst(first)
        first = 0
    }

    /// - Parameter unsent: bytes, up to the last record's end, that have not left.
    func plain(unsent: Int) -> Int {
        var (plain, rest) = (0, unsent)
        for record in records[first...].reversed() {
            guard rest > 0 else { break }
            plain += record.plain
            rest -= record.wire
        }
        return plain
    }
}
