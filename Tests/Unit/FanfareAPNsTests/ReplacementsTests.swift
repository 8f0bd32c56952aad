import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct ReplacementsTests {
    private var replacements = Replacements()

    /// Returns the time from the clock's beginning to a replacement.
    private mutating func next(after wait: Duration = .zero, at passed: Duration) -> Duration {
        replacements.next(after: wait, slots: 8, pools: 1, at: .after(passed)) - .after(.zero)
    }

    /// A deployment of the peer ends all connections at once, and again soon after.
    @Test mutating func twoReplacementsOfEachSlotWaitForNothing() {
        for _ in 0..<16 { #expect(next(at: .seconds(1)) == .seconds(1)) }
        for count in 1...20 {
            #expect(next(at: .seconds(1)) == .seconds(1) + Replacements.interval * count)
        }
    }

    @Test mutating func replacementsAreAsManyAgainAfterAQuietWhile() {
        for _ in 0..<100 { _ = next(at: .zero) }
        for _ in 0..<16 { #expect(next(at: .seconds(100)) == .seconds(100)) }
        #expect(next(at: .seconds(100)) > .seconds(100))
    }

    @Test mutating func aLongerWaitStays() {
        #expect(next(after: .seconds(5), at: .zero) == .seconds(5))
        for _ in 0..<20 { _ = next(at: .zero) }
        #expect(next(after: .seconds(60), at: .zero) == .seconds(60))
    }

    @Test mutating func aReplacementThatIsGivenBackDoesNotCount() {
        for _ in 0..<1000 {
            _ = next(at: .seconds(1))
            replacements.giveBack(pools: 1)
        }
        #expect(next(at: .seconds(1)) == .seconds(1))
    }

    @Test mutating func connectionsForANewKeyDoNotCountAsReplacements() {
        for _ in 0..<100 { _ = next(at: .zero) }
        replacements.forget()
        #expect(next(at: .zero) == .zero)
    }

    /// Connections end as soon as they are open, for an hour, in one pool and in the eight of an app.
    @Test(arguments: [1, 8]) func thePoolsOfAnAppReplaceTenConnectionsASecondTogether(pools: Int) {
        let slots = 64 / pools
        var opened: [Int: Int] = [:]
        for _ in 0..<pools {
            var replacements = Replacements()
            var opens = [MonotonicTime](repeating: .after(.zero), count: slots)
            while let next = opens.indices.min(by: { opens[$0] < opens[$1] }), opens[next] < .after(.seconds(3600)) {
                opened[Int(opens[next].nanoseconds / 60_000_000_000), default: 0] += 1
                opens[next] = replacements.next(after: .zero, slots: slots, pools: pools, at: opens[next])
            }
        }
        for (minute, count) in opened { #expect(count <= 600 + (minute == 0 ? 3 * 64 : 8), "minute \(minute)") }
        #expect(opened.count == 60)
    }
}
