import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct MissedAlertsTests {
    private let missedAlerts: MissedAlerts
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1000)

    init() {
        let reporter = FeedbackReporter(feedbackMax: 100)
        let membership = Membership(
            reporter, lineupRules: LineupRules(), lanes: LaneShares(), trackedMax: 4, unpublishedTopicsMax: 2)
        missedAlerts = MissedAlerts(membership, LineupPublisher(reporter, membership))
    }

    private func alert(_ version: UInt32) -> PendingAlert {
        PendingAlert(
            version: version, number: version,
            issue: IssuedAlert(
                Alert(
                    cause: "\(version)", class: .essential, text: AlertText(title: "Goal", body: "\(version)"),
                    freshFor: .seconds(300), highlight: nil), of: TopicID("match"), freshUntil: 2000))
    }

    @Test func alertsOfAPushWithoutAnAnswerAreUncertainOrSilenced() {
        missedAlerts.countUnanswered(.none)
        missedAlerts.countUnanswered(AlertAttempt(version: 3, silence: nil))
        missedAlerts.countUnanswered(AlertAttempt(version: 3, silence: .masked))
        missedAlerts.countUnanswered(AlertAttempt(version: 0, silence: .tooMany))
        var expected = AlertCounts()
        (expected.uncertain, expected.silenced, expected.limited) = (1, 1, 1)
        #expect(missedAlerts.counts == expected)
    }

    @Test func eachAlertThatWasMissedIsCountedOnceWithTheDisplacedOnes() {
        let missed = [alert(1), alert(2)]
        missedAlerts.settle(
            missed[...], displaced: 3, led: 1, outcome: .accepted, for: ActivitySlot(0), at: moment)
        missedAlerts.count(.stale)
        var expected = AlertCounts()
        (expected.accepted, expected.superseded, expected.stale) = (1, 4, 1)
        #expect(missedAlerts.counts == expected)
    }
}
