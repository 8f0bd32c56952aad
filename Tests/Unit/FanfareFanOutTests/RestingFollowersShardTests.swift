import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A shard has an object for a topic's only follower only while a push is on its way.
@Suite struct RestingFollowersShardTests {
    private let service = ScriptedService()
    private var shard: Shard { service.shard }
    private var rests: Bool { shard.membership.audiences[0] === shard.membership.audiences.restingFollower }

    @Test func followerRestsWhileNothingIsPending() {
        service.follow(1)
        #expect(rests, "nothing has been published")
        for version in 1...3 {
            service.publish()
            #expect(!rests && shard.violatedInvariant() == nil)
            service.run()
            #expect(rests && service.accepted.count == version && shard.violatedInvariant() == nil)
        }
        #expect(service.accepted.map(\.payload.stamp) == service.accepted.map(\.payload.stamp).sorted())
        #expect(shard.isQuiet && shard.demand == 1)
    }

    @Test func followerDoesNotRestWhileAPushIsInFlightOrWaits() {
        service.follow(1)
        service.publish()
        let flying = service.pull()
        #expect(flying.count == 1 && !rests)
        service.complete(flying, .throttled)
        #expect(!rests && shard.violatedInvariant() == nil)
        service.pass(seconds: 3)
        service.run()
        #expect(rests && service.accepted.count == 1)
    }

    @Test func secondFollowerWakesTheFirst() {
        service.follow(1)
        service.publish()
        service.run()
        service.follow(2)
        #expect(!rests)
        service.run()
        service.publish()
        service.run()
        #expect(service.accepted.map(\.member) == [1, 2, 1, 2] && shard.violatedInvariant() == nil)
        service.unfollow([1])
        service.run()
        service.publish()
        service.run()
        #expect(rests && shard.violatedInvariant() == nil)
    }

    @Test func objectServesOneFollowerAfterAnother() {
        for member in 1...100 { service.follow(member, .topic(TopicID("order/\(member)"))) }
        #expect(shard.membership.audiences.followers.count == 100)
        var objects: Set<ObjectIdentifier> = []
        for member in 1...100 {
            service.publish(TopicID("order/\(member)"))
            objects.insert(ObjectIdentifier(shard.membership.audiences[AudienceIndex(member - 1)]))
            service.run()
        }
        #expect(objects.count == 1 && service.accepted.map(\.member) == Array(1...100))
        #expect(shard.violatedInvariant() == nil)
    }

    @Test func alertsAreKnownAfterARest() {
        service.follow(1)
        service.publish()
        service.run()
        func ask() -> AlertDisposition {
            shard.dispositions.disposition(
                of: "goal", in: ScriptedService.match, for: ScriptedService.id(1), at: service.moment)
        }
        #expect(ask() == .silenced(.unknown))
        service.publish(alert: "goal")
        service.run()
        #expect(rests || ask() == .accepted)
        #expect(ask() == .accepted && service.told(of: "goal") == [1])
        service.publish()
        service.run()
        #expect(rests && ask() == .accepted)
        #expect(service.accepted.count == 3 && service.accepted.last?.payload.alert == nil)
    }

    @Test func publicationThatShowsTheSameIsNotSentAndTheNextOneIs() {
        service.follow(1)
        service.publish(state: ["status": "placed"])
        service.run()
        service.publish(state: ["status": "placed"])
        service.run()
        #expect(service.accepted.count == 1 && !rests, "it shows the publication before, whose dates are its own")
        service.publish(state: ["status": "ready"])
        service.run()
        #expect(service.accepted.count == 2 && rests && shard.violatedInvariant() == nil)
    }

    @Test func questionThatNamedAnObjectIsAnsweredAfterItsRest() {
        service.follow(1)
        service.follow(2, .topic(TopicID("order")))
        service.publish()
        let flying = service.pull()
        service.apply(.reportQuiet(7))
        service.publish(TopicID("order"))
        service.complete(flying, .accepted)
        let answers = service.feedback().filter { if case .quiet(7, true) = $0 { true } else { false } }
        #expect(answers.count == 1, "the second topic was published after the question")
    }

    @Test func endOfAFollowerThatRested() {
        service.follow(1)
        service.publish()
        service.run()
        service.publish(event: .end)
        service.run()
        #expect(service.accepted.last?.payload.event == .end && shard.statistics.activities == 0)
        #expect(shard.membership.audiences[0] === shard.membership.audiences.vacant && shard.violatedInvariant() == nil)
    }

    // MARK: - The look at old cards

    /// Half an hour before the system ends cards, the scan of ages looks at them for the first time.
    @Test func quietFollowerRestsUntilTheAgeOfItsEnd() {
        service.follow(1)
        service.publish()
        service.run()
        service.pass(seconds: 7 * 3600 + 31 * 60)
        service.run()
        #expect(rests && service.accepted.count == 1 && shard.violatedInvariant() == nil)
        service.pass(seconds: 20 * 60)
        service.run()
        #expect(service.accepted.count == 2 && service.accepted.last?.payload.event == .end)
        #expect(shard.statistics.activities == 0 && shard.violatedInvariant() == nil)
    }

    /// The scan asks the topic of a card that a push has started whether it renews its cards.
    @Test func followerThatIsNotRenewedRestsAgainAfterTheLook() {
        let stage = EmbeddedShard()
        var resting: Int { stage.shard.membership.audiences.followers.count }
        stage.publish(1)
        stage.start()
        stage.settle()
        stage.follow()
        stage.settle()
        stage.publish(2)
        stage.settle()
        #expect(resting == 1)
        stage.pass(seconds: 7 * 3600 + 31 * 60)
        let early = stage.settle()
        #expect(early.isEmpty && resting == 1 && stage.shard.violatedInvariant() == nil)
        stage.pass(seconds: 20 * 60)
        let late = stage.settle()
        #expect(late.map(\.event) == [.end] && stage.shard.violatedInvariant() == nil)
        #expect(stage.fates() == [.expired])
    }
}
