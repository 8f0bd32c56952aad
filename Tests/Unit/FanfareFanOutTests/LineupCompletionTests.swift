import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, a shard tells which topics' lineups show the newest version, and a restart sends nothing to those lineups.
@Suite struct LineupCompletionTests {
    private static let topics = [ScriptedService.match, TopicID("other")]
    private static let key = AudienceKey.lineup(topics, favourite: nil)

    private static func own(_ member: Int) -> AudienceKey {
        .lineup(topics + [TopicID("own/\(member)")], favourite: nil)
    }

    /// - Parameter place: place of the topic in `topics`.
    private static func publication(
        _ serial: UInt64, of place: Int = 0, version: UInt32, priority: Priority = .immediate,
        event: Publication.Event = .update, weight: Int? = nil, dismissal: Duration = .seconds(60)
    ) -> Publication {
        Publication.test(
            serial, of: topics[place], numbered: TopicNumber(place: UInt32(place), birth: UInt64(place + 1)),
            version: version, event: event, state: ["n": .int(Int64(version))], priority: priority,
            prominence: Prominence(occasionWeight: weight), dismissal: event == .end ? .after(dismissal) : nil,
            freesID: event == .end)
    }

    private static func service(
        lineups: LineupRules = LineupRules(), besideOthers: Bool = false, limits: CompletionLimits = CompletionLimits()
    ) -> ScriptedService {
        let shard = Shard(lineups: lineups)
        shard.keepClaims()
        shard.reportRemovals()
        shard.reportCompletions(besideOthers: besideOthers, limits)
        let service = ScriptedService(shard: shard)
        service.apply(.followed(before: CompletionTests.time(10), sent: CompletionTests.time(9)))
        return service
    }

    /// Lets notes be gathered, and returns those about lineups.
    private static func completions(_ service: ScriptedService, after seconds: Int64 = 2) -> [TopicCompletion] {
        CompletionTests.completions(service, after: seconds).filter { $0.scope == .lineups }
    }

    private static func named(_ completions: [TopicCompletion]) -> Set<TopicID> {
        Set(completions.map(\.publication.topicID))
    }

    @Test func aTopicIsCompleteOnceAllLineupsShowItsVersion() {
        let service = Self.service()
        service.follow(1, Self.key)
        service.follow(2, Self.own(2))
        for place in 0..<2 { service.apply(.publish(Self.publication(UInt64(place + 1), of: place, version: 1))) }
        let first = Self.completions(service, after: 5)
        #expect(Self.named(first) == Set(Self.topics))
        let last = first.filter { $0.publication.topicID == Self.topics[0] }.last
        #expect(last?.exceptions.isEmpty == true && last?.before == CompletionTests.time(10))
        #expect(Self.completions(service, after: 30).isEmpty, "it is told once")
        service.apply(.publish(Self.publication(3, of: 1, version: 2)))
        #expect(Self.named(Self.completions(service, after: 5)) == [Self.topics[1]], "the other one is complete")
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func aLineupThatLacksTheVersionIsAnException() {
        let service = Self.service()
        for member in 1...3 { service.follow(member, Self.own(member)) }
        service.answer = { member, _ in member == 2 ? .refused : .accepted }
        service.apply(.publish(Self.publication(1, version: 1)))
        let found = Self.completions(service, after: 25)
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions == [ClaimTests.mark(2)] })
    }

    @Test func aTopicWithTooManyAbsenteesIsNotedOnceTheyAreOver() {
        let service = Self.service()
        service.follow(1, Self.key)
        let absent = (0...TopicCompletion.exceptionsMax).map { ClaimTests.mark(1000 + $0) }
        for mark in absent { service.shard.reporter.completions.noteAbsence(of: mark, from: Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        #expect(Self.completions(service, after: 5).isEmpty)
        for mark in absent { service.shard.reporter.completions.forgetAbsence(of: mark) }
        #expect(Self.named(Self.completions(service, after: 20)) == [Self.topics[0]])
    }

    /// The spotlight's way back has spent the push that would take the row away.
    @Test func aDismissedRowThatIsStillOnTheCardIsAnException() {
        var rules = LineupRules()
        rules.rotationPushes = TokenBucket.Size(burst: 1, refill: .seconds(36_000))
        let service = Self.service(lineups: rules)
        for member in 1...2 { service.follow(member, Self.key) }
        let first = Self.publication(1, version: 1)
        service.apply(.publish(first))
        _ = Self.completions(service, after: 5)
        service.apply(.publish(Self.publication(2, of: 1, version: 1, weight: 50)))
        _ = Self.completions(service, after: 60)
        service.apply(.publish(Self.publication(3, of: 1, version: 2, event: .end)))
        _ = Self.completions(service, after: 30)
        service.apply(.reportCompletion(first, of: .lineups))
        #expect(Self.completions(service, after: 5).map(\.exceptions.count) == [0], "the row may be there")
        _ = Self.completions(service, after: 60)
        service.apply(.reportCompletion(first, of: .lineups))
        #expect(Self.completions(service, after: 5).map(\.exceptions.count) == [2])
        service.apply(.publish(Self.publication(4, version: 2)))
        #expect(Self.completions(service, after: 5).last?.exceptions.isEmpty == true)
    }

    /// The spotlight's way back has spent the push that would take the row away, and nothing else happens.
    @Test func aRowThatIsToLeaveIsLookedForWithoutNews() {
        var rules = LineupRules()
        rules.rotationPushes = TokenBucket.Size(burst: 1, refill: .seconds(36_000))
        let service = Self.service(lineups: rules)
        for member in 1...2 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        _ = Self.completions(service, after: 5)
        service.apply(.publish(Self.publication(2, of: 1, version: 1, weight: 50)))
        _ = Self.completions(service, after: 60)
        service.apply(.publish(Self.publication(3, of: 1, version: 2, event: .end)))
        let shown = Self.completions(service, after: 50)
        #expect(shown.last?.exceptions.isEmpty == true && Self.named(shown).contains(Self.topics[1]))
        let found = Self.completions(service, after: 30)
        #expect(found.map(\.isVoid) == [true, false] && Self.named(found) == [Self.topics[1]])
        #expect(found.last?.exceptions.count == 2)
        service.apply(.publish(Self.publication(4, version: 2)))
        let last = Self.completions(service, after: 15)
        #expect(Self.named(last) == Set(Self.topics) && last.allSatisfy(\.exceptions.isEmpty))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Without the report a restart would leave the row on all these cards.
    @Test func aRowThatStaysOnTooManyCardsMakesTheCompletionVoid() {
        var rules = LineupRules()
        rules.rotationPushes = TokenBucket.Size(burst: 1, refill: .seconds(36_000))
        let service = Self.service(lineups: rules)
        for member in 1...300 { service.follow(member, Self.own(member)) }
        service.apply(.publish(Self.publication(1, version: 1)))
        _ = Self.completions(service, after: 5)
        service.apply(.publish(Self.publication(2, of: 1, version: 1, weight: 50)))
        _ = Self.completions(service, after: 60)
        service.apply(.publish(Self.publication(3, of: 1, version: 2, event: .end)))
        let shown = Self.completions(service, after: 50).filter { $0.publication.topicID == Self.topics[1] }
        #expect(shown.last?.isVoid == false && shown.last?.exceptions.isEmpty == true)
        let found = Self.completions(service, after: 30)
        #expect(found.map(\.isVoid) == [true] && Self.named(found) == [Self.topics[1]])
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func lineupsThatNeverShowTheVersionAreLookedForLessAndLessOften() {
        let service = Self.service()
        service.answer = { member, _ in member == 2 ? .refused : .accepted }
        for member in 1...3 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        service.run()
        let scan = service.shard.retries.lineupScan
        var (passes, due) = (0, scan.due)
        for _ in 0..<3600 {
            service.pass(seconds: 1)
            service.run()
            if scan.due != due { passes += 1 }
            due = scan.due
        }
        #expect((12...30).contains(passes), "\(passes) passes in an hour")
        _ = service.feedback()
        service.apply(.publish(Self.publication(2, version: 2)))
        #expect(Self.completions(service, after: 5).map(\.publication.version) == [2], "the next version is news")
    }

    /// The member has the version before, and its push waits for a retry.
    @Test func aMemberThatIsOwedTheVersionIsAnException() {
        let service = Self.service()
        for member in 1...3 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        _ = Self.completions(service, after: 5)
        service.answer = { member, _ in member == 2 ? .throttled : .accepted }
        service.apply(.publish(Self.publication(2, version: 2)))
        let found = Self.completions(service, after: 25)
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions == [ClaimTests.mark(2)] })
    }

    /// The members have the version before, and the change waits for their lineup's interval.
    @Test func aTopicIsNotCompleteWhileALineupWaitsForItsInterval() {
        var rules = LineupRules()
        rules.minimumInterval = .seconds(60)
        let service = Self.service(lineups: rules)
        for member in 1...2 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        _ = Self.completions(service, after: 5)
        service.apply(.publish(Self.publication(2, version: 2, priority: .conserving)))
        #expect(Self.completions(service, after: 30).allSatisfy { $0.exceptions.count == 2 })
        #expect(Self.completions(service, after: 50).last?.exceptions.isEmpty == true)
    }

    /// Makes a search be due, and then a push to each of a thousand members that does not wait.
    private static func serviceWithUrgentPushes() -> ScriptedService {
        let service = Self.service()
        for member in 0..<1000 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        service.run()
        service.pass(seconds: 5)
        service.apply(.publish(Self.publication(2, of: 1, version: 1)))
        return service
    }

    /// No turn handles all of them.
    @Test func twentyThousandTopicsAreNotedInSeveralTurns() {
        let service = Self.service()
        let topics = (0..<20_000).map { TopicID("topic/\($0)") }
        for member in 0..<10_000 {
            service.follow(member, .lineup([topics[2 * member], topics[2 * member + 1]], favourite: nil))
        }
        for (place, topic) in topics.enumerated() {
            let number = TopicNumber(place: UInt32(place), birth: UInt64(place + 1))
            service.apply(
                .publish(
                    Publication.test(
                        UInt64(place + 1), of: topic, numbered: number, version: 1, state: ["n": .int(1)])))
            if place % 1000 == 0 { _ = service.feedback() }
        }
        var named: Set<TopicID> = []
        var most = 0
        for _ in 0..<300 {
            service.run()
            service.pass(.milliseconds(500))
            for case .topicsCompleted(let completions) in service.feedback() {
                named.formUnion(completions.map(\.publication.topicID))
                most = max(most, completions.count)
            }
            #expect(service.shard.retries.lineupScan.violation() == nil)
        }
        #expect(named.count == topics.count && most <= CompletionBook.notesMax)
    }

    @Test func aSearchOfOneTopicAPassAndOneVisitATurnFindsTheSame() {
        let service = Self.service(limits: CompletionLimits(visitsMax: 1, topicsMax: 1))
        service.answer = { member, _ in member == 2 ? .refused : .accepted }
        for member in 1...3 { service.follow(member, Self.own(member)) }
        for place in 0..<2 { service.apply(.publish(Self.publication(UInt64(place + 1), of: place, version: 1))) }
        let found = Self.completions(service, after: 60)
        #expect(Self.named(found) == Set(Self.topics))
        for topic in Self.topics {
            let last = found.last { $0.publication.topicID == topic }
            #expect(last?.exceptions == [ClaimTests.mark(2)], "\(topic)")
        }
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func eachTurnListsAFewOfTheTopicsThatAreDismissedTogether() {
        let service = Self.service(limits: CompletionLimits(topicsMax: 1))
        service.follow(1, Self.own(1))
        for place in 0..<2 {
            service.apply(.publish(Self.publication(UInt64(place + 1), of: place, version: 1, event: .end)))
        }
        #expect(Self.named(Self.completions(service, after: 20)) == Set(Self.topics))
        service.pass(seconds: 60)
        let scan = service.shard.retries.lineupScan
        var listed: [Int] = []
        for _ in 0..<3 {
            scan.run(at: service.moment)
            let left = service.shard.reporter.completions.dismissals.due
            #expect(left.map { $0 <= service.moment.monotonic && scan.due == $0 } ?? true)
            listed.append(service.shard.reporter.completions.unnoted.count)
            if left == nil { break }
        }
        #expect(listed == [1, 2], "the next turn goes on")
        let voids = Self.completions(service, after: 5).filter(\.isVoid)
        #expect(Self.named(voids) == Set(Self.topics) && service.shard.violatedInvariant() == nil)
    }

    @Test func noSearchRunsBeforeUrgentPushesHaveLeft() {
        let service = Self.serviceWithUrgentPushes()
        let scan = service.shard.retries.lineupScan
        var pulled = service.pull()
        #expect(scan.due == service.moment.monotonic + LineupCompletionScan.patience)
        var pushes = 0
        while !pulled.isEmpty {
            #expect(scan.cursor == 0)
            pushes += pulled.count
            service.complete(pulled, .accepted)
            pulled = service.pull()
        }
        #expect(pushes == 1000)
        #expect(Self.named(Self.completions(service, after: 5)) == Set(Self.topics))
    }

    /// The search ends as soon as too many members lack the version.
    @Test func aSearchDoesNotWaitForUrgentPushesForEver() {
        let service = Self.serviceWithUrgentPushes()
        let scan = service.shard.retries.lineupScan
        for (seconds, visits) in [(0, 0), (59, 0), (1, TopicCompletion.exceptionsMax + 1)] as [(Int64, Int)] {
            service.pass(seconds: seconds)
            let mayHavePushes = service.shard.mayHavePushes(at: service.moment)
            #expect(mayHavePushes && scan.cursor == visits)
        }
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A restart shows the favourite, and no cycle moves the spotlight while the favourite is live.
    @Test func aSpotlightAwayFromALiveFavouriteIsAnExceptionAlsoWithCycles() {
        var rules = LineupRules()
        rules.round = .seconds(30)
        let service = Self.service(lineups: rules)
        for member in 1...2 { service.follow(member, .lineup(Self.topics, favourite: Self.topics[0])) }
        service.apply(.publish(Self.publication(1, version: 1)))
        _ = Self.completions(service, after: 5)
        service.apply(.publish(Self.publication(2, of: 1, version: 1, weight: 50)))
        let found = Self.completions(service, after: 12)
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions.count == 2 }, "the news has its dwell")
        #expect(Self.completions(service, after: 30).last?.exceptions.isEmpty == true)
    }

    @Test func aJoinerIsPartOfACompletionAsSoonAsLogTimeHasPassed() {
        let service = Self.service()
        service.follow(1, Self.key)
        service.apply(.publish(Self.publication(1, version: 1)))
        #expect(!Self.completions(service, after: 5).isEmpty)
        service.follow(2, Self.key)
        #expect(Self.completions(service, after: 15).isEmpty, "the note does not speak of it yet")
        service.apply(.followed(before: CompletionTests.time(15), sent: CompletionTests.time(15)))
        #expect(Self.completions(service, after: 15).isEmpty, "it may have joined at that time")
        service.apply(.followed(before: CompletionTests.time(20), sent: CompletionTests.time(19)))
        #expect(Self.completions(service, after: 15).map(\.before) == [CompletionTests.time(20)])
    }

    /// By the schedule, lineups with the same topics are one audience, and the store has the card as one that has joined.
    @Test func aMemberThatPutsItsTopicsInAnotherOrderIsAJoiner() {
        var rules = LineupRules()
        rules.order = .schedule
        let service = Self.service(lineups: rules)
        for member in 1...2 { service.follow(member, Self.key) }
        service.apply(.publish(Self.publication(1, version: 1)))
        #expect(!Self.completions(service, after: 5).isEmpty)
        let reordered = AudienceKey.lineup(Array(Self.topics.reversed()), favourite: nil)
        service.apply(.move(ScriptedService.id(1), reordered))
        service.apply(.followed(before: CompletionTests.time(20), sent: CompletionTests.time(19)))
        let found = Self.completions(service, after: 15)
        #expect(found.map(\.before) == [CompletionTests.time(20)] && found.allSatisfy(\.isForJoiners))
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func aShardWithoutLineupsOfTheTopicSpeaksWhenItIsAsked() {
        let service = Self.service(besideOthers: true)
        let publication = Self.publication(1, version: 1)
        service.apply(.publish(publication))
        #expect(Self.completions(service).isEmpty)
        service.apply(.reportCompletion(publication, of: .lineups))
        let found = Self.completions(service)
        #expect(found.map(\.before) == [CompletionTests.time(10)] && found.allSatisfy { !$0.isForJoiners })
    }

    /// Joiners of another shard wait for the time that this one speaks of, whatever its exceptions.
    @Test func aShardWithAnExceptionSpeaksOfTheNewestTimeWhenItIsAsked() {
        let service = Self.service(besideOthers: true)
        service.answer = { _, _ in .refused }
        service.follow(1, Self.key)
        let publication = Self.publication(1, version: 1)
        service.apply(.publish(publication))
        #expect(Self.completions(service, after: 25).count == 1)
        service.apply(.followed(before: CompletionTests.time(11), sent: CompletionTests.time(11)))
        service.apply(.reportCompletion(publication, of: .lineups))
        let found = Self.completions(service, after: 5)
        #expect(found.map(\.before) == [CompletionTests.time(11)] && found.allSatisfy { !$0.isForJoiners })
    }

    @Test func aShardThatEndsTellsWhatIsComplete() {
        let service = Self.service()
        service.follow(1, Self.key)
        service.apply(.publish(Self.publication(1, version: 1)))
        service.run()
        let told = service.shard.takeFeedback().flatMap {
            if case .topicsCompleted(let completions) = $0 { completions } else { [TopicCompletion]() }
        }
        #expect(told.contains { $0.scope == .lineups && $0.exceptions.isEmpty })
    }

    // MARK: After a restart

    private static func restart(
        _ key: (Int) -> AudienceKey, topicsShown: [Int], incomplete: Int? = nil, ended: Int? = nil,
        dismissal: Duration = .zero, loadedAfter seconds: Int64 = 0
    ) -> ScriptedService {
        let service = Self.service()
        for place in 0..<2 {
            let publication = Self.publication(
                UInt64(place + 1), of: place, version: 7, event: place == ended ? .end : .update,
                dismissal: dismissal)
            service.apply(
                .publishResumed(ResumedPublication(publication, [], isCompleteInLineups: place != incomplete)))
        }
        service.apply(.load)
        service.pass(seconds: seconds)
        for (member, topicsShown) in topicsShown.enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), key(member), token: ScriptedService.token(member),
                    earlier: EarlierDelivery(topicsShown: topicsShown)))
        }
        service.apply(.endLoading)
        service.run()
        return service
    }

    @Test func aRestartSendsNothingToLineupsThatShowTheNewestVersions() {
        let keys: [(Int) -> AudienceKey] = [{ _ in Self.key }, { Self.own($0) }]
        for key in keys {
            let service = Self.restart(key, topicsShown: [2, 0, 2, 1])
            #expect(Set(service.accepted.map(\.member)) == [1, 3])
            #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
            // The next change is a push to each.
            service.apply(.publish(Self.publication(5, version: 8)))
            service.run()
            #expect(service.accepted.count == 6 && service.shard.violatedInvariant() == nil)
        }
    }

    /// The lineup is made with the alert that its first member has missed, which has the spotlight. The second member had the alert before.
    @Test func aSpotlightThatAnothersMissedAlertHasMovedGoesToAllMembers() {
        let service = Self.service()
        let alert = Alert(
            cause: "goal", class: .essential, text: AlertText(title: "goal", body: ""), freshFor: .seconds(300),
            highlight: nil, grantedAt: CompletionTests.time(5))
        for place in 0..<2 {
            let publication = Self.publication(UInt64(place + 1), of: place, version: 7)
            let alerts = place == 1 ? [UnfinishedAlert(alert, age: .seconds(1))] : []
            service.apply(.publishResumed(ResumedPublication(publication, alerts, isCompleteInLineups: true)))
        }
        service.apply(.load)
        let earlier = [
            EarlierDelivery(topicsShown: 0), EarlierDelivery(settledThrough: CompletionTests.time(6), topicsShown: 2),
        ]
        for (member, earlier) in earlier.enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), Self.key, token: ScriptedService.token(member), earlier: earlier))
        }
        service.apply(.endLoading)
        _ = ClaimTests.runOut(service)
        #expect(Set(service.accepted.map(\.member)) == [0, 1] && service.told(of: "goal") == [0])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The end comes with what is left of its dismissal.
    @Test(arguments: [0, 20]) func aLineupHasTheRowOfAnEndedTopicForWhatIsLeftOfItsTimeAfterARestart(seconds: Int) {
        let service = Self.restart({ _ in Self.key }, topicsShown: [2], ended: 1, dismissal: .seconds(seconds))
        func hasRow() -> Bool? {
            service.accepted.last.map { String(decoding: $0.payload.state, as: UTF8.self).contains(#""id":"other""#) }
        }
        #expect(service.pushes == 0)
        service.apply(.publish(Self.publication(5, version: 8)))
        service.run()
        #expect(service.pushes == 1 && hasRow() == (seconds > 0))
        _ = Self.completions(service, after: 30)
        #expect(service.pushes == (seconds > 0 ? 2 : 1) && hasRow() == false)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The card has the row, and its lineup is made without the row.
    @Test func aCardThatIsLoadedAfterARowHasLeftItsLineupGetsAPushWithoutTheRow() {
        let keys: [(Int) -> AudienceKey] = [{ _ in Self.key }, { Self.own($0) }]
        for key in keys {
            let service = Self.restart(key, topicsShown: [2], ended: 1, dismissal: .seconds(2), loadedAfter: 3)
            let states = service.accepted.map { String(decoding: $0.payload.state, as: UTF8.self) }
            #expect(states.map { $0.contains(#""id":"other""#) } == [false])
            #expect(service.shard.violatedInvariant() == nil)
        }
    }

    @Test func aCardThatIsLoadedBeforeARowLeavesItsLineupGetsNothing() {
        let service = Self.restart(
            { _ in Self.key }, topicsShown: [2], ended: 1, dismissal: .seconds(20), loadedAfter: 3)
        #expect(service.pushes == 0)
    }

    /// The topics of the lineup have ended, and little is left for the one in the first row.
    @Test func anEndAfterARestartIsDismissedWithTheTopicThatGoesLast() {
        let service = Self.service()
        for (place, seconds) in [2, 1792].enumerated() {
            let publication = Self.publication(
                UInt64(place + 1), of: place, version: 7, event: .end, dismissal: .seconds(seconds))
            service.apply(.publishResumed(ResumedPublication(publication, [])))
        }
        service.apply(.load)
        service.apply(
            .follow(
                ScriptedService.id(0), Self.key, token: ScriptedService.token(0),
                earlier: EarlierDelivery(topicsShown: 0)))
        service.apply(.endLoading)
        let now = service.moment.wallSeconds
        service.run()
        #expect(service.accepted.map(\.payload.dismissalDate) == [now + 1792])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The topic in the spotlight had ended before the restart, and little is left of its dismissal when the other one ends.
    @Test func aLineupThatEndsAfterARestartIsDismissedWithTheTopicThatGoesLast() {
        let service = Self.service()
        let first = Self.publication(1, version: 7, event: .end, dismissal: .seconds(2))
        service.apply(.publishResumed(ResumedPublication(first, [])))
        service.apply(.load)
        service.apply(
            .follow(
                ScriptedService.id(0), Self.key, token: ScriptedService.token(0),
                earlier: EarlierDelivery(topicsShown: 0)))
        service.apply(.endLoading)
        service.run()
        service.pass(seconds: 1)
        service.apply(.publish(Self.publication(2, of: 1, version: 7, event: .end, dismissal: .seconds(1800))))
        let now = service.moment.wallSeconds
        service.run()
        #expect(service.accepted.last?.payload.dismissalDate == now + 1800)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func aTopicThatIsNotCompleteGoesToAllItsLineups() {
        let service = Self.restart(Self.own, topicsShown: [2, 2], incomplete: 1)
        #expect(service.accepted.count == 2)
    }

    @Test func aRestartNotesTheLineupsAnew() {
        let service = Self.restart(Self.own, topicsShown: [2, 2])
        #expect(service.pushes == 0)
        #expect(Self.named(Self.completions(service, after: 5)) == Set(Self.topics))
    }

    /// The lineups are made without the row of the topic.
    @Test func aRestartNotesLineupsWithoutTheRowOfATopicThatWasDismissedBefore() {
        let keys: [(Int) -> AudienceKey] = [{ _ in Self.key }, { Self.own($0) }]
        for key in keys {
            let service = Self.restart(key, topicsShown: [2, 2], ended: 1)
            #expect(service.pushes == 0)
            let found = Self.completions(service, after: 5)
            #expect(Self.named(found).contains(Self.topics[0]) && found.allSatisfy { $0.exceptions.isEmpty })
            #expect(service.shard.violatedInvariant() == nil)
        }
    }
}
