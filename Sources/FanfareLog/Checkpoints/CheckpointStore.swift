package import FanfareModel

/// Moment of a checkpoint: a log's entries up to this position are in it, and need not be decided again.
package struct CheckpointHead: Sendable, Equatable {
    /// Position of the last entry that was decided.
    package let position: LogPosition
    /// Log time of that moment.
    package let now: FeedTime
    /// Checksum of the content of the log's row at that position: another one in its place, as after a restored backup, is of another history.
    package let checksum: UInt32
    /// Rules that stood.
    package let rules: LogRules

    package init(position: LogPosition, now: FeedTime, checksum: UInt32, rules: LogRules) {
        self.position = position
        self.now = now
        self.checksum = checksum
        self.rules = rules
    }
}

/// Place of a log's checkpoints: rows of bytes whose meaning is their writer's. Each checkpoint is whole or not there. Its calls block.
/// Confined to one thread at a time.
package protocol CheckpointStore: AnyObject, Sendable {
    /// Positions of the checkpoints, the newest first, without those that are disregarded.
    func positions() throws(LogError) -> [LogPosition]
    func head(at position: LogPosition) throws(LogError) -> CheckpointHead
    /// Calls the closure with each row of a checkpoint, in order.
    func read(at position: LogPosition, _ body: ([UInt8]) throws(LogError) -> Void) throws(LogError)
    /// Disregards checkpoints that are of no use to this process. They stay until two others are there: a file that could not be read for a
    /// moment, or a log that is put back, may make them good again for the next process.
    func disregard(_ positions: [LogPosition])

    /// Begins a checkpoint. One that was begun before and not finished is given up.
    func begin(_ head: CheckpointHead) throws(LogError)
    func append(_ rows: [[UInt8]]) throws(LogError)
    /// Makes the checkpoint durable and visible. Then all but the newest two are removed: should the newest one be damaged, a restart reads the
    /// other.
    ///
    /// - Returns: the position up to which no restart needs an entry any more, nor will it after damage of one checkpoint; 0 while there is one
    ///   checkpoint. The entry at a checkpoint's position stays, because it shows whose checkpoint that is.
    func finish() throws(LogError) -> LogPosition
    /// Gives up the checkpoint that was begun, if there is one.
    func abandon()
}

/// Number of checkpoints that are kept.
let checkpointsKept = 2

/// Checkpoints in memory, as durable as the process.
///
/// `Sendable` is unchecked because `CheckpointStore` confines it to one thread at a time.
package final class MemoryCheckpoints: CheckpointStore, @unchecked Sendable {
    /// Oldest first.
    package private(set) var kept: [(head: CheckpointHead, rows: [[UInt8]])] = []
    private var begun: (head: CheckpointHead, rows: [[UInt8]])?

    package init() {}

    package func positions() -> [LogPosition] { kept.map(\.head.position).reversed() }

    private func found(at position: LogPosition) throws(LogError) -> (head: CheckpointHead, rows: [[UInt8]]) {
        guard let found = kept.last(where: { $0.head.position == position }) else {
            throw LogError("there is no checkpoint of entry \(position)", .damaged)
        }
        return found
    }

    package func head(at position: LogPosition) throws(LogError) -> CheckpointHead { try found(at: position).head }

    package func read(at position: LogPosition, _ body: ([UInt8]) throws(LogError) -> Void) throws(LogError) {
        for row in try found(at: position).rows { try body(row) }
    }

    package func disregard(_ positions: [LogPosition]) { kept.removeAll { positions.contains($0.head.position) } }

    package func begin(_ head: CheckpointHead) { begun = (head, []) }
    package func append(_ rows: [[UInt8]]) { begun?.rows += rows }

    package func finish() -> LogPosition {
        if let begun = begun.take() {
            disregard([begun.head.position])
            kept.append(begun)
        }
        kept.removeFirst(max(0, kept.count - checkpointsKept))
        return kept.count < checkpointsKept ? 0 : kept[0].head.position - 1
    }

    package func abandon() { begun = nil }
}
