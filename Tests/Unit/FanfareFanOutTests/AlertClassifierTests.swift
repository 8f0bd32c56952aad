import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AlertClassifierTests {
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1000)

    private func alert(
        _ number: UInt32, _ alertClass: AlertClass = .essential, topic: String = "match", isRevoked: Bool = false
    ) -> PendingAlert {
        let issue = IssuedAlert(
            Alert(
                cause: "\(number)", class: alertClass, text: AlertText(title: "Goal", body: "\(number)"),
                freshFor: .seconds(300), highlight: nil), of: TopicID(topic), freshUntil: 2000)
        issue.isRevoked = isRevoked
        return PendingAlert(version: number, number: number, issue: issue)
    }

    private func outcomes(_ alerts: [PendingAlert], led lead: Int?) -> [AlertOutcome] {
        let classifier = AlertClassifier(alerts[...], led: lead, at: moment)
        return alerts.indices.map { classifier.outcome(of: $0, ofSelection: .accepted) }
    }

    @Test func newestAlertLeadsAndOlderOnesOfItsTopicAreSuperseded() {
        #expect(outcomes([alert(1), alert(2), alert(3)], led: 2) == [.superseded, .superseded, .accepted])
    }

    @Test func alertsOfOtherTopicsAreToldBesideTheLead() {
        let alerts = [alert(1, topic: "a"), alert(2, topic: "b"), alert(3, topic: "b")]
        #expect(outcomes(alerts, led: 2) == [.accepted, .superseded, .accepted])
    }

    @Test func alertOfALowerClassIsSupersededAlsoWhenItIsNewer() {
        #expect(outcomes([alert(1), alert(2, .ordinary)], led: 0) == [.accepted, .superseded])
    }

    @Test func revokedAlertIsRevokedWhateverLed() {
        #expect(outcomes([alert(1, isRevoked: true), alert(2)], led: 1) == [.revoked, .accepted])
        #expect(outcomes([alert(1, isRevoked: true)], led: nil) == [.revoked])
    }

    @Test func alertsWithoutALeadAreStale() {
        #expect(outcomes([alert(1), alert(2)], led: nil) == [.stale, .stale])
    }

    @Test func figuresHaveEachAlertOnceForEachActivity() {
        let alerts = [alert(1), alert(2, isRevoked: true), alert(3)]
        let classifier = AlertClassifier(alerts[...], led: 2, at: moment)
        var counts = AlertCounts()
        classifier.count(outcome: .silenced(.tooMany), activities: 5, in: &counts)
        var expected = AlertCounts()
        expected.superseded = 5
        expected.revoked = 5
        expected.limited = 5
        #expect(counts == expected)
    }

    @Test func everyOutcomeHasItsFigure() {
        let outcomes: [AlertOutcome] = [
            .accepted, .refused, .uncertain, .superseded, .revoked, .stale, .silenced(.masked), .silenced(.quietHours),
            .silenced(.tooMany), .silenced(.budget), .cameLater,
        ]
        var counts = AlertCounts()
        for (number, outcome) in outcomes.enumerated() { counts.add(outcome, 1 << number) }
        var expected = AlertCounts()
        expected.accepted = 1
        expected.refused = 2
        expected.uncertain = 4
        expected.superseded = 8
        expected.revoked = 16
        expected.stale = 32
        expected.silenced = 64 + 128
        expected.limited = 256 + 512
        #expect(counts == expected)
    }

    @Test func onlyAlertsOfThisAudienceHaveANumberAndAnOutcomeForTheMemory() {
        var carried = alert(9)
        carried.number = 0
        let classifier = AlertClassifier([carried, alert(2), alert(4)][...], led: 2, at: moment)
        let numbered = classifier.numbered(outcome: .accepted)
        #expect(numbered.map(\.number) == [2, 4])
        #expect(numbered.map(\.outcome) == [.superseded, .accepted])
    }
}
