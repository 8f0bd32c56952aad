import FanfareModel
import Testing

@testable import FanfareFanOut

/// Few activities are named by claims at a time: others wait for room among the names.
@Suite struct ClaimRoomTests {
    private static func order(_ member: Int) -> TopicID { TopicID("order/\(member)") }

    /// A service with topics of one follower each.
    private static func service(orders: Range<Int>, namedMax: Int) -> ScriptedService {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(patience: .seconds(1_000_000), namedMax: namedMax))
        let service = ScriptedService(shard: shard)
        for member in orders { service.follow(member, .topic(order(member))) }
        return service
    }

    private static func alert(_ orders: Range<Int>, _ service: ScriptedService) {
        for member in orders { service.publish(order(member), alert: "arriving") }
    }

    private static func confirm(_ service: ScriptedService) {
        for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
    }

    /// Lets pushes leave one at a time, over a network that is slower than the store.
    private static func runSlowly(_ service: ScriptedService, turns: Int) {
        for _ in 0..<turns {
            service.turn(limit: 1)
            confirm(service)
        }
    }

    /// Those who wait for room go on when those before them need no claim any more: the store is not asked then, and answers nothing.
    @Test func audiencesThatWaitForRoomGoOnWithoutAnAnswer() {
        let service = Self.service(orders: 0..<20, namedMax: 2)
        Self.alert(0..<20, service)
        service.run()
        for member in 0..<20 { service.apply(.revokeAlert(topic: Self.order(member), cause: "arriving")) }
        _ = ClaimTests.runWithStore(service)
        #expect(service.accepted.count == 20 && service.shard.isQuiet && service.shard.membership.claims.isIdle)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Whose entries mean nothing any more keep nobody from going on, and a transport asks only while there may be pushes.
    @Test func lineupsBehindThoseThatHaveLeftGoOn() {
        let service = ClaimTests.service(members: 5, of: .lineups, namedMax: 1)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.unfollow(0...3)
        service.run()
        for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
        for _ in 0..<10 where service.shard.mayHavePushes(at: service.moment) {
            service.turn()
            for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
        }
        #expect(service.told(of: "goal").contains(4))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Work of the first lane that needs no claims keeps nobody waiting for room who has it.
    @Test func lineupsWithoutRoomLookAgainBesideOtherUrgentWork() {
        let service = ClaimTests.service(members: 20, of: .lineups, namedMax: 2)
        let (rival, third) = (TopicID("rival"), TopicID("third"))
        for member in 20..<30 { service.follow(member, .lineup([rival, TopicID("other/\(member)")], favourite: nil)) }
        for member in 30..<1030 { service.follow(member, .topic(third)) }
        for topic in [rival, third] { service.publish(topic) }
        service.run()
        service.publish(alert: "goal")
        service.publish(rival, alert: "rival's")
        service.turn(limit: 1)
        for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        service.publish(third, event: .end)
        Self.runSlowly(service, turns: 700)
        #expect(service.told(of: "rival's").count == 10)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A sweep without alerts goes on meanwhile.
    @Test func audiencesThatWaitForRoomGoOnBesideASilentSweep() {
        let service = Self.service(orders: 0..<20, namedMax: 2)
        for member in 20..<1020 { service.follow(member) }
        Self.alert(0..<20, service)
        Self.runSlowly(service, turns: 1)
        for member in 0..<20 { service.apply(.revokeAlert(topic: Self.order(member), cause: "arriving")) }
        service.publish()
        for _ in 0..<200 { service.turn(limit: 1) }
        #expect(Set(service.accepted.map(\.member)).isSuperset(of: 0..<20))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Claimed audiences have no right of way: a sweep that needs no claims gets its turns beside audiences of one.
    @Test func claimedAudiencesHoldUpNoOtherSweep() {
        let service = Self.service(orders: 0..<2000, namedMax: 50)
        for member in 2000..<3000 { service.follow(member) }
        service.publish()
        service.run()
        let before = service.accepted.count
        Self.alert(0..<2000, service)
        service.publish(event: .end)
        Self.runSlowly(service, turns: 1000)
        let ends = service.accepted[before...].count { $0.member >= 2000 }
        #expect(ends >= 300, "\(ends) of a thousand pushes go to a thousand followers")
        #expect(service.told(of: "arriving").count >= 300)
        #expect(service.shard.violatedInvariant() == nil)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "arriving").count == 2000 && service.shard.isQuiet)
        #expect(service.shard.membership.claims.isIdle && service.shard.violatedInvariant() == nil)
    }

    /// Those who wait for room stand in no lane until there is some: nobody is visited in vain again and again.
    @Test(arguments: [ClaimTests.Followed.topic, .lineups])
    func audiencesThatWaitForRoomAreNotVisitedInVain(followed: ClaimTests.Followed) {
        let service: ScriptedService
        if followed == .topic {
            service = Self.service(orders: 0..<2000, namedMax: 50)
            Self.alert(0..<2000, service)
        } else {
            service = ClaimTests.service(members: 2000, of: followed, patience: .seconds(1_000_000), namedMax: 50)
            service.publish(alert: "arriving")
        }
        service.run(turns: 1)
        for turn in 1...200 {
            Self.runSlowly(service, turns: 1)
            let entries = service.shard.membership.lanes.entries + service.shard.membership.dueLineups[0].count
            #expect(entries <= 4 * 50, "turn \(turn)")
        }
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "arriving").count == 2000 && service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// An audience with a claim whose turns go to starts counts as one that has had its turn.
    @Test func startsOfOneAudienceKeepNobodyFromBeingNamed() {
        let service = Self.service(orders: 1..<21, namedMax: 2)
        service.follow(0)
        service.publish()
        for member in 1..<21 { service.publish(Self.order(member)) }
        service.run()
        service.publish(alert: "goal")
        service.turn()
        for number in 0..<1000 {
            let request = StartRequest(
                activity: "start \(number)", token: ScriptedService.token(5000 + number), attributesType: "A",
                attributes: [:], alert: AlertText(title: "kick-off", body: ""))
            service.apply(.start(request, .topic(ScriptedService.match)))
        }
        service.unfollow(0...0)
        Self.confirm(service)
        Self.alert(1..<21, service)
        Self.runSlowly(service, turns: 800)
        #expect(service.told(of: "arriving").count == 20)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// An audience that went on without room, and rested since, gets room with the next alert.
    @Test func anAudienceThatRestedAfterItsWaitForRoomGetsRoomLater() {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(namedMax: 1))
        let service = ScriptedService(shard: shard)
        let topics = [TopicID("a"), TopicID("b")]
        for (member, topic) in topics.enumerated() {
            service.follow(member, .topic(topic))
            service.publish(topic)
        }
        service.run()
        for topic in topics { service.publish(topic, alert: "first") }
        service.turn()
        service.pass(seconds: 2)
        service.shard.wakeDue(at: service.moment)
        service.run()
        #expect(service.told(of: "first") == [0, 1])
        _ = ClaimTests.runWithStore(service)
        for topic in topics { service.publish(topic, alert: "second") }
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "second") == [0, 1])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Chance, which a pool asks while the service is in doubt, may visit whoever stands behind those with a claim: it finds no room, and the store
    /// owes no answer that would let it go.
    @Test func anAudienceThatChanceVisitsWithoutRoomGoesOn() {
        for random in 0..<64 {
            let service = Self.service(orders: 0..<2, namedMax: 1)
            Self.alert(0..<1, service)
            service.turn()
            Self.confirm(service)
            Self.alert(1..<2, service)
            let pushes = service.pullByLot(UInt64(random).mixed)
            service.complete(pushes, .accepted)
            _ = ClaimTests.runWithStore(service)
            #expect(service.shard.isQuiet && service.shard.membership.claims.isIdle, "\(random)")
            #expect(service.shard.violatedInvariant() == nil, "\(random)")
        }
    }

    /// A lineup of one member is visited by chance, and finds no room.
    @Test func theLineupThatChanceVisitsWithoutRoomGoesOn() {
        for random in 0..<64 {
            let service = ClaimTests.service(members: 1, of: .lineups, namedMax: 1)
            let rival = TopicID("rival")
            service.follow(1, .lineup([rival, TopicID("other/1")], favourite: nil))
            service.publish(rival)
            service.run()
            service.publish(alert: "goal")
            service.turn()
            Self.confirm(service)
            service.publish(rival, alert: "goal")
            let pushes = service.pullByLot(UInt64(random).mixed)
            #expect(service.shard.violatedInvariant() == nil, "\(random)")
            service.complete(pushes, .accepted)
            _ = ClaimTests.runWithStore(service)
            #expect(service.shard.isQuiet && service.shard.membership.claims.isIdle, "\(random)")
        }
    }

    /// Those who have left keep nobody behind them from going on.
    @Test func activitiesThatLeftKeepNobodyFromRoom() {
        let service = Self.service(orders: 0..<20, namedMax: 2)
        Self.alert(0..<20, service)
        service.turn()
        service.unfollow(0...9)
        for _ in 0..<50 where service.shard.mayHavePushes(at: service.moment) { service.turn() }
        for _ in 0..<100 {
            Self.confirm(service)
            if service.shard.mayHavePushes(at: service.moment) { service.turn() }
        }
        #expect(service.told(of: "arriving").isSuperset(of: 10..<20))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Lineups whose interval is over while there is no room stand behind those that are claimed.
    @Test func claimedLineupsLeaveBeforeOthersAreNamed() {
        let service = ClaimTests.service(members: 100, of: .lineups, patience: .seconds(60), namedMax: 10)
        service.publish(priority: .conserving)
        service.turn()
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.pass(seconds: 3)
        #expect(service.turn() == 0)
        for round in 1...10 {
            for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
            #expect(service.turn() == 10, "round \(round)")
            #expect(service.shard.violatedInvariant() == nil)
        }
        #expect(service.told(of: "goal").count == 100)
    }

    /// Neither audiences of one nor lineups take all the room there is.
    @Test func lineupsAndAudiencesShareTheRoom() {
        let service = ClaimTests.service(members: 100, of: .lineups, patience: .seconds(60), namedMax: 10)
        for member in 100..<300 { service.follow(member, .topic(TopicID("order/\(member)"))) }
        service.run()
        for member in 100..<300 { service.publish(TopicID("order/\(member)"), alert: "arriving") }
        service.publish(alert: "goal")
        service.turn()
        for _ in 1...10 {
            for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
            service.turn()
        }
        #expect(service.told(of: "goal").count >= 20 && service.told(of: "arriving").count >= 20)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").count == 100 && service.told(of: "arriving").count == 200)
        #expect(service.shard.violatedInvariant() == nil && service.shard.membership.claims.isIdle)
    }
}
