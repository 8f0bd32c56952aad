import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct FreshAlertsTests {
    private static let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    /// Creates an alert that is published now and was granted at that second.
    private static func issued(_ topic: String, granted second: Int64, freshFor: Duration = .seconds(60)) -> IssuedAlert
    {
        IssuedAlert(
            Alert(
                cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""), freshFor: freshFor,
                highlight: nil, grantedAt: FeedTime(seconds: second)),
            of: TopicID(topic), at: moment.monotonic)
    }

    @Test func revokedAndStaleAlertsAreLeftOut() {
        let revoked = Self.issued("match", granted: 10)
        revoked.isRevoked = true
        let stale = Self.issued("match", granted: 20, freshFor: .zero)
        #expect(FreshAlerts([revoked, stale], at: Self.moment)?.through == nil)
        let alerts = FreshAlerts([revoked, stale, Self.issued("match", granted: 5)], at: Self.moment)
        #expect(alerts?.through == FeedTime(seconds: 5))
    }

    @Test func alertsOfOneTopicAreOneUntilTheLastIsStale() {
        let alerts = FreshAlerts(
            [Self.issued("match", granted: 10, freshFor: .seconds(300)), Self.issued("match", granted: 20)],
            at: Self.moment)
        #expect(alerts?.through == FeedTime(seconds: 20) && alerts?.expires == FeedTime(seconds: 310))
        #expect(alerts?.freshUntil == Self.moment.monotonic + .seconds(300) && alerts?.additional.isEmpty == true)
    }

    @Test func alertsOfOtherTopicsStandBesideTheFirstOnes() {
        let alerts = FreshAlerts(
            [Self.issued("a", granted: 10), Self.issued("b", granted: 20), Self.issued("b", granted: 30)],
            at: Self.moment)
        #expect(alerts?.topic == TopicID("a") && alerts?.through == FeedTime(seconds: 10))
        #expect(alerts?.additional.map(\.topic) == [TopicID("b")])
        #expect(alerts?.additional.map(\.through) == [FeedTime(seconds: 30)])
    }
}
