package import FanfareLog
package import FanfareModel

/// Way of a checkpoint's rows to a disk.
package protocol CheckpointSink: AnyObject {
    /// Is `true` if no more rows are to be made for now.
    var isFull: Bool { get }
    func begin(_ head: CheckpointHead)
    func append(_ rows: [[UInt8]])
    /// Ends the checkpoint. Its owner calls `Checkpointer.end` when it is durable, or was given up.
    func finish()
    func abandon()
}

extension CheckpointQueue: CheckpointSink {}

/// Writes checkpoints of a core beside its work, so that its log can be trimmed and a restart has few entries to decide again. Has neither
/// thread nor loop. Confined to the core's thread.
package final class Checkpointer {
    private let core: EngineCore
    private let sink: any CheckpointSink
    private let rules: LogRules
    private let interval: LogPosition
    /// Position of the last entry that was decided.
    package private(set) var decided: LogPosition
    /// Log time of that entry. The core's log time may be later: the end of a feed moves it past waiting changes.
    package private(set) var decidedAt = FeedTime.plausible.lowerBound
    /// The entry itself, if it was decided since the log was read, and the checksum of its row otherwise.
    private var decidedEntry: LogEntry?
    private let checksum: UInt32
    /// Position of the last checkpoint that was begun, or could not be written.
    private var last: LogPosition
    /// Number of checkpoints in a row that were given up.
    private var givenUp = 0
    /// Number of given-up checkpoints for each report to operators.
    private static let givenUpPerReport = 8
    private var isWriting = false
    /// Is `true` until the checkpoint that was written is durable, or was given up.
    private var isEnding = false
    /// Called with lines for operators.
    package var onReport: (String) -> Void = { _ in }
    /// Called with the position up to which the log may be trimmed.
    package var onTrim: (LogPosition) -> Void = { _ in }

    /// Number of entries between two checkpoints at least: a restart decides about as many in a tenth of a second.
    package static let defaultInterval: LogPosition = 1 << 16
    /// Size of what a turn writes: some 150 topics at rest, and half a millisecond.
    private static let sizePerTurn = ByteCount.kibibytes(32)
    /// Greatest size of a checkpoint that is written at once.
    private static let sizeAtOnceMax = ByteCount.mebibytes(256)

    /// - Parameters:
    ///   - core: core that has decided all entries of the log.
    ///   - log: its log, which has the program's rules.
    ///   - interval: number of entries between two checkpoints at least.
    package init(
        _ core: EngineCore, _ log: any Log, sink: any CheckpointSink, rules: LogRules,
        interval: LogPosition = Checkpointer.defaultInterval
    ) throws(LogError) {
        self.core = core
        self.sink = sink
        self.rules = rules
        self.interval = interval
        decided = log.end
        checksum = try log.checksum(at: log.end) ?? 0
        var last: FeedTime?
        if log.end >= log.start, log.end > 0 {
            try log.read(from: log.end) { (_, entry) throws(LogError) in
                last = entry.now
                return true
            }
        }
        decidedAt = last ?? core.now
        self.last = try log.checkpoints.positions().first ?? 0
    }

    /// Trims the log up to the older of two checkpoints, because a stop may have prevented that.
    package func trimBehindOlder(_ log: any Log) throws(LogError) {
        guard let older = try log.checkpoints.positions().dropFirst().first, older > log.start else { return }
        onTrim(older - 1)
    }

    /// Notes that the log's next entry has been decided.
    package func noteDecided(_ entry: LogEntry) {
        decided += 1
        (decidedEntry, decidedAt) = (entry, entry.now)
    }

    /// Writes a part of a checkpoint, if one is due.
    ///
    /// - Returns: `true` if the next part can be written at once.
    package func run() -> Bool {
        if !isWriting {
            guard isDue else { return false }
            begin()
        }
        if core.hasGivenUpCheckpoint {
            sink.abandon()
            stop()
            // An order for all topics releases changes that one of the next entries publishes, and a checkpoint that began at once would write all
            // these topics before that. The number of topics may have grown, so that more entries are needed than there are.
            last = decided - min(decided, needed / 4 * 3)
            givenUp += 1
            if givenUp.isMultiple(of: Checkpointer.givenUpPerReport) {
                onReport(
                    "\(givenUp) checkpoints in a row were given up, because orders for many topics came meanwhile or the disk is too slow; the "
                        + "store's log is not trimmed")
            }
            return false
        }
        guard !sink.isFull else { return false }
        core.continueCheckpoint(upTo: Checkpointer.sizePerTurn)
        if let topic = core.unwritableTopic {
            sink.abandon()
            stop()
            onReport(
                "topic \(topic) has no form for a checkpoint, because its reducer has no `memory` or too much of it; the store's log is not "
                    + "trimmed meanwhile")
            return false
        }
        let isWhole = core.isCheckpointWhole
        if isWhole { givenUp = 0 }
        sink.append(core.takeCheckpointRows())
        guard isWhole else { return true }
        stop()
        isEnding = true
        sink.finish()
        return false
    }

    private func begin() {
        isWriting = true
        last = decided
        let checksum = decidedEntry?.checksum(at: decided) ?? checksum
        sink.begin(CheckpointHead(position: decided, now: core.now, checksum: checksum, rules: rules))
        sink.append([core.beginCheckpoint()])
    }

    /// Writes a checkpoint of everything at once, if there is none. Called when the core decides nothing more: the next process then has no entry to
    /// decide again, so a release with other decisions changes nothing by its start.
    ///
    /// - Parameter isLate: returns `true` when the checkpoint is to be given up.
    package func finish(isLate: () -> Bool) {
        guard decided > 0, decided != last || isWriting else { return }
        if isWriting {
            sink.abandon()
            stop()
        }
        begin()
        var (size, isWhole) = (ByteCount.zero, false)
        while !isWhole {
            core.continueCheckpoint(upTo: Checkpointer.sizePerTurn)
            isWhole = core.isCheckpointWhole
            let rows = core.takeCheckpointRows()
            size += .bytes(rows.reduce(0) { $0 + $1.count })
            // All rows wait in memory if the disk is slow.
            guard !core.hasGivenUpCheckpoint, core.unwritableTopic == nil, size <= Checkpointer.sizeAtOnceMax,
                !isLate()
            else {
                sink.abandon()
                return stop()
            }
            sink.append(rows)
        }
        stop()
        sink.finish()
    }

    /// Is `true` if enough entries have come for a checkpoint, whose cost grows with the topics.
    private var isDue: Bool { !isEnding && decided - min(decided, last) >= needed }

    /// Number of entries between two checkpoints.
    private var needed: LogPosition { max(interval, 2 * LogPosition(core.topicCount)) }

    /// Takes the end of a checkpoint.
    package func end(_ result: Result<LogPosition, LogError>) {
        isEnding = false
        switch result {
        case .success(0): break
        case .success(let position): onTrim(position)
        case .failure(let error):
            if isWriting { stop() }
            last = decided
            onReport("\(error); the store's log is not trimmed until it works again")
        }
    }

    private func stop() {
        core.endCheckpoint()
        isWriting = false
    }
}
