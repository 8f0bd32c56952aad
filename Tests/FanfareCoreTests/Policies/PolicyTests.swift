import FanfareCore
import Testing

@Suite struct TokenBucketTests {
    @Test func burstThenOnePerRefill() {
        var bucket = TokenBucket(.init(burst: 2, refill: .seconds(10)), at: at(0))
        let atOnce = (0..<3).map { _ in bucket.take(at: at(0)) }
        #expect(atOnce == [true, true, false])
        #expect(bucket.wait(at: at(4)) == .seconds(6))
        let justBefore = bucket.take(at: at(9.999))
        let justThen = bucket.take(at: at(10))
        #expect(!justBefore && justThen)
        #expect(bucket.wait(at: at(10)) == .seconds(10))
    }

    @Test func neverHoldsMoreThanItsBurst() {
        var bucket = TokenBucket(.init(burst: 2, refill: .seconds(1)), at: at(0))
        let taken = (0..<4).map { _ in bucket.take(at: at(1_000_000)) }
        #expect(taken == [true, true, false, false])
    }

    @Test func askingOftenLosesNothing() {
        var asked = TokenBucket(.init(burst: 1, refill: .seconds(7)), at: at(0))
        _ = asked.take(at: at(0))
        var granted: [Int64] = []
        for millisecond in Int64(1)...21_000 {
            let now = kickOffTime + .milliseconds(millisecond)
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

@Suite struct QuantiserTests {
    @Test(
        arguments: [(0, 0), (29, 0), (30, 60), (31, 60), (89, 60), (90, 120), (-29, 0), (-31, -60)] as [(Int64, Int64)])
    func theFirstIsTheNearestStep(value: Int64, shown: Int64) {
        #expect(Quantiser.minute.quantise(value, shown: nil) == shown)
    }

    @Test func movesOnlyWhenTheValueHasMoved() {
        #expect(Quantiser.minute.quantise(104, shown: 60) == 60)
        #expect(Quantiser.minute.quantise(105, shown: 60) == 120)
        #expect(Quantiser.minute.quantise(16, shown: 60) == 60)
        #expect(Quantiser.minute.quantise(15, shown: 60) == 0)
        #expect(Quantiser.minute.quantise(500, shown: 60) == 480)
    }

    @Test func isNeverWrongByMoreThanTheHysteresis() {
        var random = SplitMix64(seed: 7)
        var shown: Int64?
        var value: Int64 = 1000
        for _ in 0..<5000 {
            value += Int64(random.number(below: 81)) - 40
            shown = Quantiser.minute.quantise(value, shown: shown)
            let off = abs(value - (shown ?? 0))
            #expect(off < 45)
        }
    }

    @Test func extremesDoNotOverflow() {
        for value in [Int64.min, Int64.min + 1, Int64.max - 1, Int64.max] {
            for shown in [nil, Int64.min, 0, Int64.max] {
                let result = Quantiser.minute.quantise(value, shown: shown)
                #expect(result == value || result % 60 == 0 || result == shown)
            }
        }
    }
}

/// Rule L3.
@Suite struct L3DismissalTests {
    private let now = FeedTime(seconds: 1_800_000_000)

    /// In proportion to its length, 15 to 30 minutes.
    @Test(
        arguments: [(1.0, 900), (5400, 900), (6600, 1100), (7200, 1200), (10_800, 1800), (28_800, 1800)]
            as [(Double, Int64)])
    func proportional(lasted: Double, stays: Int64) {
        #expect(Dismissal.proportional.duration(ofActivityLasting: .seconds(lasted), until: now) == .seconds(stays))
    }

    @Test func neverLongerThanFourHours() {
        #expect(Dismissal.after(.seconds(100_000)).duration(ofActivityLasting: .zero, until: now) == .seconds(14_400))
        #expect(Dismissal.after(.seconds(-1)).duration(ofActivityLasting: .zero, until: now) == .zero)
        #expect(Dismissal.immediate.duration(ofActivityLasting: .seconds(9999), until: now) == .zero)
    }

    @Test(arguments: [(600, 600), (0, 0), (-5, 0), (4 * 3600 + 1, 4 * 3600)] as [(Int64, Int64)])
    func atATime(in seconds: Int64, stays: Int64) {
        let dismissal = Dismissal.at(now + .seconds(seconds))
        #expect(dismissal.duration(ofActivityLasting: .seconds(9999), until: now) == .seconds(stays))
    }
}
