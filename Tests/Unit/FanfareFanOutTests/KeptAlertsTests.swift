import FanfareModel
import Testing

@testable import FanfareFanOut

/// The alerts that are kept for an activity that has missed them.
@Suite struct KeptAlertsTests {
    @Test func anEssentialAlertIsToldHoweverManyOrdinaryOnesHaveComeSince() {
        let service = ScriptedService(members: 0..<2)
        service.publish()
        service.run()
        service.answer = { member, _ in member == 0 ? .throttled : .accepted }
        service.publish(alert: "goal")
        service.run()
        for number in 0..<20 {
            service.publish(alert: "card \(number)", class: .ordinary)
            service.run()
        }
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 5)
        service.run()
        #expect(service.told(of: "goal") == [0, 1])
        #expect(service.shard.violatedInvariant() == nil)
    }

    /// Each alert of each phone is in exactly one figure, also one that newer alerts have displaced, so that an operator can add the figures.
    @Test func everyAlertIsCountedOnceForEveryPhone() {
        let service = ScriptedService(members: 0..<2)
        service.publish()
        service.run()
        service.answer = { member, _ in member == 0 ? .throttled : .accepted }
        for number in 0..<30 {
            service.publish(alert: "card \(number)", class: number % 10 == 0 ? .essential : .ordinary)
            service.run()
        }
        service.answer = { _, _ in .accepted }
        service.pass(seconds: 200)
        service.run()
        var counted: Int {
            let alerts = service.shard.statistics.alerts
            return alerts.accepted + alerts.limited + alerts.superseded + alerts.stale
        }
        #expect(counted == 2 * 30)
        // Earlier alerts do not count for a later joiner.
        service.follow(2)
        service.publish(alert: "the last")
        service.run()
        #expect(counted == 2 * 30 + 3)
    }

    /// The answer takes so long that eight newer alerts are published before it.
    @Test func anAlertThatWasOnItsWayWhenNewerOnesPushedItOutIsCountedAsWhatItsAnswerSays() {
        let service = ScriptedService(members: 0..<1)
        service.publish()
        service.run()
        service.publish(alert: "first")
        let flying = service.pull()
        for number in 0..<10 { service.publish(alert: "\(number)") }
        service.complete(flying, .accepted)
        service.run()
        let alerts = service.shard.statistics.alerts
        #expect(alerts.accepted == 2)
        #expect(alerts.superseded + alerts.stale == 9)
    }

    @Test func theNewestAlertsOfEachClassAreKept() {
        func pending(_ number: Int, _ alertClass: AlertClass) -> PendingAlert {
            PendingAlert(
                version: UInt32(number), number: 0,
                issue: IssuedAlert(
                    Alert(
                        cause: "\(number)", class: alertClass, text: AlertText(title: "", body: ""),
                        freshFor: .seconds(300), highlight: nil), of: TopicID("match"), freshUntil: 0))
        }
        let missed = (0..<30).map { pending($0, $0 % 3 == 0 ? .essential : .ordinary) }
        let kept: [UInt32] = [6, 9, 12, 15, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]
        #expect(missed.kept.map(\.version) == kept)
        #expect(Array(missed.prefix(8)).kept.count == 8)
    }

    /// The outcome of an old alert is not taken for that of a newer one of the other class.
    @Test func eachKeptAlertHasAPlaceOfItsOwnInTheNotes() {
        var memory = AlertMemory()
        memory.begin(1)
        let slot = ActivitySlot(0)
        memory.forget(slot)
        for number in UInt32(2)..<18 { memory.note(number % 2 == 0 ? .accepted : .stale, number: number, of: slot) }
        for number in UInt32(2)..<18 {
            #expect(memory.outcome(number: number, of: slot) == (number % 2 == 0 ? .accepted : .stale))
        }
    }
}
