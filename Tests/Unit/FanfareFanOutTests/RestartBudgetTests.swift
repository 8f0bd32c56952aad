import FanfareModel
import Testing

@testable import FanfareFanOut

/// A store keeps no use of limits: a card that it hands back begins with half of each, and any other card with all.
@Suite struct RestartBudgetTests {
    /// Makes a shard whose only topic has a state.
    private static func service(_ change: (inout ActivityLimits) -> Void = { _ in }) -> ScriptedService {
        var limits = ActivityLimits()
        change(&limits)
        let service = ScriptedService(shard: Shard(limits: limits))
        service.publish(priority: .conserving)
        service.apply(.load)
        return service
    }

    private static func load(
        _ member: Int = 0, into service: ScriptedService, isStored: Bool = true, preferences: Preferences? = nil
    ) {
        var earlier = EarlierDelivery()
        earlier.isStored = isStored
        service.apply(
            .follow(
                ScriptedService.id(member), .topic(ScriptedService.match), token: ScriptedService.token(member),
                preferences: preferences, earlier: earlier))
    }

    /// Publishes more ordinary alerts than any budget here has.
    ///
    /// - Returns: number of those that the member hears.
    private static func alertsHeard(_ service: ScriptedService, by member: Int = 0) -> Int {
        let before = service.accepted.count
        for number in 0..<12 {
            service.publish(alert: "card \(before)/\(number)", class: .ordinary)
            service.run()
        }
        return service.accepted[before...].count { $0.member == member && $0.payload.alert != nil }
    }

    /// Publishes more silent versions than any budget here has.
    ///
    /// - Returns: number of those that reach the member at priority 10.
    private static func pushesAtTen(_ service: ScriptedService, by member: Int = 0) -> Int {
        let before = service.accepted.count
        for _ in 0..<12 {
            service.publish()
            service.run()
        }
        return service.accepted[before...].count { $0.member == member && $0.payload.priority == .immediate }
    }

    @Test(arguments: 1...9) func aCardOfTheStoreHasTheGreaterHalfOfItsAlertsLeft(burst: Int) {
        for (isStored, expected) in [(true, (burst + 1) / 2), (false, burst)] {
            let service = Self.service { $0.alerts = TokenBucket.Size(burst: burst, refill: .seconds(3600)) }
            Self.load(into: service, isStored: isStored)
            service.apply(.endLoading)
            service.run()
            let heard = Self.alertsHeard(service)
            #expect(heard == expected, "stored: \(isStored)")
            #expect(service.shard.violatedInvariant() == nil)
        }
    }

    @Test func aCardOfTheStoreHasHalfOfItsPushesAtPriorityTenLeft() {
        for (isStored, isFrequent, expected) in [
            (true, false, 3), (true, true, 4), (false, false, 6), (false, true, 8),
        ] {
            let service = Self.service {
                $0.immediate = TokenBucket.Size(burst: 6, refill: .seconds(1800))
                $0.immediateFrequent = TokenBucket.Size(burst: 8, refill: .seconds(1800))
            }
            Self.load(into: service, isStored: isStored, preferences: Preferences(frequentUpdates: isFrequent))
            service.apply(.endLoading)
            service.run()
            let pushes = Self.pushesAtTen(service)
            #expect(pushes == expected, "stored: \(isStored), frequent: \(isFrequent)")
        }
    }

    @Test func whatTheRestartHasTakenComesBackWithTime() {
        let service = Self.service { $0.alerts = TokenBucket.Size(burst: 4, refill: .seconds(600)) }
        Self.load(into: service)
        service.apply(.endLoading)
        service.run()
        service.pass(seconds: 2 * 600)
        let heard = Self.alertsHeard(service)
        #expect(heard == 4)
    }

    /// A card that is followed after the restart has used nothing.
    @Test func aNewCardBesideThoseOfTheStoreHasAllOfItsAlerts() {
        let service = Self.service { $0.alerts = TokenBucket.Size(burst: 4, refill: .seconds(3600)) }
        Self.load(0, into: service)
        service.apply(.endLoading)
        service.follow(1)
        service.run()
        for number in 0..<12 {
            service.publish(alert: "card \(number)", class: .ordinary)
            service.run()
        }
        let heard = (0..<2).map { member in
            service.accepted.count { $0.member == member && $0.payload.alert != nil }
        }
        #expect(heard == [2, 4])
    }

    /// A sweep decides once for members in one state, however long their loading has taken.
    @Test func cardsOfOneLoadingBeginInOneState() throws {
        let service = Self.service()
        Self.load(0, into: service)
        service.pass(seconds: 5)
        Self.load(1, into: service)
        let membership = service.shard.membership
        let slots = try (0..<2).map { try #require(membership.slot(of: ScriptedService.id($0))) }
        let activities = slots.map { membership.store[$0] }
        #expect(activities[0].budgetUse == activities[1].budgetUse && activities[0].budgetUse != BudgetUse())
        #expect(activities[0].stamp == activities[1].stamp)
    }

    /// The first push has the stamp of its second, as without a use of limits.
    @Test func aRestartPutsNoStampAheadOfTheClock() {
        let service = Self.service()
        Self.load(into: service)
        service.run()
        #expect(service.accepted.map(\.payload.stamp) == [service.moment.wallSeconds])
    }
}
