/// Counts the plaintext in records that have not completely left this process. A record is unreadable without all its bytes.
struct UnsentRecords {
    /// Bytes of each record, in the order in which the records leave.
    private var records: [(plain: Int, wire: Int)] = []
    /// Index of the first record that has not left.
    private var first = 0
    /// Bytes on the wire of the records from `first` on.
    private var wire = 0

    /// - Parameters:
    ///   - plain: bytes of plaintext in the record.
    ///   - wire: bytes that were written for the record, including earlier bytes that carry no plaintext.
    ///   - unsent: bytes that have been written and have not left, including this record.
    mutating func append(plain: Int, wire: Int, unsent: Int) {
        records.append((plain, wire))
        self.wire += wire
        while first < records.count, self.wire - records[first].wire >= unsent {
            self.wire -= records[first].wire
            first += 1
        }
        // Records are removed only when more than half of them have left.
        guard 2 * first > records.count else { return }
        records.removeFirst(first)
        first = 0
    }

    /// Returns the plaintext bytes in records that have not completely left.
    /// - Parameter unsent: unsent bytes, up to the end of the last record.
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
