import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareLog

/// Checkpoints in a folder and in memory, the log that is trimmed behind them, and the recall that begins with them.
@Suite struct CheckpointStoreTests {
    private static func head(_ position: LogPosition, checksum: UInt32 = 0x0102_0304) -> CheckpointHead {
        CheckpointHead(
            position: position, now: FeedTime(milliseconds: Int64(position) * 1000), checksum: checksum,
            rules: LogRules(text: "rules", decisionVersion: 1))
    }

    private static let rows: [[UInt8]] = [[1], [2, 3, 4], Array(repeating: 7, count: 100_000)]

    private static func write(
        _ position: LogPosition, _ rows: [[UInt8]] = rows, to store: any CheckpointStore, checksum: UInt32 = 0x0102_0304
    ) throws -> LogPosition {
        try store.begin(head(position, checksum: checksum))
        for row in rows { try store.append([row]) }
        return try store.finish()
    }

    private static func rows(_ position: LogPosition, of store: any CheckpointStore) throws -> [[UInt8]] {
        var rows: [[UInt8]] = []
        try store.read(at: position) { rows.append($0) }
        return rows
    }

    @Test(arguments: [true, false]) func checkpointsAreReadBackAndTwoAreKept(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        func opened() -> any CheckpointStore { CheckpointFolder(folder: folder.path) }
        let store: any CheckpointStore = inMemory ? MemoryCheckpoints() : opened()
        #expect(try store.positions().isEmpty)
        #expect(try Self.write(10, to: store) == 0, "nothing is superfluous while there is one")
        #expect(try Self.write(20, [[9]], to: store) == 9)
        #expect(try Self.write(300, [], to: store) == 19)
        let again = inMemory ? store : opened()
        #expect(try again.positions().map { try again.head(at: $0) } == [Self.head(300), Self.head(20)])
        #expect(try Self.rows(20, of: again) == [[9]])
        #expect(try Self.rows(300, of: again) == [])
        if !inMemory { #expect(folder.names == ["checkpoint-20", "checkpoint-300"]) }
    }

    /// A checkpoint that a process began before it ended does not count, and neither does one that was given up.
    @Test func aCheckpointThatWasNotFinishedIsNotThere() throws {
        let folder = try TemporaryFolder.made()
        do {
            let store = CheckpointFolder(folder: folder.path)
            try store.begin(Self.head(5))
            try store.append(Self.rows)
        }
        let store = CheckpointFolder(folder: folder.path)
        #expect(try store.positions().isEmpty)
        #expect(folder.names.count == 1)
        try store.removePartial()
        #expect(folder.names == [])
        try store.begin(Self.head(6))
        try store.append(Self.rows)
        store.abandon()
        try store.append(Self.rows)
        #expect(try store.finish() == 0)
        #expect(try store.positions().isEmpty)
        #expect(try Self.write(7, to: store) == 0)
        #expect(try Self.rows(7, of: store) == Self.rows)
        #expect(folder.names == ["checkpoint-7"])
    }

    /// Any byte that is another one, and any end, is found.
    @Test func aDamagedCheckpointIsTold() throws {
        let folder = try TemporaryFolder.made()
        let store = CheckpointFolder(folder: folder.path)
        _ = try Self.write(7, [[1, 2], [3]], to: store)
        let path = folder.path + "/checkpoint-7"
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        func isRefused(_ bytes: Data) throws -> Bool {
            try bytes.write(to: URL(fileURLWithPath: path))
            do throws(LogError) {
                guard try store.head(at: 7) == Self.head(7) else { return false }
                try store.read(at: 7) { _ in }
                return false
            } catch { return error.cause == .damaged }
        }
        #expect(try !isRefused(good))
        for place in good.indices {
            var bytes = good
            bytes[place] ^= 0x10
            #expect(try isRefused(bytes), "byte \(place)")
            #expect(try isRefused(good[..<place]), "end at \(place)")
        }
    }

    @Test func aCheckpointOfANewerReleaseIsRefused() throws {
        let folder = try TemporaryFolder.made()
        let store = CheckpointFolder(folder: folder.path)
        var writer = SerialWriter()
        writer.write(byte: CheckpointFolder.form + 1)
        let sealed = LogEntry.sealed(writer.bytes[...], at: 0)
        let bytes = Data([UInt8(sealed.count), 0, 0, 0] + sealed)
        try bytes.write(to: URL(fileURLWithPath: folder.path + "/checkpoint-7"))
        let error = #expect(throws: LogError.self) { try store.head(at: 7) }
        #expect(error?.cause == .newerRelease && error?.description.contains("newer release") == true)
    }

    /// A checkpoint as this release writes it. It never changes.
    @Test func theFormOfCheckpointsStaysReadable() throws {
        let folder = try TemporaryFolder.made()
        let store = CheckpointFolder(folder: folder.path)
        let rows = "06000000010225535dfb" + "0500000003926df651" + "060000000003cf82b491"
        let golden = "13000000" + "0307b06d" + "04030201" + "0572756c657301" + "bb1655c7" + rows
        _ = try Self.write(7, [[1, 2], [3]], to: store)
        let file = URL(fileURLWithPath: folder.path + "/checkpoint-7")
        let bytes = try Data(contentsOf: file)
        #expect(bytes.map { String(format: "%02x", $0) }.joined() == golden)
        // The forms before: one without rows of keys, and one whose rows have no hash of what topics show.
        for (head, checksum) in [("0207b06d", "53cdae7e"), ("0107b06d", "2aa7d36f")] {
            let digits = Array(("13000000" + head + "04030201" + "0572756c657301" + checksum + rows).utf8)
            let written = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
            }
            try Data(written).write(to: file)
            #expect(try store.head(at: 7).position == 7)
        }
    }

    // MARK: - Trimming

    private static func ticks(_ range: Range<Int>) -> [LogEntry] {
        range.map { LogEntry(now: FeedTime(milliseconds: Int64($0)), .tick) }
    }

    private static func positions(of log: any Log, from: LogPosition = 1) throws -> [LogPosition] {
        var positions: [LogPosition] = []
        try log.read(from: from) { (position, entry) in
            #expect(entry.now.milliseconds == Int64(position))
            positions.append(position)
            return true
        }
        return positions
    }

    @Test(arguments: [true, false]) func aTrimmedLogBeginsLaterAndKeepsItsPositions(inMemory: Bool) throws {
        let folder = try TemporaryFolder.made()
        let log: any Log = inMemory ? MemoryLog() : try LMDBLog(folder: folder.path)
        #expect(log.start == 1)
        try log.append(Self.ticks(1..<101))
        log.trim(through: 40)
        try log.append(Self.ticks(101..<102))
        #expect(log.start == 41 && log.end == 101)
        #expect(try Self.positions(of: log) == Array(41...101))
        #expect(try Self.positions(of: log, from: 60) == Array(60...101))
        // The newest entry says where the log ends.
        log.trim(through: 1000)
        try log.append(Self.ticks(102..<103))
        #expect(log.start >= 101 && log.end == 102)
        guard !inMemory else { return }
        log.close()
        let again = try LMDBLog(folder: folder.path)
        #expect(again.start == log.start && again.end == 102)
        try again.append(Self.ticks(103..<104))
        #expect(try Self.positions(of: again).last == 103)
    }

    /// However long it goes on, a log that is trimmed needs no more room.
    @Test func aTrimmedLogsFileStaysFlat() throws {
        let folder = try TemporaryFolder.made()
        let log = try LMDBLog(folder: folder.path)
        var sizes: [Int] = []
        for round in 0..<40 {
            try log.append(Self.ticks(1 + round * 2000..<1 + (round + 1) * 2000))
            log.trim(through: log.end - 1000)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/data.mdb")
            sizes.append(try #require(attributes[.size] as? Int))
        }
        #expect(sizes[39] <= sizes[9], "\(sizes)")
    }

    // MARK: - Recall

    private final class Target: RecallTarget {
        var told: [String] = []
        func adopt(_ rules: LogRules, at position: LogPosition, now: FeedTime) {
            told.append("rules \(rules.text) at \(position)")
        }
        func restore(_ row: [UInt8]) { told.append("row \(row)") }
        func endRestoring() { told.append("restored") }
        func decide(_ entry: LogEntry, at position: LogPosition) { told.append("entry \(position)") }
        func report(_ line: String) { told.append("report") }
    }

    private static let rules = LogRules(text: "rules", decisionVersion: 1)

    private static func recall(_ log: any Log) throws -> [String] {
        let target = Target()
        try log.recall(under: rules, into: target)
        return target.told
    }

    private func folder(checkpoints: [LogPosition]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder.made()
        let log = try LMDBLog(folder: folder.path)
        try log.append(
            [LogEntry(now: FeedTime(milliseconds: 1), .rules("rules", decisionVersion: 1))] + Self.ticks(2..<8))
        for position in checkpoints {
            let checksum = try log.checksum(at: position) ?? 0
            _ = try Self.write(position, [[UInt8(position)]], to: log.checkpoints, checksum: checksum)
        }
        return folder
    }

    @Test func aRecallBeginsWithTheNewestCheckpoint() throws {
        let folder = try folder(checkpoints: [3, 5])
        #expect(
            try Self.recall(LMDBLog(folder: folder.path))
                == ["rules rules at 5", "row [5]", "restored", "entry 6", "entry 7"])
    }

    @Test func aRecallBeginsWithTheOneBeforeADamagedCheckpoint() throws {
        let folder = try folder(checkpoints: [3, 5])
        let url = URL(fileURLWithPath: folder.path + "/checkpoint-5")
        var bytes = try Data(contentsOf: url)
        // In the row, which the head says nothing of.
        bytes[bytes.count - 15] ^= 1
        try bytes.write(to: url)
        #expect(
            try Self.recall(LMDBLog(folder: folder.path)) == [
                "report", "rules rules at 3", "row [3]", "restored", "entry 4", "entry 5", "entry 6", "entry 7",
            ])
        // The good one does not give way to it when the next one comes, and the log is not trimmed for its sake.
        do {
            let log = try LMDBLog(folder: folder.path)
            _ = try Self.recall(log)
            #expect(try log.checkpoints.positions() == [3])
            #expect(try Self.write(7, to: log.checkpoints, checksum: log.checksum(at: 7) ?? 0) == 2)
        }
        #expect(folder.names.filter { $0.hasPrefix("checkpoint") } == ["checkpoint-3", "checkpoint-7"])
        // Without any, the whole log is read while it is there, and nothing is made up where it is not.
        for name in ["checkpoint-3", "checkpoint-7"] {
            try Data().write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        let log = try LMDBLog(folder: folder.path)
        #expect(try Self.recall(log).filter { $0 != "report" }.count == 7)
        log.trim(through: 3)
        try log.append(Self.ticks(8..<9))
        let error = #expect(throws: LogError.self) { try Self.recall(log) }
        #expect(error?.cause == .damaged && error?.description.contains("entries before 4 were trimmed") == true)
    }

    /// A restored backup may end before a checkpoint, and go on with other entries: what another history has led to is not this one's.
    @Test func aCheckpointOfAnotherHistoryIsPassedOver() throws {
        let folder = try folder(checkpoints: [5])
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append(Self.ticks(8..<10))
            for position in [LogPosition(7), 9] {
                let checksum = try log.checksum(at: position) ?? 0
                _ = try Self.write(position, [[UInt8(position)]], to: log.checkpoints, checksum: checksum)
            }
            try FileManager.default.removeItem(atPath: folder.path + "/checkpoint-7")
        }
        // The backup ends with entry 7.
        for name in ["data.mdb", "lock.mdb"] { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }
        let log = try LMDBLog(folder: folder.path)
        try log.append(
            [LogEntry(now: FeedTime(milliseconds: 1), .rules("rules", decisionVersion: 1))] + Self.ticks(2..<8))
        #expect(try Self.recall(log).prefix(2) == ["report", "rules rules at 1"])
        #expect(try log.checkpoints.positions() == [])
        // Entries in the same places, but at other times.
        let other = try self.folder(checkpoints: [5])
        let moved = try LMDBLog(folder: folder.path + "/moved")
        try moved.append(
            [LogEntry(now: FeedTime(milliseconds: 1), .rules("rules", decisionVersion: 1))] + Self.ticks(3..<9))
        try FileManager.default.copyItem(
            atPath: other.path + "/checkpoint-5", toPath: folder.path + "/moved/checkpoint-5")
        #expect(try Self.recall(moved).prefix(2) == ["report", "rules rules at 1"])
    }

    /// A start without the log, or with an old one in its place, can be taken back.
    @Test func aLogThatIsPutBackHasItsCheckpoints() throws {
        let folder = try folder(checkpoints: [3, 5])
        _ = try LMDBLog.trim(folder.path)
        let files = ["data.mdb", "lock.mdb"]
        for name in files {
            try FileManager.default.moveItem(atPath: folder.path + "/" + name, toPath: folder.path + "/away-" + name)
        }
        #expect(try Self.recall(LMDBLog(folder: folder.path)).suffix(1) == ["rules rules at 1"])
        for name in files {
            try FileManager.default.removeItem(atPath: folder.path + "/" + name)
            try FileManager.default.moveItem(atPath: folder.path + "/away-" + name, toPath: folder.path + "/" + name)
        }
        #expect(try Self.recall(LMDBLog(folder: folder.path)).first == "rules rules at 5")
    }

    /// An entry that is set aside is reported as long as its topic may be paused for it.
    @Test func anEntryThatIsSetAsideIsReportedBehindACheckpoint() throws {
        let folder = try folder(checkpoints: [])
        _ = try LMDBLog.skip(4, in: folder.path)
        let log = try LMDBLog(folder: folder.path)
        _ = try Self.write(5, to: log.checkpoints, checksum: log.checksum(at: 5) ?? 0)
        #expect(try Self.recall(log).contains("report"))
        #expect(log.noticesOfSkipped(through: 5).count == 1 && log.noticesOfSkipped(through: 3).isEmpty)
    }

    /// A disk that cannot read one checkpoint has the other.
    @Test func aCheckpointThatCannotBeReadIsPassedOver() throws {
        let folder = try folder(checkpoints: [3, 5])
        try FileManager.default.removeItem(atPath: folder.path + "/checkpoint-5")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/checkpoint-5", withIntermediateDirectories: false)
        #expect(try Self.recall(LMDBLog(folder: folder.path)).prefix(2) == ["report", "rules rules at 3"])
    }

    @Test func aLogIsTrimmedByHandUpToItsNewestCheckpoint() throws {
        let none = try folder(checkpoints: [])
        #expect(throws: LogError.self) { try LMDBLog.trim(none.path) }
        let folder = try folder(checkpoints: [3, 5])
        #expect(try LMDBLog.trim(folder.path) == (4, 5))
        #expect(try LMDBLog.trim(folder.path) == (0, 5))
        let log = try LMDBLog(folder: folder.path)
        #expect(log.start == 5)
        #expect(try Self.recall(log) == ["rules rules at 5", "row [5]", "restored", "entry 6", "entry 7"])
    }

    /// Entries before a checkpoint are not decided again, so setting one aside would change nothing.
    @Test func anEntryBeforeACheckpointIsNotSetAside() throws {
        let folder = try folder(checkpoints: [5])
        let error = #expect(throws: LogError.self) { try LMDBLog.skip(5, in: folder.path) }
        #expect(error?.description.contains("checkpoint of entry 5") == true)
        #expect(try LMDBLog.skip(6, in: folder.path).skippedAt == 6)
    }
}
