import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, the alerts of lineups leave once claims that name these are durable, and few are named at a time.
@Suite struct LineupClaimTests {
    typealias Followed = ClaimTests.Followed

    /// Names without an answer, unless a test says otherwise.
    private static let namedMax = 4096

    /// More lineups than may be claimed at a time: each is claimed once, and told once.
    @Test func lineupsAreClaimedSomeAtATime() {
        let members = 3 * Self.namedMax / 2
        let service = ClaimTests.service(members: members, of: .lineups)
        service.publish(alert: "goal")
        let requests = ClaimTests.runWithStore(service)
        let named = requests.flatMap(\.claims).map(\.activities)
        #expect(service.told(of: "goal").count == members)
        #expect(named.reduce(0) { $0 + $1.count } == members)
        #expect(requests.allSatisfy { $0.claims.reduce(0) { $0 + $1.activities.count } <= Self.namedMax })
        #expect(requests.allSatisfy { $0.claims.count == 1 }, "those of a topic are one claim")
        #expect(service.shard.violatedInvariant() == nil && service.shard.membership.claims.isIdle)
    }

    /// Silent news that come meanwhile ride along.
    @Test func newsWaitWithTheAlertsForWhichThereIsNoRoom() {
        let service = ClaimTests.service(members: 30, of: .lineups, namedMax: 10)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.publish()
        #expect(service.turn() == 0)
        #expect(service.shard.violatedInvariant() == nil)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").count == 30 && service.shard.isQuiet)
        #expect(service.accepted.count == 60, "the first state, and one push with both")
    }

    /// Lineups that wait for room delay none that have nothing to wait for.
    @Test func newsReachThoseWhomNoAlertConcernsWhileOthersWaitForRoom() {
        let service = ClaimTests.service(members: 30, of: .lineups, namedMax: 10)
        let rival = TopicID("rival")
        for member in 30..<60 {
            service.follow(
                member,
                .lineup([rival, member < 45 ? ScriptedService.match : TopicID("other/\(member)")], favourite: nil))
        }
        service.publish(rival)
        service.run()
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        // Some wait for other alerts first.
        service.pass(seconds: 1)
        #expect(service.turn() == 0)
        let before = service.accepted.count
        service.publish(rival)
        service.run()
        #expect(Set(service.accepted[before...].map(\.member)) == Set(45..<60))
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").count == 45 && service.shard.isQuiet)
    }

    /// An alert that is claimed and not sent is lost to a crash: claimed lineups go before further names, of whatever topic.
    @Test(arguments: [1, 4]) func lineupsAreNotClaimedFarAhead(topics: Int) {
        let service = ClaimTests.service(members: topics == 1 ? 2000 : 0, of: .lineups, namedMax: 100)
        let matches = topics == 1 ? [ScriptedService.match] : (0..<topics).map { TopicID("match/\($0)") }
        if topics > 1 {
            for member in 0..<2000 {
                service.follow(
                    member, .lineup([matches[member % topics], TopicID("other/\(member)")], favourite: nil))
            }
            for match in matches { service.publish(match) }
            service.run()
        }
        for match in matches { service.publish(match, alert: "goal") }
        var claimed = 0
        for turn in 1...1000 {
            service.turn(limit: 1)
            for request in ClaimTests.requests(service) {
                claimed += request.claims.flatMap(\.activities).count
                service.apply(.claimed(request.ticket))
            }
            #expect(claimed - service.told(of: "goal").count <= 2 * 100 + 64, "turn \(turn)")
        }
        #expect(service.told(of: "goal").count > 900)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The store answers one request when all have gone on without it: what is claimed again waits for its own answer, and no longer.
    @Test func aLateAnswerDelaysNobodyLater() {
        let service = ClaimTests.service(members: 100, of: .lineups, namedMax: 100)
        for alert in ["first", "second"] {
            service.publish(alert: alert)
            service.turn()
        }
        let requests = ClaimTests.requests(service)
        #expect(requests.count == 1)
        service.pass(seconds: 2)
        service.shard.wakeDue(at: service.moment)
        service.apply(.claimed(requests[0].ticket))
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "second").count == 100 && service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil && service.shard.membership.claims.isIdle)
    }

    /// Chance, which a pool asks while the service is in doubt, tells nobody before the store has answered: not even those whose alert is
    /// withdrawn meanwhile, for whom no claim is needed any more.
    @Test(arguments: [5, 100]) func chanceTellsNobodyOfALineupBeforeItsClaim(namedMax: Int) {
        let service = ClaimTests.service(members: 20, of: .lineups, namedMax: namedMax)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        for random in 0..<200 {
            let pushes = service.pullByLot(UInt64(random))
            #expect(pushes.isEmpty && !service.shard.mayHavePushes(at: service.moment))
        }
        #expect(service.shard.violatedInvariant() == nil)
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty && service.accepted.count == 40)
    }

    /// A disk that takes nothing for a while delays no goal after it.
    @Test func lineupsThatWaitedForADiskHoldNobodyUpLater() {
        let members = 3 * Self.namedMax
        let service = ClaimTests.service(members: members, of: .lineups)
        service.publish(alert: "first")
        _ = ClaimTests.requests(service)
        service.run(turns: 3)
        service.pass(seconds: 3)
        service.run()
        #expect(service.told(of: "first").count == members)
        for request in ClaimTests.requests(service) { service.apply(.claimed(request.ticket)) }
        _ = ClaimTests.runWithStore(service)
        service.publish(alert: "second")
        _ = ClaimTests.runWithStore(service)
        #expect(service.told(of: "second").count == members)
        #expect(service.shard.membership.claims.isIdle && service.shard.violatedInvariant() == nil)
    }

    /// Two goals of a lineup's matches are told by one push, and both are claimed.
    @Test(arguments: [Followed.lineup, .lineups]) func bothAlertsOfAPushAreClaimed(followed: Followed) {
        let service = ClaimTests.service(members: 2, of: followed)
        let other = followed.key(0).topics[1]
        func publish(_ topic: TopicID, _ serial: UInt64, _ title: String) {
            let alert = Alert(
                cause: title, class: .essential, text: AlertText(title: title, body: ""), freshFor: .seconds(300),
                highlight: nil, grantedAt: FeedTime(milliseconds: Int64(serial) * 1000))
            service.apply(
                .publish(
                    Publication.test(serial, of: topic, alert: alert)))
        }
        publish(other, 100, "there")
        publish(ScriptedService.match, 101, "here")
        var claims: [AlertClaim] = []
        for _ in 0..<30 {
            service.pass(seconds: 1)
            claims += ClaimTests.runWithStore(service).flatMap(\.claims)
        }
        let first = claims.filter { $0.activities.contains(ClaimTests.mark(0)) }
        #expect(Set(first.map(\.topic)) == [ScriptedService.match, other])
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
    }
}
