import FanfareModel
import FanfareTestSupport
import Testing

@testable import Fanfare

@Suite struct CoreReportsTests {
    @Test func equalLinesLeaveOnceAMinuteWhateverTheirFigures() {
        let clock = ManualClock()
        var lines: [String] = []
        let reports = CoreReports(clock: ThreadClock(clock.source)) { lines.append($0) }
        reports.report("the disk is slow", with: ": 1 s")
        reports.report("the disk is slow", with: ": 2 s")
        reports.report("the disk is full")
        #expect(lines == ["the disk is slow: 1 s", "the disk is full"])
        clock.pass(ReportLog.repeatAfter)
        reports.report("the disk is slow", with: ": 3 s")
        #expect(lines.count == 3 && lines[2].hasPrefix("the disk is slow (and 1 times") && lines[2].hasSuffix(": 3 s"))
    }

    @Test func aStepOfTheClockIsReportedWithItsLength() {
        var lines: [String] = []
        let reports = CoreReports(clock: ThreadClock(ManualClock().source)) { lines.append($0) }
        reports.report(step: .seconds(-7200))
        reports.report(step: .seconds(30))
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("the machine's clock was set back; ") && lines[0].hasSuffix(": by 7200 s"))
        #expect(lines[1].hasPrefix("the machine's clock was set ahead; ") && lines[1].hasSuffix(": by 30 s"))
    }
}
