/// Counts the plaintext in records that have not completely left this process. A record is unreadable without all its bytes.
struct UnsentRecords {
    /// Bytes of each record, in the order in which the records leave.
    private var records: [(plain: Int, recordBytes: Int)] = []
    /// Index of the first record that has not left.
    private var first = 0
    /// Bytes of the records from `first` on.
    private var recordBytes = 0

    /// - Parameters:
    ///   - plain: bytes of plaintext in the record.
    ///   - recordBytes: bytes that were written for the record, including earlier bytes that carry no plaintext.
    ///   - unsent: bytes that have been written and have not left, including this record.
    mutating func append(plain: Int, recordBytes: Int, unsent: Int) {
        records.append((plain, recordBytes))
        self.recordBytes += recordBytes
        while first < records.count, self.recordBytes - records[first].recordBytes >= unsent {
            self.recordBytes -= records[first].recordBytes
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
            rest -= record.recordBytes
        }
        return plain
    }
}
