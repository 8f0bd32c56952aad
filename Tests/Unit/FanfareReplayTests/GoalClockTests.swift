import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareReplay

@Suite struct GoalClockTests {
    private let topic = TopicID("match/1")

    private func publication(_ serial: UInt64, of topic: TopicID) -> Publication {
        Publication.test(serial, of: topic, state: [:], priority: .conserving)
    }

    private func clock(_ serials: UInt64...) -> GoalClock {
        var clock = GoalClock()
        for serial in serials {
            clock.ingested(at: MonotonicTime(nanoseconds: Int64(serial) * 1_000_000_000))
            clock.scored(in: topic)
            clock.carried(by: publication(serial, of: topic))
        }
        return clock
    }

    /// Of lineups one may have nothing new to see in a publication, while others lack the goal before it.
    @Test func aGoalThatWasOvertakenIsNotDoneWithAPublicationThatNobodyIsToGet() {
        var clock = clock(1)
        clock.overtaken(1, of: topic)
        clock.completed(2, of: topic, at: nil)
        #expect(clock.all.map(\.isAwaited) == [true] && clock.all.map(\.secondsToLast) == [nil])
        clock.settled(at: MonotonicTime(nanoseconds: 9_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [8])
    }

    @Test func aGoalIsTimedByItsOwnPublication() {
        var clock = clock(1, 2)
        clock.completed(2, of: topic, at: MonotonicTime(nanoseconds: 5_000_000_000))
        clock.completed(1, of: topic, at: MonotonicTime(nanoseconds: 4_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [3, 3])
    }

    @Test func anOvertakenGoalIsTimedByTheNextOfItsTopic() {
        var clock = clock(1, 2, 3, 4)
        clock.overtaken(1, of: topic)
        clock.overtaken(2, of: topic)
        clock.completed(9, of: TopicID("match/2"), at: MonotonicTime(nanoseconds: 5_000_000_000))
        #expect(clock.all.allSatisfy { $0.secondsToLast == nil })
        clock.completed(4, of: topic, at: MonotonicTime(nanoseconds: 6_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [5, 4, nil, 2], "the third has one of its own")
        clock.completed(3, of: topic, at: MonotonicTime(nanoseconds: 8_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [5, 4, 5, 2])
    }

    @Test func anOvertakenGoalWithoutANextOneIsTimedByTheEnd() {
        var clock = clock(1)
        clock.overtaken(1, of: topic)
        clock.settled(at: MonotonicTime(nanoseconds: 9_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [8])
        clock.settled(at: MonotonicTime(nanoseconds: 10_000_000_000))
        #expect(clock.all.map(\.secondsToLast) == [8])
    }

    /// Of a live feed, whose goals may wait for ever in each way there is.
    @Test func noMoreGoalsAreRememberedThanAreToldOf() {
        var clock = GoalClock(goalsMax: 100)
        for serial in UInt64(1)...10_000 {
            let topic = TopicID("match/\(serial)")
            clock.ingested(at: MonotonicTime(nanoseconds: Int64(serial) * 1_000_000_000))
            clock.scored(in: topic)
            if serial % 3 != 0 { clock.carried(by: publication(serial, of: topic)) }
            if serial % 3 == 1 { clock.overtaken(serial, of: topic) }
            #expect(clock.remembered <= 200)
        }
        #expect(clock.all.count + clock.leftOut == 10_000 && (75...100).contains(clock.all.count))
        clock.completed(9998, of: TopicID("match/9998"), at: MonotonicTime(nanoseconds: 9_999_000_000_000))
        clock.completed(1, of: TopicID("match/1"), at: MonotonicTime(nanoseconds: 10_000_000_000_000))
        #expect(clock.all.compactMap(\.secondsToLast) == [1], "9,998 was carried, and not overtaken")
    }
}
