import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, alerts leave for activities only once claims that name them are durable.
@Suite struct ClaimTests {
    /// Selection of the members: the match alone, or a lineup with it, one for all or one for each.
    enum Followed: CaseIterable {
        case topic, lineup, lineups

        func key(_ member: Int) -> AudienceKey {
            switch self {
            case .topic: .topic(ScriptedService.match)
            case .lineup: .lineup([ScriptedService.match, TopicID("other")], favourite: nil)
            case .lineups: .lineup([ScriptedService.match, TopicID("other/\(member)")], favourite: nil)
            }
        }
    }

    static func service(
        members: Int, of followed: Followed = .topic, blocks: ClosedRange<Int> = 100...100,
        patience: Duration = .seconds(2), namedMax: Int = 4096
    ) -> ScriptedService {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(patience: patience, blocks: blocks, namedMax: namedMax))
        let service = ScriptedService(shard: shard)
        for member in 0..<members {
            service.apply(
                .follow(ScriptedService.id(member), followed.key(member), token: ScriptedService.token(member)))
        }
        service.publish()
        service.run()
        return service
    }

    static func mark(_ member: Int) -> ActivityMark {
        ActivityMark(ScriptedService.id(member), token: ScriptedService.token(member))
    }

    static func requests(_ service: ScriptedService) -> [ClaimRequest] {
        service.feedback().compactMap { if case .claims(let request) = $0 { request } else { nil } }
    }

    /// Lets the store take each request until nothing is left to be sent.
    static func runWithStore(_ service: ScriptedService) -> [ClaimRequest] {
        var all: [ClaimRequest] = []
        while true {
            service.run()
            let new = requests(service)
            all += new
            guard let last = new.last else { return all }
            service.apply(.claimed(last.ticket))
        }
    }

    /// Lets whoever carries alerts along look for its claim, some milliseconds later.
    static func runOut(_ service: ScriptedService) -> [ClaimRequest] {
        var all = runWithStore(service)
        for _ in 0..<2 {
            service.pass(seconds: 1)
            all += runWithStore(service)
        }
        return all
    }

    @Test(arguments: Followed.allCases) func aSweepWaitsForItsClaims(followed: Followed) {
        let service = Self.service(members: 10, of: followed)
        service.publish(alert: "goal")
        #expect(service.turn() == 0, "nothing leaves before the claims are durable")
        let requests = Self.requests(service)
        #expect(requests.map(\.ticket) == [1])
        #expect(Set(requests.flatMap(\.claims).flatMap(\.activities)) == Set((0..<10).map(Self.mark)))
        #expect(requests.first?.claims.map(\.topic) == [ScriptedService.match])
        #expect(service.shard.violatedInvariant() == nil)
        service.apply(.claimed(1))
        service.run()
        #expect(service.told(of: "goal") == Set(0..<10))
        #expect(Self.requests(service).isEmpty && service.shard.isQuiet)
    }

    @Test func aVersionWithoutAnAlertWaitsForNothing() {
        let service = Self.service(members: 10)
        service.publish()
        #expect(service.turn() == 10)
        #expect(Self.requests(service).isEmpty)
    }

    @Test func withoutAStoreNothingIsClaimed() {
        let service = ScriptedService(members: 0..<10)
        service.publish(alert: "goal")
        service.run()
        #expect(service.told(of: "goal") == Set(0..<10))
        #expect(Self.requests(service).isEmpty)
    }

    /// A block is claimed while the one before it is served, so that only the first one is waited for.
    @Test func theNextBlockIsClaimedInTime() {
        let service = Self.service(members: 40, blocks: 8...8)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        var claimed = 0
        var waits = 0
        while service.told(of: "goal").count < 40, waits < 10 {
            for request in Self.requests(service) {
                claimed += request.claims.flatMap(\.activities).count
                #expect(claimed - service.told(of: "goal").count <= 16, "what is claimed is lost to a crash")
                service.apply(.claimed(request.ticket))
            }
            if service.turn(limit: 4) == 0 { waits += 1 }
        }
        #expect(waits == 0 && claimed == 40)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Claims of the first goal say nothing of the second, and those of a goal hold for a silent version on top of it.
    @Test func eachAlertNeedsClaimsOfItsOwn() {
        let service = Self.service(members: 4)
        service.publish(alert: "first")
        _ = Self.runWithStore(service)
        service.publish(alert: "second")
        #expect(service.turn() == 0)
        service.publish()
        #expect(service.turn() == 0)
        #expect(Self.requests(service).count == 1, "a silent version claims nothing more")
        service.apply(.claimed(2))
        service.run()
        #expect(service.told(of: "second") == Set(0..<4))
    }

    /// An activity that takes the place of a claimed one is claimed for itself.
    @Test func aClaimIsOfAnActivityAndNotOfItsPlace() {
        let service = Self.service(members: 4)
        service.publish(alert: "first")
        _ = Self.runWithStore(service)
        service.unfollow([0])
        service.run()
        service.follow(7)
        service.run()
        service.publish(alert: "second")
        let claimed = Self.runWithStore(service).flatMap(\.claims).flatMap(\.activities)
        #expect(Set(claimed) == Set([1, 2, 3, 7].map(Self.mark)))
        #expect(service.told(of: "second") == [1, 2, 3, 7])
    }

    /// The store knows a card that a push has started by its text, and a renewed one by the name that its app gives it.
    @Test func aStartedCardIsClaimedUnderItsName() {
        let service = Self.service(members: 1)
        let request = StartRequest(
            activity: "anna", token: [0, 0, 0, 9], attributesType: "Match", attributes: [:],
            alert: AlertText(title: "kick-off", body: ""))
        service.apply(.start(request, .topic(ScriptedService.match)))
        service.run()
        service.apply(.replaceToken(ActivityID("anna"), token: [0, 0, 0, 7]))
        service.run()
        service.publish(alert: "goal")
        let claimed = Self.runWithStore(service).flatMap(\.claims).flatMap(\.activities)
        #expect(Set(claimed) == [Self.mark(0), ActivityMark(ActivityID("anna"), token: [])])
        // A follow may bring another name for the same activity.
        service.apply(.follow(ActivityID(hashing: "anna"), .topic(ScriptedService.match), token: [0, 0, 0, 8]))
        service.run()
        service.publish(alert: "second")
        let later = Self.runWithStore(service).flatMap(\.claims).flatMap(\.activities)
        #expect(Set(later).contains(ActivityMark(ActivityID("anna"), token: [])))
        #expect(service.told(of: "second") == [0, 8])
    }

    /// A claimed activity may get an older alert than the newest, and is alerted of it no more as long as that one is fresh.
    @Test func aClaimLastsAsLongAsAnyOfItsAlerts() {
        let service = Self.service(members: 2)
        for (number, freshFor) in [(1, 500), (2, 30)] as [(Int64, Int)] {
            let alert = Alert(
                cause: "\(number)", class: number == 1 ? .essential : .ordinary, text: AlertText(title: "", body: ""),
                freshFor: .seconds(freshFor), highlight: nil, grantedAt: FeedTime(seconds: number))
            service.apply(
                .publish(
                    Publication.test(
                        UInt64(100 + number), of: ScriptedService.match, state: ["n": .int(number)], alert: alert)))
        }
        let claims = Self.runWithStore(service).flatMap(\.claims)
        #expect(claims.map(\.through) == [FeedTime(seconds: 2)] && claims.map(\.expires) == [FeedTime(seconds: 501)])
    }

    /// An alert that is claimed and not sent is lost to a crash. A million audiences of one are not claimed while the network takes nothing.
    @Test(arguments: [1, 10]) func smallAudiencesAreNotClaimedFarAhead(turnsPerCommit: Int) {
        let shard = Shard()
        shard.keepClaims()
        let service = ScriptedService(shard: shard)
        for member in 0..<20_000 { service.follow(member, .topic(TopicID("order/\(member)"))) }
        service.run()
        for member in 0..<20_000 { service.publish(TopicID("order/\(member)"), alert: "arriving") }
        var claimed = 0
        for turn in 1...100 {
            service.turn(limit: 1)
            guard turn.isMultiple(of: turnsPerCommit) else { continue }
            for request in Self.requests(service) {
                claimed += request.claims.flatMap(\.activities).count
                service.apply(.claimed(request.ticket))
            }
            #expect(claimed - service.told(of: "arriving").count <= 2 * 4096, "turn \(turn)")
        }
        #expect(service.told(of: "arriving").count >= 99 - turnsPerCommit)
        // And then all of them, in some commits. The shard waits for room for what it tells the core, now and then.
        for _ in 0..<20 { _ = Self.runWithStore(service) }
        #expect(service.told(of: "arriving").count == 20_000)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A disk that takes nothing holds a goal up for two seconds, and the next one not at all, until it answers again.
    @Test(arguments: Followed.allCases) func aDiskThatTakesNothingHoldsAGoalUpForTwoSeconds(followed: Followed) {
        let service = Self.service(members: 10, of: followed)
        service.publish(alert: "first")
        service.run()
        service.pass(seconds: 1)
        service.run()
        #expect(service.told(of: "first").isEmpty)
        service.pass(seconds: 1)
        service.run()
        #expect(service.told(of: "first") == Set(0..<10))
        service.publish(alert: "second")
        service.run()
        #expect(service.told(of: "second") == Set(0..<10))
        #expect(service.shard.statistics.alerts.unclaimed == 20)
        #expect(Self.requests(service).count == 1, "requests do not pile up")
        service.apply(.claimed(1))
        // An alert that left without a claim is claimed for everybody, so that a later restart does not repeat it.
        let late = Self.requests(service)
        #expect(late.flatMap(\.claims).map(\.activities) == [[]] && late.first?.ticket == 2)
        service.apply(.claimed(2))
        service.publish(alert: "third")
        #expect(service.turn() == 0)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "third") == Set(0..<10))
        #expect(service.shard.statistics.alerts.unclaimed == 20)
    }

    /// An activity whose push failed has its claim, and gets a newer alert only with a newer one.
    @Test(arguments: Followed.allCases) func anActivityWhosePushFailedIsClaimedBeforeTheNextAlert(followed: Followed) {
        let service = Self.service(members: 3, of: followed)
        service.answer = { member, _ in member == 0 ? .notProcessed : .accepted }
        service.publish(alert: "first")
        _ = Self.requests(service)
        service.turn()
        service.apply(.claimed(1))
        service.turn()
        service.answer = { _, _ in .accepted }
        service.publish(alert: "second")
        #expect(service.turn() == 0)
        _ = Self.runWithStore(service)
        service.pass(seconds: 120)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "second") == [0, 1, 2])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A member whose turn is over, and who has no claim, because the alert that it lacks left without one.
    @Test func aMemberWhoseClaimIsMissingGetsOneOfItsOwn() {
        let service = Self.service(members: 3)
        service.answer = { member, _ in member == 0 ? .notProcessed : .accepted }
        service.publish(alert: "goal")
        service.run(turns: 1)
        service.pass(seconds: 3)
        // The disk takes nothing: all of them are sent the goal without claims, and one push is not processed.
        service.turn()
        #expect(service.told(of: "goal") == [1, 2])
        _ = Self.requests(service)
        service.apply(.claimed(1))
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 120)
        _ = Self.runWithStore(service)
        for _ in 0..<10 {
            service.pass(seconds: 1)
            _ = Self.runWithStore(service)
        }
        #expect(service.told(of: "goal") == [0, 1, 2])
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
    }

    @Test(arguments: Followed.allCases) func theBookForgetsWhatHasBeenConfirmed(followed: Followed) {
        let service = Self.service(members: 5, of: followed)
        for round in 0..<100 {
            service.publish(alert: "goal \(round)")
            _ = Self.runWithStore(service)
            #expect(service.shard.violatedInvariant() == nil)
        }
        #expect(service.shard.membership.claims.isIdle)
    }
}
