import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

/// With a store, lineups of one member whose alerts have gathered others wait for their claims without a visit.
@Suite struct GatheredLineupClaimTests {
    private static let rival = TopicID("rival")

    /// A service whose lineups show two live topics, so that an alert of one gathers those of the other for a second.
    private static func service(members: Int, namedMax: Int, patience: Duration = .seconds(60)) -> ScriptedService {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(patience: patience, namedMax: namedMax))
        let service = ScriptedService(shard: shard)
        for member in 0..<members {
            let topics = [ScriptedService.match, rival, TopicID("other/\(member)")]
            service.follow(member, .lineup(topics, favourite: nil))
        }
        for topic in [ScriptedService.match, rival] { service.publish(topic) }
        service.run()
        return service
    }

    /// Publishes a goal, and lets its wait for others end.
    private static func gatherGoal(_ service: ScriptedService) {
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.pass(seconds: 1)
        service.shard.wakeDue(at: service.moment)
    }

    private static func waiting(_ members: Range<Int>, _ service: ScriptedService) -> [Int] {
        members.filter { service.shard.awaitsClaim(ScriptedService.id($0)) }
    }

    @Test func aGatheredAlertIsClaimedWithoutAVisit() {
        let service = Self.service(members: 30, namedMax: 10)
        Self.gatherGoal(service)
        #expect(Self.waiting(0..<30, service).count == 30)
        #expect(service.shard.membership.dueLineups[0].count == 0, "nobody is to be visited")
        #expect(service.shard.violatedInvariant() == nil)
        for round in 0..<3 {
            #expect(service.turn() == (round == 0 ? 0 : 10), "round \(round)")
            #expect(service.shard.membership.dueLineups[0].count == 0, "round \(round)")
            let requests = ClaimTests.requests(service)
            #expect(requests.flatMap(\.claims).flatMap(\.activities).count == 10, "round \(round)")
            for request in requests { service.apply(.claimed(request.ticket)) }
            #expect(service.shard.membership.dueLineups[0].count == 10, "those whose claims are durable")
            #expect(service.shard.violatedInvariant() == nil, "round \(round)")
        }
        #expect(service.turn() == 10 && service.told(of: "goal").count == 30)
        #expect(service.shard.isQuiet && service.shard.membership.claims.isIdle)
    }

    /// Lineups that leave make room for others while the store owes an answer for some of these.
    @Test func eachRequestHasAsManyNamesAsThereMayBe() {
        let service = Self.service(members: 300, namedMax: 64)
        Self.gatherGoal(service)
        var counts: [Int] = []
        while counts.count < 20 {
            service.turn(limit: 1000)
            let requests = ClaimTests.requests(service)
            guard let last = requests.last else { break }
            counts.append(requests.flatMap(\.claims).flatMap(\.activities).count)
            service.apply(.claimed(last.ticket))
        }
        #expect(counts == [64, 64, 64, 64, 44])
        #expect(service.told(of: "goal").count == 300 && service.shard.violatedInvariant() == nil)
    }

    /// Lineups that need no claim by now take no room of those among them that do.
    @Test func fewLineupsAmongManyOfARevokedAlertAreClaimedAtOnce() {
        let service = Self.service(members: 100, namedMax: 10)
        service.publish(alert: "goal")
        for member in stride(from: 0, to: 100, by: 10) { service.publish(TopicID("other/\(member)"), alert: "own") }
        #expect(service.turn() == 0)
        service.pass(seconds: 1)
        service.shard.wakeDue(at: service.moment)
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        let before = service.accepted.count
        var answers = 0
        while answers < 20 {
            service.run()
            guard let last = ClaimTests.requests(service).last else { break }
            service.apply(.claimed(last.ticket))
            answers += 1
        }
        #expect(answers == 1 || answers == 2)
        #expect(service.accepted[before...].count == 100 && service.told(of: "own").count == 10)
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    /// The store may owe an answer to others while there is room.
    @Test func aGatheredAlertIsClaimedAtOnceIfThereIsRoom() {
        let service = Self.service(members: 10, namedMax: 100)
        service.follow(10, .topic(TopicID("order")))
        service.publish(TopicID("order"))
        service.run()
        service.publish(TopicID("order"), alert: "arriving")
        service.turn()
        Self.gatherGoal(service)
        #expect(service.turn() == 0)
        let named = ClaimTests.requests(service).map { $0.claims.flatMap(\.activities).count }
        #expect(named == [1, 10])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A wake-up for another reason may come first.
    @Test func anAlertIsNotClaimedBeforeItsWaitForOthersIsOver() {
        let service = Self.service(members: 1, namedMax: 10)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        let membership = service.shard.membership
        if let wakeUp = membership.lineups[lone: 0].wakeUp { membership.timers.cancel(wakeUp) }
        let due = service.moment.monotonic + .milliseconds(500)
        membership.lineups[lone: 0].wakeUp = membership.timers.insert(
            .lineup(membership.lineups.audience(of: 0)), due: due)
        service.pass(.milliseconds(501))
        #expect(service.turn() == 0 && ClaimTests.requests(service).isEmpty)
        #expect(Self.waiting(0..<1, service).isEmpty && service.shard.violatedInvariant() == nil)
        service.pass(.milliseconds(499))
        #expect(service.turn() == 0 && ClaimTests.requests(service).count == 1)
        service.apply(.claimed(1))
        service.run()
        #expect(service.told(of: "goal") == [0] && service.shard.violatedInvariant() == nil)
    }

    @Test func lineupsThatLeaveWhileTheyWaitForRoomTakeNone() {
        let service = Self.service(members: 30, namedMax: 10)
        Self.gatherGoal(service)
        service.unfollow(0..<10)
        #expect(service.shard.violatedInvariant() == nil)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").isSuperset(of: 10..<30))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// What else the news say is told.
    @Test func anAlertThatIsRevokedWhileLineupsWaitForRoomIsNotClaimed() {
        let service = Self.service(members: 30, namedMax: 10)
        Self.gatherGoal(service)
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        let before = service.accepted.count
        service.run()
        #expect(service.accepted[before...].count == 30 && service.told(of: "goal").isEmpty)
        #expect(ClaimTests.requests(service).isEmpty)
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    @Test func aLineupWhoseAlertIsRevokedWhileItGathersWaitsForNoRoom() {
        let service = Self.service(members: 1, namedMax: 1)
        service.follow(1, .topic(TopicID("order")))
        service.publish(TopicID("order"))
        service.run()
        service.publish(TopicID("order"), alert: "arriving")
        service.turn()
        #expect(ClaimTests.requests(service).count == 1, "the store does not answer")
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        service.publish()
        #expect(service.turn() == 0, "the news still gather others")
        service.pass(seconds: 1)
        #expect(service.turn() == 1 && service.accepted.last?.member == 0)
        #expect(service.told(of: "goal").isEmpty && service.shard.violatedInvariant() == nil)
    }

    /// The names of others take all the room.
    @Test(arguments: [false, true]) func aPullCountsTheLooksAtLineupsThatWakeWithoutRoom(pulls: Bool) {
        let service = Self.service(members: 10, namedMax: 1)
        service.follow(10, .topic(TopicID("order")))
        service.publish(TopicID("order"))
        service.run()
        service.publish(TopicID("order"), alert: "arriving")
        service.turn()
        Self.gatherGoal(service)
        #expect(Self.waiting(0..<10, service).count == 10)
        if pulls { service.turn() }
        let looks = service.shard.sender.claims.takeLooks()
        let looksAgain = service.shard.sender.claims.takeLooks()
        #expect(looks == (pulls ? 0 : 10) && looksAgain == 0)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func lineupsThatWakeWhileThereIsRoomAreNotLookedAt() {
        let service = Self.service(members: 10, namedMax: 20)
        Self.gatherGoal(service)
        let looks = service.shard.sender.claims.takeLooks()
        #expect(looks == 0 && Self.waiting(0..<10, service).count == 10)
    }

    @Test func aSecondGoalLeavesTogetherWithOneThatWaitsForRoom() {
        let service = Self.service(members: 12, namedMax: 10)
        Self.gatherGoal(service)
        let before = service.accepted.count
        #expect(service.turn() == 0)
        service.publish(Self.rival, alert: "rival's")
        #expect(service.turn() == 0)
        #expect(service.shard.violatedInvariant() == nil)
        let requests = ClaimTests.runWithStore(service)
        for member in 0..<12 {
            let claims = requests.flatMap(\.claims).filter { $0.activities.contains(ClaimTests.mark(member)) }
            #expect(Set(claims.map(\.topic)) == [ScriptedService.match, Self.rival], "member \(member)")
        }
        let pushes = service.accepted[before...]
        #expect(pushes.count == 12 && service.told(of: "rival's") == Set(0..<12))
        #expect(pushes.allSatisfy { $0.payload.alert?.body == .text("goal") }, "one push tells both")
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    /// A store that does not answer holds a gathered alert up for two seconds, and a later one not at all. Its late answer repeats nothing.
    @Test func gatheredAlertsLeaveWithoutClaimsIfTheStoreIsSilent() throws {
        let service = Self.service(members: 30, namedMax: 10, patience: .seconds(2))
        Self.gatherGoal(service)
        #expect(service.turn() == 0)
        let request = try #require(ClaimTests.requests(service).last)
        service.pass(seconds: 1)
        service.run()
        #expect(service.told(of: "goal").isEmpty)
        for _ in 0..<5 {
            service.pass(seconds: 1)
            service.run()
        }
        #expect(service.told(of: "goal").count == 30)
        service.publish(alert: "second")
        service.run()
        service.pass(seconds: 1)
        service.run()
        #expect(service.told(of: "second").count == 30)
        #expect(service.shard.violatedInvariant() == nil)
        service.apply(.claimed(request.ticket))
        _ = ClaimTests.runWithStore(service)
        #expect(service.accepted.count { $0.payload.alert != nil } == 60)
        #expect(service.shard.membership.claims.isIdle && service.shard.violatedInvariant() == nil)
    }

    /// The names of others take all the room, and nothing is pulled meanwhile.
    @Test func aLineupThatWaitsForRoomWhileNothingIsPulledWaitsNoLongerThanPatienceLasts() {
        let service = Self.service(members: 1, namedMax: 1, patience: .seconds(2))
        service.follow(1, .topic(TopicID("order")))
        service.publish(TopicID("order"))
        service.run()
        service.publish(TopicID("order"), alert: "arriving")
        service.turn()
        Self.gatherGoal(service)
        #expect(Self.waiting(0..<1, service) == [0])
        #expect(!service.shard.mayHavePushes(at: service.moment) && service.shard.violatedInvariant() == nil)
        service.pass(seconds: 2)
        service.run()
        #expect(service.told(of: "goal") == [0] && service.shard.violatedInvariant() == nil)
    }
}
