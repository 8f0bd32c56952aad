import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, alerts leave for activities only once claims that name them are durable.
@Suite struct ClaimTests {
    /// What the members follow: the match alone, or a lineup with it, the same for all or one of their own.
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

    /// Whoever takes the place of a claimed activity is claimed for itself.
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

    /// Whoever is claimed may get an older alert than the newest, and is alerted of it no more as long as that one is fresh.
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

    /// What is claimed and not sent is lost to a crash. A million audiences of one are not claimed while the network takes nothing.
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
        #expect(Self.requests(service).count == 1, "requests do not pile up")
        service.apply(.claimed(1))
        // What left without a claim is claimed for everybody, so that a restart later on does not repeat it.
        let late = Self.requests(service)
        #expect(late.flatMap(\.claims).map(\.activities) == [[]] && late.first?.ticket == 2)
        service.apply(.claimed(2))
        service.publish(alert: "third")
        #expect(service.turn() == 0)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "third") == Set(0..<10))
    }

    /// An activity whose push failed has its claim, and gets a newer alert only with a newer one.
    @Test(arguments: Followed.allCases) func whoWasInTroubleIsClaimedBeforeTheNextAlert(followed: Followed) {
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

    // MARK: After a crash

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
        let claims = Self.runOut(service).flatMap(\.claims)
        #expect(service.told(of: "second") == [0, 1, 2, 3])
        #expect(service.told(of: "first").isEmpty, "the newest of a class is told")
        #expect(Set(service.accepted.map(\.member)) == Set(0..<6), "everybody gets the newest state")
        #expect(!claims.isEmpty && claims.allSatisfy { $0.through == FeedTime(milliseconds: 20_000) })
        #expect(Set(claims.flatMap(\.activities)).isSuperset(of: (0..<4).map(Self.mark)))
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
        // What follows is as ever.
        service.publish(alert: "third")
        _ = Self.runWithStore(service)
        #expect(service.told(of: "third") == Set(0..<6))
    }

    /// The newest version may be a silent one; the alert that has not left is none the less urgent.
    @Test(arguments: Followed.allCases) func alertsGoOnWithASilentVersion(followed: Followed) {
        let service = Self.restart(
            [Self.alert("goal", at: 10)], of: followed, priority: .conserving, settled: [nil, 99, nil])
        _ = Self.runOut(service)
        #expect(service.told(of: "goal") == [0, 2] && Set(service.accepted.map(\.member)) == [0, 1, 2])
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
    }

    @Test func anAlertThatHasBecomeStaleMeanwhileIsToldNobody() {
        let service = Self.restart([Self.alert("goal", at: 10, age: .seconds(299))], settled: [nil, nil])
        service.pass(seconds: 2)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty)
        #expect(service.accepted.count == 2)
        #expect(service.shard.statistics.alerts.stale == 2)
    }

    @Test(arguments: Followed.allCases) func anUnfinishedAlertMayBeWithdrawn(followed: Followed) {
        let service = Self.restart([Self.alert("goal", at: 10)], of: followed, settled: [nil, nil])
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        _ = Self.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty && service.accepted.count == 2)
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

    // MARK: Lineups

    /// Names without an answer, unless a test says otherwise.
    private static let namedMax = 4096

    /// More lineups than may be claimed at a time: each is claimed once, and told once.
    @Test func lineupsAreClaimedSomeAtATime() {
        let members = 3 * Self.namedMax / 2
        let service = Self.service(members: members, of: .lineups)
        service.publish(alert: "goal")
        let requests = Self.runWithStore(service)
        let named = requests.flatMap(\.claims).map(\.activities)
        #expect(service.told(of: "goal").count == members)
        #expect(named.reduce(0) { $0 + $1.count } == members)
        #expect(requests.allSatisfy { $0.claims.reduce(0) { $0 + $1.activities.count } <= Self.namedMax })
        #expect(requests.allSatisfy { $0.claims.count == 1 }, "those of a topic are one claim")
        #expect(service.shard.violatedInvariant() == nil && service.shard.membership.claims.isIdle)
    }

    /// Silent news that come meanwhile ride along.
    @Test func newsWaitWithTheAlertsForWhichThereIsNoRoom() {
        let service = Self.service(members: 30, of: .lineups, namedMax: 10)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.publish()
        #expect(service.turn() == 0)
        #expect(service.shard.violatedInvariant() == nil)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "goal").count == 30 && service.shard.isQuiet)
        #expect(service.accepted.count == 60, "the first state, and one push with both")
    }

    /// Lineups that wait for room delay none that have nothing to wait for.
    @Test func newsReachThoseWhomNoAlertConcernsWhileOthersWaitForRoom() {
        let service = Self.service(members: 30, of: .lineups, namedMax: 10)
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
        _ = Self.runWithStore(service)
        #expect(service.told(of: "goal").count == 45 && service.shard.isQuiet)
    }

    /// What is claimed and not sent is lost to a crash: those who may be told go before further names, whichever topics these are of.
    @Test(arguments: [1, 4]) func lineupsAreNotClaimedFarAhead(topics: Int) {
        let service = Self.service(members: topics == 1 ? 2000 : 0, of: .lineups, namedMax: 100)
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
            for request in Self.requests(service) {
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
        let service = Self.service(members: 100, of: .lineups, namedMax: 100)
        for alert in ["first", "second"] {
            service.publish(alert: alert)
            service.turn()
        }
        let requests = Self.requests(service)
        #expect(requests.count == 1)
        service.pass(seconds: 2)
        service.shard.wakeDue(at: service.moment)
        service.apply(.claimed(requests[0].ticket))
        _ = Self.runWithStore(service)
        #expect(service.told(of: "second").count == 100 && service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil && service.shard.membership.claims.isIdle)
    }

    /// Chance, which a pool asks while the service is in doubt, tells nobody before the store has answered: not even those whose alert is
    /// withdrawn meanwhile, for whom no claim is needed any more.
    @Test(arguments: [5, 100]) func chanceTellsNobodyOfALineupBeforeItsClaim(namedMax: Int) {
        let service = Self.service(members: 20, of: .lineups, namedMax: namedMax)
        service.publish(alert: "goal")
        #expect(service.turn() == 0)
        service.apply(.revokeAlert(topic: ScriptedService.match, cause: "goal"))
        for random in 0..<200 {
            let pushes = service.pullByLot(UInt64(random))
            #expect(pushes.isEmpty && !service.shard.mayHavePushes(at: service.moment))
        }
        #expect(service.shard.violatedInvariant() == nil)
        _ = Self.runWithStore(service)
        #expect(service.told(of: "goal").isEmpty && service.accepted.count == 40)
    }

    /// A disk that takes nothing for a while delays no goal after it.
    @Test func lineupsThatWaitedForADiskHoldNobodyUpLater() {
        let members = 3 * Self.namedMax
        let service = Self.service(members: members, of: .lineups)
        service.publish(alert: "first")
        _ = Self.requests(service)
        service.run(turns: 3)
        service.pass(seconds: 3)
        service.run()
        #expect(service.told(of: "first").count == members)
        for request in Self.requests(service) { service.apply(.claimed(request.ticket)) }
        _ = Self.runWithStore(service)
        service.publish(alert: "second")
        _ = Self.runWithStore(service)
        #expect(service.told(of: "second").count == members)
        #expect(service.shard.membership.claims.isIdle && service.shard.violatedInvariant() == nil)
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
            _ = Self.runWithStore(service)
        }
        #expect(service.told(of: "goal") == [1], "the other one has had it")
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    /// Two goals of a lineup's matches are told by one push, and both are claimed.
    @Test(arguments: [Followed.lineup, .lineups]) func bothAlertsOfAPushAreClaimed(followed: Followed) {
        let service = Self.service(members: 2, of: followed)
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
            claims += Self.runWithStore(service).flatMap(\.claims)
        }
        let first = claims.filter { $0.activities.contains(Self.mark(0)) }
        #expect(Set(first.map(\.topic)) == [ScriptedService.match, other])
        #expect(service.shard.violatedInvariant() == nil && service.shard.isQuiet)
    }
}
