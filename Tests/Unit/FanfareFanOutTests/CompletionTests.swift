import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, a shard tells which topics' followers have the newest version, and a restart sends nothing to those who have it.
@Suite struct CompletionTests {
    private static func time(_ second: Int64) -> FeedTime { FeedTime(milliseconds: second * 1000) }

    private static func publication(
        _ version: UInt32, of topic: TopicID = ScriptedService.match, birth: UInt64 = 1, state: Int64? = nil,
        event: Publication.Event = .update, resumes: Bool = false
    ) -> Publication {
        Publication.test(
            UInt64(version), of: topic, numbered: TopicNumber(place: 0, birth: birth), event: event,
            state: ["n": .int(state ?? Int64(version))], freesID: event == .end && !resumes)
    }

    private static func service(
        members: Int, besideOthers: Bool = false, unpublishedTopicsMax: Int = 1000
    ) -> ScriptedService {
        let shard = Shard(unpublishedTopicsMax: unpublishedTopicsMax)
        shard.keepClaims()
        shard.reportRemovals()
        shard.reportCompletions(besideOthers: besideOthers)
        let service = ScriptedService(members: 0..<members, shard: shard)
        service.apply(.followed(before: time(10), sent: time(10) + .milliseconds(-1)))
        return service
    }

    /// Lets notes be gathered, and returns those that the core gets.
    private static func completions(_ service: ScriptedService, after seconds: Int64 = 1) -> [TopicCompletion] {
        service.run()
        for _ in 0..<seconds * 2 {
            service.pass(.milliseconds(500))
            service.run()
        }
        return service.feedback().flatMap {
            if case .topicsCompleted(let completions) = $0 { completions } else { [TopicCompletion]() }
        }
    }

    @Test func aTopicIsCompleteOnceAllFollowersHaveItsVersion() {
        let service = Self.service(members: 10)
        service.apply(.publish(Self.publication(1)))
        service.answer = { member, _ in member == 3 ? .throttled : .accepted }
        #expect(Self.completions(service).isEmpty, "one of them lacks it")
        service.answer = { _, _ in .accepted }
        let found = Self.completions(service, after: 9)
        #expect(found.map(\.publication.version) == [1])
        #expect(found.first?.before == Self.time(10) && found.first?.exceptions.isEmpty == true)
        #expect(Self.completions(service, after: 30).isEmpty, "it is told once")
    }

    /// The core knows which joiners a completion speaks of by the time before which all have been applied.
    @Test func aJoinerIsPartOfTheNextCompletion() {
        let service = Self.service(members: 2)
        service.apply(.publish(Self.publication(1)))
        #expect(Self.completions(service).count == 1)
        service.follow(7)
        service.apply(.followed(before: Self.time(20), sent: Self.time(20) + .milliseconds(-1)))
        #expect(Self.completions(service).map(\.before) == [Self.time(20)])
    }

    /// Log time stands between two entries. Once it has passed, the note speaks of those, too, who had the version by then.
    @Test(arguments: [0, 1, 2]) func whoeverJoinedIsPartOfACompletionAsSoonAsLogTimeHasPassed(members: Int) {
        for besideOthers in [false, true] {
            let service = Self.service(members: members, besideOthers: besideOthers)
            service.apply(.publish(Self.publication(1)))
            _ = Self.completions(service)
            service.follow(7)
            let first = Self.completions(service)
            #expect(first.map(\.before) == [Self.time(10)] && first.first?.isForJoiners == false)
            service.apply(.followed(before: Self.time(15), sent: Self.time(15)))
            #expect(Self.completions(service).isEmpty, "some who were sent may have joined later")
            service.apply(.followed(before: Self.time(20), sent: Self.time(20) + .milliseconds(-1)))
            let second = Self.completions(service)
            #expect(second.map(\.before) == [Self.time(20)] && second.first?.isForJoiners == true)
            service.apply(.followed(before: Self.time(30), sent: Self.time(30) + .milliseconds(-1)))
            #expect(Self.completions(service).isEmpty, "nobody has joined since")
            // Another token may be another card's, which has joined now.
            service.follow(7, number: 1)
            service.apply(.followed(before: Self.time(40), sent: Self.time(40) + .milliseconds(-1)))
            #expect(Self.completions(service).map(\.before) == [Self.time(40)])
            #expect(service.shard.violatedInvariant() == nil)
        }
    }

    /// While somebody joins all the time, never all have joined before a log time that is known.
    @Test func joinersArePartOfACompletionWhileOthersJoin() {
        let service = Self.service(members: 1)
        service.apply(.publish(Self.publication(1)))
        _ = Self.completions(service)
        for round in 1...5 {
            service.follow(round, .topic(round == 1 ? ScriptedService.match : TopicID("other")))
            let now = Int64(10 + 10 * round)
            // The rows of the round before are being written.
            service.apply(.followed(before: Self.time(now - 9), sent: Self.time(now)))
            let found = Self.completions(service).filter { $0.publication.topicID == ScriptedService.match }
            #expect(found.contains(where: \.isForJoiners) == (round == 2), "round \(round)")
        }
    }

    @Test(arguments: [false, true]) func whoeverJoinedAndLacksTheVersionIsPartOfNoCompletion(besideOthers: Bool) {
        let service = Self.service(members: 2, besideOthers: besideOthers)
        service.apply(.publish(Self.publication(1)))
        _ = Self.completions(service)
        service.answer = { _, _ in .throttled }
        service.follow(7)
        service.apply(.followed(before: Self.time(20), sent: Self.time(20) + .milliseconds(-1)))
        #expect(Self.completions(service, after: 5).isEmpty)
        service.answer = { _, _ in .accepted }
        let last = Self.completions(service, after: 9).last
        #expect(last?.before == Self.time(20) && last?.exceptions.isEmpty == true)
        #expect(last?.isForJoiners == true, "its shard spoke of it too late for the others to be asked")
        service.apply(.publish(Self.publication(2)))
        #expect(Self.completions(service).last?.isForJoiners == false)
    }

    /// A shard whose own followers have not changed is asked for the sake of another one's joiners.
    @Test(arguments: [0, 1, 3]) func aShardThatIsAskedSpeaksOfTheNewestTime(members: Int) {
        let service = Self.service(members: members, besideOthers: true)
        let publication = Self.publication(1)
        service.apply(.publish(publication))
        #expect(Self.completions(service).map(\.before) == [Self.time(10)])
        service.apply(.followed(before: Self.time(20), sent: Self.time(20) + .milliseconds(-1)))
        service.apply(.reportCompletion(publication))
        let found = Self.completions(service)
        #expect(found.map(\.before) == [Self.time(20)] && found.first?.isForJoiners == false)
        service.apply(.publish(Self.publication(2)))
        _ = Self.completions(service)
        service.apply(.reportCompletion(publication))
        service.apply(.reportCompletion(Self.publication(1, of: TopicID("unknown"))))
        #expect(Self.completions(service).isEmpty, "it is no longer the newest")
        guard members > 0 else { return }
        service.answer = { _, _ in .throttled }
        service.apply(.publish(Self.publication(3)))
        service.apply(.reportCompletion(Self.publication(3)))
        #expect(Self.completions(service, after: 2).isEmpty, "somebody lacks it")
    }

    @Test func manyCompletionsOfATopicAreGathered() {
        let service = Self.service(members: 2)
        for version in 1...5 {
            service.apply(.publish(Self.publication(UInt32(version))))
            service.run()
        }
        #expect(Self.completions(service).map(\.publication.version) == [5])
    }

    /// One token that fails for good costs the others nothing.
    @Test func whoeverLacksTheVersionForLongIsAnException() {
        let service = Self.service(members: 300)
        service.answer = { member, _ in member % 100 == 7 ? .throttled : .accepted }
        service.apply(.publish(Self.publication(1)))
        let found = Self.completions(service, after: 25)
        #expect(found.last?.publication.version == 1 && found.last?.before == Self.time(10))
        #expect(
            found.last.map { Set($0.exceptions) }
                == Set([7, 107, 207].map { ActivityMark(ScriptedService.id($0), token: ScriptedService.token($0)) }))
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The only follower in a shard whose token fails for good costs the followers in other shards nothing.
    @Test(arguments: [DeliveryOutcome.throttled, .refused], [1, 2])
    func whoeverLacksTheVersionBesideOtherShardsIsAnException(outcome: DeliveryOutcome, members: Int) {
        for besideOthers in [false, true] {
            let service = Self.service(members: members, besideOthers: besideOthers)
            service.answer = { _, _ in outcome }
            service.apply(.publish(Self.publication(1)))
            let found = Self.completions(service, after: 25)
            #expect(found.last.map(\.exceptions.count) == (besideOthers ? members : nil))
            // The next version counts as well.
            service.apply(.publish(Self.publication(2)))
            #expect(Self.completions(service, after: 60).last?.publication.version == (besideOthers ? 2 : nil))
            #expect(service.shard.violatedInvariant() == nil)
        }
    }

    /// An outage fills no pass with audiences of one.
    @Test func fewAudiencesOfOneAreNotedWhilePushesFail() {
        var book = CompletionBook()
        var places = Array(repeating: CompletionBook.Place(), count: CompletionBook.notesMax)
        #expect(!book.takesLoneFailures)
        book.keep(besideOthers: true)
        for index in places.indices {
            #expect(book.takesLoneFailures)
            book.noteUnfinished(AudienceIndex(index), &places[index])
        }
        #expect(!book.takesLoneFailures)
    }

    /// The place of an audience whose topic is over may be another's before a pass comes.
    @Test func whoeverLacksAVersionIsAnExceptionAlsoInThePlaceOfAnotherTopic() {
        let service = Self.service(members: 2, besideOthers: true)
        service.answer = { member, _ in member == 1 ? .throttled : .accepted }
        service.apply(.publish(Self.publication(1)))
        service.run()
        service.answer = { _, _ in .accepted }
        service.apply(.publish(Self.publication(2, event: .end)))
        _ = Self.completions(service, after: 4)
        let other = TopicID("other")
        service.answer = { member, _ in member == 8 ? .throttled : .accepted }
        for member in 7...8 { service.follow(member, .topic(other)) }
        service.apply(.followed(before: Self.time(20), sent: Self.time(20) + .milliseconds(-1)))
        service.apply(.publish(Self.publication(3, of: other, birth: 2)))
        let found = Self.completions(service, after: 30).filter { $0.publication.topicID == other }
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions.count == 1 }, "\(found.map(\.exceptions.count))")
    }

    @Test func aTopicThatTooManyLackIsNotComplete() {
        let service = Self.service(members: 600)
        service.answer = { member, _ in member % 2 == 0 ? .throttled : .accepted }
        service.apply(.publish(Self.publication(1)))
        #expect(Self.completions(service, after: 25).isEmpty)
    }

    /// It is refused again with each restart, and a restart may be what mends it.
    @Test func whoeverWasRefusedAVersionForGoodLacksIt() {
        let service = Self.service(members: 3)
        service.answer = { member, _ in member == 1 ? .refused : .accepted }
        service.apply(.publish(Self.publication(1)))
        let found = Self.completions(service, after: 25)
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions.count == 1 })
    }

    @Test func anEndAndALineupAreNotCompleted() {
        let service = Self.service(members: 0)
        service.follow(1)
        service.follow(2, .lineup([ScriptedService.match, TopicID("other")], favourite: nil))
        service.apply(.publish(Self.publication(1)))
        _ = Self.completions(service)
        service.apply(.publish(Self.publication(2, event: .end)))
        #expect(Self.completions(service, after: 25).isEmpty)
    }

    @Test func aShardWithoutFollowersTellsSoBesideOthers() {
        for besideOthers in [false, true] {
            let service = Self.service(members: 0, besideOthers: besideOthers)
            service.apply(.publish(Self.publication(1)))
            #expect(Self.completions(service).count == (besideOthers ? 1 : 0))
        }
    }

    /// A restart would take those whose end has not arrived for followers of the next turn, who have its version.
    @Test(arguments: [1, 2]) func whileAnEndIsOwedTheNextTurnIsNotComplete(birth: UInt64) {
        for besideOthers in [false, true] {
            let service = Self.service(members: 3, besideOthers: besideOthers)
            service.apply(.publish(Self.publication(1)))
            #expect(Self.completions(service).count == 1)
            service.answer = { member, _ in member == 1 ? .throttled : .accepted }
            service.apply(.publish(Self.publication(2, event: .end)))
            service.run()
            if birth > 1 { service.apply(.forget(ScriptedService.match)) }
            service.apply(.publish(Self.publication(3, birth: birth)))
            service.follow(7)
            #expect(Self.completions(service, after: 12).isEmpty)
            service.answer = { _, _ in .accepted }
            _ = Self.completions(service, after: 20)
            service.apply(.publish(Self.publication(4, birth: birth)))
            #expect(Self.completions(service).map(\.publication.version) == [4], "its end has arrived")
        }
    }

    /// The store has it that the card follows the other topic, and a restart would take it for one of those who have its version.
    @Test(arguments: [DeliveryOutcome.notProcessed, .unknown, .refused, .accepted], [false, true])
    func whoeverIsMovedDuringItsEndIsAnException(outcome: DeliveryOutcome, followsAgain: Bool) {
        for besideOthers in [false, true] {
            let service = Self.service(members: 2, besideOthers: besideOthers)
            let (old, mover) = (TopicID("old"), ScriptedService.id(5))
            service.follow(5, .topic(old))
            service.publish(old)
            service.run()
            service.publish(old, event: .end)
            let end = service.pull()
            #expect(end.count == 1)
            if followsAgain {
                service.follow(5)
            } else {
                service.apply(.move(mover, .topic(ScriptedService.match)))
            }
            service.apply(.publish(Self.publication(10)))
            let mark = ActivityMark(mover, token: ScriptedService.token(5))
            #expect(Self.completions(service).map(\.exceptions) == [[mark]])

            service.complete(end, outcome)
            let found = Self.completions(service, after: 30)
            service.apply(.publish(Self.publication(11)))
            let later = Self.completions(service, after: 30)
            #expect(service.shard.violatedInvariant() == nil)
            // The backend of a card that follows again was told that it is over. The system ends one whose end is refused.
            let stays = followsAgain && outcome == .refused
            #expect(later.last?.exceptions == (stays ? [mark] : []))
            guard !followsAgain, outcome != .accepted else { continue }
            #expect(found.last?.exceptions.isEmpty == true && found.last?.publication.version == 10)
            let shown = service.accepted.filter { $0.member == 5 }.suffix(2)
            #expect(shown.map { String(decoding: $0.payload.state, as: UTF8.self) } == ["{\"n\":10}", "{\"n\":11}"])
        }
    }

    /// A card that was unfollowed, or whose name another one has, goes nowhere when its end has failed.
    @Test(arguments: [false, true]) func whoeverHasLeftDuringItsEndIsNotMoved(isReplaced: Bool) {
        let service = Self.service(members: 2)
        let old = TopicID("old")
        service.follow(5, .topic(old))
        service.publish(old)
        service.run()
        service.publish(old, event: .end)
        let end = service.pull()
        service.apply(.move(ScriptedService.id(5), .topic(ScriptedService.match)))
        if isReplaced { service.follow(5, number: 1) } else { service.unfollow([5]) }
        service.complete(end, .notProcessed)
        service.apply(.publish(Self.publication(10)))
        #expect(Self.completions(service, after: 30).last?.exceptions.isEmpty == true)
        let last = service.tokens.lastIndex(of: ScriptedService.token(5)).map { service.accepted[$0].payload }
        #expect(last?.event == .end)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func whoeverMayNotFollowATopicIsAnExceptionUntilItDoes() {
        let service = Self.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let other = TopicID("other")
        service.follow(7, .topic(other))
        service.apply(.move(ScriptedService.id(0), .topic(other)))
        let refused = service.feedback().filter {
            if case .fate(_, .refused(.tooManyTopics)) = $0 { true } else { false }
        }
        #expect(refused.count == 2)
        service.apply(.publish(Self.publication(1, of: other, birth: 2)))
        let marks = [7, 0].map { ActivityMark(ScriptedService.id($0), token: ScriptedService.token($0)) }
        #expect(Self.completions(service).map { Set($0.exceptions) } == [Set(marks)])
        service.follow(7, .topic(other))
        service.apply(.move(ScriptedService.id(0), .topic(other)))
        #expect(Self.completions(service).map(\.exceptions) == [[]])
    }

    @Test(arguments: [false, true]) func whoeverFollowsATopicThatGoesOnAfterItsEndIsNoException(followsAgain: Bool) {
        let service = Self.service(members: 1)
        service.apply(.publish(Self.publication(1)))
        _ = Self.completions(service)
        service.apply(.publish(Self.publication(2, event: .end, resumes: true)))
        let end = service.pull()
        service.apply(.publish(Self.publication(3)))
        if followsAgain {
            service.follow(0)
        } else {
            service.apply(.move(ScriptedService.id(0), .topic(ScriptedService.match)))
        }
        service.complete(end, .notProcessed)
        let found = Self.completions(service, after: 30).last
        #expect(found?.publication.version == 3 && found?.exceptions.isEmpty == true)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A later call that is refused gives up the move that waits: the store has what the later one said.
    @Test(arguments: [false, true]) func aRefusalGivesUpTheMoveThatWaits(follows: Bool) {
        let service = Self.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (old, never) = (TopicID("old"), TopicID("never"))
        service.apply(.publish(Self.publication(1)))
        service.follow(5, .topic(old))
        service.publish(old)
        service.run()
        service.publish(old, event: .end)
        let end = service.pull()
        service.follow(9, .topic(TopicID("unheard")))
        service.apply(.move(ScriptedService.id(5), .topic(ScriptedService.match)))
        if follows {
            service.follow(5, .topic(never))
        } else {
            service.apply(.move(ScriptedService.id(5), .topic(never)))
        }
        service.answer = { member, _ in member == 5 ? .throttled : .accepted }
        service.complete(end, .notProcessed)
        _ = Self.completions(service)
        service.apply(.publish(Self.publication(7, of: never, birth: 5)))
        let found = Self.completions(service).filter { $0.publication.topicID == never }
        #expect(
            found.map(\.exceptions) == [[ActivityMark(ScriptedService.id(5), token: ScriptedService.token(5))]])
        // It still waits for the end of its topic.
        service.answer = { _, _ in .accepted }
        _ = Self.completions(service, after: 30)
        #expect(service.accepted.last { $0.member == 5 }?.payload.event == .end)
    }

    /// The store has a card that was never let in, and what calls say of it.
    @Test func whoeverWasNeverLetInIsAnExceptionFromWhatTheStoreHas() {
        let service = Self.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let stranger = ActivityID("stranger")
        service.apply(.follow(stranger, .topic(TopicID("other")), token: [9, 9, 9, 9]))
        service.apply(.publish(Self.publication(1)))
        #expect(Self.completions(service).last?.exceptions == [])
        service.apply(.move(stranger, .topic(ScriptedService.match)))
        service.apply(.move(ActivityID("gone"), .topic(ScriptedService.match)))
        service.apply(.publish(Self.publication(2)))
        #expect(Self.completions(service).last?.exceptions == [ActivityMark(stranger, token: [9])])
        service.apply(.unfollow(stranger))
        service.apply(.publish(Self.publication(3)))
        #expect(Self.completions(service).last?.exceptions == [])
    }

    private static func start(_ name: String) -> StartRequest {
        StartRequest(
            activity: name, token: [7, 0, 0, 7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
    }

    /// A start of a card that exists moves its row, also if the shard refuses it.
    @Test func whoeverAStartMovesInTheStoreAloneIsAnException() {
        let service = Self.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (card, stranger, other) = (ActivityID("card"), ActivityID("stranger"), TopicID("other"))
        service.apply(.publish(Self.publication(1)))
        service.apply(.follow(card, .topic(ScriptedService.match), token: [8, 0, 0, 8]))
        service.follow(9, .topic(TopicID("unheard")))
        service.apply(.start(Self.start("card"), .topic(other)))
        service.apply(.follow(stranger, .topic(TopicID("another")), token: [9, 0, 0, 9]))
        service.apply(.start(Self.start("stranger"), .topic(other)))
        service.apply(.start(Self.start("new"), .topic(other)))
        service.apply(.publish(Self.publication(5, of: other, birth: 4)))
        let marks = [card, stranger].map { ActivityMark($0, token: []) }
        let found = Self.completions(service).filter { $0.publication.topicID == other }
        #expect(found.map { Set($0.exceptions) } == [Set(marks)])
        // A start that is let in brings the card there, as the store has it.
        service.apply(.start(Self.start("stranger"), .topic(other)))
        service.apply(.start(Self.start("card"), .topic(other)))
        service.run()
        service.apply(.replaceToken(stranger, token: [9, 0, 0, 9]))
        service.run()
        service.apply(.publish(Self.publication(6, of: other, birth: 4)))
        #expect(Self.completions(service).last { $0.publication.topicID == other }?.exceptions == [])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The card that is over has another token than the one that was not let in under its name, whose row stays.
    @Test(arguments: [DeliveryOutcome.accepted, .deadToken], [false, true])
    func whoeverWasNotLetInIsAnExceptionBeyondTheEndOfTheCardBefore(outcome: DeliveryOutcome, isOther: Bool) {
        let service = Self.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (card, old, other) = (ActivityID("card"), TopicID("old"), TopicID("other"))
        service.apply(.publish(Self.publication(1)))
        service.apply(.follow(card, .topic(old), token: [8, 0, 0, 8]))
        service.publish(old)
        service.run()
        service.publish(old, event: .end)
        let end = service.pull()
        service.follow(9, .topic(TopicID("unheard")))
        service.apply(.follow(card, .topic(other), token: isOther ? [7, 0, 0, 7] : [8, 0, 0, 8]))
        service.complete(end, outcome)
        service.apply(.publish(Self.publication(5, of: other, birth: 4)))
        let found = Self.completions(service).last { $0.publication.topicID == other }
        #expect(found?.exceptions == (isOther ? [ActivityMark(card, token: [])] : []))
    }

    /// The store has the card shown under its old token, until it gets one here.
    @Test func whoeverIsStartedAndWasNeverLetInIsAnExceptionUntilItsTokenIsKnown() {
        let service = Self.service(members: 1, unpublishedTopicsMax: 1)
        let stranger = ActivityID("stranger")
        service.apply(.follow(stranger, .topic(TopicID("other")), token: [9, 0, 0, 9]))
        service.apply(.start(Self.start("stranger"), .topic(ScriptedService.match)))
        service.apply(.publish(Self.publication(1)))
        #expect(Self.completions(service, after: 12).last?.exceptions == [ActivityMark(stranger, token: [])])
        service.apply(.replaceToken(stranger, token: [9, 0, 0, 8]))
        service.apply(.publish(Self.publication(2)))
        #expect(Self.completions(service, after: 12).last?.exceptions == [])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A kick-off for which very many starts wait is complete for those who have it.
    @Test func startsThatWaitAreNoExceptions() {
        let service = Self.service(members: 1, besideOthers: true)
        for number in 0..<300 { service.apply(.start(Self.start("card \(number)"), .topic(ScriptedService.match))) }
        service.apply(.publish(Self.publication(1)))
        service.run()
        #expect(Self.completions(service, after: 20).last?.exceptions == [])
    }

    @Test func aVersionThatShowsTheSameIsComplete() {
        let service = Self.service(members: 2)
        service.apply(.publish(Self.publication(1, state: 5)))
        #expect(Self.completions(service).map(\.publication.version) == [1])
        service.apply(.publish(Self.publication(2, state: 5)))
        #expect(Self.completions(service).map(\.publication.version) == [2])
        #expect(service.accepted.count == 2)
    }

    @Test func aRepublishedStateIsToldOfBeforehand() {
        let service = Self.service(members: 2)
        service.apply(.publish(Self.publication(1)))
        service.run()
        service.apply(.republish)
        service.run()
        let feedback = service.feedback()
        #expect(feedback.contains { if case .showsAgain = $0 { true } else { false } })
        #expect(service.accepted.count == 4)
    }

    /// A note that was gathered before would be believed after a crash, and nobody would get what is sent once more.
    @Test func whatWasCompleteBeforeItIsSentOnceMoreIsNotToldAfterwards() {
        let service = Self.service(members: 2)
        service.apply(.publish(Self.publication(1)))
        service.run()
        service.answer = { _, _ in .throttled }
        service.apply(.republish)
        #expect(Self.completions(service, after: 15).isEmpty)
    }

    @Test func noCompletionIsToldWithoutAStore() {
        let service = ScriptedService(members: 0..<3)
        service.apply(.followed(before: Self.time(10), sent: Self.time(10) + .milliseconds(-1)))
        service.apply(.publish(Self.publication(1)))
        service.apply(.republish)
        _ = Self.completions(service)
        #expect(
            service.feedback().allSatisfy {
                switch $0 {
                case .topicsCompleted, .showsAgain: false
                default: true
                }
            })
    }

    // MARK: After a restart

    private static func restart(_ hasNewest: [Bool], isComplete: Bool) -> ScriptedService {
        let service = service(members: 0)
        service.apply(.publishResumed(ResumedPublication(publication(9), [], isComplete: isComplete)))
        service.apply(.load)
        for (member, hasNewest) in hasNewest.enumerated() {
            service.apply(
                .follow(
                    ScriptedService.id(member), .topic(ScriptedService.match), token: ScriptedService.token(member),
                    earlier: EarlierDelivery(hasNewest: hasNewest)))
        }
        service.apply(.endLoading)
        service.run()
        return service
    }

    @Test func aRestartSendsNothingToThoseWhoHaveTheVersion() {
        let service = Self.restart([true, false, true, true, false], isComplete: true)
        #expect(Set(service.accepted.map(\.member)) == [1, 4])
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
        // What follows is as ever.
        service.apply(.publish(Self.publication(10)))
        service.run()
        #expect(service.accepted.count == 7)
    }

    @Test func aRestartOfWhichAllHaveTheVersionSendsNothing() {
        for members in [1, 2, 50] {
            let service = Self.restart(Array(repeating: true, count: members), isComplete: true)
            #expect(service.pushes == 0 && service.shard.isQuiet && service.shard.violatedInvariant() == nil)
            service.apply(.publish(Self.publication(10)))
            service.run()
            #expect(service.accepted.count == members)
        }
    }

    @Test func anotherVersionAfterARestartGoesToAll() {
        let service = Self.restart([true, false, true], isComplete: false)
        #expect(service.accepted.count == 3)
    }

    @Test func anActivityCountsAsItWasLoadedLast() {
        let service = Self.service(members: 0)
        service.apply(.publishResumed(ResumedPublication(Self.publication(9), [], isComplete: true)))
        service.apply(.load)
        for hasNewest in [true, false] {
            service.apply(
                .follow(
                    ScriptedService.id(1), .topic(ScriptedService.match), token: ScriptedService.token(1),
                    earlier: EarlierDelivery(hasNewest: hasNewest)))
        }
        service.run()
        #expect(service.accepted.count == 1)
    }
}
