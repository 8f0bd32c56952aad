import Glibc

/// Lines of a decision log that earlier runs have decided, compared with a file that has them already, as a rule. From the first
/// difference on, such as a line that a crash has torn, the file gets the lines anew. So it ends as that of an undisturbed run.
final class RecalledLines {
    private let path: String
    private let descriptor: CInt
    /// Bytes of the file that are right.
    private var length: off_t = 0
    /// Part of the file behind `length`, read ahead.
    private var ahead: ArraySlice<UInt8> = []
    private var hasDiffered = false
    /// `errno` of the first call that failed; nothing is written after it.
    private var failure: CInt?

    private static let pieceBytes = 1 << 16

    /// - Parameter path: a regular file.
    init(_ path: String) throws(UsageError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError("--decisions \(path): cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Passes over the file's first lines, which were decided before a checkpoint and cannot be written anew. To be called before `take`.
    ///
    /// - Returns: a line for people if the file has fewer.
    func skip(_ count: UInt64) -> String? {
        var missing = count
        while missing > 0 {
            guard let newline = ahead.firstIndex(of: UInt8(ascii: "\n")) else {
                // A line that the file ends within was torn, and is cut off by what follows.
                if readAhead() { continue }
                ahead = []
                return
                    "--decisions \(path): \(missing) of the \(count) decisions before the store's checkpoint are not in it, and the "
                    + "store has them no longer"
            }
            length += off_t(newline - ahead.startIndex + 1)
            ahead.removeFirst(newline - ahead.startIndex + 1)
            missing -= 1
        }
        return nil
    }

    func take(_ line: [UInt8]) {
        guard failure == nil else { return }
        if !hasDiffered, !matches(line) { cut() }
        if hasDiffered { write(line[...]) }
        length += off_t(line.count)
    }

    /// Cuts off what follows the recalled lines.
    ///
    /// - Returns: the fault that kept the file from being right, as one line for people.
    func finish() -> String? {
        if !hasDiffered { cut() }
        return failure.map { "\(path): cannot be written: \(String(cString: strerror($0)))" }
    }

    private func matches(_ line: [UInt8]) -> Bool {
        while ahead.count < line.count, readAhead() {}
        guard ahead.starts(with: line) else { return false }
        ahead.removeFirst(line.count)
        return true
    }

    /// - Returns: `false` at the end of the file.
    private func readAhead() -> Bool {
        var piece = [UInt8](repeating: 0, count: RecalledLines.pieceBytes)
        let count = piece.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress, $0.count, length + off_t(ahead.count))
        }
        guard count > 0 else { return false }
        ahead = ArraySlice(ahead + piece.prefix(count))
        return true
    }

    private func cut() {
        hasDiffered = true
        ahead = []
        if ftruncate(descriptor, length) != 0 { failure = errno }
    }

    private func write(_ line: ArraySlice<UInt8>) {
        var rest = line
        while failure == nil, !rest.isEmpty {
            let written = length + off_t(line.count - rest.count)
            let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, written) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = errno }
        }
    }
}
