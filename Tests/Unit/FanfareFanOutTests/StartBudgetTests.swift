import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct StartBudgetTests {
    /// A budget of which one start was taken is whole again a quarter of an hour later.
    @Test func budgetsStayWithinTheirBoundWhileDevicesComeAndGo() {
        var budget = StartBudget()
        for device in 0..<5000 {
            let now = MonotonicTime(nanoseconds: Int64(device) * 1_000_000_000)
            let due = budget.take([UInt8(device % 256), UInt8(device / 256)], at: now)
            #expect(due == nil && budget.violation() == nil)
        }
    }
}
