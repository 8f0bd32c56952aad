import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct UnrequestedClaimsTests {
    private static let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)

    /// Alerts of topics, each granted at that second, and fresh for a minute.
    private static func alerts(_ granted: KeyValuePairs<String, Int64>) throws -> FreshAlerts {
        let issued = granted.map { topic, second in
            IssuedAlert(
                Alert(
                    cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""),
                    freshFor: .seconds(60), highlight: nil, grantedAt: FeedTime(seconds: second)),
                of: TopicID(topic), at: moment.monotonic)
        }
        return try #require(FreshAlerts(issued, at: moment))
    }

    private static func mark(_ number: UInt32) -> ActivityMark { ActivityMark(rawValue: number) }

    private static func claim(_ topic: String, through second: Int64, _ activities: UInt32...) -> AlertClaim {
        AlertClaim(
            topic: TopicID(topic), through: FeedTime(seconds: second), expires: FeedTime(seconds: second + 60),
            activities: activities.map(mark))
    }

    @Test func claimsOfAnAudienceNameItsMembersForEachTopic() throws {
        var claims = UnrequestedClaims()
        try claims.add(Self.alerts(["a": 10, "b": 20]), for: [Self.mark(1), Self.mark(2)])
        try claims.add(Self.alerts(["a": 30]), for: [])
        #expect(claims.named == 2 && !claims.isEmpty)
        let request = claims.takeAll(ticket: 7)
        let all = [
            Self.claim("a", through: 10, 1, 2), Self.claim("b", through: 20, 1, 2), Self.claim("a", through: 30),
        ]
        #expect(request.claims == all && request.ticket == 7 && request.starts.isEmpty)
    }

    /// A goal is shown by the lineups of a million people, one by one.
    @Test func claimsOfLineupsAreGatheredByTopicWithTheirLatestTimes() throws {
        var claims = UnrequestedClaims()
        for (number, second) in [(1, 10), (2, 40), (3, 20)] as [(UInt32, Int64)] {
            try claims.add(Self.alerts(["a": second]), forLineupOf: Self.mark(number))
        }
        try claims.add(Self.alerts(["b": 50, "a": 30]), forLineupOf: Self.mark(4))
        #expect(claims.named == 4 && claims.violation() == nil)
        let request = claims.takeAll(ticket: 1)
        #expect(request.claims == [Self.claim("a", through: 40, 1, 2, 3, 4), Self.claim("b", through: 50, 4)])
    }

    @Test func aRequestTakesEverythingThatCameBeforeIt() throws {
        var claims = UnrequestedClaims()
        try claims.add(Self.alerts(["a": 10]), for: [Self.mark(1)])
        try claims.add(Self.alerts(["a": 10]), forLineupOf: Self.mark(2))
        claims.add(StartMark(rawValue: 3))
        let request = claims.takeAll(ticket: 1)
        #expect(request.claims.count == 2 && request.starts == [StartMark(rawValue: 3)])
        #expect(claims.isEmpty && claims.named == 0 && claims.violation() == nil)
        try claims.add(Self.alerts(["b": 20, "a": 5]), forLineupOf: Self.mark(4))
        let next = claims.takeAll(ticket: 2)
        #expect(next.claims == [Self.claim("b", through: 20, 4), Self.claim("a", through: 5, 4)])
        #expect(next.starts.isEmpty)
    }

    @Test func aStartAloneMakesARequestAndNamesNobodyForAlerts() {
        var claims = UnrequestedClaims()
        #expect(claims.isEmpty)
        claims.add(StartMark(rawValue: 9))
        #expect(!claims.isEmpty && claims.named == 0)
    }
}
