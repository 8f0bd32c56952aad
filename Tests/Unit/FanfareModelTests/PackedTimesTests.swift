import Testing

@testable import FanfareModel

@Suite struct PackedTimesTests {
    @Test func timesComeBackAsTheyWerePacked() {
        let expiry = Expiry(renews: true, dismissal: .after(.seconds(5)))
        let times = PackedTimes(
            staleAfter: .milliseconds(1500), dismissal: .at(FeedTime(seconds: 1_700_000_000)), expiry: expiry,
            scheduledAt: FeedTime(seconds: 1_600_000_000))
        #expect(times.staleAfter == .milliseconds(1500))
        #expect(times.dismissal == .at(FeedTime(seconds: 1_700_000_000)))
        #expect(times.expiry == expiry)
        #expect(times.scheduledAt == FeedTime(seconds: 1_600_000_000))
    }

    @Test func missingTimesStayMissing() {
        let times = PackedTimes(staleAfter: nil, dismissal: nil, expiry: Expiry(), scheduledAt: nil)
        #expect(times.staleAfter == nil && times.dismissal == nil && times.scheduledAt == nil)
        #expect(times.expiry == Expiry())
    }

    @Test func aTimeThatNoFeedMayNameIsNone() {
        let times = PackedTimes(
            staleAfter: nil, dismissal: nil, expiry: Expiry(), scheduledAt: FeedTime(milliseconds: -1))
        #expect(times.scheduledAt == nil)
    }

    @Test func timesHave32Bytes() {
        #expect(MemoryLayout<PackedTimes>.size == 32)
    }
}
