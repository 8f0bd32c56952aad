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

    /// The budgets of some devices, as the times at which they are whole again.
    private struct WholeTimes {
        private var wholeAt: [UInt8: MonotonicTime] = [:]

        mutating func take(_ device: UInt8, at now: MonotonicTime) -> MonotonicTime? {
            let whole = max(now, wholeAt[device] ?? now) + StartBudget.refill
            let earliest = whole - StartBudget.refill * StartBudget.burst
            guard earliest <= now else { return earliest }
            wholeAt[device] = whole
            return nil
        }

        mutating func giveBack(_ device: UInt8) { wholeAt[device]? += .zero - StartBudget.refill }
    }

    @Test(arguments: 0..<10 as Range<UInt64>) func aStartIsGrantedWhenTheBudgetIsWholeSoonEnough(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var budget = StartBudget()
        var times = WholeTimes()
        var now = MonotonicTime(nanoseconds: .random(in: -1_000_000...1_000_000, using: &random))
        for step in 0..<5000 {
            let device = UInt8.random(in: 0..<3, using: &random)
            if random.chance(0.2) {
                budget.giveBack([device])
                times.giveBack(device)
            }
            if random.chance(0.3) { now += .nanoseconds(Int64.random(in: 0...1_800_000_000_000, using: &random)) }
            let (due, expected) = (budget.take([device], at: now), times.take(device, at: now))
            guard due == expected else {
                Issue.record("seed \(seed), step \(step): \(due as Any), expected \(expected as Any)")
                return
            }
        }
    }
}
