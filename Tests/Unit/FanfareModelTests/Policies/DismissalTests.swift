import FanfareModel
import Testing

/// Rule L3.
@Suite struct L3DismissalTests {
    /// In proportion to its length, 15 to 30 minutes.
    @Test(
        arguments: [(1.0, 900), (5400, 900), (6600, 1100), (7200, 1200), (10_800, 1800), (28_800, 1800)]
            as [(Double, Int64)])
    func proportionalDismissalFollowsHowLongItLasted(lasted: Double, stays: Int64) {
        #expect(Dismissal.proportional.time(ofActivityLasting: .seconds(lasted)) == .after(.seconds(stays)))
    }

    @Test func aDismissalIsNeverLongerThanFourHours() {
        #expect(Dismissal.after(.seconds(100_000)).time(ofActivityLasting: .zero) == .after(.seconds(14_400)))
        #expect(Dismissal.after(.seconds(-1)).time(ofActivityLasting: .zero) == .after(.zero))
        #expect(Dismissal.immediate.time(ofActivityLasting: .seconds(9999)) == .after(.zero))
    }

    @Test func aDismissalAtATimeKeepsTheTime() {
        let date = FeedTime(seconds: 1_800_000_000)
        #expect(Dismissal.at(date).time(ofActivityLasting: .seconds(9999)) == .at(date))
    }
}
