import FanfareDecisions
package import FanfareModel

/// Checkpoints of a core: a row with the core's own data, rows of alerts and keys, and the decision core's rows.
extension EngineCore {
    /// First byte of the core's own row; no row of the decision core begins with it.
    private static let ownRow: UInt8 = 64

    var topicCount: Int { decisionCore.topicCount }

    /// Begins a checkpoint of this moment.
    func beginCheckpoint() -> [UInt8] {
        keys.beginRows(at: decisionCore.now)
        decisionCore.beginCheckpoint()
        recentAlerts?.beginRows(at: decisionCore.now)
        var writer = SerialWriter()
        writer.write(byte: EngineCore.ownRow)
        writer.write(records.all)
        writer.write(records.rejected)
        writer.write(apps)
        return writer.bytes
    }

    func continueCheckpoint(upTo size: ByteCount) { decisionCore.continueCheckpoint(upTo: size) }

    func takeCheckpointRows() -> [[UInt8]] {
        [recentAlerts?.takeRow(), keys.takeRow()].compactMap(\.self) + decisionCore.takeCheckpointRows()
    }

    func endCheckpoint() {
        decisionCore.endCheckpoint()
        recentAlerts?.endRows()
        keys.endRows()
    }

    var hasGivenUpCheckpoint: Bool { decisionCore.hasGivenUpCheckpoint }
    /// Is `true` once the rows taken next complete the checkpoint.
    var isCheckpointWhole: Bool {
        decisionCore.isCheckpointWhole && recentAlerts?.rowsLeft ?? 0 <= 1 && keys.rowsLeft <= 1
    }
    var unwritableTopic: TopicID? { decisionCore.unwritableTopic }

    /// Takes the next row of a checkpoint, at the beginning of a recall.
    package func restore(_ row: [UInt8]) throws(SerialError) {
        var reader = SerialReader(row.dropFirst())
        switch row.first {
        case EngineCore.ownRow: break
        case RecentAlerts.row:
            let entries = try reader.all { (reader) throws(SerialError) in try reader.recentAlert() }
            for entry in entries { recentAlerts?.restore(entry) }
            guard reader.isAtEnd else { throw .malformed("length") }
            return
        case KnownKeys.row:
            try keys.restore(&reader)
            guard reader.isAtEnd else { throw .malformed("length") }
            return
        default: return try decisionCore.restore(row)
        }
        records = RecordCounts(all: try reader.unsigned(), rejected: try reader.unsigned())
        try apps.restore(&reader)
    }

    /// Creates a core that takes and returns the first rows of checkpoints, and decides nothing. For tests.
    ///
    /// - Parameter apps: one at least.
    package convenience init(rowsOf apps: [AppID]) {
        let links = apps.map { _ in ShardLink(ShardRings(commandsMax: 16, feedbackMax: 16)) {} }
        self.init(shards: links, perApp: 1, apps: apps, isLive: true)
        keepAlerts()
    }

    /// Returns the rows of a checkpoint of this moment before those of the decision core: the core's own, alerts, and calls. For tests.
    package func firstRows() -> [[UInt8]] {
        var rows = [beginCheckpoint()]
        defer { endCheckpoint() }
        continueCheckpoint(upTo: .kibibytes(32))
        while true {
            let next = takeCheckpointRows().filter { $0.first == RecentAlerts.row || $0.first == KnownKeys.row }
            guard !next.isEmpty else { return rows }
            rows += next
        }
    }

    /// Ends the restoring, after the last row.
    package func endRestoring() throws(SerialError) {
        try decisionCore.endRestoring()
        delegate?.coreDidRestore(records: records, decisionCore.newestPublications)
    }
}
