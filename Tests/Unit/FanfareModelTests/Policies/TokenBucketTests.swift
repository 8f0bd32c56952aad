import FanfareModel
import Testing

@Suite struct TokenBucketTests {
    private let start = FeedTime(seconds: 1_526_220_000)

    private func at(_ seconds: Double) -> FeedTime { start + .milliseconds(Int64(seconds * 1000)) }

    @Test func aBucketGivesItsBurstAndThenOnePerRefill() {
        var bucket = TokenBucket(.init(burst: 2, refill: .seconds(10)), at: at(0))
        let atOnce = (0..<3).map { _ in bucket.take(at: at(0)) }
        #expect(atOnce == [true, true, false])
        #expect(bucket.wait(at: at(4)) == .seconds(6))
        let justBefore = bucket.take(at: at(9.999))
        let justThen = bucket.take(at: at(10))
        #expect(!justBefore && justThen)
        #expect(bucket.wait(at: at(10)) == .seconds(10))
    }

    @Test func aBucketNeverHoldsMoreThanItsBurst() {
        var bucket = TokenBucket(.init(burst: 2, refill: .seconds(1)), at: at(0))
        let taken = (0..<4).map { _ in bucket.take(at: at(1_000_000)) }
        #expect(taken == [true, true, false, false])
    }

    @Test func askingOftenLosesNothing() {
        var asked = TokenBucket(.init(burst: 1, refill: .seconds(7)), at: at(0))
        _ = asked.take(at: at(0))
        var granted: [Int64] = []
        for millisecond in Int64(1)...21_000 {
            let now = start + .milliseconds(millisecond)
            if asked.take(at: now) { granted.append(millisecond) }
        }
        #expect(granted == [7000, 14_000, 21_000])
    }

    @Test func aTimeThatGoesBackFillsNothing() {
        var bucket = TokenBucket(.init(burst: 1, refill: .seconds(10)), at: at(100))
        _ = bucket.take(at: at(100))
        let back = bucket.take(at: at(50))
        #expect(!back)
        #expect(bucket.wait(at: at(100)) == .seconds(10))
    }

    @Test func sizesAreBounded() {
        let size = TokenBucket.Size(burst: -5, refill: .seconds(Int64.max / 1000))
        #expect(size.burst == 1)
        #expect(size.refill == .seconds(86_400))
        #expect(TokenBucket.Size(burst: .max, refill: .zero).burst == 1000)
    }
}
