import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// With a store, a completion leaves out those whom the store has among a topic's followers, and who cannot follow it yet.
@Suite struct MoverCompletionTests {
    /// A restart would take those whose end has not arrived for followers of the next tenure, who have its version.
    @Test(arguments: [1, 2]) func whileAnEndIsOwedTheNextTenureIsNotComplete(birth: UInt64) {
        for besideOthers in [false, true] {
            let service = CompletionTests.service(members: 3, besideOthers: besideOthers)
            service.apply(.publish(CompletionTests.publication(1)))
            #expect(CompletionTests.completions(service).count == 1)
            service.answer = { member, _ in member == 1 ? .throttled : .accepted }
            service.apply(.publish(CompletionTests.publication(2, event: .end)))
            service.run()
            if birth > 1 { service.apply(.forget(ScriptedService.match)) }
            service.apply(.publish(CompletionTests.publication(3, birth: birth)))
            service.follow(7)
            #expect(CompletionTests.completions(service, after: 12).isEmpty)
            service.answer = { _, _ in .accepted }
            _ = CompletionTests.completions(service, after: 20)
            service.apply(.publish(CompletionTests.publication(4, birth: birth)))
            #expect(CompletionTests.completions(service).map(\.publication.version) == [4], "its end has arrived")
        }
    }

    /// The store has it that the card follows the other topic, and a restart would take it for one of those who have its version.
    @Test(arguments: [DeliveryOutcome.notProcessed, .uncertain, .refused, .accepted], [false, true])
    func anActivityMovedDuringItsEndIsAnException(outcome: DeliveryOutcome, followsAgain: Bool) {
        for besideOthers in [false, true] {
            let service = CompletionTests.service(members: 2, besideOthers: besideOthers)
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
            service.apply(.publish(CompletionTests.publication(10)))
            let mark = ActivityMark(mover, token: ScriptedService.token(5))
            #expect(CompletionTests.completions(service).map(\.exceptions) == [[mark]])

            service.complete(end, outcome)
            let found = CompletionTests.completions(service, after: 30)
            service.apply(.publish(CompletionTests.publication(11)))
            let later = CompletionTests.completions(service, after: 30)
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
    @Test(arguments: [false, true]) func anActivityThatLeftDuringItsEndIsNotMoved(isReplaced: Bool) {
        let service = CompletionTests.service(members: 2)
        let old = TopicID("old")
        service.follow(5, .topic(old))
        service.publish(old)
        service.run()
        service.publish(old, event: .end)
        let end = service.pull()
        service.apply(.move(ScriptedService.id(5), .topic(ScriptedService.match)))
        if isReplaced { service.follow(5, number: 1) } else { service.unfollow([5]) }
        service.complete(end, .notProcessed)
        service.apply(.publish(CompletionTests.publication(10)))
        #expect(CompletionTests.completions(service, after: 30).last?.exceptions.isEmpty == true)
        let last = service.tokens.lastIndex(of: ScriptedService.token(5)).map { service.accepted[$0].payload }
        #expect(last?.event == .end)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func anActivityRefusedByATopicIsAnExceptionUntilTheActivityFollows() {
        let service = CompletionTests.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let other = TopicID("other")
        service.follow(7, .topic(other))
        service.apply(.move(ScriptedService.id(0), .topic(other)))
        let refused = service.feedback().filter {
            if case .fate(_, .refused(.tooManyTopics)) = $0 { true } else { false }
        }
        #expect(refused.count == 2)
        service.apply(.publish(CompletionTests.publication(1, of: other, birth: 2)))
        let marks = [7, 0].map { ActivityMark(ScriptedService.id($0), token: ScriptedService.token($0)) }
        #expect(CompletionTests.completions(service).map { Set($0.exceptions) } == [Set(marks)])
        service.follow(7, .topic(other))
        service.apply(.move(ScriptedService.id(0), .topic(other)))
        #expect(CompletionTests.completions(service).map(\.exceptions) == [[]])
    }

    @Test(arguments: [false, true]) func aFollowerOfATopicThatGoesOnAfterItsEndIsNoException(followsAgain: Bool) {
        let service = CompletionTests.service(members: 1)
        service.apply(.publish(CompletionTests.publication(1)))
        _ = CompletionTests.completions(service)
        service.apply(.publish(CompletionTests.publication(2, event: .end, resumes: true)))
        let end = service.pull()
        service.apply(.publish(CompletionTests.publication(3)))
        if followsAgain {
            service.follow(0)
        } else {
            service.apply(.move(ScriptedService.id(0), .topic(ScriptedService.match)))
        }
        service.complete(end, .notProcessed)
        let found = CompletionTests.completions(service, after: 30).last
        #expect(found?.publication.version == 3 && found?.exceptions.isEmpty == true)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A later call that is refused gives up the move that waits: the store has what the later one said.
    @Test(arguments: [false, true]) func aRefusalGivesUpTheMoveThatWaits(follows: Bool) {
        let service = CompletionTests.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (old, never) = (TopicID("old"), TopicID("never"))
        service.apply(.publish(CompletionTests.publication(1)))
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
        _ = CompletionTests.completions(service)
        service.apply(.publish(CompletionTests.publication(7, of: never, birth: 5)))
        let found = CompletionTests.completions(service).filter { $0.publication.topicID == never }
        #expect(
            found.map(\.exceptions) == [[ActivityMark(ScriptedService.id(5), token: ScriptedService.token(5))]])
        // It still waits for the end of its topic.
        service.answer = { _, _ in .accepted }
        _ = CompletionTests.completions(service, after: 30)
        #expect(service.accepted.last { $0.member == 5 }?.payload.event == .end)
    }

    /// The store has a card that was never let in, and what calls say of it.
    @Test func aCardThatWasNeverLetInIsAnExceptionOnceTheStoreHasTheTopicForTheCard() {
        let service = CompletionTests.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let stranger = ActivityID("stranger")
        service.apply(.follow(stranger, .topic(TopicID("other")), token: [9, 9, 9, 9]))
        service.apply(.publish(CompletionTests.publication(1)))
        #expect(CompletionTests.completions(service).last?.exceptions == [])
        service.apply(.move(stranger, .topic(ScriptedService.match)))
        service.apply(.move(ActivityID("gone"), .topic(ScriptedService.match)))
        service.apply(.publish(CompletionTests.publication(2)))
        #expect(CompletionTests.completions(service).last?.exceptions == [ActivityMark(stranger, token: [9])])
        service.apply(.unfollow(stranger))
        service.apply(.publish(CompletionTests.publication(3)))
        #expect(CompletionTests.completions(service).last?.exceptions == [])
    }

    private static func start(_ name: String) -> StartRequest {
        StartRequest(
            activity: name, token: [7, 0, 0, 7], attributesType: "Match", alert: AlertText(title: "Kick-off", body: ""))
    }

    /// A start of a card that exists moves its row, also if the shard refuses it.
    @Test func aCardThatAStartMovesInTheStoreAloneIsAnException() {
        let service = CompletionTests.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (card, stranger, other) = (ActivityID("card"), ActivityID("stranger"), TopicID("other"))
        service.apply(.publish(CompletionTests.publication(1)))
        service.apply(.follow(card, .topic(ScriptedService.match), token: [8, 0, 0, 8]))
        service.follow(9, .topic(TopicID("unheard")))
        service.apply(.start(Self.start("card"), .topic(other)))
        service.apply(.follow(stranger, .topic(TopicID("another")), token: [9, 0, 0, 9]))
        service.apply(.start(Self.start("stranger"), .topic(other)))
        service.apply(.start(Self.start("new"), .topic(other)))
        service.apply(.publish(CompletionTests.publication(5, of: other, birth: 4)))
        let marks = [card, stranger].map { ActivityMark($0, token: []) }
        let found = CompletionTests.completions(service).filter { $0.publication.topicID == other }
        #expect(found.map { Set($0.exceptions) } == [Set(marks)])
        // A start that is let in brings the card there, as the store has it.
        service.apply(.start(Self.start("stranger"), .topic(other)))
        service.apply(.start(Self.start("card"), .topic(other)))
        service.run()
        service.apply(.replaceToken(stranger, token: [9, 0, 0, 9]))
        service.run()
        service.apply(.publish(CompletionTests.publication(6, of: other, birth: 4)))
        #expect(CompletionTests.completions(service).last { $0.publication.topicID == other }?.exceptions == [])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The card that is over has another token than the one that was not let in under its name, whose row stays.
    @Test(arguments: [DeliveryOutcome.accepted, .deadToken], [false, true])
    func aCardThatWasNotLetInIsAnExceptionBeyondTheEndOfTheEarlierCard(outcome: DeliveryOutcome, isOther: Bool) {
        let service = CompletionTests.service(members: 1, besideOthers: true, unpublishedTopicsMax: 1)
        let (card, old, other) = (ActivityID("card"), TopicID("old"), TopicID("other"))
        service.apply(.publish(CompletionTests.publication(1)))
        service.apply(.follow(card, .topic(old), token: [8, 0, 0, 8]))
        service.publish(old)
        service.run()
        service.publish(old, event: .end)
        let end = service.pull()
        service.follow(9, .topic(TopicID("unheard")))
        service.apply(.follow(card, .topic(other), token: isOther ? [7, 0, 0, 7] : [8, 0, 0, 8]))
        service.complete(end, outcome)
        service.apply(.publish(CompletionTests.publication(5, of: other, birth: 4)))
        let found = CompletionTests.completions(service).last { $0.publication.topicID == other }
        #expect(found?.exceptions == (isOther ? [ActivityMark(card, token: [])] : []))
    }

    /// The store has the card shown under its old token, until it gets one here.
    @Test func aStartedCardThatWasNeverLetInIsAnExceptionUntilItsTokenIsKnown() {
        let service = CompletionTests.service(members: 1, unpublishedTopicsMax: 1)
        let stranger = ActivityID("stranger")
        service.apply(.follow(stranger, .topic(TopicID("other")), token: [9, 0, 0, 9]))
        service.apply(.start(Self.start("stranger"), .topic(ScriptedService.match)))
        service.apply(.publish(CompletionTests.publication(1)))
        #expect(CompletionTests.completions(service, after: 12).last?.exceptions == [ActivityMark(stranger, token: [])])
        service.apply(.replaceToken(stranger, token: [9, 0, 0, 8]))
        service.apply(.publish(CompletionTests.publication(2)))
        #expect(CompletionTests.completions(service, after: 12).last?.exceptions == [])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A kick-off for which very many starts wait is complete for those who have it.
    @Test func startsThatWaitAreNoExceptions() {
        let service = CompletionTests.service(members: 1, besideOthers: true)
        for number in 0..<300 { service.apply(.start(Self.start("card \(number)"), .topic(ScriptedService.match))) }
        service.apply(.publish(CompletionTests.publication(1)))
        service.run()
        #expect(CompletionTests.completions(service, after: 20).last?.exceptions == [])
    }
}
