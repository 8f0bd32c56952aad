import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Activities join and leave a membership's audiences, without the layers that start activities and send pushes.
@Suite struct EnrolmentTests {
    private let membership: Membership
    private let enrolment: Enrolment
    private let moment = Moment(wallMilliseconds: 1_000_000_000, monotonicNanoseconds: 1_000_000_000)

    init() {
        let reporter = FeedbackReporter(feedbackMax: 100)
        membership = Membership(
            reporter, lineupRules: LineupRules(), lanes: LaneShares(), trackedMax: 4, unpublishedTopicsMax: 2)
        enrolment = Enrolment(reporter, membership)
    }

    private func audience() -> AudienceIndex {
        let topic = membership.topics.insert(TopicID("match"))
        let index = membership.audiences.insert(Audience(topics: [topic], trackedMax: 4))
        membership.topics[topic].followers = index
        return index
    }

    private func member(_ id: UInt64, of audience: AudienceIndex) -> ActivitySlot {
        let slot = membership.store.insert(ActivityID(id), token: [1, 2, 3])
        enrolment.join(slot, audience)
        return slot
    }

    private func publish(to audience: AudienceIndex) {
        let publication = Publication.test(state: ["n": 1])
        membership.publish(
            AudienceVersion(
                event: .update, priority: .immediate, latest: publication, displayHash: publication.displayHash),
            in: membership.audiences[audience], alerting: nil, freshness: 0, at: 0)
    }

    @Test func everyMemberIsOwedANewVersion() {
        let index = audience()
        let slots = [member(1, of: index), member(2, of: index)]
        #expect(membership.counts.owed == 0)
        publish(to: index)
        #expect(membership.counts.owed == 2)
        membership.deliver(slots[0], with: 1, of: membership.audiences[index], at: moment)
        #expect(membership.counts.owed == 1)
        #expect(!membership.isOwed(membership.store[slots[0]], membership.audiences[index]))
        #expect(membership.isOwed(membership.store[slots[1]], membership.audiences[index]))
    }

    @Test func joinerIsOwedTheNewestVersionAndNoEarlierAlert() {
        let index = audience()
        _ = member(1, of: index)
        publish(to: index)
        let joiner = member(2, of: index)
        #expect(membership.counts.owed == 2)
        #expect(membership.isOwed(membership.store[joiner], membership.audiences[index]))
        #expect(!membership.missesAlert(joiner, of: membership.audiences[index]))
    }

    @Test func memberThatLeavesIsOwedNothingAndTheLastOneFreesTheAudience() {
        let index = audience()
        let slots = [member(1, of: index), member(2, of: index)]
        publish(to: index)
        enrolment.leave(slots[0], at: moment)
        #expect(membership.counts.owed == 1 && membership.topics.count == 1)
        enrolment.leave(slots[1], at: moment)
        #expect(membership.counts.owed == 0 && membership.topics.count == 0)
        #expect(membership.audiences[index] === membership.audiences.vacant)
    }

    @Test func expectedAudienceStaysWithoutMembers() {
        let index = audience()
        let slot = member(1, of: index)
        enrolment.retain(index)
        enrolment.leave(slot, at: moment)
        #expect(membership.audiences[index] !== membership.audiences.vacant)
        enrolment.release(index, at: moment)
        #expect(membership.audiences[index] === membership.audiences.vacant)
    }
}
