import FanfareModel
import Testing

@testable import Fanfare

@Suite struct UnflushedSettlesTests {
    private static func time(_ second: Int64) -> FeedTime { FeedTime(seconds: second) }
    private static func moment(_ second: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: second * 1_000_000_000) }

    /// Returns settles that wait for these flushes until these deadlines, in seconds.
    private static func settles(_ times: (flush: Int64, until: Int64)...) -> UnflushedSettles {
        var settles = UnflushedSettles()
        for (flush, until) in times {
            settles.append(UnflushedSettles.Waiting(flush: time(flush), until: moment(until), settled: { _ in }))
        }
        return settles
    }

    @Test func settlesAreTakenInTheirOrderOnceTheirChangesArePublished() {
        var settles = Self.settles((10, 100), (20, 300), (10, 200))
        let early = settles.takeFlushed(by: Self.time(9))
        let flushed = settles.takeFlushed(by: Self.time(10))
        let again = settles.takeFlushed(by: Self.time(10))
        #expect(early.isEmpty && again.isEmpty)
        #expect(flushed.map(\.until) == [Self.moment(100), Self.moment(200)])
        #expect(settles.nextFlush(orEarlier: nil) == Self.time(20))
        #expect(settles.nextDeadline == Self.moment(300))
    }

    @Test func settlesWhoseTimeIsOverAreTakenOnce() {
        var settles = Self.settles((10, 100), (20, 300), (30, 100))
        let early = settles.takeLate(at: Self.moment(99))
        let late = settles.takeLate(at: Self.moment(100))
        let again = settles.takeLate(at: Self.moment(100))
        #expect(early.isEmpty && again.isEmpty)
        #expect(late.map(\.flush) == [Self.time(10), Self.time(30)])
    }

    @Test func theNextFlushIsATimerIfThatIsEarlier() {
        let settles = Self.settles((20, 100), (10, 50))
        #expect(settles.nextFlush(orEarlier: nil) == Self.time(10))
        #expect(settles.nextFlush(orEarlier: Self.time(5)) == Self.time(5))
        #expect(settles.nextFlush(orEarlier: Self.time(15)) == Self.time(10))
        #expect(settles.nextDeadline == Self.moment(50))
    }

    @Test func noSettleIsLeftOnceAllAreTaken() {
        var settles = Self.settles((10, 100), (20, 50))
        let all = settles.takeAll()
        let none = settles.takeAll()
        #expect(all.count == 2 && none.isEmpty)
        #expect(settles.nextFlush(orEarlier: nil) == nil && settles.nextDeadline == .never)
    }
}
