package import FanfareModel

/// Moment of a checkpoint: a log's entries up to this position are in it, and need not be decided again.
package struct CheckpointHead: Sendable, Equatable {
    /// Position of the last entry that was decided.
    package let position: LogPosition
    /// Log time of that moment.
    package let now: FeedTime
    /// Checksum of the content of the log's row at that position. It differs in another history of the log, as after a restored backup.
    package let checksum: UInt32
    /// Rules of that moment.
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
    /// Positions of the checkpoints that are not disregarded, the newest first.
    func positions() throws(LogError) -> [LogPosition]
    func head(at position: LogPosition) throws(LogError) -> CheckpointHead
    /// Calls the closure with each row of a checkpoint, in order.
    func read(at position: LogPosition, _ body: ([UInt8]) throws(LogError) -> Void) throws(LogError)
    /// Disregards checkpoints that this process cannot use. A disregarded checkpoint stays until there are two others: it may be readable for the
    /// next process, or fit a log that has been put back.
    func disregard(_ positions: [LogPosition])

    /// Begins a checkpoint. An earlier unfinished one is given up.
    func begin(_ head: CheckpointHead) throws(LogError)
    func append(_ rows: [[UInt8]]) throws(LogError)
    /// Makes the checkpoint durable and visible, and removes all but the newest two: a restart reads the older one if the newest is damaged.
    ///
    /// - Returns: the position up to which no restart needs an entry, even if one checkpoint is damaged; 0 while there is only one. The entry at a
    ///   checkpoint's position stays, because it identifies the checkpoint's log.
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
