import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct SlownessTests {
    private static let millisecond: Int64 = 1_000_000
    private static let limit: Int64? = 100 * millisecond
    private var pace = RoundTrip(memory: .seconds(1))
    private var slowness = Slowness()

    /// Notes an answer after the given milliseconds and judges it.
    private mutating func answer(in milliseconds: Int64, at seconds: Int64, limit: Int64? = SlownessTests.limit) {
        pace.note(milliseconds * Self.millisecond, at: .after(.seconds(seconds)))
        slowness.judge(pace, limit: limit, at: .after(.seconds(seconds)))
    }

    @Test mutating func aConnectionSlowForTenSecondsMayGo() {
        for second in 0..<10 as Range<Int64> {
            answer(in: 500, at: second)
            #expect(slowness.isSlow && !slowness.stays(at: .after(.seconds(second))))
        }
        answer(in: 500, at: 10)
        #expect(slowness.stays(at: .after(.seconds(10))))
    }

    @Test mutating func aConnectionsLagIsKnownUntilItIsMeasuredAnew() {
        pace.note(70 * Self.millisecond, at: .after(.zero))
        for (middle, lag) in [(20, 3), (40, 1), (70, 1), (700, 1), (0, 3)] as [(Int64, Int)] {
            slowness.compare(pace, to: middle * Self.millisecond, at: .after(.nanoseconds(1)))
            #expect(slowness.lag == lag, "\(middle)")
        }
        slowness.compare(pace, to: nil, at: .after(.nanoseconds(1)))
        #expect(slowness.lag == 3, "nobody to compare it with")
        slowness.compare(pace, to: 1000 * Self.millisecond, at: .after(Slowness.memory))
        #expect(slowness.lag == 3, "its last answer was long ago")
        pace.note(100_000 * Self.millisecond, at: .after(Slowness.memory * 10))
        slowness.compare(pace, to: 1, at: .after(Slowness.memory * 10))
        #expect(slowness.lag == 16, "it gets some pushes, however late it was")
        pace.note(1, at: .after(Slowness.memory * 20))
        slowness.compare(pace, to: 1, at: .after(Slowness.memory * 20))
        #expect(slowness.lag == 1)
    }

    @Test func theQuickerOfTwoConnectionsIsTheMeasureOfBoth() {
        #expect(Slowness.middle(of: [5]) == nil)
        #expect(Slowness.middle(of: [9, 5]) == 5)
        #expect(Slowness.middle(of: [9, 1, 5]) == 5)
        #expect(Slowness.limit(beside: Self.millisecond) == 21 * Self.millisecond)
        #expect(Slowness.limit(beside: 100 * Self.millisecond) == 400 * Self.millisecond)
    }

    /// Delays that a busy thread adds to immediate answers are chance.
    @Test mutating func noConnectionLagsOnLoopback() {
        pace.note(19_000_000, at: .after(.zero))
        slowness.compare(pace, to: 90_000, at: .after(.nanoseconds(1)))
        #expect(slowness.lag == 1)
    }

    /// Pushes are rare, and one is late: that justifies no handshake, however long no other push follows.
    @Test mutating func oneLateAnswerReplacesNoConnection() {
        answer(in: 500, at: 0)
        for second in 1..<3600 as Range<Int64> {
            let now = MonotonicTime.after(.seconds(second))
            slowness.judge(pace, limit: Self.limit, at: now)
            #expect(!slowness.stays(at: now))
            #expect(slowness.isSlow == (second < 2), "it gets pushes again, to be measured")
        }
    }

    @Test mutating func anAnswerInTimeForgetsTheLateOnes() {
        for second in 0..<60 as Range<Int64> {
            answer(in: second % 7 == 6 ? 10 : 500, at: second)
            #expect(!slowness.stays(at: .after(.seconds(second))))
        }
    }

    @Test mutating func noConnectionIsSlowBesideTooFewOthers() {
        for second in 0..<60 as Range<Int64> { answer(in: 500, at: second, limit: nil) }
        #expect(!slowness.isSlow && !slowness.stays(at: .after(.seconds(60))))
    }
}
