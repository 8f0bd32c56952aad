import Testing

@testable import CrashSimulation

/// The judge of budgets in the worlds of `CrashWorld`: four pushes at priority 10, of which one comes back in ten minutes.
@Suite struct BudgetJudgeTests {
    private static func judge(_ cards: [Int] = [1]) -> BudgetJudge {
        var judge = BudgetJudge()
        judge.begin(with: cards, at: 1000)
        return judge
    }

    /// Returns what the judge says of pushes at priority 10 in a row, with `true` for a fault.
    private static func faults(
        _ count: Int, _ judge: inout BudgetJudge, to card: Int = 1, isSilent: Bool = true, stamp: Int64 = 1000
    ) -> [Bool] {
        (0..<count).map { _ in judge.noteUse(by: card, isSilent: isSilent, stamp: stamp) != nil }
    }

    @Test func aThirdPushIsBeyondHalfOfTheBudget() {
        var judge = Self.judge()
        let faults = Self.faults(3, &judge)
        #expect(faults == [false, false, true])
    }

    @Test func anotherLifeBeginsAgainHalfSpent() {
        var judge = Self.judge()
        _ = Self.faults(2, &judge)
        judge.begin(with: [1], at: 1100)
        let faults = Self.faults(3, &judge, stamp: 1100)
        #expect(faults == [false, false, true])
    }

    @Test func anAlertNeedsNoBudgetAndUsesIt() {
        var judge = Self.judge()
        let alerts = Self.faults(5, &judge, isSilent: false)
        let silent = Self.faults(1, &judge)
        #expect(alerts.allSatisfy { !$0 } && silent == [true])
    }

    @Test func aUseComesBackWithTime() {
        var judge = Self.judge()
        _ = Self.faults(2, &judge)
        var early = judge
        let faults = (Self.faults(1, &early, stamp: 1598), Self.faults(2, &judge, stamp: 1599))
        #expect(faults.0 == [true] && faults.1 == [false, true])
    }

    @Test func aPushThatWasNotProcessedUsesNothing() {
        var judge = Self.judge()
        _ = Self.faults(2, &judge)
        judge.noteReturn(to: 1)
        let faults = Self.faults(2, &judge)
        #expect(faults == [false, true])
    }

    @Test func cardsThatTheStoreDoesNotHandBackAreNotJudged() {
        var judge = Self.judge()
        let faults = Self.faults(9, &judge, to: 2)
        judge.noteReturn(to: 2)
        let restrains = judge.restrains(2)
        #expect(faults.allSatisfy { !$0 } && !restrains)
    }

    @Test func aRestartRestrainsACardThatHasUsedHalfOfItsBudget() {
        var judge = Self.judge()
        let restrains = (0..<5).map { _ in
            let restrains = judge.restrains(1)
            _ = judge.noteUse(by: 1, isSilent: false, stamp: 1000)
            return restrains
        }
        #expect(restrains == [false, false, true, true, false])
    }
}
