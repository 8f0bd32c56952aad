import Glibc

/// A failed access to a file: its path and the system's message.
package struct FileError: Error, CustomStringConvertible {
    package let path: String
    package let reason: String
    package var description: String { "\(path): \(reason)" }

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    init(path: String, errno code: Int32) {
        self.init(path: path, reason: String(cString: strerror(code)))
    }
}

/// Reads a file of one JSON value per line, a line at a time, because dumps may exceed the memory.
package struct JSONLineReader: ~Copyable {
    /// Longest line. A line holds everything that one token accepted; 64 MiB hold a million entries.
    static let lineBytesMax = 64 << 20
    static let chunkBytes = 1 << 20

    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var atEnd = false
    /// Number of the last line read, from 1.
    package private(set) var line = 0

    package init(path: String) throws(FileError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Returns the next value; `nil` at the end. Skips empty lines.
    package mutating func next() throws(FileError) -> JSON? {
        while let bytes = try nextLine() {
            if bytes.isEmpty { continue }
            do { return try JSON(parsing: bytes) } catch {
                throw FileError(path: "\(path):\(line)", reason: "not JSON: \(error)")
            }
        }
        return nil
    }

    private mutating func nextLine() throws(FileError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let bytes = Array(buffer[start..<end])
                start = end + 1
                line += 1
                return bytes
            }
            searched = buffer.count
            if atEnd {
                guard start < buffer.count else { return nil }
                let bytes = Array(buffer[start...])
                start = buffer.count
                line += 1
                return bytes
            }
            guard buffer.count - start <= JSONLineReader.lineBytesMax else {
                throw FileError(path: "\(path):\(line + 1)", reason: "the line is longer than 64 MiB")
            }
            searched -= start
            buffer.removeSubrange(..<start)
            start = 0
            try fill()
        }
    }

    private mutating func fill() throws(FileError) {
        let descriptor = descriptor
        var failure: Int32 = 0
        let before = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: JSONLineReader.chunkBytes))
        let count = buffer.withUnsafeMutableBytes { space in
            let count = read(descriptor, space.baseAddress?.advanced(by: before), JSONLineReader.chunkBytes)
            if count < 0 { failure = errno }
            return count
        }
        buffer.removeLast(JSONLineReader.chunkBytes - max(0, count))
        if count == 0 { atEnd = true }
        if count < 0, failure != EINTR { throw FileError(path: path, errno: failure) }
    }
}

/// Writes lines through one buffer. Only the owner may read the file, because even hashed tokens are private.
package struct LineWriter: ~Copyable {
    static let bufferBytes = 1 << 20

    private let path: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Creates the file, or replaces an existing one.
    package init(path: String) throws(FileError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
        buffer.reserveCapacity(LineWriter.bufferBytes + 65_536)
    }

    deinit { close(descriptor) }

    /// Writes one line: `append` adds its bytes to the buffer, and the line feed follows.
    package mutating func line(_ append: (inout [UInt8]) -> Void) throws(FileError) {
        append(&buffer)
        buffer.append(0x0A)
        if buffer.count >= LineWriter.bufferBytes { try flush() }
    }

    /// Writes the buffer to the file. To be called at the end, or the last lines are lost.
    package mutating func flush() throws(FileError) {
        var done = 0
        while done < buffer.count {
            let count = buffer.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count < 0 {
                guard errno == EINTR else { throw FileError(path: path, errno: errno) }
            } else {
                done += count
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
