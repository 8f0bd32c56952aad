import Glibc

/// Lines of a decision log from earlier runs, compared with a file that usually has them already. The file gets the lines anew from the first
/// difference on, for example from a line that a crash has torn. So it ends like the file of an undisturbed run.
final class RecalledLines {
    private let path: String
    private let descriptor: CInt
    /// Bytes of the file that are right.
    private var length: off_t = 0
    /// Part of the file after `length`, read ahead.
    private var ahead: ArraySlice<UInt8> = []
    private var hasDiffered = false
    /// `errno` of the first call that failed; nothing is written after it.
    private var failure: CInt?

    /// Number of lines that precede the recalled ones, until those are aligned with the file.
    private var skipped: UInt64?
    /// Line for people about lines that are missing.
    private(set) var notice: String?

    private static let pieceBytes = 1 << 16

    /// - Parameter path: a regular file.
    init(_ path: String) throws(UsageError) {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw UsageError(unsafe "--decisions \(path): cannot be read: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Notes the number of lines that were decided before a checkpoint, and cannot be written anew. Called before `take`.
    func skip(_ count: UInt64) { skipped = count }

    func take(_ line: [UInt8]) {
        guard failure == nil else { return }
        if skipped != nil { align(with: line) }
        if !hasDiffered, !matches(line) { cut() }
        if hasDiffered { write(line[...]) }
        guard failure == nil else { return }
        length += off_t(line.count)
    }

    /// Passes over the file's lines that precede the first recalled one. The file may lack some of them: it may have been begun after others
    /// were decided, or a machine may have lost power.
    ///
    /// - Parameter line: first recalled line; `nil` if there is none, and the file has nothing but lines from before.
    private func align(with line: [UInt8]?) {
        guard let skipped = skipped.take() else { return }
        var (found, passed): (off_t?, UInt64) = (nil, 0)
        while true {
            if passed <= skipped, let line, begins(with: line) { found = length }
            guard line == nil || passed < skipped, let count = lineAhead() else { break }
            // A line that was decided later does not precede the first recalled line, however many lines are missing.
            if let line, let now = RecalledLines.now(of: ahead.prefix(count)),
                let first = RecalledLines.now(of: line[...]),
                first.lexicographicallyPrecedes(now)
            {
                break
            }
            length += off_t(count)
            ahead.removeFirst(count)
            passed += 1
        }
        // Without that line the file ends before it, perhaps in the middle of a line.
        if let found { length = found }
        ahead = []
        if found == nil, passed < skipped {
            notice =
                "--decisions \(path): \(skipped - passed) of the \(skipped) decisions before the store's checkpoint are not in it, and the "
                + "store has them no longer"
        }
    }

    /// Log time of a line, as its text: later times have greater texts. `nil` if the line has none.
    private static func now(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let name = line.firstRange(of: Array(#""now":""#.utf8)) else { return nil }
        return line[name.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
    }

    /// Returns the bytes of the next whole line; `nil` if there is none.
    private func lineAhead() -> Int? {
        while true {
            if let newline = ahead.firstIndex(of: UInt8(ascii: "\n")) { return newline - ahead.startIndex + 1 }
            guard readAhead() else { return nil }
        }
    }

    private func begins(with line: [UInt8]) -> Bool {
        while ahead.count < line.count, readAhead() {}
        return ahead.starts(with: line)
    }

    /// Truncates the file after the recalled lines.
    ///
    /// - Returns: the fault that kept the file from being right, as one line for people.
    func finish() -> String? {
        align(with: nil)
        if !hasDiffered { cut() }
        // The next line would continue a line that was written in part.
        if failure != nil { ftruncate(descriptor, length) }
        return failure.map { unsafe "\(path): cannot be written: \(String(cString: strerror($0)))" }
    }

    /// Truncates the file after the recalled lines, for a replay that is about to begin.
    ///
    /// - Parameter isPushing: `true` if people wait for pushes, which go on without lines that cannot be written.
    /// - Returns: the line for people about such lines; `nil` if the file is right.
    func finish(isPushing: Bool) throws(UsageError) -> String? {
        guard let fault = finish() else { return nil }
        guard isPushing else { throw UsageError("--decisions \(fault)") }
        return "--decisions \(fault); pushing goes on without the missing lines of earlier runs"
    }

    private func matches(_ line: [UInt8]) -> Bool {
        guard begins(with: line) else { return false }
        ahead.removeFirst(line.count)
        return true
    }

    /// - Returns: `false` at the end of the file.
    private func readAhead() -> Bool {
        var piece = [UInt8](repeating: 0, count: RecalledLines.pieceBytes)
        let count = unsafe piece.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, length + off_t(ahead.count))
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
            let count = unsafe rest.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, written) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { failure = errno }
        }
    }
}
