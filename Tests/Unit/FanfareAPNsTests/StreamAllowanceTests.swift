import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct StreamAllowanceTests {
    private let later = StreamAllowance.cutTime

    @Test func oneStreamBeforeTheFirstPushIsNoAllowance() {
        var allowance = StreamAllowance()
        #expect(allowance.normal(at: .after(.zero)) == nil)
        allowance.note(1, at: .after(.zero))
        #expect(allowance.normal(at: .after(later)) == nil && !allowance.isReduced(at: .after(.zero)))
        allowance.note(1000, at: .after(.seconds(1)))
        #expect(allowance.normal(at: .after(.seconds(1))) == 1000 && !allowance.isReduced(at: .after(.seconds(1))))
    }

    /// A pool that went on planning with the former number would serve its audience ten times too late.
    @Test func aLoweredNumberIsTheNormalOneAfterAWhile() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: .after(.zero))
        allowance.note(100, at: .after(.seconds(10)))
        #expect(allowance.normal(at: .after(.seconds(10))) == 1000 && allowance.isReduced(at: .after(.seconds(10))))
        #expect(
            allowance.normal(at: .after(.seconds(10) + later)) == 100
                && !allowance.isReduced(at: .after(.seconds(10) + later)))
        allowance.note(100, at: .after(.seconds(11) + later))
        #expect(
            allowance.normal(at: .after(.seconds(12) + later)) == 100
                && !allowance.isReduced(at: .after(.seconds(12) + later)))
        allowance.note(50, at: .after(.seconds(20) + later))
        #expect(
            allowance.normal(at: .after(.seconds(21) + later)) == 100
                && allowance.isReduced(at: .after(.seconds(21) + later)))
    }

    @Test func aNumberThatIsRaisedAgainCountsAtOnce() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: .after(.zero))
        allowance.note(100, at: .after(.seconds(10)))
        allowance.note(1000, at: .after(.seconds(20)))
        #expect(allowance.normal(at: .after(.seconds(20))) == 1000 && !allowance.isReduced(at: .after(.seconds(20))))
        allowance.note(2000, at: .after(.seconds(30)))
        #expect(allowance.normal(at: .after(.seconds(30) + later)) == 2000)
    }

    @Test func aPeerThatAllowsNoStreamsKeepsItsFormerNumber() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: .after(.zero))
        allowance.note(0, at: .after(.seconds(10)))
        #expect(allowance.normal(at: .after(.seconds(10) + later * 2)) == 1000)
    }

    @Test func theLargestNumberIsNeverBelowThePresentOne() {
        var random = SplitMix64(seed: 2)
        var allowance = StreamAllowance()
        var now = MonotonicTime.after(.zero)
        for step in 0..<1000 {
            now += .seconds(Int.random(in: 0...100, using: &random))
            allowance.note(Int.random(in: 0...1000, using: &random), at: now)
            #expect(allowance.violation() == nil, "step \(step)")
        }
    }
}
