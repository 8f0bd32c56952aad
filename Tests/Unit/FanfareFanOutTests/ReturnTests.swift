import FanfareModel
import Testing

@testable import FanfareFanOut

/// A card is followed under the name of one that is being ended.
@Suite struct ReturnTests {
    let service = ScriptedService(members: 0..<1)

    init() {
        service.publish()
        service.run()
    }

    private func fates() -> [ActivityFate] {
        service.feedback().compactMap { if case .fate(_, let fate) = $0 { fate } else { nil } }
    }

    /// Events accepted since, by the number of the member's token.
    private func events(after count: Int) -> [UInt8: [Payload.Event]] {
        var events: [UInt8: [Payload.Event]] = [:]
        for (index, push) in service.accepted.enumerated() where index >= count {
            events[service.tokens[index][0], default: []].append(push.payload.event)
        }
        return events
    }

    @Test func anotherCardLivesAndTheOldOneIsEnded() {
        let before = service.accepted.count
        service.unfollow([0])
        service.follow(0, number: 1)
        service.run()
        service.publish()
        service.run()
        #expect(events(after: before) == [0: [.end], 1: [.update, .update]])
        #expect(service.shard.statistics.activities == 1)
        #expect(service.shard.violatedInvariant() == nil)
        // The name means the new card.
        service.unfollow([0])
        service.run()
        #expect(events(after: before)[1]?.last == .end)
        #expect(service.shard.statistics.activities == 0)
        #expect(fates().isEmpty)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed, .uncertain, .throttled])
    func anotherCardLivesThoughTheOldOnesEndIsOnItsWay(outcome: DeliveryOutcome) {
        let before = service.accepted.count
        service.unfollow([0])
        let end = service.pull()
        service.follow(0, number: 1)
        service.complete(end, outcome)
        service.pass(seconds: 10)
        service.run()
        #expect(events(after: before)[0] == (outcome == .accepted ? nil : [.end]))
        #expect(events(after: before)[1] == [.update])
        #expect(service.shard.statistics.activities == 1)
        #expect(service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed])
    func theNextMatchsCardLivesThoughTheEndOfTheLastIsOnItsWay(outcome: DeliveryOutcome) {
        let before = service.accepted.count
        service.publish(event: .end)
        let end = service.pull()
        let next = TopicID("next match")
        service.publish(next)
        service.follow(0, .topic(next), number: 1)
        #expect(service.shard.violatedInvariant() == nil)
        service.complete(end, outcome)
        service.run()
        service.publish(next)
        service.run()
        #expect(events(after: before)[1] == [.update, .update])
        if outcome == .notProcessed {
            #expect(events(after: before)[0] == [.end])
            let last = service.accepted.first { $0.payload.event == .end }
            #expect(last?.payload.dismissalDate ?? 0 > service.moment.wallSeconds, "as the match's end says")
        }
        #expect(service.shard.statistics.activities == 1)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func anUnfollowWhoseEndHasNotLeftIsTakenBack() {
        let before = service.accepted.count
        service.unfollow([0])
        service.follow(0)
        service.run()
        service.publish()
        service.run()
        #expect(events(after: before) == [0: [.update, .update]])
        #expect(service.shard.isQuiet)
        #expect(fates().isEmpty)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func followAfterTheEndHasLeftIsReportedAsEnded() {
        service.unfollow([0])
        let end = service.pull()
        service.follow(0)
        #expect(fates() == [.ended])
        service.complete(end, .accepted)
        #expect(service.shard.statistics.activities == 0)
    }

    /// An abandoned match goes on before its end is retried.
    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed, .uncertain, .throttled])
    func activityUnfollowedDuringItsEndIsGoneWhenTheTopicGoesOn(outcome: DeliveryOutcome) {
        let before = service.accepted.count
        service.publish(event: .end)
        let end = service.pull()
        service.unfollow([0])
        service.publish(alert: "goal")
        #expect(service.shard.violatedInvariant() == nil)
        service.complete(end, outcome)
        service.pass(seconds: 10)
        service.run()
        #expect(events(after: before)[0] == (outcome == .accepted ? nil : [.end]))
        #expect(service.told(of: "goal").isEmpty)
        #expect(service.shard.statistics.activities == 0)
        #expect(service.shard.isQuiet && service.shard.violatedInvariant() == nil)
    }

    @Test func comingAndGoingWhileNothingIsServedLeavesNothingBehind() {
        for _ in 0..<10_000 {
            service.unfollow([0])
            service.follow(0)
        }
        #expect(service.shard.lifecycle.departures.revisits.count <= 64)
        service.run()
        #expect(service.shard.isQuiet)
        #expect(service.shard.statistics.activities == 1)
    }
}

/// Pushes that the service refuses for good.
@Suite struct RefusedPushTests {
    private func completed(_ service: ScriptedService) -> [UInt64] {
        service.feedback().compactMap { if case .completed(let serial, _) = $0 { serial } else { nil } }
    }

    @Test func aPublicationThatSomebodyWasRefusedIsNotCompleteBeforeANewerOneHasCome() {
        let service = ScriptedService(members: 0..<3)
        service.publish()
        service.run()
        #expect(completed(service) == [1])
        service.answer = { member, _ in member == 1 ? .refused : .accepted }
        service.publish(alert: "goal")
        service.run()
        #expect(service.shard.isQuiet, "it is not sent again")
        #expect(completed(service).isEmpty)
        #expect(service.shard.statistics.pushes.refused == 1)
        #expect(service.shard.statistics.alerts.accepted == 2)
        #expect(service.shard.statistics.alerts.refused == 1)
        #expect(service.shard.statistics.refusedStates == 1 && service.shard.statistics.owed == 0)
        #expect(service.shard.violatedInvariant() == nil)
        service.answer = { _, _ in .accepted }
        service.publish()
        service.run()
        #expect(completed(service) == [2, 3])
        #expect(service.shard.statistics.refusedStates == 0)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// The card still shows the state before the refused one, so the refused state is new to it when it is published again.
    @Test func aRefusedStateIsNotTakenForShown() {
        let service = ScriptedService(members: 0..<2)
        service.publish(state: ["score": 1])
        service.run()
        service.answer = { _, _ in .refused }
        service.publish(state: ["score": 2])
        service.run()
        service.answer = { _, _ in .accepted }
        let before = service.accepted.count
        service.publish(alert: "goal", state: ["score": 2])
        service.run()
        #expect(service.accepted.count == before + 2)
    }

    /// The members after a refused one have the first state, to which the topic returns; they get no push for it.
    @Test func onlyRefusedMembersGetAStateThatReverts() {
        let service = ScriptedService(members: 0..<3)
        service.answer = { member, _ in member == 0 ? .refused : .accepted }
        service.publish(state: ["score": 1])
        service.run()
        #expect(service.accepted.count == 2)
        service.answer = { _, _ in .accepted }
        service.publish(state: ["score": 2])
        service.publish(state: ["score": 1])
        service.run()
        #expect(service.accepted.count == 3, "two of three show it")
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A newcomer whose first state was refused does not show it, although a later push to it failed, too.
    @Test func joinerThatWasRefusedGetsAStateThatReverts() {
        let service = ScriptedService(members: 0..<1)
        service.publish(state: ["score": 1])
        service.run()
        service.answer = { _, _ in .refused }
        service.follow(1)
        service.apply(.reportQuiet(1))
        service.run()
        #expect(service.feedback().contains { if case .quiet(1, false) = $0 { true } else { false } })
        service.answer = { _, _ in .throttled }
        service.publish(state: ["score": 2])
        service.run()
        service.answer = { _, _ in .accepted }
        service.publish(state: ["score": 1])
        service.pass(seconds: 3)
        service.run()
        #expect(service.accepted.map(\.member) == [0, 1], "the first one shows it")
        #expect(service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// A newcomer whose first state was refused lacks content again as soon as a newer version is pending.
    @Test func publicationIsIncompleteWhileARefusedJoinerLacksIt() {
        let service = ScriptedService(members: 0..<1)
        service.publish()
        service.run()
        service.answer = { member, _ in member == 0 ? .throttled : .refused }
        service.publish()
        service.follow(1)
        service.run()
        service.apply(.reportQuiet(1))
        service.answer = { member, _ in member == 0 ? .accepted : .throttled }
        service.publish()
        service.pass(seconds: 3)
        service.run()
        #expect(!service.feedback().contains { if case .quiet = $0 { true } else { false } })
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 10)
        service.run()
        #expect(service.feedback().contains { if case .quiet(1, true) = $0 { true } else { false } })
    }

    /// An activity counts as refused from the refusal on until a newer version is published, or until it moves to another audience.
    @Test func memberRefusedTheNewestStateIsCounted() {
        let service = ScriptedService(members: 0..<5)
        var refused: Int { service.shard.statistics.refusedStates }
        service.publish()
        service.run()
        service.answer = { _, _ in .refused }
        service.publish()
        let flying = service.pull()
        service.publish()
        service.complete(flying, .refused)
        #expect(refused == 0, "a newer one is owed")
        service.run()
        #expect(refused == 5 && service.shard.violatedInvariant() == nil)
        service.follow(5)
        service.run()
        #expect(refused == 6, "a joiner's first state")
        service.follow(0, .topic(TopicID("another")))
        service.unfollow([1])
        service.run()
        #expect(refused == 4 && service.shard.violatedInvariant() == nil)
        service.answer = { member, _ in member == 2 ? .refused : .accepted }
        service.publish()
        #expect(refused == 0)
        service.run()
        #expect(refused == 1)
        service.follow(2, number: 1)
        service.run()
        #expect(refused == 1, "it was the state that was refused, not the token")
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func aRefusedEndIsTold() {
        let service = ScriptedService(members: 0..<3)
        service.publish()
        service.run()
        _ = service.feedback()
        service.answer = { member, _ in member == 1 ? .refused : .accepted }
        service.publish(event: .end)
        service.run()
        let facts = service.feedback()
        #expect(facts.contains { if case .fate(ScriptedService.id(1), .notEnded) = $0 { true } else { false } })
        #expect(
            facts.contains {
                if case .report(let line) = $0 { line.contains("1 ends have been refused") } else { false }
            })
        #expect(!facts.contains { if case .completed = $0 { true } else { false } })
        #expect(service.shard.statistics.activities == 1)
        #expect(service.shard.isQuiet)
        #expect(service.shard.violatedInvariant() == nil)
        // An unfollow tries another end, and gives up when that is refused as well.
        service.unfollow([1])
        service.run()
        #expect(service.shard.statistics.activities == 0)
        #expect(service.shard.violatedInvariant() == nil)
    }

    @Test func endsThatWereNotProcessedAreOwedUntilTheFaultIsMended() {
        let service = ScriptedService(members: 0..<50)
        service.publish()
        service.run()
        service.answer = { _, _ in .notProcessed }
        service.publish(event: .end)
        for _ in 0..<20 { service.turn() }
        service.answer = { _, _ in .accepted }
        service.run()
        #expect(service.accepted.count { $0.payload.event == .end } == 50)
        #expect(service.shard.statistics.activities == 0)
    }
}
