import Testing

@testable import Fanfare

@Suite struct CommitWatchTests {
    /// Returns the time that many nanoseconds before a second.
    private static func second(_ second: Int64, less nanoseconds: Int64 = 0) -> MonotonicTime {
        MonotonicTime(nanoseconds: second * 1_000_000_000 - nanoseconds)
    }

    @Test func aSlowCommitAndItsEndAreToldOnce() {
        var watch = CommitWatch()
        #expect(watch.deadline == .never)
        watch.since = Self.second(1)
        #expect(watch.deadline == Self.second(3))
        var transitions = [
            watch.transition(at: Self.second(3, less: 1)), watch.transition(at: Self.second(3)),
            watch.transition(at: Self.second(9)),
        ]
        #expect(transitions == [nil, .isSlow, nil] && watch.isKnownSlow && watch.deadline == .never)
        watch.since = nil
        #expect(!watch.isKnownSlow)
        transitions = [watch.transition(at: Self.second(10)), watch.transition(at: Self.second(10))]
        #expect(transitions == [.answersAgain, nil])
    }

    /// The next commit may begin in the turn in which the slow one ends.
    @Test func aCommitBehindASlowOneIsWatchedAnew() {
        var watch = CommitWatch()
        watch.since = Self.second(0)
        _ = watch.transition(at: Self.second(5))
        watch.since = Self.second(6)
        #expect(!watch.isKnownSlow)
        let transitions = [
            watch.transition(at: Self.second(6)), watch.transition(at: Self.second(7)),
            watch.transition(at: Self.second(8)),
        ]
        #expect(transitions == [.answersAgain, nil, .isSlow])
    }
}
