import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct JoinedAudiencesTests {
    /// Activities join audiences, and the core tells a log time now and then.
    @Test(arguments: 0..<20 as Range<UInt64>) func anAudienceCatchesUpOnceLogTimeHasPassedItsBatch(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var joined = JoinedAudiences()
        var places = Array(repeating: JoinedPlace(), count: 10)
        /// Audiences that are to be noted anew; the time is `nil` in the present batch.
        var pending: [(audience: AudienceIndex, sent: FeedTime?)] = []
        var caughtUp: [AudienceIndex] = []
        var (before, sent): (Int64, Int64) = (0, 0)
        for step in 0..<3000 {
            if random.chance(0.7) {
                let place = Int.random(in: 0..<places.count, using: &random)
                joined.note(AudienceIndex(place), &places[place])
                if !pending.contains(where: { $0.audience == AudienceIndex(place) && $0.sent == nil }) {
                    pending.append((AudienceIndex(place), nil))
                }
                continue
            }
            sent += Int64.random(in: 0...3, using: &random)
            before = max(before, sent - Int64.random(in: 0...8, using: &random))
            joined.advance(to: FeedTime(milliseconds: before), sent: FeedTime(milliseconds: sent))
            for index in pending.indices where pending[index].sent == nil {
                pending[index].sent = FeedTime(milliseconds: sent)
            }
            let due = pending.prefix { $0.sent.map { $0 < FeedTime(milliseconds: before) } ?? false }
            caughtUp += due.map(\.audience)
            pending.removeFirst(due.count)
            #expect(joined.caughtUp == caughtUp && joined.violation() == nil, "seed \(seed), step \(step)")
            if random.chance(0.3) { (joined.caughtUp, caughtUp) = ([], []) }
        }
    }

    @Test func audiencesThatAreLoadedCatchUpTogetherAtTheEndOfLoading() {
        var joined = JoinedAudiences()
        joined.isLoading = true
        var places = Array(repeating: JoinedPlace(), count: 3)
        for place in [2, 0, 2, 0] { joined.noteLoaded(AudienceIndex(place), &places[place]) }
        joined.advance(to: FeedTime(milliseconds: 10), sent: FeedTime(milliseconds: 5))
        #expect(joined.caughtUp.isEmpty && joined.isLoading)
        joined.endLoading()
        #expect(joined.caughtUp == [2, 0] && !joined.isLoading)
        joined.caughtUp = []
        joined.endLoading()
        #expect(joined.caughtUp.isEmpty)
    }

    /// A restart sends the state of the others once more.
    @Test func aMillionAudiencesAreNotedAtMost() {
        var (joined, loaded) = (JoinedAudiences(), JoinedAudiences())
        for index in 0..<1 << 20 + 10 {
            var (place, other) = (JoinedPlace(), JoinedPlace())
            joined.note(AudienceIndex(index), &place)
            loaded.noteLoaded(AudienceIndex(index), &other)
            // Some of them are in a batch of their own.
            if index == 1000 { joined.advance(to: FeedTime(milliseconds: 0), sent: FeedTime(milliseconds: 1)) }
        }
        joined.advance(to: FeedTime(milliseconds: 0), sent: FeedTime(milliseconds: 2))
        joined.advance(to: FeedTime(milliseconds: 3), sent: FeedTime(milliseconds: 3))
        #expect(joined.violation() == nil && loaded.violation() == nil)
        loaded.endLoading()
        #expect(joined.caughtUp.count == 1 << 20 && loaded.caughtUp.count == 1 << 20)
        // There is room again.
        var place = JoinedPlace()
        joined.note(7, &place)
        joined.advance(to: FeedTime(milliseconds: 9), sent: FeedTime(milliseconds: 8))
        #expect(joined.caughtUp.count == 1 << 20 + 1 && joined.caughtUp.last == 7)
    }
}
