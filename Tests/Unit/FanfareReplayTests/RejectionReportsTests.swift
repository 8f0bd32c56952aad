import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct RejectionReportsTests {
    @Test func fiftyThousandRejectedLinesAreTenAndANumber() {
        var reports = RejectionReports()
        let told = (0..<50_000).flatMap {
            reports.admit("feed:\($0): broken", at: MonotonicTime(nanoseconds: Int64($0)))
        }
        #expect(told == (0..<10).map { "feed:\($0): broken" })
        #expect(reports.finish() == "49990 more rejected; the decision log has all of them")
        #expect(reports.finish() == nil)
    }

    @Test func eachMinuteHasTenReportedRejectionsOfItsOwn() {
        var reports = RejectionReports()
        let minute: Int64 = 60_000_000_000
        for line in 0..<11 { _ = reports.admit("\(line)", at: MonotonicTime(nanoseconds: 0)) }
        #expect(reports.admit("a", at: MonotonicTime(nanoseconds: minute - 1)) == [])
        #expect(
            reports.admit("b", at: MonotonicTime(nanoseconds: minute)) == [
                "2 more rejected; the decision log has all of them", "b",
            ])
        #expect(reports.admit("c", at: MonotonicTime(nanoseconds: minute + 1)) == ["c"])
        #expect(reports.admit("d", at: MonotonicTime(nanoseconds: 2 * minute)) == ["d"])
    }
}
