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

    /// A bucket by its credit, as the serial form has it.
    private struct CreditedBucket {
        private(set) var size: TokenBucket.Size
        private(set) var credit: (creditMilliseconds: Int64, updatedAt: FeedTime)

        private var cost: Int64 { size.refill.milliseconds }

        init(_ size: TokenBucket.Size, _ credit: (creditMilliseconds: Int64, updatedAt: FeedTime)) {
            (self.size, self.credit) = (size, credit)
        }

        mutating func fill(to now: FeedTime) {
            guard now > credit.updatedAt else { return }
            let full = Int64(size.burst) * cost
            credit = (min(full, credit.creditMilliseconds + (now - credit.updatedAt).milliseconds), now)
        }

        mutating func take(at now: FeedTime) -> Bool {
            fill(to: now)
            guard credit.creditMilliseconds >= cost else { return false }
            credit.creditMilliseconds -= cost
            return true
        }

        func filled(to now: FeedTime) -> CreditedBucket {
            var later = self
            later.fill(to: now)
            return later
        }

        func wait(at now: FeedTime) -> Duration {
            .milliseconds(max(0, cost - filled(to: now).credit.creditMilliseconds))
        }

        func tokens(at now: FeedTime) -> Int { Int(filled(to: now).credit.creditMilliseconds / cost) }

        mutating func resize(_ size: TokenBucket.Size, at now: FeedTime) {
            guard size != self.size else { return }
            let tokens = min(tokens(at: now), size.burst)
            credit = (Int64(tokens) * size.refill.milliseconds, max(now, credit.updatedAt))
            self.size = size
        }
    }

    /// Times stand still, go on and go back, and sizes change; a credit may also come from a bucket that was larger.
    @Test(arguments: 0..<20 as Range<UInt64>) func aBucketHasTheLevelThatTakingAndFillingLeave(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var now = at(0)
        var size = TokenBucket.Size(burst: 3, refill: .milliseconds(700))
        var bucket = TokenBucket(size, at: now)
        var credited = CreditedBucket(size, bucket.credit)
        for step in 0..<5000 {
            let refill = size.refill.milliseconds
            let passed = random.chance(0.5) ? 0 : Int64.random(in: -refill...2 * refill, using: &random)
            now = now + .milliseconds(passed)
            if random.chance(0.02) {
                size = TokenBucket.Size(
                    burst: .random(in: 1...5, using: &random),
                    refill: .microseconds(Int64.random(in: 1000...2_000_000, using: &random)))
                if random.chance(0.5) {
                    bucket.resize(size, at: now)
                    credited.resize(size, at: now)
                } else {
                    bucket = TokenBucket(size, bucket.credit)
                    credited = CreditedBucket(size, credited.credit)
                }
            }
            let isSame =
                bucket.wait(at: now) == credited.wait(at: now) && bucket.tokens(at: now) == credited.tokens(at: now)
            let taken = random.chance(0.5) ? (bucket.take(at: now), credited.take(at: now)) : (true, true)
            let isStoredAlike = bucket.size == credited.size && bucket.credit == credited.credit
            let isCopiedAlike = TokenBucket(bucket.size, debt: bucket.storedDebt) == bucket
            guard isSame, taken.0 == taken.1, isStoredAlike, isCopiedAlike else {
                Issue.record("seed \(seed), step \(step): \(bucket.credit), expected \(credited.credit)")
                return
            }
        }
    }
}
