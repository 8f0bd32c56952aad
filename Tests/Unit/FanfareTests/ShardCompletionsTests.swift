import FanfareModel
import Testing

@testable import Fanfare

@Suite struct ShardCompletionsTests {
    private static let match = TopicID("match/1")

    @Test func lastShardCompletesThePublicationAtTheLatestTime() {
        var publications = ShardCompletions()
        publications.track(7, of: Self.match, shards: 3)
        let first = publications.complete(7, at: MonotonicTime(nanoseconds: 300))
        let second = publications.complete(7, at: nil)
        #expect(first == nil && second == nil && publications.violation(shards: 3) == nil)
        let last = publications.complete(7, at: MonotonicTime(nanoseconds: 200))
        #expect(last == .init(topic: Self.match, at: MonotonicTime(nanoseconds: 300)))
        let again = publications.complete(7, at: MonotonicTime(nanoseconds: 400))
        #expect(again == nil && publications.count == 0)
    }

    @Test func publicationThatNobodyLackedIsCompleteAtNoTime() {
        var publications = ShardCompletions()
        publications.track(7, of: Self.match, shards: 1)
        let completion = publications.complete(7, at: nil)
        #expect(completion == .init(topic: Self.match, at: nil))
    }

    @Test func overtakenPublicationIsToldOnceAndNotCompleted() {
        var publications = ShardCompletions()
        publications.track(7, of: Self.match, shards: 2)
        let first = publications.overtake(7)
        let second = publications.overtake(7)
        let completion = publications.complete(7, at: MonotonicTime(nanoseconds: 100))
        #expect(first == Self.match && second == nil && completion == nil)
    }

    @Test func shardsAddedLaterAreWaitedForWhileOthersLackThePublication() {
        var publications = ShardCompletions()
        publications.track(7, of: Self.match, shards: 1)
        publications.addShards(1, to: 7)
        let first = publications.complete(7, at: MonotonicTime(nanoseconds: 100))
        let second = publications.complete(7, at: MonotonicTime(nanoseconds: 200))
        #expect(first == nil && second == .init(topic: Self.match, at: MonotonicTime(nanoseconds: 200)))
        publications.addShards(1, to: 7)
        #expect(publications.count == 0, "what is complete stays so")
    }

    @Test func moreShardsThanThereAreViolate() {
        var publications = ShardCompletions()
        publications.track(7, of: Self.match, shards: 3)
        #expect(publications.violation(shards: 3) == nil)
        #expect(publications.violation(shards: 2) == "publication 7 is tracked in 3 of 2 shards")
    }
}
