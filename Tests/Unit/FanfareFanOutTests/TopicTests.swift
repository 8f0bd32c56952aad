import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A shard keeps the topics that the core keeps and those that its activities follow.
@Suite struct TopicTests {
    private let stage = EmbeddedShard()
    private let other = TopicID("other")

    private func forget(_ topic: TopicID) { stage.shard.apply(.forget(topic), at: stage.moment) }

    private func follow(lineup topics: [TopicID], _ activity: String = "card", token: UInt8 = 1) {
        stage.shard.apply(
            .follow(ActivityID(hashing: activity), .lineup(topics), token: [token]), at: stage.moment)
    }

    private func unfollow(_ activity: String = "card") {
        stage.unfollow(activity)
        _ = stage.settle()
    }

    /// A transport opens enough connections for a goal in advance.
    @Test func demandOfTheNextChangeIsKnownBefore() {
        for number in 0..<100 { stage.follow("card \(number)", in: other) }
        stage.follow("alone")
        #expect(stage.shard.demand == 100)
        for number in 0..<70 { stage.unfollow("card \(number)") }
        #expect(stage.shard.demand == 30)
        for number in 0..<200 { follow(lineup: [TopicID("\(number)"), other], "lineup \(number)") }
        #expect(stage.shard.demand == 200)
        for number in 0..<500 {
            let request = StartRequest(
                activity: "start \(number)", token: [UInt8(number % 256), UInt8(number / 256)], attributesType: "Match",
                attributes: [:], alert: AlertText(title: "Kick-off", body: ""))
            stage.shard.apply(.start(request, .topic(TopicID("tonight"))), at: stage.moment)
        }
        #expect(stage.shard.demand == 500, "they wait for one kick-off")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func demandIsThatOfTheAudienceThatStays() {
        let shard = Shard()
        let now = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1)
        func follow(_ topic: TopicID, _ ids: Range<UInt64>) {
            for id in ids { shard.apply(.follow(ActivityID(id), .topic(topic), token: [1], preferences: nil), at: now) }
        }
        follow(TopicID("a"), 0..<3000)
        follow(TopicID("b"), 3000..<5000)
        #expect(shard.demand == 3000)
        for id in UInt64(0)..<3000 { shard.apply(.unfollow(ActivityID(id)), at: now) }
        #expect(shard.demand == 2000)
    }

    @Test func tenThousandTopicsWithoutFollowersLeaveNothing() {
        for number in 0..<10_000 {
            let topic = TopicID("order/\(number)")
            stage.publish(1, in: topic)
            stage.publish(2, in: topic, event: .end)
            forget(topic)
            if number % 100 == 0 { _ = stage.fates() }
        }
        #expect(stage.shard.membership.topics.count == 0 && stage.shard.membership.topics.capacity == 1)
        #expect(stage.shard.membership.audiences.isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func nothingIsLeftOfTopicsWhoseFollowersHaveHadTheEnd() {
        for number in 0..<1000 {
            let topic = TopicID("order/\(number)")
            stage.follow("card \(number)", in: topic)
            stage.publish(1, in: topic)
            #expect(stage.settle().count == 1)
            stage.publish(2, in: topic, event: .end)
            #expect(stage.settle().map(\.event) == [.end])
            forget(topic)
            _ = stage.fates()
        }
        #expect(stage.shard.membership.topics.count == 0 && stage.shard.membership.topics.capacity == 1)
        #expect(stage.shard.membership.audiences.count == 1 && stage.shard.statistics.activities == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func pendingEndIsSentAfterTheTopicIsForgotten() {
        stage.follow()
        stage.publish(1)
        _ = stage.settle()
        stage.publish(2, event: .end)
        stage.answer(stage.pull(), .throttled)
        forget(stage.topic)
        #expect(stage.shard.violatedInvariant() == nil)
        let end = stage.passUntilPush(seconds: 10).pushes
        #expect(end.map(\.event) == [.end] && end.map(\.state) == [#"{"score":2}"#])
        stage.answer(end, .accepted)
        #expect(stage.shard.membership.topics.count == 0 && stage.shard.statistics.activities == 0)
    }

    @Test func aForgottenTopicCanBeFollowedAndComeAgain() {
        stage.publish(1)
        stage.publish(2, event: .end)
        forget(stage.topic)
        stage.follow()
        #expect(stage.settle().isEmpty, "nothing is known of it")
        stage.publish(3)
        #expect(stage.settle().map(\.state) == [#"{"score":3}"#])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// A start was accepted, and its token has not been reported: the start still keeps the forgotten topic.
    @Test func followOfAForgottenTopicWaitsForTheNextOneWithTheId() {
        stage.publish(1)
        stage.start("straggler")
        _ = stage.settle()
        stage.publish(2, event: .end)
        forget(stage.topic)
        stage.follow("newcomer", token: 2)
        #expect(stage.settle().isEmpty, "nothing is known of it")
        stage.publish(3, alert: "goal")
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]] && pushes.map(\.state) == [#"{"score":3}"#])
        stage.follow("straggler", token: 9)
        let end = stage.settle()
        #expect(end.map(\.token) == [[9]] && end.map(\.event) == [.end] && end.map(\.state) == [#"{"score":2}"#])
        #expect(end.map(\.payload.alert) == [nil])
        #expect(stage.shard.violatedInvariant() == nil)
        unfollow("newcomer")
        stage.publish(4, event: .end)
        forget(stage.topic)
        #expect(stage.shard.membership.topics.count == 0 && stage.shard.violatedInvariant() == nil)
    }

    @Test func aForgottenTopicComesAgainAndTheStragglersOfTheOldOneDoNotSeeIt() {
        stage.follow()
        stage.publish(1)
        _ = stage.settle()
        stage.publish(2, event: .end)
        stage.answer(stage.pull(), .throttled)
        forget(stage.topic)
        stage.publish(3)
        stage.follow("newcomer", token: 2)
        #expect(stage.settle().map(\.state) == [#"{"score":3}"#])
        #expect(stage.shard.violatedInvariant() == nil)
        let end = stage.passUntilPush(seconds: 10).pushes
        #expect(end.map(\.event) == [.end] && end.map(\.state) == [#"{"score":2}"#])
        stage.answer(end, .accepted)
        unfollow("newcomer")
        stage.publish(4, event: .end)
        forget(stage.topic)
        #expect(stage.shard.membership.topics.count == 0 && stage.shard.membership.topics.capacity == 2)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// An activity has missed an alert of a topic that is over, and then waits for the next topic with its id.
    @Test(arguments: [true, false])
    func aMissedAlertOfATopicThatIsOverIsNotToldWithTheNextTenure(inLineup: Bool) {
        follow(lineup: [stage.topic, TopicID("live")])
        for topic in [stage.topic, TopicID("live")] { stage.publish(1, in: topic) }
        stage.pass(seconds: 5)
        _ = stage.settle()
        stage.publish(2, alert: "full time", event: .end)
        forget(stage.topic)
        stage.shard.apply(
            .move(ActivityID(hashing: "card"), inLineup ? .lineup([stage.topic]) : .topic(stage.topic)),
            at: stage.moment)
        #expect(stage.shard.violatedInvariant() == nil)
        #expect(stage.settle().isEmpty)
        stage.publish(3)
        let pushes = stage.settle()
        #expect(pushes.count == 1 && pushes.allSatisfy { $0.payload.alert == nil })
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// Lineups consist of ids, and show the next topic with an id.
    @Test func aLineupOfForgottenTopicsWaitsForTheNextOnesThoughOtherLineupsShowThem() {
        follow(lineup: [stage.topic, TopicID("live")], "straggler", token: 1)
        for topic in [stage.topic, TopicID("live")] { stage.publish(1, in: topic) }
        stage.publish(2, event: .end)
        stage.pass(seconds: 5)
        _ = stage.settle()
        stage.pass(seconds: 1000)
        _ = stage.settle()  // without the match, which has been dismissed
        forget(stage.topic)
        follow(lineup: [stage.topic], "newcomer", token: 2)
        #expect(stage.settle().isEmpty, "nothing is known of it")
        stage.publish(3)
        stage.pass(seconds: 5)
        let pushes = stage.settle()
        #expect(Set(pushes.map(\.token)) == [[1], [2]])
        #expect(pushes.allSatisfy { $0.event == .update })
        #expect(pushes.last { $0.token == [2] }?.state.contains(#""score":3"#) == true)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// An operator or the feed reopens a topic: a match that was broken off goes on.
    @Test func aTopicGoesOnAfterItsEnd() {
        stage.follow()
        follow(lineup: [stage.topic, other], "lineup", token: 2)
        stage.publish(1)
        stage.publish(1, in: other)
        stage.pass(seconds: 5)
        _ = stage.settle()
        stage.publish(2, event: .end)
        stage.pass(seconds: 5)
        #expect(stage.settle().filter { $0.event == .end }.map(\.token) == [[1]])
        stage.publish(3, alert: "goes on")
        stage.pass(seconds: 5)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]] && pushes[0].state.contains(#""score":3"#))
        stage.follow("another", token: 3)
        #expect(stage.settle().map(\.state) == [#"{"score":3}"#])
        stage.publish(4)
        stage.pass(seconds: 5)
        #expect(Set(stage.settle().map(\.token)) == [[2], [3]])
        stage.publish(5, event: .end)
        #expect(stage.settle().filter { $0.event == .end }.map(\.token) == [[3]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func memberThatLacksTheEndStaysWhenItsTopicGoesOn() {
        stage.follow()
        stage.publish(1)
        _ = stage.settle()
        stage.publish(2, event: .end)
        stage.answer(stage.pull(), .throttled)
        stage.publish(2)
        let pushes = stage.passUntilPush(seconds: 10).pushes
        #expect(pushes.map(\.event) == [.update] && pushes.map(\.state) == [#"{"score":2}"#])
        stage.answer(pushes, .accepted)
        #expect(stage.shard.statistics.activities == 1 && stage.shard.isQuiet)
    }

    /// The lineup's end is throttled; then one of its topics goes on, and looks as before.
    @Test func aLineupThatGoesOnIsNotEndedThoughItLooksTheSame() {
        let other = TopicID("other")
        follow(lineup: [stage.topic, other])
        for topic in [stage.topic, other] { stage.publish(1, in: topic) }
        stage.pass(seconds: 5)
        _ = stage.settle()
        for topic in [stage.topic, other] { stage.publish(1, in: topic, event: .end) }
        let end = stage.pull()
        #expect(end.map(\.event) == [.end])
        stage.answer(end, .throttled)
        stage.publish(1)
        stage.pass(seconds: 5)
        #expect(stage.settle().allSatisfy { $0.event == .update })
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func aLineupKeepsItsTopicsUntilItsLastMemberLeaves() {
        follow(lineup: [stage.topic, other])
        stage.publish(1)
        stage.publish(1, in: other)
        _ = stage.settle()
        stage.publish(2, event: .end)
        stage.pass(seconds: 5)
        _ = stage.settle()
        forget(stage.topic)
        #expect(stage.shard.membership.topics.count == 2)
        stage.publish(2, in: other)
        stage.pass(seconds: 5)
        #expect(stage.settle().count == 1)
        unfollow()
        #expect(stage.shard.membership.topics.count == 1, "one is still published")
        forget(other)
        #expect(stage.shard.membership.topics.count == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func topicInAReusedPlaceIsNotTakenForTheFormerOne() {
        follow(lineup: [stage.topic, other])
        unfollow()
        #expect(stage.shard.membership.topics.count == 0)
        stage.follow("second", token: 2, in: TopicID("third"))
        follow(lineup: [TopicID("fourth"), TopicID("third")], "third", token: 3)
        stage.publish(1)
        stage.publish(1, in: other)
        #expect(stage.settle().isEmpty)
        stage.publish(7, in: TopicID("third"))
        #expect(Set(stage.settle().map(\.token)) == [[2], [3]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func onlyWhatGoesOnIsPublishedAgain() {
        for number in UInt8(1)...4 {
            stage.follow("card \(number)", token: number, in: TopicID("match/\(number)"))
            stage.publish(1, in: TopicID("match/\(number)"))
        }
        _ = stage.settle()
        stage.publish(2, in: TopicID("match/2"), event: .end)
        stage.publish(2, in: TopicID("match/3"), event: .end)
        _ = stage.settle()
        forget(TopicID("match/2"))
        #expect(stage.shard.membership.topics.published.count == 3)
        stage.shard.apply(.republish, at: stage.moment)
        #expect(Set(stage.settle().map(\.token)) == [[1], [4]])
    }

    // MARK: - Topics never heard of

    @Test func topicsOfWhichNothingHasComeAreFollowedUpToABound() {
        let stage = EmbeddedShard(Shard(unpublishedTopicsMax: 3))
        for name in ["a", "b", "c", "d"] { stage.follow(name, in: TopicID(name)) }
        #expect(stage.fates() == [.refused(.tooManyTopics)])
        #expect(stage.shard.membership.topics.count == 3 && stage.shard.statistics.activities == 3)
        stage.follow("e", in: TopicID("a"))
        #expect(stage.fates().isEmpty, "somebody follows this one already")
        stage.publish(1, in: TopicID("b"))
        _ = stage.settle()
        stage.follow("d", in: TopicID("d"))
        #expect(stage.fates().isEmpty, "one of them is no longer unheard of")
        for name in ["a", "b", "c", "d", "e"] { stage.unfollow(name) }
        _ = stage.settle()
        #expect(stage.shard.membership.topics.count == 1 && stage.shard.membership.topics.unpublished == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func aMillionTopicsMadeUpOneAfterTheOtherLeaveNothing() {
        stage.follow()
        stage.publish(1)
        _ = stage.settle()
        for number in 0..<20_000 {
            let made = [TopicID("made up \(number)"), TopicID("made up, too \(number)")]
            stage.shard.apply(.move(ActivityID(hashing: "card"), .lineup(made)), at: stage.moment)
        }
        #expect(stage.shard.membership.topics.count == 3 && stage.shard.membership.topics.capacity <= 5)
        stage.move(to: stage.topic)
        #expect(stage.settle().count == 1)
        #expect(stage.shard.membership.topics.count == 1 && stage.shard.membership.topics.unpublished == 0)
    }
}
