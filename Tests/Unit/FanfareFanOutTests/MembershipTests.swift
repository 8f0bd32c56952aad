import FanfareModel
import FanfareTestSupport
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

    @Test func theAlertOfNewsIsNewToALineupUnlessAnotherOfItsTopicsHasSaidTheSame() {
        let table = membership.lineups
        let row = table.insert(.init(topics: [1, 2], pinned: nil), audience: 0)
        let news: [(topic: TopicIndex, cause: String?)] = [(1, "goal"), (2, "goal"), (2, nil), (2, "card")]
        for (place, each) in news.enumerated() {
            guard let lineups = table[each.topic] else { continue }
            let topic = TopicID("\(each.topic)")
            let alert = each.cause.map {
                Alert(
                    cause: $0, class: .essential, text: AlertText(title: $0, body: ""), freshFor: .seconds(300),
                    highlight: nil)
            }
            let publication = Publication.test(UInt64(place + 1), of: topic, alert: alert)
            let issue = alert.map { IssuedAlert($0, of: topic, at: 0) }
            _ = table.publish(publication, of: each.topic, to: lineups, alert: issue, at: 0)
        }
        var facts: [(position: Int, fact: TopicLineups.Fact)] = []
        table.collect(row, into: &facts)
        let causes = facts.map { membership.newAlert(of: $0.fact, row, position: $0.position)?.alert.cause }
        #expect(causes == ["goal", nil, nil, "card"])
    }
}
