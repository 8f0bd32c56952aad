import Testing

@testable import fanfare_season

/// What the judge of a season's store takes for growth.
@Suite struct GrowthJudgeTests {
    private static func judge(_ days: [Int], slack: Int = 0) -> GrowthJudge {
        var judge = GrowthJudge("the entries", slack: slack)
        for number in days { judge.note(number) }
        return judge
    }

    @Test func aNumberThatRisesFromDayToDayIsGrowth() {
        let judge = Self.judge((0..<7).map { 100 + 50 * $0 })
        #expect(judge.bound == 300)
        #expect(judge.growth()?.hasPrefix("the entries have grown: 400 on a day, and at most 300") == true)
    }

    @Test func theTeethOfALogThatIsTrimmedAreNoGrowth() {
        let judge = Self.judge((0..<30).map { 1000 + 450 * ($0 * 7 % 5) / 4 })
        #expect(judge.growth() == nil)
        #expect(judge.summary == "the entries: 1000 to 1450 a day after the first 3 days, bound 2175")
    }

    @Test func aSlowRiseBelowTheBoundIsGrowthOnceItLastsForWeeks() {
        let days = (0..<30).map { 1000 + 15 * $0 }
        #expect(Self.judge(days).bound == 1545)
        #expect(Self.judge(days).growth()?.hasPrefix("the entries grow: ") == true)
        #expect(Self.judge(Array(days.prefix(11))).growth() == nil)
    }

    @Test func aPeakOfOneDayIsGrowthAlsoIfTheLastDayIsLow() {
        #expect(Self.judge([100, 100, 100, 151, 100]).growth() != nil)
        #expect(Self.judge([100, 100, 100, 150, 100]).growth() == nil)
    }

    @Test func growthWithinTheSlackIsNone() {
        let days = [3, 2, 3] + (0..<27).map { 3 + $0 % 3 }
        #expect(Self.judge(days).growth() != nil)
        #expect(Self.judge(days, slack: 2).growth() == nil)
    }

    @Test func theFirstDaysAloneAreNotJudged() {
        #expect(Self.judge([1, 1000]).bound == nil)
        #expect(Self.judge([1, 1000, 5]).growth() == nil)
        #expect(Self.judge([1, 1000]).summary == "the entries: too few days")
    }

    @Test func allThatGrowsInAStoreIsNamed() {
        var judges = StoreJudges()
        for day in 1...7 {
            judges.note(
                StoreFigures(
                    entries: 9000 * day, rows: 400 * day, claims: 700 * day, fileBytes: 1 << 20, checkpointBytes: 5))
        }
        let growth = judges.growth() ?? ""
        #expect(growth.contains("log entries have grown") && growth.contains("rows have grown"))
        #expect(growth.contains("claims have grown"))
        #expect(!growth.contains("bytes"))
        #expect(judges.summaries.count == 5)
    }
}
