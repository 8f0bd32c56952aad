import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct AlertHistoryTests {
    private let moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1000)
    private let topic = TopicID("match")

    private func alert(_ cause: String, _ alertClass: AlertClass = .essential, text: String = "") -> Alert {
        Alert(
            cause: cause, class: alertClass, text: AlertText(title: text, body: ""), freshFor: .seconds(300),
            highlight: nil)
    }

    /// Returns a history with one alert for each version from 1 on.
    private func history(_ classes: [AlertClass], having oldest: UInt32 = 0) -> AlertHistory {
        var history = AlertHistory()
        for (index, alertClass) in classes.enumerated() {
            history.append(
                IssuedAlert(alert("\(index + 1)", alertClass), of: topic, at: moment.monotonic),
                in: UInt32(index + 1), for: 10, having: oldest)
        }
        return history
    }

    @Test func alertIsMissedByEarlierMembersOnly() {
        let history = history([.essential, .ordinary, .essential])
        #expect(history.newest == 3)
        #expect(history.missed(after: 0).map(\.version) == [1, 2, 3])
        #expect(history.missed(after: 1).map(\.version) == [2, 3])
        #expect(history.missed(after: 3).isEmpty)
    }

    @Test func alertIsFreshFromItsVersionOn() {
        let freshUntil = history([.essential]).pending.first?.freshUntil
        #expect(freshUntil == 300_000_001_000)
    }

    @Test func numbersTellAlertsOfTwoClassesApart() {
        let numbers = history([.ordinary, .essential, .essential, .ordinary]).pending.map(\.number)
        #expect(Set(numbers).count == 4 && !numbers.contains(0) && !numbers.contains(1))
    }

    @Test func ordinaryAlertsMakeRoomForOrdinaryOnesOnly() {
        let history = history([.essential] + Array(repeating: .ordinary, count: 10))
        #expect(history.pending.count == 1 + PendingAlert.perClassMax)
        #expect(history.pending.first?.version == 1 && history.violation() == nil)
        #expect(history.displaced(after: 0, through: 20) == 2)
        #expect(history.displaced(after: 2, through: 20) == 1 && history.displaced(after: 0, through: 2) == 1)
    }

    @Test func displacedAlertIsForgottenOnceEverybodyHasIt() {
        #expect(history(Array(repeating: .essential, count: 10), having: 2).displaced(after: 0, through: 20) == 1)
    }

    @Test func revokedAlertIsNotCarried() {
        var history = history([.essential, .essential])
        let none = history.revoke(cause: "1", topic: TopicID("another"))
        let versions = history.revoke(cause: "1", topic: topic)
        #expect(none.isEmpty && versions == [1])
        #expect(history.missed(after: 0).map { $0.isCarried(at: moment) } == [false, true])
    }

    @Test func visitsCountDownThoseWhomTheNewestHasNotReached() {
        var history = history([.essential])
        #expect(history.unreached == 10)
        history.noteVisits(4)
        #expect(history.unreached == 6)
        history.noteVisits(100)
        #expect(history.unreached == 0)
    }

    /// Restored alerts have their former numbers, and no member counts as having missed them.
    @Test func restoredAlertsHaveTheirFormerNumbers() {
        let whole = history([.essential, .ordinary, .essential, .essential])
        var short = AlertHistory(resting: whole.resting)
        short.restore(whole.pending.map(\.issue), in: 4)
        #expect(short.missed(after: 4).isEmpty && short.newest == 0 && short.violation() == nil)
        for alert in whole.pending {
            let same = short.pending.first { $0.issue === alert.issue }
            #expect(same.map { $0.number % 16 } == alert.number % 16 && same?.version == 4)
        }
    }
}
