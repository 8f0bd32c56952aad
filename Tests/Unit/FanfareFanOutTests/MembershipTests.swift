import FanfareModel
import Testing

@testable import FanfareFanOut

/// The membership without the parts above it, which start activities and send pushes.
@Suite struct MembershipTests {
    private let membership = Membership(
        FeedbackReporter(feedbackMax: 100), lineupRules: LineupRules(), lanes: LaneShares(), trackedMax: 4,
        unpublishedTopicsMax: 2)

    @Test func lineupKeepsThePublicationsThatHaveWaitedLongestForItsNextVersion() {
        let lineup = Lineup(rotation: Rotation(LineupRules(), at: .always))
        for serial in UInt64(1)...6 { membership.deferPublication(serial, for: lineup) }
        #expect(membership.counts.deferredLineups == 1 && lineup.deferred == [1, 2, 3, 6])
        let (taken, left) = (membership.takeDeferred(of: lineup), membership.takeDeferred(of: lineup))
        #expect(taken == [1, 2, 3, 6] && left.isEmpty && membership.counts.deferredLineups == 0)
    }
}
