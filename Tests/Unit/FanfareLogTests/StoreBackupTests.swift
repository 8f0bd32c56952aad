import FanfareModel
import FanfareTestSupport
import Foundation
import Glibc
import Testing

@testable import FanfareLog

@Suite struct StoreBackupTests {
    private static let entries = (1...4 as ClosedRange<Int64>).map { LogEntry(now: FeedTime(milliseconds: $0), .tick) }

    private static let card = Card(
        subscriber: "anna", activity: "card", token: [1, 2], audience: .topic(TopicID("match/1")),
        startedAt: FeedTime(seconds: 1_790_000_000))

    /// Makes a store of four entries, with a checkpoint of the second one, an entry that is set aside, and a card.
    private func fill(_ folder: TemporaryFolder) throws {
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append(Self.entries)
            let checksum = try #require(try log.checksum(at: 2))
            try log.checkpoints.begin(
                CheckpointHead(
                    position: 2, now: Self.entries[1].now, checksum: checksum,
                    rules: LogRules(text: "rules", decisionVersion: 1)))
            try log.checkpoints.append([[1, 2, 3]])
            _ = try log.checkpoints.finish()
            try LMDBPeopleStore(store: folder.path).apply([.insert(Self.card)])
        }
        _ = try LMDBLog.skip(3, in: folder.path)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func aBackupHasTheLogItsCheckpointsAndThePeopleAndIsItsOwnersAlone() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        let backup = try StoreBackup(of: store.path, in: copy.path)
        #expect(backup.start == 1 && backup.end == 4 && backup.hasPeople)
        for folder in ["", "/people"] { #expect(try mode(copy.path + folder) == 0o700) }
        for file in ["/data.mdb", "/checkpoint-2", "/skipped", "/people/data.mdb"] {
            #expect(try mode(copy.path + file) == 0o600, "\(file)")
        }
        let log = try LMDBLog(folder: copy.path)
        var positions: [LogPosition] = []
        try log.read(from: 1) { (position, entry) throws(LogError) in
            positions.append(position)
            #expect((entry.skippedAt != nil) == (position == 3))
            return true
        }
        let checkpoint = try log.newestCheckpoint { Issue.record("\($0)") }.head
        #expect(positions == [1, 2, 3, 4] && checkpoint?.position == 2)
        var cards: [Card] = []
        try LMDBPeopleStore(store: copy.path).read { (_, card) throws(LogError) in
            if case .success(let card) = card { cards.append(card) }
            return true
        }
        #expect(cards == [Self.card])
    }

    @Test func aBackupReplacesNothing() throws {
        let (store, copy) = (TemporaryFolder(), try TemporaryFolder.made())
        try fill(store)
        let error = #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(error?.description == "\(copy.path): cannot be made: File exists")
        #expect(copy.names == [])
        #expect(!isThere(copy.path + ".partial"))
    }

    @Test func aBackupThatWasKilledIsNamedAndKept() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        let partial = copy.path + ".partial"
        try FileManager.default.createDirectory(atPath: partial, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: partial) }
        let error = #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(error?.description.hasPrefix("\(partial): is left of a backup that was killed, or belongs to") == true)
        #expect(!isThere(copy.path) && isThere(partial))
    }

    @Test func aBackupsFolderMayHaveSlashesAtItsEnd() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        let backup = try StoreBackup(of: store.path + "/", in: copy.path + "//")
        #expect(backup.end == 4 && isThere(copy.path + "/data.mdb") && !isThere(copy.path + ".partial"))
    }

    /// The people come last, so everything else has been copied by then.
    @Test func aBackupThatFailsLeavesNothing() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        let file = URL(filePath: store.path + "/people/data.mdb")
        let bytes = try Data(contentsOf: file)
        try bytes.prefix(bytes.count - 1).write(to: file)
        let error = #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(error?.description.contains("data.mdb is cut short") == true)
        #expect(!isThere(copy.path) && !isThere(copy.path + ".partial"))
    }

    @Test func aFolderWithoutALogGetsNoBackup() throws {
        let (store, copy) = (try TemporaryFolder.made(), TemporaryFolder())
        #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(!isThere(copy.path) && !isThere(copy.path + ".partial"))
    }

    /// Makes the log's file longer by a page that is neither in use nor free.
    private func losePage(of store: TemporaryFolder) throws {
        let file = URL(filePath: store.path + "/data.mdb")
        let page = Int(sysconf(CInt(_SC_PAGESIZE)))
        var data = try Data(contentsOf: file)
        func number(at place: Int) -> UInt64 {
            data[place..<place + 8].withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
        // Two pages describe the file in turn: the number of the last page is at 136, and at 144 that of the transaction.
        let meta = number(at: 144) > number(at: page + 144) ? 0 : page
        let lost = number(at: meta + 136) + 1
        data.replaceSubrange(meta + 136..<meta + 144, with: withUnsafeBytes(of: lost) { Data($0) })
        let missing = max(0, (Int(lost) + 1) * page - data.count)
        data.append(Data(repeating: 0, count: missing))
        try data.write(to: file)
    }

    /// LMDB refuses to compact such a file (`MDB_INCOMPATIBLE`).
    @Test func aFileThatHasLostAPageIsCopiedWithIt() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        try losePage(of: store)
        let backup = try StoreBackup(of: store.path, in: copy.path)
        #expect(backup.start == 1 && backup.end == 4)
        func size(_ folder: TemporaryFolder) throws -> Int {
            try Data(contentsOf: URL(filePath: folder.path + "/data.mdb")).count
        }
        #expect(try size(copy) == size(store), "the copy was compacted, so the test proves nothing")
        var count = 0
        try LMDBLog(folder: copy.path).read(from: 1) { (_, _) throws(LogError) in
            count += 1
            return true
        }
        #expect(count == 4)
    }

    /// The process that writes may replace both checkpoints while they are copied, and trim its log behind the new ones.
    @Test func aBackupWithoutTheCheckpointThatItsLogNeedsIsRefused() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        do {
            let log = try LMDBLog(folder: store.path)
            try log.append(Self.entries)
            log.trim(through: 2)
            try log.append([LogEntry(now: FeedTime(milliseconds: 5), .tick)])
            #expect(log.start == 3)
        }
        let error = #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(error?.description.hasSuffix("make another backup") == true)
        #expect(!isThere(copy.path) && !isThere(copy.path + ".partial"))
    }

    /// Another backup would not help.
    @Test func aBackupWhoseOnlyCheckpointIsDamagedSaysSo() throws {
        let (store, copy) = (TemporaryFolder(), TemporaryFolder())
        try fill(store)
        do {
            let log = try LMDBLog(folder: store.path)
            log.trim(through: 1)
            try log.append([LogEntry(now: FeedTime(milliseconds: 5), .tick)])
            #expect(log.start == 2)
        }
        let file = URL(filePath: store.path + "/checkpoint-2")
        let bytes = try Data(contentsOf: file)
        try bytes.prefix(bytes.count - 1).write(to: file)
        let error = #expect(throws: LogError.self) { _ = try StoreBackup(of: store.path, in: copy.path) }
        #expect(error?.cause == .damaged)
        let words = error?.description ?? ""
        #expect(words.contains("/checkpoint-2: it ends too early") && !words.contains("another backup"), "\(words)")
        #expect(!isThere(copy.path) && !isThere(copy.path + ".partial"))
    }
}
