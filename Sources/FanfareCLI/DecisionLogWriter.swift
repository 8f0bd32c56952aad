import FanfareModel

/// Writes the decision log. A recorded feed waits for a slow reader (`isFull`), so its log is complete. A live feed does not wait: lines
/// without room are left out and counted.
final class DecisionLogWriter {
    /// A fault of the log; each is reported once.
    enum Trouble: Equatable {
        /// One line for people. Nothing more is written after it.
        case failed(String)
        case unread(String)
    }

    private let file: OutputFile
    private let isLive: Bool
    private let leavesAtOnce: Bool
    private var hasFailed = false
    private var hasHole = false

    /// Size of the lines that may wait for the reader of a live log: about 40,000 lines.
    static let liveCapacity = ByteCount.mebibytes(16)

    /// - Parameters:
    ///   - isLive: `true` if the feed does not wait for the log's reader.
    ///   - leavesAtOnce: `true` if each line is written at once, for a person who reads along.
    init(_ file: OutputFile, isLive: Bool, leavesAtOnce: Bool) {
        self.file = file
        self.isLive = isLive
        self.leavesAtOnce = leavesAtOnce
    }

    func write(_ line: [UInt8]) -> Trouble? {
        if isLive { file.offer(line) } else { file.append(line, leaveAtOnce: leavesAtOnce) }
        if !hasFailed, let failure = file.failure {
            hasFailed = true
            return .failed(failure)
        }
        if isLive, !hasHole, file.refused > 0 {
            hasHole = true
            return .unread("\(file.name): nobody reads it; decisions are left out until somebody does")
        }
        return nil
    }

    var isFull: Bool { file.isFull }
    func whenRoom(_ body: @escaping @Sendable () -> Void) { file.whenRoom(body) }

    /// Blocks until the log is written.
    ///
    /// - Parameter patience: longest time without progress of the reader; `nil` means no limit.
    /// - Returns: the log's faults, one line for people each.
    func finish(patience: Duration?) -> [String] {
        var faults: [String] = []
        if !file.flush(patience: patience) { faults.append(OutputError(file).description) }
        if file.refused > 0 { faults.append("\(file.name): \(file.refused.grouped) decisions not written") }
        return faults
    }
}
