import Testing

@testable import FanfareAPNs

@Suite struct StreamAllowanceTests {
    private let later = StreamAllowance.cutTime

    @Test func oneRequestIsNoNumberBeforeTheFirstPush() {
        var allowance = StreamAllowance()
        #expect(allowance.normal(at: 0) == nil)
        allowance.note(1, at: 0)
        #expect(allowance.normal(at: later) == nil && !allowance.isHeldBack(at: 0))
        allowance.note(1000, at: 1)
        #expect(allowance.normal(at: 1) == 1000 && !allowance.isHeldBack(at: 1))
    }

    /// A pool that went on planning with the former number would serve its audience ten times too late.
    @Test func aLoweredNumberIsTheNormalOneAfterAWhile() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: 0)
        allowance.note(100, at: 10)
        #expect(allowance.normal(at: 10) == 1000 && allowance.isHeldBack(at: 10))
        #expect(allowance.normal(at: 10 + later) == 100 && !allowance.isHeldBack(at: 10 + later))
        allowance.note(100, at: 11 + later)
        #expect(allowance.normal(at: 12 + later) == 100 && !allowance.isHeldBack(at: 12 + later))
        allowance.note(50, at: 20 + later)
        #expect(allowance.normal(at: 21 + later) == 100 && allowance.isHeldBack(at: 21 + later))
    }

    @Test func aNumberThatIsRaisedAgainCountsAtOnce() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: 0)
        allowance.note(100, at: 10)
        allowance.note(1000, at: 20)
        #expect(allowance.normal(at: 20) == 1000 && !allowance.isHeldBack(at: 20))
        allowance.note(2000, at: 30)
        #expect(allowance.normal(at: 30 + later) == 2000)
    }

    @Test func aPeerThatAllowsNoneHasItsFormerNumber() {
        var allowance = StreamAllowance()
        allowance.note(1000, at: 0)
        allowance.note(0, at: 10)
        #expect(allowance.normal(at: 10 + 2 * later) == 1000)
    }
}
