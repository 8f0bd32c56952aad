import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, alerts of the process before leave after a restart for those whom no claim names.
@Suite struct RestartClaimTests {
    typealias Followed = ClaimTests.Followed

    private static func alert(_ title: String, at second: Int64, age: Duration = .seconds(10)) -> UnfinishedAlert {
        UnfinishedAlert(
            Alert(
                cause: title, class: .essential, text: AlertText(title: title, body: ""), freshFor: .seconds(300),
                highlight: nil, grantedAt: FeedTime(milliseconds: second * 1000)), age: age)
    }

    private static func silent(_ topic: TopicID, _ serial: UInt64, priority: Priority = .immediate) -> Publication {
        Publication.test(serial, of: topic, version: 9, state: ["version": 9], priority: priority)
    }

    private static func restart(
        _ alerts: [UnfinishedAlert], of followed: Followed = .topic, priority: Priority = .immediate, settled: [Int64?]
    ) -> ScriptedService {
        let shard = Shard()
        shard.keepClaims()
        let service = ScriptedService(shard: shard)
        let newest = Self.silent(ScriptedService.match, 9, priority: priority)
        service.apply(.publishResumed(ResumedPublication(newest, alerts)))
        service.apply(.load)
        for (member, time) in settled.enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), followed.key(member), token: ScriptedService.token(member),
                    earlier: EarlierDelivery(settledThrough: time.map { FeedTime(milliseconds: $0 * 1000) })))
        }
        service.apply(.endLoading)
        return service
    }

    @Test(arguments: Followed.allCases) func alertsGoOnToThoseWhomNoClaimNames(followed: Followed) {
        let service = Self.restart(
            [Self.alert("first", at: 10), Self.alert("second", at: 20)], of: followed,
            settled: [nil, 9, 10, 19, 20, 99])
        let claims = ClaimTests.runOut(service).flatMap(\.claims)
        #expect(service.told(of: "second") == [0, 1, 2, 3])
        #expect(service.told(of: "first").isEmpty, "the newest of a class is told")
        #expect(Set(service.accepted.map(\.member)) == Set(0..<6), "everybody gets the newest state")
        #expect(!claims.isEmpty && claims.allSatisfy { $0.through == FeedTime(milliseconds: 20_000) })
        #expect(Set(claims.flatMap(\.activities)).isSuperset(of: (0..<4).map(ClaimTests.mark)))
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
        // Later publications behave as without a restart.
        service.publish(alert: "third")
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "third") == Set(0..<6))
    }

    /// The newest version may be a silent one; the alert that has not left is none the less urgent.
    @Test(arguments: Followed.allCases) func alertsGoOnWithASilentVersion(followed: Followed) {
        let service = Self.restart(
            [Self.alert("goal", at: 10)], of: followed, priority: .conserving, settled: [nil, 99, nil])
        _ = ClaimTests.runOut(service)
        #expect(service.told(of: "goal") == [0, 2] && Set(service.accepted.map(\.member)) == [0, 1, 2])
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
    }

    @Test func anAlertThatHasBecomeStaleMeanwhileIsToldNobody() {
        let service = Self.restart([Self.alert("goal", at: 10, age: .seconds(299))], settled: [nil, nil])
        service.pass(seconds: 2)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty)
        #expect(service.accepted.count == 2)
        #expect(service.shard.statistics.alerts.stale == 2)
    }

    @Test(arguments: Followed.allCases) func anUnfinishedAlertMayBeWithdrawn(followed: Followed) {
        let service = Self.restart([Self.alert("goal", at: 10)], of: followed, settled: [nil, nil])
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty && service.accepted.count == 2)
    }

    /// A card moves to one topic of its lineup before it has got an alert of the process before, which has left for the card, or is older than the
    /// card.
    @Test(arguments: [Followed.lineup, .lineups]) func aMoveCarriesNothingThatWasSettled(followed: Followed) {
        let shard = Shard()
        shard.keepClaims()
        let service = ScriptedService(shard: shard)
        service.apply(
            .publishResumed(ResumedPublication(Self.silent(ScriptedService.match, 9), [Self.alert("goal", at: 10)])))
        service.apply(.load)
        for (member, settled) in ([99_000, nil] as [Int64?]).enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), followed.key(member), token: ScriptedService.token(member),
                    earlier: EarlierDelivery(settledThrough: settled.map { FeedTime(milliseconds: $0) })))
        }
        service.apply(.endLoading)
        for member in 0...1 { service.apply(.move(ScriptedService.id(member), .topic(ScriptedService.match))) }
        for _ in 0..<20 {
            service.pass(seconds: 1)
            _ = ClaimTests.runWithStore(service)
        }
        #expect(service.told(of: "goal") == [1], "the other one has had it")
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }
}
