internal import FanfareLog
internal import FanfareModel

/// The log with its checkpoints: batches of entries, some of them larger than a page; a checkpoint after some batches, and the entries
/// before the older checkpoint are removed.
package final class LogPart: Part {
    package static let name = "log"

    private struct State {
        var end: LogPosition = 0
        /// Entries up to this one may have been removed.
        var trimmed: LogPosition = 0
        /// The newest first.
        var checkpoints: [LogPosition] = []
    }

    private let folder: String
    private var log: LMDBLog?
    /// State after so many steps.
    private var states = [State()]
    /// A map that is soon full.
    private static let mapSize = ByteCount.kibibytes(64)

    package init(store: String) throws { folder = store + "/log" }

    package func close() {
        log?.close()
        log = nil
    }

    package func step() throws {
        let number = states.count
        var state = states[number - 1]
        if number.isMultiple(of: 61) { close() }
        let log = try self.log ?? LMDBLog(folder: folder, mapSize: LogPart.mapSize)
        self.log = log
        log.trim(through: state.trimmed)
        if number.isMultiple(of: 16) {
            try log.checkpoints.begin(LogPart.head(state.end))
            for row in LogPart.rows(state.end) { try log.checkpoints.append([row]) }
            if number.isMultiple(of: 96) {
                log.checkpoints.abandon()
            } else {
                state.trimmed = try log.checkpoints.finish()
                state.checkpoints = [state.end] + state.checkpoints.prefix(1)
            }
        } else {
            let count = LogPosition(1 + UInt64(number).mixed % 8)
            try log.append((1...count).map { LogPart.entry(state.end + $0) })
            state.end += count
        }
        states.append(state)
    }

    private static func entry(_ position: LogPosition) -> LogEntry {
        let bytes = position.isMultiple(of: 23) ? 5000 + Int(position % 50) * 1000 : 40 + Int(position % 300)
        return LogEntry(
            now: FeedTime(milliseconds: Int64(position)), item: position,
            .rules(position.text(bytes: bytes), decisionVersion: position))
    }

    private static func head(_ position: LogPosition) -> CheckpointHead {
        CheckpointHead(
            position: position, now: FeedTime(milliseconds: Int64(position)), checksum: UInt32(position),
            rules: LogRules(text: position.text(bytes: 100), decisionVersion: 1))
    }

    private static func rows(_ position: LogPosition) -> [[UInt8]] {
        (0..<50).map {
            Array((position &* 100 &+ $0).text(bytes: 50 + Int((position &+ $0).mixed % 6000)).utf8)
        }
    }

    package func judge(store: String, done: Int, begun: Int) throws -> String? {
        let (before, after) = (states[done], states[min(begun, states.count - 1)])
        let folder = store + "/log"
        let log = try LMDBLog(folder: folder, mapSize: LogPart.mapSize)
        defer { log.close() }
        guard log.end == before.end || log.end == after.end else {
            return "the log ends with entry \(log.end); \(before.end) was acknowledged, \(after.end) handed in"
        }
        guard log.end == 0 || log.start <= after.trimmed + 1 else {
            return "the log begins with entry \(log.start), and was trimmed through \(after.trimmed)"
        }
        if let fault = try LogPart.entries(log) ?? LogPart.checkpoints(log, before, after) { return fault }
        let end = log.end
        try log.append([LogPart.entry(end + 1)])
        log.close()
        let again = try LMDBLog(folder: folder, mapSize: LogPart.mapSize)
        defer { again.close() }
        guard again.end == end + 1 else { return "the log went on with entry \(end + 1), and ends with \(again.end)" }
        return try LogPart.entries(again)
    }

    private static func entries(_ log: LMDBLog) throws -> String? {
        var next = log.start
        var fault: String?
        try log.read(from: log.start) { (position, entry) in
            if entry != LogPart.entry(position) { fault = "entry \(position) is another one" }
            next = position + 1
            return fault == nil
        }
        return fault ?? (next == log.end + 1 ? nil : "entries end with \(next - 1), and the log with \(log.end)")
    }

    private static func checkpoints(_ log: LMDBLog, _ before: State, _ after: State) throws -> String? {
        let positions = try log.checkpoints.positions()
        let isFinishing = before.checkpoints != after.checkpoints
        for position in isFinishing ? before.checkpoints.prefix(1) : before.checkpoints.prefix(2)
        where !positions.contains(position) {
            return "the checkpoint of entry \(position) was acknowledged, and is not there"
        }
        for position in positions {
            var rows: [[UInt8]] = []
            try log.checkpoints.read(at: position) { rows.append($0) }
            guard try log.checkpoints.head(at: position) == head(position), rows == LogPart.rows(position) else {
                return "the checkpoint of entry \(position) is another one"
            }
            guard position <= log.end else {
                return "a checkpoint of entry \(position), and the log ends with \(log.end)"
            }
        }
        return nil
    }
}
