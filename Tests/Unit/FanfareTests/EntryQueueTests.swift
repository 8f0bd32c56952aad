import FanfareLog
import FanfareModel
import Testing

@testable import Fanfare

@Suite struct EntryQueueTests {
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
