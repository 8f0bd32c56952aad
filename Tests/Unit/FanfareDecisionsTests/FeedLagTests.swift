import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct FeedLagTests {
    @Test func aFeedThatAlwaysLagsIsNotCatchingUp() {
        var lag = FeedLag()
        #expect(!lag.hasShrunk(to: 0))
        lag.note(7_290_000, at: FeedTime(milliseconds: 0))
        #expect(!lag.hasShrunk(to: 7_200_000) && lag.hasShrunk(to: 7_199_999))
    }

    @Test func lagIsComparedAfterAMinuteWithTheLagOfThen() {
        var lag = FeedLag()
        lag.note(1_000_000, at: FeedTime(milliseconds: 0))
        lag.note(600_000, at: FeedTime(milliseconds: 59_999))
        #expect(lag.hasShrunk(to: 600_000))
        lag.note(600_000, at: FeedTime(milliseconds: 60_000))
        #expect(!lag.hasShrunk(to: 600_000) && lag.hasShrunk(to: 509_999))
    }

    @Test func lagsAreComparedWithTheGreatestBefore() {
        var lag = FeedLag()
        lag.note(0, at: FeedTime(milliseconds: 0))
        lag.note(3_600_000, at: FeedTime(milliseconds: 1000))
        #expect(lag.hasShrunk(to: 3_000_000))
    }
}
