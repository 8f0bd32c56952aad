import Testing

@testable import FanfareAPNs

@Suite struct BackoffTests {
    @Test func backoffDoublesUpToItsCeilingAndStaysInItsUpperHalf() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(state: seed)
        var backoff = Backoff(first: .milliseconds(100), most: .seconds(1))
        for ceiling in [100, 200, 400, 800, 1000, 1000] {
            let wait = backoff.next(using: &random)
            #expect(wait >= .milliseconds(ceiling) / 2 && wait <= .milliseconds(ceiling), "seed \(seed)")
        }
        backoff.reset()
        #expect(backoff.next(using: &random) <= .milliseconds(100))
    }

    @Test func twoClientsDoNotComeBackTogether() {
        var one = SplitMix(state: 1)
        var two = SplitMix(state: 2)
        var backoff = Backoff(first: .seconds(1), most: .seconds(60))
        var other = backoff
        #expect(backoff.next(using: &one) != other.next(using: &two))
    }

    @Test func manyAttemptsDoNotOverflow() {
        var random = SplitMix(state: 1)
        var backoff = Backoff(first: .milliseconds(1), most: .seconds(30))
        for _ in 0..<10_000 {
            let wait = backoff.next(using: &random)
            #expect(wait <= .seconds(30))
        }
    }
}
