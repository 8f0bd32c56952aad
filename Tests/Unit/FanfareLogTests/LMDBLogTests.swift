import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import FanfareLog

@Suite struct LMDBLogTests {
    private func entries(_ range: Range<Int>) -> [LogEntry] {
        range.map { LogEntry(now: FeedTime(milliseconds: Int64($0)), item: UInt64($0), .tick) }
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
        let folder = TemporaryFolder()
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

    /// A file that was being made at a loss of power is no log yet.
    @Test func aFileThatWasBeingMadeIsMadeAnew() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        for name in ["data.mdb", "data.mdb.partial", "data.mdb.partial-lock"] {
            let bytes = Data(repeating: 7, count: name == "data.mdb" ? 0 : 8192)
            try bytes.write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        }
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<3))
        #expect(try read(log) == entries(0..<3))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["data.mdb", "lock.mdb", "owner"])
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
    @Test func theMapOfALogGrowsWithItsEntries() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path, mapSize: .kibibytes(32))
        for batch in 0..<20 { try log.append(entries(batch * 1000..<(batch + 1) * 1000)) }
        #expect(try read(log) == entries(0..<20_000))
    }

    /// LMDB itself would go on writing to the deleted file.
    @Test func aFolderThatVanishesIsTold() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<1))
        try FileManager.default.removeItem(atPath: folder.path)
        let error = #expect(throws: LogError.self) { try log.append(entries(1..<2)) }
        #expect(error?.description.contains("was removed") == true, "\(error.debugDescription)")
    }

    @Test func aFileThatVanishesIsNotBegunAnew() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<1))
        try FileManager.default.removeItem(atPath: folder.path + "/data.mdb")
        for _ in 0..<3 {
            let error = #expect(throws: LogError.self) { try log.append(entries(1..<2)) }
            #expect(error?.description.contains("was removed; restore the folder") == true, "\(error.debugDescription)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data.mdb"))
    }

    @Test func oneProcessWritesToAFolder() throws {
        let folder = TemporaryFolder()
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
        let folder = TemporaryFolder()
        _ = try LMDBLog(folder: folder.path)
        let modes = try ["", "/data.mdb", "/owner"].map {
            try FileManager.default.attributesOfItem(atPath: folder.path + $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o600, 0o600])
    }

    @Test func damageInTheMiddleIsNamedWithItsPosition() throws {
        let folder = TemporaryFolder()
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
        let folder = TemporaryFolder()
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append(entries(0..<5000))
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.path + "/data.mdb"))
        try handle.truncate(atOffset: 16_384)
        try handle.close()
        let error = #expect(throws: LogError.self) { try LMDBLog(folder: folder.path) }
        #expect(error?.cause == .damaged && error?.description.contains("cut short") == true)
    }

    /// Entries of more than a transaction's bytes are several transactions, and a refused one leaves those before it.
    @Test func aLargeBatchIsSeveralTransactions() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        func entry(_ bytes: Int) -> LogEntry {
            LogEntry(now: FeedTime(milliseconds: 0), .rules(String(repeating: "x", count: bytes), decisionVersion: 1))
        }
        let batch = [entry(9 << 20), entry(9 << 20), entry(1), entry(LogEntry.sizeMax.bytes), entry(2)]
        let error = #expect(throws: LogError.self) { try log.append(batch) }
        #expect(error?.isFinal == true)
        #expect(log.end == 3)
        #expect(try read(log) == Array(batch[..<3]))
    }

    /// A reader takes a thousand rows at a time, and goes on behind them.
    @Test func aReaderCrossesItsTransactions() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        try log.append(entries(0..<3000))
        #expect(try read(log) == entries(0..<3000))
        #expect(try read(log, from: 999) == entries(998..<3000))
        #expect(try read(log, from: 2001) == entries(2000..<3000))
    }

    /// A restart must not need memory for a thousand large entries at a time.
    @Test func aReaderTakesSixteenMegabytesAtATime() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        let text = String(repeating: "x", count: 1 << 20)
        let written = (0..<40).map {
            LogEntry(now: FeedTime(milliseconds: Int64($0)), item: UInt64($0), .rules(text, decisionVersion: 1))
        }
        try log.append(written)
        var positions: [LogPosition] = []
        var counts: [Int] = []
        var isAtEnd = false
        while !isAtEnd {
            let batch = try log.batch(from: LogPosition(positions.count) + 1)
            let largest = batch.rows.map { $0.bytes.count }.max() ?? 0
            #expect(batch.size.bytes <= (16 << 20) + largest)
            positions += batch.rows.map { $0.position }
            counts.append(batch.rows.count)
            isAtEnd = !batch.isFull
        }
        #expect(positions == (1...40).map { LogPosition($0) } && counts == [16, 16, 8])
        let memory = MemoryLog()
        memory.append(written)
        for reader in [log, memory] as [any Log] {
            let found = try read(reader)
            #expect(found == written)
        }
    }

    /// Transactions of few bytes meet in each way the entries of which one alone is as large.
    @Test(arguments: [UInt64(1), 2, 3]) func aReaderGetsEntriesOfAllSizesAndHoldsFew(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        log.batchSize = .bytes(500)
        var written: [LogEntry] = []
        for _ in 0..<40 {
            let batch = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                let text = String(repeating: "x", count: Int.random(in: 0...700, using: &random))
                return LogEntry(now: FeedTime(milliseconds: Int64(written.count)), .rules(text, decisionVersion: 1))
            }
            try log.append(batch)
            written += batch
            let position = LogPosition.random(in: 1...log.end, using: &random)
            let found = try read(log, from: position)
            #expect(found == Array(written[(Int(position) - 1)...]))
            let first = try log.batch(from: position)
            #expect(first.size.bytes - (first.rows.last?.bytes.count ?? 0) < 500 && !first.rows.isEmpty)
        }
        log.close()
        let reopened = try LMDBLog(folder: folder.path)
        let found = try read(reopened)
        #expect(found == written)
    }

    @Test(arguments: ["/proc/no-such", "/dev/null/x"]) func aFolderThatCannotBeMadeIsNamed(path: String) {
        let error = #expect(throws: LogError.self) { try LMDBLog(folder: path) }
        #expect(error?.description.hasPrefix(path) == true)
    }

    // MARK: - Entries that are set aside

    private func event(_ topic: String, at seconds: Int64, _ change: FeedEvent.Change) -> LogEntry {
        let time = FeedTime(milliseconds: seconds * 1000)
        return LogEntry(
            now: time, item: UInt64(seconds),
            .event(FeedEvent(topic: TopicID(topic), at: time, kind: "k", change: change), wall: time))
    }

    /// In place of an event stands an order to pause its topic, for every reader.
    @Test func inPlaceOfAnEventThatIsSetAsideItsTopicIsPaused() throws {
        let folder = TemporaryFolder()
        let written = [
            LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1)),
            event("a", at: 1, .patch(["x": 1])),
            event("b", at: 2, .patch(["x": 2])), event("*", at: 3, .operation(.mute)), entries(4..<5)[0],
        ]
        do { try LMDBLog(folder: folder.path).append(written) }
        let notice = try LMDBLog.skip(3, in: folder.path).skippedNotice
        #expect(notice?.contains("entry 3 of the store is set aside; b was paused") == true)
        #expect(
            try LMDBLog.skip(4, in: folder.path).skippedNotice
                == "entry 4 of the store is set aside; no topic is paused for it")
        _ = try LMDBLog.skip(5, in: folder.path)
        // Once more is the same as once.
        _ = try LMDBLog.skip(3, in: folder.path)
        for isReadOnly in [true, false] {
            let found = try read(LMDBLog(folder: folder.path, isReadOnly: isReadOnly))
            #expect(found.map(\.now) == written.map(\.now) && found.map(\.item) == written.map(\.item))
            #expect(found.map(\.skippedAt) == [nil, nil, 3, 4, 5])
            #expect(found[0..<2] == written[0..<2])
            guard case .event(let pause, let wall) = found[2].body else {
                Issue.record("\(found[2])")
                continue
            }
            #expect(pause.topic == TopicID("b") && pause.change == .operation(.pause))
            #expect(pause.at == written[2].now && wall == written[2].now)
            #expect(found[3].body == .tick && found[4].body == .tick)
        }
        #expect(try read(LMDBLog(folder: folder.path, isReadOnly: true), from: 3).map(\.skippedAt) == [3, 4, 5])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path + "/skipped")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// Of a damaged entry nothing is known: time stands still in its place.
    @Test(arguments: [1, 3] as [LogPosition]) func aDamagedEntryCanBeSetAside(from position: LogPosition) throws {
        let folder = TemporaryFolder()
        do {
            let log = try LMDBLog(folder: folder.path)
            try log.append((1...4).map { event("topic \($0).", at: $0, .nothing) })
        }
        let file = URL(fileURLWithPath: folder.path + "/data.mdb")
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("topic 3.".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        #expect(throws: LogError.self) { try read(LMDBLog(folder: folder.path, isReadOnly: true)) }
        #expect(
            try LMDBLog.skip(3, in: folder.path).skippedNotice
                == "entry 3 of the store is set aside; no topic is paused for it")
        let found = try read(LMDBLog(folder: folder.path, isReadOnly: true), from: position)
        #expect(found.suffix(2).map(\.now.milliseconds) == [2000, 4000])
        #expect(found.suffix(2).map(\.skippedAt) == [3, nil])
    }

    @Test func anEntryThatCannotBeSetAsideIsSaid() throws {
        let folder = TemporaryFolder()
        #expect(throws: LogError.self) { try LMDBLog.skip(1, in: folder.path) }
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let log = try LMDBLog(folder: folder.path)
        try log.append([LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))] + entries(1..<3))
        func words(_ position: LogPosition) -> String {
            (#expect(throws: LogError.self) { try LMDBLog.skip(position, in: folder.path) })?.description ?? ""
        }
        log.close()
        #expect(words(1).contains("entry 1 has the rules"))
        #expect(words(4).contains("has no entry 4; its last one is 3"))
        #expect(words(0).contains("has no entry 0"))
        try "2 7\nx\n".write(toFile: folder.path + "/skipped", atomically: true, encoding: .utf8)
        let error = #expect(throws: LogError.self) { try LMDBLog(folder: folder.path, isReadOnly: true) }
        #expect(error?.description.contains("/skipped:2: expected an entry's position and its checksum") == true)
        try String(repeating: "2 7\n", count: 20_000).write(
            toFile: folder.path + "/skipped", atomically: true, encoding: .utf8)
        #expect(throws: LogError.self) { try LMDBLog(folder: folder.path, isReadOnly: true) }
    }

    @Test func nothingIsSetAsideBesideTheProcessThatWrites() throws {
        let folder = TemporaryFolder()
        let log = try LMDBLog(folder: folder.path)
        try log.append([LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))] + entries(1..<3))
        let owner = folder.path
        // A reader of the same process would be a second environment of the file, which LMDB forbids: a lock alone stands for the other one.
        log.close()
        let lock = try StoreFolder(owner)
        let error = #expect(throws: LogError.self) { try LMDBLog.skip(2, in: owner) }
        withExtendedLifetime(lock) {}
        #expect(error?.cause == .inUse)
        #expect(!FileManager.default.fileExists(atPath: owner + "/skipped"))
    }

    private struct Target: RecallTarget {
        var report: (String) -> Void = { _ in }
        var decide: (LogPosition, LogEntry) throws(LogError) -> Void

        func adopt(_ rules: LogRules, at position: LogPosition, now: FeedTime) {}
        func restore(_ row: [UInt8]) {}
        func endRestoring() {}
        func decide(_ entry: LogEntry, at position: LogPosition) throws(LogError) { try decide(position, entry) }
        func report(_ line: String) { report(line) }
    }

    /// Recalls the folder's log in a process that ends while it decides the entry, and returns what operators are told before that.
    private func recall(_ folder: TemporaryFolder, dyingAt deadly: LogPosition?) throws -> [String] {
        let log = try LMDBLog(folder: folder.path)
        var told: [String] = []
        do {
            let target = Target(
                report: { told.append($0) },
                decide: { (position, entry) throws(LogError) in
                    guard position != deadly || entry.skippedAt != nil else {
                        // A process that ends here does not come back to note anything; its mapped file stays as it is.
                        log.close()
                        throw LogError("the process ends")
                    }
                })
            try log.recall(under: LogRules(text: "", decisionVersion: 1), into: target)
        } catch {
            #expect("\(error)" == "the process ends")
        }
        return told
    }

    /// The first death may be a power cut; the second one at the same entry is that entry's doing.
    @Test func anEntryAtWhichTwoProcessesEndIsSetAside() throws {
        let folder = TemporaryFolder()
        let rules = LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))
        do { try LMDBLog(folder: folder.path).append([rules] + (1...4).map { event("t/\($0)", at: $0, .nothing) }) }
        #expect(try recall(folder, dyingAt: 3).isEmpty)
        #expect(try recall(folder, dyingAt: 4).map { $0.contains("ended while it decided entry 3") } == [true])
        // Entry 3 was decided, so what came before does not count.
        #expect(try recall(folder, dyingAt: 3).map { $0.contains("ended while it decided entry 4") } == [true])
        #expect(try recall(folder, dyingAt: 3).map { $0.contains("the next one sets that entry aside") } == [true])
        let told = try recall(folder, dyingAt: 3)
        #expect(told.first == "2 processes in a row ended while they decided entry 3 of the store")
        #expect(told.last?.contains("entry 3 of the store is set aside; t/2 was paused") == true)
        #expect(try recall(folder, dyingAt: nil).count == 1)
    }

    /// A fault that is told is no death.
    @Test func aRecallThatFailsSetsNothingAside() throws {
        let folder = TemporaryFolder()
        let rules = LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))
        do { try LMDBLog(folder: folder.path).append([rules] + entries(1..<4)) }
        for _ in 0..<3 {
            let log = try LMDBLog(folder: folder.path)
            #expect(log.notices.isEmpty)
            #expect(throws: LogError.self) {
                let target = Target(decide: { (_, _) throws(LogError) in throw LogError("another feed") })
                try log.recall(under: LogRules(text: "", decisionVersion: 1), into: target)
            }
        }
    }

    /// A backup without the file of entries that are set aside, or with another one.
    @Test func anotherEntryInThePlaceOfOneThatIsSetAsideIsRead() throws {
        let (folder, other) = (TemporaryFolder(), TemporaryFolder())
        let rules = LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))
        do { try LMDBLog(folder: folder.path).append([rules] + entries(1..<4)) }
        do { try LMDBLog(folder: other.path).append([rules] + (1...3).map { event("t", at: $0, .nothing) }) }
        _ = try LMDBLog.skip(3, in: folder.path)
        try FileManager.default.copyItem(atPath: folder.path + "/skipped", toPath: other.path + "/skipped")
        #expect(try read(LMDBLog(folder: folder.path)).compactMap(\.skippedAt) == [3])
        #expect(try read(LMDBLog(folder: other.path)).compactMap(\.skippedAt).isEmpty)
        // Behind its own checksum, the checksum of a whole row tells only how long it is.
        let alike = TemporaryFolder()
        do { try LMDBLog(folder: alike.path).append([rules] + entries(11..<14)) }
        try FileManager.default.copyItem(atPath: folder.path + "/skipped", toPath: alike.path + "/skipped")
        #expect(try read(LMDBLog(folder: alike.path)).compactMap(\.skippedAt).isEmpty)
    }

    /// A release that ends at every goal would throw them all away.
    @Test func threeEntriesAtMostAreSetAsideWithoutAPerson() throws {
        let folder = TemporaryFolder()
        let rules = LogEntry(now: FeedTime(milliseconds: 0), .rules("", decisionVersion: 1))
        do { try LMDBLog(folder: folder.path).append([rules] + (1...6).map { event("t/\($0)", at: $0, .nothing) }) }
        var told: [String] = []
        for deadly in LogPosition(2)...5 {
            for _ in 0..<2 { _ = try recall(folder, dyingAt: deadly) }
        }
        for _ in 0..<3 { told = try recall(folder, dyingAt: 5) }
        #expect(told.first?.contains("it is not set aside, because 3 others are") == true, "\(told)")
        #expect(try read(LMDBLog(folder: folder.path)).compactMap(\.skippedAt) == [2, 3, 4])
        _ = try LMDBLog.skip(5, in: folder.path)
        // Where processes ended before counts no more.
        #expect(try recall(folder, dyingAt: 5).map { $0.contains("is set aside") } == [true, true, true, true])
    }

    /// Damage does not make rules an entry that can be left out, and what is for all topics pauses none.
    @Test func rulesAndOrdersForAllTopicsPauseNothing() throws {
        let folder = TemporaryFolder()
        let rules = LogEntry(now: FeedTime(milliseconds: 0), .rules("some rules.", decisionVersion: 1))
        do { try LMDBLog(folder: folder.path).append([rules, event("*", at: 1, .nothing), rules] + entries(1..<3)) }
        let file = URL(fileURLWithPath: folder.path + "/data.mdb")
        var bytes = try Data(contentsOf: file)
        for _ in 0..<2 {
            let place = try #require(bytes.range(of: Data("some rules.".utf8)))
            bytes[place.lowerBound] ^= 1
        }
        try bytes.write(to: file)
        for position in [1, 3] as [LogPosition] {
            let error = #expect(throws: LogError.self) { try LMDBLog.skip(position, in: folder.path) }
            #expect(error?.description.contains("has the rules") == true)
        }
        #expect(try LMDBLog.skip(2, in: folder.path).pausedTopic == nil)
    }

    /// A redelivered event is a duplicate, and the topic keeps its kind.
    @Test func theKindAndTheIdOfASkippedEventAreRemembered() {
        let at = FeedTime(milliseconds: 1000)
        let start = FeedEvent(topic: TopicID("m/1"), topicKind: .football, at: at, id: "e1", kind: "start")
        guard case .event(let pause, _) = LogEntry(now: at, .event(start, wall: nil)).skipped(at: 7).body else {
            Issue.record("no event")
            return
        }
        #expect(pause.topicKind == .football && pause.id == "e1" && pause.change == .operation(.pause))
    }
}
