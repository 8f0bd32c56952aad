import FanfareJSON
import FanfareModel
import Glibc

/// Splits a stream of bytes into lines, whatever the sizes of its chunks. Keeps the bytes whose lines have not been taken.
struct LineSplitter {
    enum Cut {
        /// Position of a line in the buffer, without its line end; valid until the next `fill`.
        case line(Range<Int>, number: Int)
        /// A line longer than the bound. Reported once; the rest of the line is dropped as it comes.
        case overlong(number: Int)
    }

    let lineSizeMax: ByteCount
    private let chunkSize: ByteCount
    /// Partial line, following bytes, free room, and `JSONParser.padding` bytes that keep the last line parsable in place.
    private var buffer: [UInt8]
    private var start = 0
    /// End of the bytes from `start` on that contain no line end.
    private var searched = 0
    private var end = 0
    private var linesCut = 0
    private var dropping = false

    init(lineSizeMax: ByteCount, chunkSize: ByteCount = .kibibytes(256)) {
        self.lineSizeMax = lineSizeMax
        self.chunkSize = chunkSize
        buffer = [UInt8](repeating: 0, count: chunkSize.bytes + JSONParser.padding)
    }

    /// Bytes for which memory is allocated.
    var capacity: ByteCount { .bytes(buffer.count) }

    /// Calls `read` once, with room for at least one chunk, and takes as many bytes as it returns. A caller that has taken all lines with
    /// `next` before keeps at most one chunk and one partial line.
    mutating func fill<Failure: Error>(
        _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        if start > 0 {
            unsafe buffer.withUnsafeMutableBytes { bytes in
                if let base = bytes.baseAddress { _ = unsafe memmove(base, base + start, end - start) }
            }
            end -= start
            searched -= start
            start = 0
        }
        // Bytes that came in one piece were many; their room goes with the last of them.
        let usual = lineSizeMax.bytes + 2 * chunkSize.bytes + JSONParser.padding
        if end == 0, buffer.count > usual {
            buffer = [UInt8](repeating: 0, count: chunkSize.bytes + JSONParser.padding)
        }
        let needed = end + chunkSize.bytes + JSONParser.padding
        if buffer.count < needed { buffer.append(contentsOf: repeatElement(0, count: needed - buffer.count)) }
        let count = try unsafe buffer.withUnsafeMutableBufferPointer { (bytes) throws(Failure) in
            let room = unsafe UnsafeMutableBufferPointer(rebasing: bytes[end..<bytes.count - JSONParser.padding])
            return try unsafe read(UnsafeMutableRawBufferPointer(room))
        }
        end += count
        return count
    }

    /// Returns the next whole line, or `nil` if it needs more bytes.
    mutating func next() -> Cut? {
        while true {
            guard let lineEnd = findLineEnd() else {
                searched = end
                if dropping {
                    start = end
                } else if end - start > lineSizeMax.bytes {
                    dropping = true
                    start = end
                    return .overlong(number: linesCut + 1)
                }
                return nil
            }
            let line = start..<lineEnd
            start = lineEnd + 1
            searched = start
            linesCut += 1
            if dropping {
                dropping = false
            } else {
                return cut(line)
            }
        }
    }

    /// Returns the rest once the stream has ended: a last line without a line end.
    mutating func finish() -> Cut? {
        guard start < end, !dropping else { return nil }
        let line = start..<end
        start = end
        linesCut += 1
        return cut(line)
    }

    /// Passes a line to `body`, with its padding behind it.
    func withBytes<Result>(of line: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe buffer.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[line])) }
    }

    private func cut(_ line: Range<Int>) -> Cut {
        if line.count > lineSizeMax.bytes { return .overlong(number: linesCut) }
        let hasCarriageReturn = !line.isEmpty && buffer[line.upperBound - 1] == UInt8(ascii: "\r")
        return .line(hasCarriageReturn ? line.dropLast() : line, number: linesCut)
    }

    private func findLineEnd() -> Int? {
        unsafe buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, searched < end,
                let found = unsafe memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}
