import FanfareModel
import Testing

@Suite struct RateLimitTests {
    @Test func aLimitAllowsItsBurstAndThenOneUseForEachPeriod() {
        let limit = RateLimit<UInt32>(burst: 2, period: 10)
        let once = limit.charged(0)
        let twice = limit.charged(once)
        #expect([0, once, twice].map { limit.allowsUse(at: $0) } == [true, true, false])
        #expect([0, once, twice].map { limit.uses(at: $0) } == [2, 1, 0])
        #expect([0, once, twice].map { limit.wait(at: $0) } == [0, 0, 10])
        let rests = ([4, 9, 10, 25] as [UInt32]).map { RateLimit.rest(of: twice, after: $0) }
        #expect(rests == [16, 11, 10, 0])
        #expect(rests.map { limit.wait(at: $0) } == [6, 1, 0, 0])
    }

    @Test func anOverdraftAllowsDebtBeyondTheCapacity() {
        let limit = RateLimit<UInt32>(period: 7, capacity: 10)
        #expect(!limit.allowsUse(at: 4) && limit.allowsUse(at: 4, overdraft: 1))
        #expect(!limit.allowsUse(at: 5, overdraft: 1))
        #expect(limit.wait(at: 11) == 8)
    }

    @Test func aUseThatIsGivenBackIsAPeriodThatHasPassed() {
        let limit = RateLimit<Int64>(burst: 3, period: 10)
        for debt in Int64(0)...30 {
            #expect(RateLimit.rest(of: limit.charged(debt), after: limit.period) == debt)
        }
    }

    @Test(arguments: 1...9 as ClosedRange<UInt32>) func ofALimitThatIsHalfSpentTheGreaterHalfIsLeft(burst: UInt32) {
        let limit = RateLimit<UInt32>(burst: burst, period: 10)
        #expect(limit.uses(at: limit.halfSpent) == (burst + 1) / 2)
        #expect(limit.allowsUse(at: limit.halfSpent))
    }

    /// A bound on the capacity may cut a use in two.
    @Test func aPartOfAUseIsNotSpent() {
        let limit = RateLimit<UInt32>(period: 10, capacity: 39)
        #expect(limit.halfSpent == 10 && limit.uses(at: limit.halfSpent) == 2)
    }

    /// A debt that is paid off step by step is the time until the moment at which nothing is left of it.
    @Test(arguments: 0..<10 as Range<UInt64>) func aDebtIsTheTimeUntilTheLimitIsWhole(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let limit = RateLimit<Int64>(
            burst: .random(in: 1...5, using: &random), period: .random(in: 1...100, using: &random))
        var (debt, now, wholeAt) = (Int64(0), Int64(0), Int64(0))
        for step in 0..<2000 {
            let elapsed = random.chance(0.5) ? 0 : Int64.random(in: 0...2 * limit.period, using: &random)
            now += elapsed
            debt = RateLimit.rest(of: debt, after: elapsed)
            let earliest = max(now, wholeAt) + limit.period - limit.capacity
            let isAllowed = limit.allowsUse(at: debt)
            #expect(debt == max(0, wholeAt - now) && isAllowed == (earliest <= now), "seed \(seed), step \(step)")
            #expect(now + limit.wait(at: debt) == max(now, earliest), "seed \(seed), step \(step)")
            guard isAllowed else { continue }
            debt = limit.charged(debt)
            wholeAt = max(now, wholeAt) + limit.period
        }
    }
}
