import Dispatch
import FanfareLoop
import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareLog

@Suite struct LogWriterTests {
    /// Log whose first appends fail, as on a full disk.
    ///
    /// `Sendable` is unchecked: the writer's thread alone uses it, and the test reads it after the thread has ended.
    private final class FailingLog: Log, @unchecked Sendable {
        let memory = MemoryLog()
        var failuresLeft: Int
        init(failures: Int) { failuresLeft = failures }
        var end: LogPosition { memory.end }
        var start: LogPosition { memory.start }
        var checkpoints: any CheckpointStore { memory.checkpoints }
        func trim(through position: LogPosition) { memory.trim(through: position) }
        func checksum(at position: LogPosition) -> UInt32? { memory.checksum(at: position) }

        func append(_ entries: [LogEntry]) throws(LogError) {
            guard failuresLeft == 0 else {
                failuresLeft -= 1
                throw LogError("the disk is full")
            }
            for entry in entries {
                guard entry.item != FailingLog.refusedItem else { throw LogError("too large", .entry) }
                memory.append([entry])
            }
        }

        /// Place of entries that are refused for good.
        static let refusedItem: UInt64 = 7

        func read(
            from position: LogPosition, _ body: (LogPosition, LogEntry) throws(LogError) -> Bool
        ) throws(LogError) { try memory.read(from: position, body) }
    }

    private func entry(_ number: Int) -> LogEntry { LogEntry(now: FeedTime(milliseconds: Int64(number)), .tick) }

    @Test func entriesAreDurableInOrderWhenTheirCallsSaySo() throws {
        let log = FailingLog(failures: 0)
        let writer = try LogWriter(log) { _ in }
        let ends = Locked<[LogPosition]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 1...100 {
            writer.append([entry(number)]) {
                ends.withLock { $0.append(log.end) }
                if number == 100 { done.signal() }
            }
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        writer.close()
        #expect(writer.join(within: .seconds(60)))
        for (index, end) in ends.withLock({ $0 }).enumerated() { #expect(end >= UInt64(index + 1)) }
        var found: [LogEntry] = []
        try log.read(from: 1) { (_, entry) in
            found.append(entry)
            return true
        }
        #expect(found == (1...100).map(entry))
    }

    /// The second entry comes while the first one cannot be written, does not overtake it, and follows it.
    @Test func aFullDiskIsReportedOnceAndTriedAgain() throws {
        let log = FailingLog(failures: 2)
        let lines = Locked<[String]>([])
        let failed = DispatchSemaphore(value: 0)
        let writer = try LogWriter(log) { line in
            lines.withLock { $0.append(line) }
            failed.signal()
        }
        let done = DispatchSemaphore(value: 0)
        writer.append([entry(1)]) { done.signal() }
        #expect(failed.wait(timeout: .now() + 60) == .success)
        writer.append([entry(2)]) { done.signal() }
        for _ in 1...2 { #expect(done.wait(timeout: .now() + 60) == .success) }
        writer.close()
        #expect(writer.join(within: .seconds(60)))
        #expect(log.memory.end == 2)
        let said = lines.withLock { $0 }
        #expect(said.count == 2 && said[0].hasPrefix("the disk is full") && said[1] == "the store takes entries again")
        // Two retries are two seconds of the first commit.
        let figures = writer.meter.figures
        #expect(figures.trouble == nil && figures.newest == 2 && figures.rows == 2)
        #expect(figures.times.count >= 1 && figures.times.max >= .seconds(1))
    }

    /// The first call holds the writer while the others come, so these are one batch.
    @Test func anEntryThatIsRefusedForGoodIsLeftOutAndTheOthersFollow() throws {
        let log = FailingLog(failures: 1)
        let lines = Locked<[String]>([])
        let outcomes = Locked<[String]>([])
        let failed = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let writer = try LogWriter(log) { line in
            lines.withLock { $0.append(line) }
            failed.signal()
        }
        func append(_ name: String, _ entries: [LogEntry]) {
            writer.append(
                entries,
                then: {
                    outcomes.withLock { $0.append(name) }
                    done.signal()
                },
                refused: { error in
                    outcomes.withLock { $0.append("\(name): \(error)") }
                    done.signal()
                })
        }
        let refused = LogEntry(now: FeedTime(milliseconds: 0), item: FailingLog.refusedItem, .tick)
        append("a", [entry(1)])
        #expect(failed.wait(timeout: .now() + 60) == .success)
        append("b", [entry(2), entry(3)])
        append("c", [refused])
        append("d", [entry(4), refused, entry(5)])
        append("e", [])
        append("f", [entry(6)])
        for _ in 1...6 { #expect(done.wait(timeout: .now() + 60) == .success) }
        writer.close()
        #expect(writer.join(within: .seconds(60)))
        #expect(outcomes.withLock { $0 } == ["a", "b", "c: too large", "d: too large", "e", "f"])
        #expect(lines.withLock { $0.count { $0 == "too large; it is left out" } } == 2)
        var found: [LogEntry] = []
        try log.read(from: 1) { (_, entry) in
            found.append(entry)
            return true
        }
        #expect(found == [1, 2, 3, 4, 6].map(entry))
    }

    @Test func closingEndsTheWaitForADisk() throws {
        let failed = DispatchSemaphore(value: 0)
        let writer = try LogWriter(FailingLog(failures: .max)) { _ in failed.signal() }
        writer.append([entry(1)]) { Issue.record("the entry is not durable") }
        #expect(failed.wait(timeout: .now() + 60) == .success)
        writer.close()
        #expect(writer.join(within: .seconds(60)))
    }
}
