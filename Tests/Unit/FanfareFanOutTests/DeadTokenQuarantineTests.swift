import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct DeadTokenQuarantineTests {
    private func shut(probes: Int = 3) -> DeadTokenQuarantine {
        var quarantine = DeadTokenQuarantine(answers: 10...20, probes: probes)
        _ = quarantine.note(answers: 10, dead: 10)
        return quarantine
    }

    /// Holds slots 0, 1, 2, … in generation 1.
    private func hold(
        _ count: UInt32, in quarantine: inout DeadTokenQuarantine, at now: MonotonicTime
    ) -> [MonotonicTime?] {
        (0..<count).map { quarantine.add(ActivitySlot($0), generation: 1, at: now) }
    }

    private func release(
        _ quarantine: inout DeadTokenQuarantine, isQuarantined: (ActivitySlot) -> Bool = { _ in true }
    ) -> [UInt32] {
        var release = quarantine.beginRelease()
        var released: [UInt32] = []
        while let next = quarantine.next(of: &release, isQuarantined: { slot, _ in isQuarantined(slot) }) {
            released.append(next.slot.rawValue)
        }
        return released
    }

    @Test func guardThatShutsOrOpensIsToldOfOnce() {
        var quarantine = DeadTokenQuarantine(answers: 10...20, probes: 3)
        let few = quarantine.note(answers: 10, dead: 2)
        #expect(few == nil && !quarantine.isShut)
        let most = quarantine.note(answers: 9, dead: 9)
        #expect(most?.hasPrefix("11 of the last 19 pushes") == true && quarantine.isShut)
        let more = quarantine.note(answers: 1, dead: 1)
        #expect(more == nil && quarantine.isShut)
        var lines: [String] = []
        for _ in 0..<40 { if let line = quarantine.note(answers: 1, dead: 0) { lines.append(line) } }
        #expect(lines == ["dead tokens are few again: their activities are removed as before"])
        #expect(!quarantine.isShut)
    }

    @Test func overruledGuardIsOpen() {
        var quarantine = shut()
        let line = quarantine.overrule()
        #expect(line.hasPrefix("told that the tokens did die") && !quarantine.isShut)
    }

    @Test func oneTimerStandsForAllThatAreHeld() {
        var quarantine = shut()
        let timers = hold(3, in: &quarantine, at: 5)
        #expect(timers == [10_000_000_005, nil, nil])
        #expect(quarantine.violation() == nil)
    }

    @Test func probesAreThoseHeldLongestAsManyAsMayBe() {
        var quarantine = shut(probes: 3)
        _ = hold(5, in: &quarantine, at: 0)
        let released = release(&quarantine)
        #expect(released == [0, 1, 2] && quarantine.count == 2)
        #expect(quarantine.endRelease(at: 7) == 10_000_000_007)
        #expect(quarantine.violation() == nil)
    }

    @Test func activityThatWaitsNoLongerIsNoProbe() {
        var quarantine = shut(probes: 2)
        _ = hold(5, in: &quarantine, at: 0)
        let released = release(&quarantine) { $0.rawValue % 2 == 0 }
        #expect(released == [0, 2] && quarantine.count == 1)
    }

    @Test func openGuardReleasesAllSomeAtATime() {
        var quarantine = shut()
        _ = hold(5000, in: &quarantine, at: 0)
        _ = quarantine.overrule()
        let first = release(&quarantine)
        #expect(first.count == 4096)
        #expect(quarantine.endRelease(at: 7) == 8)
        let second = release(&quarantine)
        #expect(second.count == 904)
        #expect(quarantine.endRelease(at: 9) == nil)
        #expect(quarantine.count == 0 && quarantine.violation() == nil)
    }

    @Test func abandonedEntriesOfAFewAreRemovedOnceAQuarterMayBeSuch() {
        var quarantine = shut()
        _ = hold(60, in: &quarantine, at: 0)
        for _ in 0..<16 { quarantine.abandon { slot, _ in slot.rawValue >= 17 } }
        #expect(quarantine.count == 60)
        quarantine.abandon { slot, _ in slot.rawValue >= 17 }
        #expect(quarantine.count == 43 && quarantine.violation() == nil)
    }

    /// All leave but 5000, the last first or the first first.
    @Test(arguments: [false, true]) func anActivityThatLeavesMakesFewOthersBeExamined(isLastFirst: Bool) {
        var quarantine = shut(probes: 3)
        let held: UInt32 = 100_000
        _ = hold(held, in: &quarantine, at: 0)
        var waits = Array(repeating: true, count: Int(held))
        var waiting = waits.count
        for step in 0..<95_000 {
            waits[isLastFirst ? waits.count - 1 - step : step] = false
            waiting -= 1
            var examined = 0
            quarantine.abandon { slot, _ in
                examined += 1
                return waits[Int(slot.rawValue)]
            }
            guard examined <= DeadTokenQuarantine.wholeMax, quarantine.count <= 2 * waiting + 32 else {
                Issue.record("step \(step): \(examined) examined, \(quarantine.count) entries of \(waiting)")
                return
            }
        }
        let released = release(&quarantine) { waits[Int($0.rawValue)] }
        let first: UInt32 = isLastFirst ? 0 : 95_000
        #expect(released == [first, first + 1, first + 2], "those held longest come first")
        #expect(quarantine.count >= 4997)
    }

    @Test func heldActivitiesWithoutATimerAreAViolation() {
        var quarantine = shut()
        _ = hold(1, in: &quarantine, at: 0)
        _ = quarantine.beginRelease()
        #expect(quarantine.violation() != nil)
    }
}
