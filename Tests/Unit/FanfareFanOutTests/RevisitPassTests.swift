import Testing

@testable import FanfareFanOut

@Suite struct RevisitPassTests {
    private static func slot(_ index: UInt32) -> ActivitySlot { ActivitySlot(index) }

    @Test func aMemberHasOneEntryAndAPromptOneRatherThanALateOne() {
        let pass = RevisitPass()
        let prompt = [1, 2, 1].map { pass.keepPrompt(Self.slot($0), isUrgent: false) }
        let late = [2, 3, 3, 4].map { pass.keepLate(Self.slot($0)) }
        #expect(prompt == [true, true, false] && late == [false, true, false, true])
        #expect(pass.count == 4 && pass.violation() == nil)
        let visited = [pass.popPrompt(), pass.popPrompt(), pass.popPrompt(), pass.popLate(), pass.popLate()]
        #expect(visited == [Self.slot(1), Self.slot(2), nil, Self.slot(3), Self.slot(4)], "first come, first served")
        #expect(pass.isEmpty && pass.violation() == nil)
    }

    @Test func aVisitedMemberMayComeBack() {
        let pass = RevisitPass()
        for isVisited in [true, false] {
            let isKept = pass.keepPrompt(Self.slot(7), isUrgent: true)
            #expect(isKept && pass.urgent == 1)
            let visited = isVisited ? pass.popPrompt() : nil
            #expect(visited == (isVisited ? Self.slot(7) : nil))
        }
        #expect(pass.count == 1 && pass.urgent == 1 && pass.violation() == nil)
    }

    /// The second entry is not kept.
    @Test func aMemberThatHasComeBackToGetAnAlertIsUrgentOnce() {
        let pass = RevisitPass()
        let kept = [false, true, true].map { pass.keepPrompt(Self.slot(1), isUrgent: $0) }
        #expect(kept == [true, false, false] && pass.urgent == 1)
        let visited = pass.popPrompt()
        #expect(visited == Self.slot(1) && pass.urgent == 0 && pass.violation() == nil)
    }

    @Test func membersThatLeaveAreCounted() {
        let pass = RevisitPass()
        for _ in 0..<3 { pass.noteAbandoned() }
        #expect(pass.abandoned == 3)
    }

    /// The visit to one of two entries leaves the other one to be skipped.
    @Test func aSecondEntryOfAMemberCountsAsAbandoned() {
        let pass = RevisitPass()
        let kept = [pass.keepLate(Self.slot(1)), pass.keepPrompt(Self.slot(1), isUrgent: false)]
        #expect(kept == [true, true] && pass.abandoned == 1 && pass.violation() == nil)
        pass.noteVisit(Self.slot(1))
        pass.noteVisit(Self.slot(2))
        #expect(pass.abandoned == 2, "an entry of the first member stays behind")
    }

    @Test func chanceDrawsAmongThePromptMembers() {
        let drawn = (UInt64(0)..<3).map { random in
            let pass = RevisitPass()
            for index in UInt32(0)..<3 { _ = pass.keepPrompt(Self.slot(index), isUrgent: false) }
            _ = pass.keepLate(Self.slot(9))
            pass.drawNext(by: random)
            return pass.popPrompt()
        }
        #expect(drawn == [Self.slot(0), Self.slot(1), Self.slot(2)])
    }
}
