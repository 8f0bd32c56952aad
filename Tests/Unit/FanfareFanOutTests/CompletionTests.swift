import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, a shard tells which topics' followers have the newest version, and a restart sends nothing to those who have it.
@Suite struct CompletionTests {
    static func time(_ second: Int64) -> FeedTime { FeedTime(milliseconds: second * 1000) }

    static func publication(
        _ version: UInt32, of topic: TopicID = ScriptedService.match, birth: UInt64 = 1, state: Int64? = nil,
        event: Publication.Event = .update, resumes: Bool = false
    ) -> Publication {
        Publication.test(
            UInt64(version), of: topic, numbered: TopicNumber(place: 0, birth: birth), event: event,
            state: ["n": .int(state ?? Int64(version))], freesID: event == .end && !resumes)
    }

    static func service(
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
    static func completions(_ service: ScriptedService, after seconds: Int64 = 1) -> [TopicCompletion] {
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
    @Test(arguments: [0, 1, 2]) func aJoinerIsPartOfACompletionAsSoonAsLogTimeHasPassed(members: Int) {
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

    @Test(arguments: [false, true]) func aJoinerThatLacksTheVersionIsPartOfNoCompletion(besideOthers: Bool) {
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
    @Test func anActivityThatLacksTheVersionForLongIsAnException() {
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
    func anActivityThatLacksTheVersionBesideOtherShardsIsAnException(outcome: DeliveryOutcome, members: Int) {
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
        var places = Array(repeating: CompletionPlace(), count: CompletionBook.notesMax)
        #expect(!book.takesLoneFailures)
        book.keep(besideOthers: true)
        for index in places.indices {
            #expect(book.takesLoneFailures)
            book.noteUnfinished(AudienceIndex(index), &places[index])
        }
        #expect(!book.takesLoneFailures)
    }

    /// The place of an audience whose topic is over may be another's before a pass comes.
    @Test func anActivityThatLacksAVersionIsAnExceptionInAReusedPlaceOfTheTable() {
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
    @Test func anActivityThatWasRefusedAVersionForGoodIsAnException() {
        let service = Self.service(members: 3)
        service.answer = { member, _ in member == 1 ? .refused : .accepted }
        service.apply(.publish(Self.publication(1)))
        let found = Self.completions(service, after: 25)
        #expect(!found.isEmpty && found.allSatisfy { $0.exceptions.count == 1 })
    }

    @Test func anEndIsNotCompleted() {
        let service = Self.service(members: 0)
        service.follow(1)
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
    @Test func aGatheredCompletionIsNotToldAfterARepublication() {
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
}
