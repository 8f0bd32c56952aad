import FanfareFeeds
import FanfareJSON
import FanfareModel
import Glibc

/// Reads a decision log record by record.
@safe final class DecisionLogReader {
    private let path: String
    private let file: UnsafeMutablePointer<FILE>
    /// `getline`'s own buffer, which grows with the longest line.
    private var buffer: UnsafeMutablePointer<CChar>?
    private var capacity = 0
    private var number = 0
    /// Hash over all lines read so far, in order.
    private(set) var hash: UInt64 = 0

    init(_ path: String) throws(UsageError) {
        guard let file = unsafe fopen(path, "re") else { throw DecisionLogReader.unreadable(path) }
        self.path = path
        unsafe self.file = file
    }

    deinit {
        unsafe free(buffer)
        unsafe fclose(file)
    }

    /// Makes the error from `errno`.
    private static func unreadable(_ path: String) -> UsageError {
        UsageError(unsafe "\(path): cannot be read: \(String(cString: strerror(errno)))")
    }

    func next() throws(UsageError) -> JSONObject? {
        let count = unsafe getline(&buffer, &capacity, file)
        guard count > 0, let buffer = unsafe buffer else {
            // `fopen` also opens a folder, and a disk may fail in the middle of a file.
            if unsafe ferror(file) != 0 { throw DecisionLogReader.unreadable(path) }
            return nil
        }
        number += 1
        let line = unsafe UnsafeRawBufferPointer(start: buffer, count: count).map { $0 }
        hash = (hash ^ line.fnv1a).mixed
        guard let record = JSONObject(parsing: line), record["type"] != nil, record["outcome"] != nil else {
            throw UsageError(
                "\(path):\(number): no record of a decision log, as `fanfare replay --decisions` writes it")
        }
        return record
    }
}
