import Testing

@testable import Fanfare

@Suite struct CommitWatchTests {
    private static let second: Int64 = 1_000_000_000

    @Test func aSlowCommitIsToldOnceAndItsAnswer() {
        var watch = CommitWatch()
        #expect(watch.deadline == .max)
        watch.since = Self.second
        #expect(watch.deadline == 3 * Self.second)
        var news = [
            watch.news(at: 3 * Self.second - 1), watch.news(at: 3 * Self.second), watch.news(at: 9 * Self.second),
        ]
        #expect(news == [nil, .isSlow, nil] && watch.isKnownSlow && watch.deadline == .max)
        watch.since = nil
        #expect(!watch.isKnownSlow)
        news = [watch.news(at: 10 * Self.second), watch.news(at: 10 * Self.second)]
        #expect(news == [.answersAgain, nil])
    }

    /// The next commit may begin in the turn in which the slow one ends.
    @Test func theCommitBehindASlowOneIsAnotherOne() {
        var watch = CommitWatch()
        watch.since = 0
        _ = watch.news(at: 5 * Self.second)
        watch.since = 6 * Self.second
        #expect(!watch.isKnownSlow)
        let news = [watch.news(at: 6 * Self.second), watch.news(at: 7 * Self.second), watch.news(at: 8 * Self.second)]
        #expect(news == [.answersAgain, nil, .isSlow])
    }
}
