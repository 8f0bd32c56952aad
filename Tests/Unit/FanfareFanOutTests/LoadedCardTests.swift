import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Cards of a store that are loaded while their shard serves those that are there: nobody is late for what has come meanwhile.
@Suite struct LoadedCardTests {
    typealias Followed = ClaimTests.Followed

    private static func service() -> ScriptedService {
        let shard = Shard()
        shard.keepClaims()
        shard.reportCompletions(besideOthers: false)
        return ScriptedService(shard: shard)
    }

    private static func publication(
        _ version: UInt32, event: Publication.Event = .update, of topic: TopicID = ScriptedService.match,
        birth: UInt64 = 0, alerting alert: Alert? = nil
    ) -> Publication {
        Publication.test(
            UInt64(version) + UInt64(topic.rawValue.utf8.first ?? 0) * 1000, of: topic,
            numbered: TopicNumber(place: 0, birth: birth), version: version, event: event,
            state: ["version": .int(Int64(version))], alert: alert, freesID: event == .end)
    }

    private static func load(
        _ service: ScriptedService, _ members: Range<Int>, _ followed: Followed = .topic,
        having earlier: EarlierDelivery = EarlierDelivery()
    ) {
        for member in members {
            service.apply(
                .follow(
                    ScriptedService.id(member), followed.key(member), token: ScriptedService.token(member),
                    earlier: earlier))
        }
    }

    private static func completions(_ service: ScriptedService) -> Int {
        service.feedback().reduce(0) {
            if case .topicsCompleted(let all) = $1 { $0 + all.count } else { $0 }
        }
    }

    /// A goal falls while a third of the cards are loaded: all of them are told once, and each with a claim.
    @Test(arguments: Followed.allCases) func aGoalReachesAlsoThoseWhoAreLoadedBehindIt(followed: Followed) {
        let service = Self.service()
        service.apply(.publishResumed(ResumedPublication(Self.publication(9), [], isComplete: true)))
        service.apply(.load)
        Self.load(service, 0..<3, followed, having: EarlierDelivery(settledThrough: .plausible.upperBound))
        _ = ClaimTests.runOut(service)
        service.publish(alert: "goal")
        _ = ClaimTests.runOut(service)
        #expect(service.told(of: "goal") == Set(0..<3))
        Self.load(service, 3..<6, followed, having: EarlierDelivery(hasNewest: true))
        let claims = ClaimTests.runOut(service).flatMap(\.claims)
        #expect(service.told(of: "goal") == Set(0..<6))
        #expect(Set(claims.flatMap(\.activities)) == Set((3..<6).map(ClaimTests.mark)))
        service.apply(.endLoading)
        service.follow(6, followed.key(6))
        _ = ClaimTests.runOut(service)
        #expect(service.accepted.count { $0.payload.alert != nil } == 6, "each once, and none who follows later")
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    /// The only follower that is loaded has everything, and its audience could rest; another one comes behind the goal.
    @Test func anAudienceOfOneKeepsItsAlertsForThoseWhoAreStillToCome() {
        let service = Self.service()
        service.apply(.publishResumed(ResumedPublication(Self.publication(9), [])))
        service.apply(.load)
        Self.load(service, 0..<1)
        _ = ClaimTests.runOut(service)
        service.publish(alert: "goal")
        _ = ClaimTests.runOut(service)
        Self.load(service, 1..<2)
        _ = ClaimTests.runOut(service)
        #expect(service.told(of: "goal") == [0, 1])
    }

    @Test func nothingIsTheNewestForThoseWhoHadAnOlderOne() {
        for (isComplete, newer, expected) in [(true, false, 0), (false, false, 2), (true, true, 2)] {
            let service = Self.service()
            service.apply(.publishResumed(ResumedPublication(Self.publication(9), [], isComplete: isComplete)))
            service.apply(.load)
            if newer { service.apply(.publish(Self.publication(10))) }
            Self.load(service, 0..<2, having: EarlierDelivery(hasNewest: true))
            service.apply(.endLoading)
            service.run()
            #expect(service.accepted.count == expected, "\(isComplete), \(newer)")
            #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
        }
    }

    /// A match ends before the card is loaded, and may be forgotten as soon as all are.
    @Test(arguments: [Followed.topic, .lineup]) func theEndReachesWhoeverIsLoadedBehindIt(followed: Followed) {
        let service = Self.service()
        for topic in followed.key(0).topics {
            service.apply(.publishResumed(ResumedPublication(Self.publication(9, event: .end, of: topic), [])))
        }
        service.apply(.load)
        Self.load(service, 0..<2, followed)
        service.run()
        #expect(service.accepted.map(\.payload.event) == [.end, .end])
        service.apply(.endLoading)
        service.apply(.forget(ScriptedService.match))
        #expect(service.shard.statistics.activities == 0)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A card that was being ended hears of no goal.
    @Test func aLoadedCardThatIsLeavingGetsNoAlert() {
        let service = Self.service()
        service.apply(.publishResumed(ResumedPublication(Self.publication(9), [])))
        service.apply(.load)
        service.publish(alert: "goal")
        var earlier = EarlierDelivery()
        earlier.isLeaving = true
        Self.load(service, 0..<1, having: earlier)
        service.apply(.unfollow(ScriptedService.id(0)))
        _ = ClaimTests.runOut(service)
        #expect(service.accepted.map(\.payload.event) == [.end])
        #expect(service.told(of: "goal").isEmpty)
    }

    /// Cards that are still to be loaded may lack what all others have.
    @Test func nothingIsCompleteBeforeAllAreLoaded() {
        let service = Self.service()
        service.apply(.publishResumed(ResumedPublication(Self.publication(9, birth: 1), [])))
        service.apply(.load)
        Self.load(service, 0..<2)
        service.run()
        service.pass(seconds: 20)
        service.run()
        #expect(service.accepted.count == 2 && Self.completions(service) == 0)
        service.apply(.followed(before: FeedTime(seconds: 1_790_000_000), sent: FeedTime(seconds: 1_790_000_000)))
        service.apply(.endLoading)
        service.pass(seconds: 1)
        service.run()
        service.pass(seconds: 1)
        service.run()
        #expect(Self.completions(service) == 1)
    }

    /// Shards without followers could not say so of what came before all cards were loaded: the core is to ask them, once these are served.
    @Test func aTopicThatIsCompleteBehindTheLoadingLetsTheCoreAskOthers() {
        let service = Self.service()
        service.answer = { _, _ in .throttled }
        service.apply(.publishResumed(ResumedPublication(Self.publication(9, birth: 1), [])))
        service.apply(.load)
        Self.load(service, 0..<2)
        service.run(turns: 1)
        service.apply(.followed(before: FeedTime(seconds: 1_790_000_000), sent: FeedTime(seconds: 1_790_000_000)))
        service.apply(.endLoading)
        service.answer = { _, _ in .accepted }
        var asked: [Bool] = []
        for version: UInt32 in [9, 10] {
            if version > 9 { service.apply(.publish(Self.publication(version, birth: 1))) }
            for _ in 0..<60 {
                service.pass(seconds: 1)
                service.run()
                for case .topicsCompleted(let all) in service.feedback() { asked += all.map(\.isForJoiners) }
            }
        }
        #expect(asked == [true, false])
    }

    // MARK: Lineups

    private static func resumed(
        _ topic: TopicID, _ version: UInt32 = 9, alerting title: String, at second: Int64
    ) -> ResumedPublication {
        let alert = Alert(
            cause: title, class: .essential, text: AlertText(title: title, body: ""), freshFor: .seconds(300),
            highlight: nil, grantedAt: FeedTime(seconds: second))
        return ResumedPublication(publication(version, of: topic), [UnfinishedAlert(alert, age: .seconds(10))])
    }

    /// One fact is in two topics of a lineup: it was told by the first, or is told by it, or by the one that comes later.
    @Test(arguments: [ClaimTests.Followed.lineup, .lineups]) func aFactOfTwoTopicsIsToldOnce(
        followed: ClaimTests.Followed
    ) {
        let cases: [(settledThrough: Int?, isLater: Bool, areAllLoaded: Bool, expected: Int)] = [
            (10, false, false, 0), (nil, false, false, 1), (nil, true, false, 1), (10, true, false, 0),
            // A feed hands in what it has gathered once all cards are loaded.
            (nil, true, true, 1), (10, true, true, 0),
        ]
        for (settledThrough, isLater, areAllLoaded, expected) in cases {
            let service = Self.service()
            let other = followed.key(0).topics[1]
            service.apply(.publishResumed(Self.resumed(ScriptedService.match, alerting: "goal", at: 10)))
            let second = Self.resumed(other, alerting: "goal", at: 20)
            if !isLater { service.apply(.publishResumed(second)) }
            service.apply(.load)
            Self.load(
                service, 0..<1, followed,
                having: EarlierDelivery(settledThrough: settledThrough.map { FeedTime(seconds: Int64($0)) }))
            _ = ClaimTests.runOut(service)
            if areAllLoaded { service.apply(.endLoading) }
            if isLater {
                service.pass(seconds: 1)
                let alert = Alert(
                    cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""), freshFor: .seconds(300),
                    highlight: nil, grantedAt: FeedTime(seconds: 30))
                service.apply(.publish(Self.publication(10, of: other, alerting: alert)))
            }
            for _ in 0..<20 {
                service.pass(seconds: 1)
                _ = ClaimTests.runWithStore(service)
            }
            let told = service.accepted.filter { $0.payload.alert != nil }
            #expect(told.count == expected, "\(String(describing: settledThrough)), \(isLater), \(areAllLoaded)")
            #expect(told.allSatisfy { $0.payload.alert?.body == .text("") }, "not twice in one push either")
            #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
        }
    }

    /// Claims of lineups that are loaded with an alert leave room, as those of sweeps do.
    @Test func lineupsWithAnAlertWaitForRoom() {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(blocks: 4...8, namedMax: 10))
        let service = ScriptedService(shard: shard)
        service.apply(.publishResumed(Self.resumed(ScriptedService.match, alerting: "goal", at: 10)))
        service.apply(.load)
        Self.load(service, 0..<100, .lineups)
        service.run()
        var requests = ClaimTests.requests(service)
        #expect(Set(requests.flatMap(\.claims).flatMap(\.activities)).count <= 10 && service.pushes == 0)
        for _ in 0..<200 where service.told(of: "goal").count < 100 {
            for request in requests { service.apply(.claimed(request.ticket)) }
            service.run()
            requests = ClaimTests.requests(service)
        }
        #expect(service.told(of: "goal").count == 100 && service.shard.violatedInvariant() == nil)
    }

    /// A topic begins again under its id while cards are loaded: its former tenure's goal is news to nobody any more. One that has not been forgotten
    /// keeps its birth.
    @Test(arguments: [false, true]) func theAlertOfAFormerTenureIsToldNobody(isForgotten: Bool) {
        let service = Self.service()
        service.apply(.publishResumed(Self.resumed(ScriptedService.match, alerting: "goal", at: 10)))
        service.apply(.load)
        if isForgotten {
            service.apply(.forget(ScriptedService.match))
            service.apply(.publish(Self.publication(1, birth: 2)))
        } else {
            service.apply(.publish(Self.publication(10, event: .end)))
            service.apply(.publish(Self.publication(11)))
        }
        Self.load(service, 0..<1)
        _ = ClaimTests.runOut(service)
        #expect(service.accepted.count == 1 && service.told(of: "goal").isEmpty)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A lineup that is made later has told nothing yet.
    @Test func aFactIsToldToALineupThatWasMadeBehindTheLoading() {
        let service = Self.service()
        service.apply(.publishResumed(Self.resumed(ScriptedService.match, alerting: "goal", at: 10)))
        let other = ClaimTests.Followed.lineup.key(0).topics[1]
        service.apply(.publishResumed(ResumedPublication(Self.publication(9, of: other), [])))
        service.apply(.load)
        service.apply(.endLoading)
        service.apply(.publish(Self.publication(10, of: TopicID("third"))))
        service.follow(0, ClaimTests.Followed.lineup.key(0))
        _ = ClaimTests.runOut(service)
        let alert = Alert(
            cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""), freshFor: .seconds(300),
            highlight: nil, grantedAt: FeedTime(seconds: 30))
        service.apply(.publish(Self.publication(10, of: other, alerting: alert)))
        for _ in 0..<20 {
            service.pass(seconds: 1)
            _ = ClaimTests.runWithStore(service)
        }
        #expect(service.accepted.filter { $0.payload.alert != nil }.count == 1)
        #expect(service.shard.violatedInvariant() == nil)
    }

    // MARK: Cards that are loaded twice

    /// Two rows of one card name two topics. Those of others, and their ends, are none the worse for it.
    @Test func aCardThatIsLoadedTwiceTakesNothingFromOthers() {
        let other = TopicID("other")
        for event in [Publication.Event.update, .end] {
            let service = Self.service()
            service.apply(.publishResumed(ResumedPublication(Self.publication(9), [])))
            if event == .update {
                service.apply(.publishResumed(Self.resumed(other, alerting: "goal", at: 10)))
            } else {
                service.apply(.publishResumed(ResumedPublication(Self.publication(9, event: .end, of: other), [])))
            }
            service.apply(.load)
            for (member, topic) in [(0, ScriptedService.match), (0, other), (1, other)] {
                service.apply(
                    .follow(
                        ScriptedService.id(member), .topic(topic), token: ScriptedService.token(member),
                        earlier: EarlierDelivery()))
            }
            _ = ClaimTests.runOut(service)
            if event == .update {
                #expect(service.told(of: "goal").contains(1))
            } else {
                #expect(service.accepted.filter { $0.payload.event == .end }.map(\.member).contains(1))
            }
            #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
        }
    }

    /// All topics of a lineup have ended, the last with an alert.
    @Test func aLineupThatIsOverEndsWithItsAlert() {
        let service = Self.service()
        let topics = ClaimTests.Followed.lineup.key(0).topics
        for topic in topics { service.apply(.publishResumed(ResumedPublication(Self.publication(9, of: topic), []))) }
        service.apply(.load)
        service.publish(topics[0], alert: "final", event: .end)
        service.publish(topics[1], event: .end)
        for _ in 0..<2 { Self.load(service, 0..<2, .lineup) }
        _ = ClaimTests.runOut(service)
        #expect(Set(service.accepted.filter { $0.payload.event == .end }.map(\.member)) == [0, 1])
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    // MARK: What is shown again

    /// A goal and its withdrawal have come: the state is again what the card has, and the alert is news.
    @Test func anAlertIsToldThoughTheStateIsWhatItWas() {
        let service = Self.service()
        let before = Self.publication(9)
        service.apply(.publishResumed(ResumedPublication(before, [], isComplete: true)))
        service.apply(.load)
        service.publish(alert: "goal", state: ["version": 10])
        service.publish(alert: "withdrawn", state: ["version": 9])
        Self.load(service, 0..<2, having: EarlierDelivery(hasNewest: true))
        _ = ClaimTests.runOut(service)
        #expect(service.told(of: "withdrawn") == [0, 1] && service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Phones may have dropped what they had.
    @Test func afterAClockStepNobodyKeepsWhatItHad() {
        let service = Self.service()
        service.apply(.publishResumed(ResumedPublication(Self.publication(9), [], isComplete: true)))
        service.apply(.load)
        service.moment.stampEpoch += 1
        service.run()
        Self.load(service, 0..<1, having: EarlierDelivery(hasNewest: true))
        service.run()
        #expect(service.accepted.count == 1)
    }
}
