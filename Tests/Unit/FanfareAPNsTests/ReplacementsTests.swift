import Testing

@testable import FanfareAPNs

@Suite struct ReplacementsTests {
    private static let second: Int64 = 1_000_000_000
    private var replacements = Replacements()

    private mutating func next(after wait: Int64 = 0, seats: Int = 8, pools: Int = 1, at now: Int64) -> Int64 {
        replacements.next(after: wait, seats: seats, pools: pools, at: now)
    }

    /// A deployment of the peer ends all connections at once, and again soon after.
    @Test mutating func twoForEachSeatWaitForNothing() {
        for _ in 0..<16 { #expect(next(at: Self.second) == Self.second) }
        for count in 1...20 as ClosedRange<Int64> {
            #expect(next(at: Self.second) == Self.second + count * Replacements.interval)
        }
    }

    @Test mutating func afterAQuietWhileTheyAreAsManyAgain() {
        for _ in 0..<100 { _ = next(at: 0) }
        for _ in 0..<16 { #expect(next(at: 100 * Self.second) == 100 * Self.second) }
        #expect(next(at: 100 * Self.second) > 100 * Self.second)
    }

    @Test mutating func aLongerWaitStays() {
        #expect(next(after: 5 * Self.second, at: 0) == 5 * Self.second)
        for _ in 0..<20 { _ = next(at: 0) }
        #expect(next(after: 60 * Self.second, at: 0) == 60 * Self.second)
    }

    @Test mutating func whatIsNotNeededAfterAllDoesNotCount() {
        for _ in 0..<1000 {
            _ = next(at: Self.second)
            replacements.giveBack(pools: 1)
        }
        #expect(next(at: Self.second) == Self.second)
    }

    @Test mutating func anotherKeysConnectionsAreNotForThePeersSake() {
        for _ in 0..<100 { _ = next(at: 0) }
        replacements.forget()
        #expect(next(at: 0) == 0)
    }

    /// Connections end as soon as they are open, for an hour, in one pool and in the eight of an app.
    @Test(arguments: [1, 8]) func ofAllPoolsOfAnAppThereAreTenInASecond(pools: Int) {
        let seats = 64 / pools
        var opened: [Int: Int] = [:]
        for _ in 0..<pools {
            var replacements = Replacements()
            var opens = [Int64](repeating: 0, count: seats)
            while let next = opens.indices.min(by: { opens[$0] < opens[$1] }), opens[next] < 3600 * Self.second {
                opened[Int(opens[next] / (60 * Self.second)), default: 0] += 1
                opens[next] = replacements.next(after: 0, seats: seats, pools: pools, at: opens[next])
            }
        }
        for (minute, count) in opened { #expect(count <= 600 + (minute == 0 ? 3 * 64 : 8), "minute \(minute)") }
        #expect(opened.count == 60)
    }
}
