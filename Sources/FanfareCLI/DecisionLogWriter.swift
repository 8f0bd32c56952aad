/// The decision log on its way to whoever reads it. A recorded feed waits for a slow reader (`isFull`), so that its log is whole; a live
/// one does not: lines for which there is no room are left out, and counted.
final class DecisionLogWriter {
    /// Told once of each.
    enum Trouble: Equatable {
        /// One line for people. Nothing more will be written.
        case failed(String)
        case unread(String)
    }

    private let file: OutputFile
    private let isLive: Bool
    private let leavesAtOnce: Bool
    private var hasFailed = false
    private var hasHole = false

    /// About 40,000 lines.
    static let liveCapacity = 16 << 20

    /// - Parameters:
    ///   - isLive: the feed does not wait.
    ///   - leavesAtOnce: somebody reads along.
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

    /// Waits until the log is written.
    ///
    /// - Parameter patience: for a reader who does not read; `nil`: any.
    /// - Returns: what it lacks, one line for people each.
    func finish(patience: Duration?) -> [String] {
        var faults: [String] = []
        if !file.flush(patience: patience) { faults.append(OutputError(file).description) }
        if file.refused > 0 { faults.append("\(file.name): \(file.refused.grouped) decisions not written") }
        return faults
    }
}
