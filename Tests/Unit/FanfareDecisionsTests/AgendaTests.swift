import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct AgendaTests {
    @Test func surplusCausesAreCounted() {
        var agenda = Agenda()
        for number in 1...5 { agenda.add("e\(number)", max: 3) }
        #expect(agenda.causes.ids == ["e1", "e2", "e3"] && agenda.causes.unnamed == 2 && agenda.causes.count == 5)
    }

    @Test func republicationIsDueAtOnce() {
        var agenda = Agenda()
        agenda.flushAt = at(50)
        agenda.republish(now: at(10))
        #expect(agenda.republishes && agenda.flushAt == at(10) && agenda.causes.count == 0)
    }

    @Test func aDeadlineNeedsATimerThatIsNoLater() {
        var agenda = Agenda()
        #expect(agenda.violation() == nil, "nothing is due")
        agenda.flushAt = at(10)
        #expect(agenda.violation() != nil)
        agenda.arm(.flush, at(11))
        #expect(agenda.violation() != nil)
        agenda.arm(.flush, at(9))
        #expect(agenda.violation() == nil, "the timer is set again when it fires")
        agenda.lapseAt = at(100)
        #expect(agenda.violation() != nil)
        agenda.arm(.lapse, at(100))
        #expect(agenda.violation() == nil)
    }

    @Test func versionTakesAllButTheLapse() {
        var agenda = Agenda()
        agenda.lapseAt = at(100)
        agenda.arm(.lapse, at(90))
        agenda.arm(.flush, at(10))
        agenda.add("e1", max: 3)
        agenda.republish(now: at(10))
        agenda.clear()
        #expect(agenda.causes.count == 0 && !agenda.republishes && agenda.flushAt == nil)
        #expect(agenda.lapseAt == at(100))
        #expect(agenda.deadlines.armed(.lapse) == at(90) && agenda.deadlines.armed(.flush) == at(10))
    }
}
