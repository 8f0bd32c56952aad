import FanfareModel
import Foundation
import Testing

@testable import FanfareLog

@Suite struct LMDBLogTests {
    /// A folder that goes with the test.
    private final class Folder {
        let path = NSTemporaryDirectory() + "fanfare-log-\(UUID())"
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func entries(_ range: Range<Int>) -> [LogEntry] {
        range.map { LogEntry(now: FeedTime(milliseconds: Int64($0)), place: UInt64($0), .tick) }
    }

    private func read(_ log: any Log, from position: LogPosition = 1) throws -> [LogEntry] {
        var found: [LogEntry] = []
        try log.read(from: position) { (at, entry) throws(LogError) in
            #expect(at == position + UInt64(found.count))
            found.append(entry)
            return true
        }
        return found
    }

    @Test func entriesOutliveTheLogThatAppendedThem() throws {
        let folder = Folder()
        do {
            let log = try LMDBLog(folder: folder.path)
            #expect(log.end == 0)
            #expect(try read(log) == [])
            try log.append(EntrySamples.all)
            try log.append([])
            try log.append(entries(0..<3))
            #expect(log.end == UInt64(EntrySamples.all.count + 3))
        }
        let log = try LMDBLog(folder: folder.path)
        #expect(try read(log) == EntrySamples.all + entries(0..<3))
        #expect(try read(log, from: log.end) == entries(2..<3))
        #expect(try read(log, from: log.end + 1) == [])
        try log.append(entries(3..<4))
        #expect(try read(log).last == entries(3..<4)[0])
    }

    @Test func aLogInMemoryReadsLikeOneOnDisk() throws {
        let log = MemoryLog()
        log.append(EntrySamples.all)
        #expect(try read(log) == EntrySamples.all)
        #expect(try read(log, from: log.end + 1) == [])
        var count = 0
        try log.read(from: 1) { (_, _) in
            count += 1
            return count < 2
        }
        #expect(count == 2)
    }

    /// Address space of one page more than LMDB needs is full at once, and is doubled until everything fits.
    @Test func theMapGrows() throws {
        let folder = Folder()
        let log = try LMDBLog(folder: folder.path, mapBytes: 32_768)
        for batch in 0..<20 { try log.append(entries(batch * 1000..<(batch + 1) * 1000)) }
        #expect(try read(log) == entries(0..<20_000))
    }

    /// LMDB itself would go on writing to the deleted file.
    @Test func aFolderThatVanishesIsTold() throws {
        let folder = Folder()
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<1))
        try FileManager.default.removeItem(atPath: folder.path)
        let error = #expect(throws: LogError.self) { try log.append(entries(1..<2)) }
        #expect(error?.description.contains("was removed") == true, "\(error.debugDescription)")
    }

    @Test func oneProcessWritesToAFolder() throws {
        let folder = Folder()
        do {
            let log = try LMDBLog(folder: folder.path)
            // The second one is refused before it opens the file: LMDB forbids two environments of one file in a process.
            let error = #expect(throws: LogError.self) { try LMDBLog(folder: folder.path) }
            #expect(error?.description.contains("another process uses this store") == true)
            try log.append(entries(0..<1))
        }
        #expect(try read(LMDBLog(folder: folder.path, isReadOnly: true)).count == 1)
    }

    @Test func onlyTheOwnerMayReadTheFolder() throws {
        let folder = Folder()
        _ = try LMDBLog(folder: folder.path)
        let modes = try ["", "/data.mdb", "/owner"].map {
            try FileManager.default.attributesOfItem(atPath: folder.path + $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o600, 0o600])
    }

    @Test func damageInTheMiddleIsNamedWithItsPosition() throws {
        let folder = Folder()
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append(
                (0..<200).map { LogEntry(now: FeedTime(milliseconds: 0), .rules("entry \($0).", decisionVersion: 1)) })
        }
        let file = URL(fileURLWithPath: folder.path + "/data.mdb")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("entry 122.".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        let log = try LMDBLog(folder: folder.path, isReadOnly: true)
        var good = 0
        let error = #expect(throws: LogError.self) {
            try log.read(from: 1) { (_, _) in
                good += 1
                return true
            }
        }
        #expect(good == 122)
        #expect(error?.description.contains("entry 123: its checksum is wrong") == true)
    }

    @Test func aFileThatWasCutShortIsRefused() throws {
        let folder = Folder()
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append(entries(0..<5000))
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/data.mdb"))
        try handle.truncate(atOffset: 16_384)
        try handle.close()
        let error = #expect(throws: LogError.self) { try LMDBLog(folder: folder.path) }
        #expect(error?.description.contains("cut short") == true)
    }

    /// Entries of more than a transaction's bytes are several transactions, and a refused one leaves those before it.
    @Test func aLargeBatchIsSeveralTransactions() throws {
        let folder = Folder()
        let log = try LMDBLog(folder: folder.path)
        func entry(_ bytes: Int) -> LogEntry {
            LogEntry(now: FeedTime(milliseconds: 0), .rules(String(repeating: "x", count: bytes), decisionVersion: 1))
        }
        let batch = [entry(9 << 20), entry(9 << 20), entry(1), entry(LogEntry.bytesMax), entry(2)]
        let error = #expect(throws: LogError.self) { try log.append(batch) }
        #expect(error?.isFinal == true)
        #expect(log.end == 3)
        #expect(try read(log) == Array(batch[..<3]))
    }

    /// A reader takes a thousand rows at a time, and goes on behind them.
    @Test func aReaderCrossesItsTransactions() throws {
        let folder = Folder()
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<3000))
        #expect(try read(log) == entries(0..<3000))
        #expect(try read(log, from: 999) == entries(998..<3000))
        #expect(try read(log, from: 2001) == entries(2000..<3000))
    }

    @Test(arguments: ["/proc/no-such", "/dev/null/x"]) func aFolderThatCannotBeMadeIsNamed(path: String) {
        let error = #expect(throws: LogError.self) { try LMDBLog(folder: path) }
        #expect(error?.description.hasPrefix(path) == true)
    }
}
