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
        #expect(early.isEmpty && undurable == nil && queue.waitingCount == 3)
        queue.endCommit(from: 7)
        let taken = [queue.popDurable()?.position, queue.popDurable()?.position, queue.popDurable()?.position]
        #expect(taken == [7, 8, nil])
        #expect(queue.heldEver == 3 && queue.durableEver == 2 && queue.takenEver == 2 && queue.waitingCount == 1)
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

    private static let start = FeedTime(seconds: 1_790_000_000)

    /// Three arrays are the model: what is held, on its way to the disk, and durable.
    @Test(arguments: UInt64(1)...10) func entriesAreTakenInTheOrderInWhichTheyWereHeld(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = EntryQueue()
        var held: [FeedTime] = []
        var committing: [FeedTime] = []
        var durable: [FeedTime] = []
        var end: LogPosition = 0
        for step in 0..<3000 {
            switch random.next() % 5 {
            case 0, 1:
                let now = Self.start + .milliseconds(step)
                queue.hold(LogEntry(now: now, .tick), nil)
                held.append(now)
            case 2 where queue.isCommitting:
                queue.endCommit(from: end + 1)
                end += LogPosition(committing.count)
                durable += committing
                committing = []
            case 2:
                let entries = queue.beginCommit(at: MonotonicTime(nanoseconds: Int64(step)))
                #expect(entries.map(\.now) == held, "seed \(seed), step \(step)")
                (committing, held) = (held, [])
            default:
                let taken = queue.popDurable()
                #expect(taken?.entry.now == durable.first, "seed \(seed), step \(step)")
                if !durable.isEmpty { durable.removeFirst() }
            }
            let count = held.count + committing.count + durable.count
            #expect(queue.count == count && queue.violation() == nil, "seed \(seed), step \(step)")
        }
    }

    @Test func aCommitThatIsWatchedAndHasNoEntriesIsAContradiction() {
        var queue = EntryQueue()
        #expect(queue.violation() == nil)
        queue.watch.since = MonotonicTime(nanoseconds: 1)
        #expect(queue.violation() != nil)
    }
}
