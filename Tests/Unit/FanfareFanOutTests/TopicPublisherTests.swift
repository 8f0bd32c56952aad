import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The way of a topic's versions to its followers, and the audiences that activities are to join.
@Suite struct TopicPublisherTests {
    private let stage = EmbeddedShard()
    private var publisher: TopicPublisher { stage.shard.publisher }
    private var membership: Membership { stage.shard.membership }

    private func follow(_ count: Int) {
        for number in 1...count { stage.follow("card \(number)", token: UInt8(number)) }
    }

    /// Returns the serials of the publications that were reported as complete since the last call.
    private func completed() -> [UInt64] {
        stage.feedback().compactMap { if case .completed(let serial, _) = $0 { serial } else { nil } }
    }

    @Test func aPublicationIsCompleteOnceTheLastFollowerHasIt() {
        follow(3)
        stage.publish(1)
        let pushes = stage.pull()
        #expect(pushes.count == 3 && completed().isEmpty)
        stage.answer(Array(pushes[..<2]))
        #expect(completed().isEmpty, "one follower lacks it")
        stage.answer(Array(pushes[2...]))
        #expect(completed() == [1] && stage.shard.violatedInvariant() == nil)
    }

    @Test func aPublicationWithoutFollowersIsCompleteAtOnce() {
        stage.publish(1)
        #expect(completed() == [1])
    }

    @Test func aPublicationThatShowsWhatFollowersHaveIsCompleteWithoutAPush() {
        follow(2)
        stage.publish(1)
        stage.settle()
        #expect(completed() == [1])
        stage.publish(1)
        #expect(completed() == [2] && stage.shard.statistics.owed == 0)
        #expect(stage.settle().isEmpty)
    }

    @Test func anAlertReachesFollowersThatHaveItsState() {
        follow(2)
        stage.publish(1)
        stage.settle()
        stage.publish(1, alert: "goal")
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal", "goal"])
    }

    @Test func aRevokedAlertLeavesWithNobody() {
        follow(2)
        stage.publish(1)
        stage.settle()
        stage.publish(2, alert: "goal")
        stage.revoke("goal")
        let pushes = stage.settle()
        #expect(pushes.map(\.state) == [#"{"score":2}"#, #"{"score":2}"#])
        #expect(pushes.allSatisfy { $0.payload.alert == nil })
    }

    @Test func theNextTopicOfAnIDIsNotShownToFollowersOfTheFormerOne() {
        stage.follow("former", token: 1)
        stage.publish(1)
        stage.settle()
        stage.publish(
            Publication.test(
                stage.nextSerial(), of: stage.topic, kind: .generic, event: .end, state: ["score": 2],
                dismissal: .after(.seconds(900)), freesID: true))
        stage.publish(7)
        stage.follow("later", token: 2)
        let pushes = stage.settle()
        #expect(pushes.count == 2 && stage.shard.violatedInvariant() == nil)
        let (former, later) = (pushes.first { $0.token == [1] }, pushes.first { $0.token == [2] })
        #expect(former?.event == .end && former?.state == #"{"score":2}"#)
        #expect(later?.event == .update && later?.state == #"{"score":7}"#)
    }

    @Test func aKeyHasOneAudienceWhichBeginsWithTheNewestState() {
        stage.publish(3)
        let known = publisher.audienceIndex(.topic(stage.topic), at: stage.moment)
        let again = publisher.audienceIndex(.topic(stage.topic), at: stage.moment)
        let unknown = publisher.audienceIndex(.topic(TopicID("unknown")), at: stage.moment)
        #expect(known == again && known != unknown)
        #expect(membership.audiences[known].target == 1 && membership.audiences[unknown].target == 0)
        let enrolment = Enrolment(stage.shard.reporter, membership)
        for index in [known, unknown] { enrolment.free(index, at: stage.moment) }
        #expect(membership.topics.index(of: TopicID("unknown")) == nil && stage.shard.violatedInvariant() == nil)
    }

    /// The bound keeps a turn short, however many topics are followed.
    @Test func aClockStepSendsEachStateOnceMoreSomeOfThemInEachTurn() {
        let count = 4200
        for number in 0..<count {
            let topic = TopicID("match/\(number)")
            stage.follow("card \(number)", in: topic)
            stage.publish(1, in: topic)
        }
        #expect(stage.settle().count == count)
        stage.moment.stampEpoch += 1
        stage.shard.wakeDue(at: stage.moment)
        #expect(publisher.isShowingAgain, "a part of them waits for the next turn")
        stage.shard.wakeDue(at: stage.moment)
        #expect(!publisher.isShowingAgain)
        let pushes = stage.settle()
        #expect(pushes.count == count && pushes.allSatisfy { $0.payload.alert == nil })
        #expect(stage.settle().isEmpty)
    }
}
