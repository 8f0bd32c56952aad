import FanfareLog
import FanfareLoop
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct EntryQueueTests {
    private static func entry(_ second: Int) -> LogEntry {
        LogEntry(now: FeedTime.plausible.lowerBound + .seconds(second), .event(.number(second), wall: nil))
    }

    @Test func entriesAreTakenInTheirOrderOnceTheyAreDurable() {
        var queue = EntryQueue()
        let entries = (1...3).map { Self.entry($0) }
        queue.hold(entries[0], nil)
        queue.hold(entries[1], nil)
        let first = queue.beginCommit(at: .always)
        #expect(first == [entries[0], entries[1]])
        // One commit at a time.
        queue.hold(entries[2], nil)
        let early = queue.beginCommit(at: .always)
        let undurable = queue.popDurable()?.position
        #expect(early.isEmpty && undurable == nil)
        queue.endCommit(from: 7)
        let taken = [queue.popDurable()?.position, queue.popDurable()?.position, queue.popDurable()?.position]
        #expect(taken == [7, 8, nil])
        #expect(queue.heldEver == 3 && queue.durableEver == 2 && queue.takenEver == 2)
        #expect(queue.newestHeld == entries[2].now && queue.newestTaken == entries[1].now)
        let second = queue.beginCommit(at: .always)
        #expect(second == [entries[2]])
    }

    @Test func everyCallerLearnsThePositionOfItsEntryOrThatThereIsNone() {
        let answers = Locked<[LogPosition?]>([])
        let acknowledge: EntryAcknowledgement = { position in answers.withLock { $0.append(position) } }
        var queue = EntryQueue()
        queue.hold(Self.entry(1), acknowledge)
        _ = queue.beginCommit(at: .always)
        queue.endCommit(from: 4)
        queue.hold(Self.entry(2), acknowledge)
        _ = queue.beginCommit(at: .always)
        queue.hold(Self.entry(3), acknowledge)
        queue.hold(LogEntry(now: Self.entry(4).now, .tick), nil)
        // Nobody has asked for the tick, which counts as no request.
        let requests = queue.abandon()
        let given = answers.withLock { $0 }
        #expect(requests == 2 && given == [4, nil, nil])
        #expect(!queue.holdsEntry && !queue.isCommitting && queue.count == 0)
    }
}
