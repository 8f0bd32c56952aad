import FanfareModel
import Testing

/// Rule L3.
@Suite struct L3DismissalTests {
    private let now = FeedTime(seconds: 1_800_000_000)

    /// In proportion to its length, 15 to 30 minutes.
    @Test(
        arguments: [(1.0, 900), (5400, 900), (6600, 1100), (7200, 1200), (10_800, 1800), (28_800, 1800)]
            as [(Double, Int64)])
    func proportionalDismissalFollowsHowLongItLasted(lasted: Double, stays: Int64) {
        #expect(Dismissal.proportional.duration(ofActivityLasting: .seconds(lasted), until: now) == .seconds(stays))
    }

    @Test func aDismissalIsNeverLongerThanFourHours() {
        #expect(Dismissal.after(.seconds(100_000)).duration(ofActivityLasting: .zero, until: now) == .seconds(14_400))
        #expect(Dismissal.after(.seconds(-1)).duration(ofActivityLasting: .zero, until: now) == .zero)
        #expect(Dismissal.immediate.duration(ofActivityLasting: .seconds(9999), until: now) == .zero)
    }

    @Test(arguments: [(600, 600), (0, 0), (-5, 0), (4 * 3600 + 1, 4 * 3600)] as [(Int64, Int64)])
    func aDismissalAtATimeTakesUntilThen(in seconds: Int64, stays: Int64) {
        let dismissal = Dismissal.at(now + .seconds(seconds))
        #expect(dismissal.duration(ofActivityLasting: .seconds(9999), until: now) == .seconds(stays))
    }
}
