import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct RevisitsTests {
    private func slot(_ index: UInt32) -> ActivitySlot { ActivitySlot(index) }

    @Test func lateMembersStandApart() {
        var revisits = Revisits()
        revisits.append(slot(1), isUrgent: false, isLate: true)
        revisits.append(slot(2), isUrgent: false, isLate: false)
        #expect(revisits.slots == [slot(1), slot(2)])
        let prompt = [revisits.nextPrompt { _ in false }, revisits.nextPrompt { _ in false }]
        let late = [revisits.nextLate(), revisits.nextLate()]
        #expect(prompt == [slot(2), nil] && late == [slot(1), nil])
    }

    @Test func alertIsAwaitedUntilTheLastUrgentMemberHasHadItsVisit() {
        var revisits = Revisits()
        for index in UInt32(0)..<3 { revisits.append(slot(index), isUrgent: index > 0, isLate: false) }
        var awaits: [Bool] = []
        for _ in 0..<3 {
            awaits.append(revisits.awaitsAlert)
            _ = revisits.nextPrompt { $0 != slot(0) }
        }
        #expect(awaits == [true, true, true] && !revisits.awaitsAlert)
    }

    @Test func lateMemberIsNeverUrgent() {
        var revisits = Revisits()
        revisits.append(slot(1), isUrgent: true, isLate: true)
        #expect(!revisits.awaitsAlert)
    }
}
