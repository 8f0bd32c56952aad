import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The membership without the parts above it, which start activities and send pushes.
@Suite struct MembershipTests {
    private let reporter = FeedbackReporter(feedbackMax: 100)
    private let membership: Membership
    private let moment = Moment(wallMilliseconds: 1_000_000_000, monotonicNanoseconds: 1_000_000_000)

    init() {
        membership = Membership(
            reporter, lineupRules: LineupRules(), lanes: LaneShares(), trackedMax: 4, unpublishedTopicsMax: 2)
    }

    private func audience() -> AudienceIndex {
        let topic = membership.topics.insert(TopicID("match"))
        let index = membership.audiences.insert(Audience(topics: [topic], trackedMax: 4))
        membership.topics[topic].followers = index
        return index
    }

    private func member(_ id: UInt64, of audience: AudienceIndex) -> ActivitySlot {
        let slot = membership.store.insert(ActivityID(id), token: [1, 2, 3])
        membership.join(slot, audience)
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

    @Test func memberThatLeavesIsOwedNothingAndTheLastOneFreesTheAudience() {
        let index = audience()
        let slots = [member(1, of: index), member(2, of: index)]
        publish(to: index)
        membership.leaveAudience(slots[0], at: moment)
        #expect(membership.counts.owed == 1 && membership.topics.count == 1)
        membership.leaveAudience(slots[1], at: moment)
        #expect(membership.counts.owed == 0 && membership.topics.count == 0)
        #expect(membership.audiences[index] === membership.audiences.vacant)
    }

    @Test func expectedAudienceStaysWithoutMembers() {
        let index = audience()
        let slot = member(1, of: index)
        membership.retainAudience(index)
        membership.leaveAudience(slot, at: moment)
        #expect(membership.audiences[index] !== membership.audiences.vacant)
        membership.releaseAudience(index, at: moment)
        #expect(membership.audiences[index] === membership.audiences.vacant)
    }

    @Test func lineupKeepsThePublicationsThatHaveWaitedLongestForItsNextVersion() {
        let lineup = Lineup(rotation: Rotation(LineupRules(), at: .always))
        for serial in UInt64(1)...6 { membership.deferPublication(serial, for: lineup) }
        #expect(membership.deferredLineups == 1 && lineup.deferred == [1, 2, 3, 6])
        let (taken, left) = (membership.takeDeferred(of: lineup), membership.takeDeferred(of: lineup))
        #expect(taken == [1, 2, 3, 6] && left.isEmpty && membership.deferredLineups == 0)
    }

    @Test func audienceOfTooManyUnpublishedTopicsIsRefused() {
        _ = audience()
        #expect(membership.refusal(of: .topic(TopicID("another"))) == nil)
        _ = membership.topics.insert(TopicID("another"))
        #expect(membership.refusal(of: .topic(TopicID("third"))) == .tooManyTopics)
        #expect(membership.refusal(of: .topic(TopicID("match"))) == nil)
        #expect(membership.refusal(of: .topic(TopicID(""))) == .topic)
        #expect(membership.refusal(of: []) == .token)
    }
}
