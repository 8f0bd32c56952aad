import FanfareModel
import Testing

@testable import FanfareAPNs

@Suite struct SlownessTests {
    private static let limit: Duration? = .milliseconds(100)
    private var response = RoundTrip(memory: .seconds(1))
    private var slowness = Slowness()

    /// Notes an answer after the given milliseconds and judges it.
    private mutating func answer(in milliseconds: Int64, at seconds: Int64, limit: Duration? = SlownessTests.limit) {
        response.note(.milliseconds(milliseconds), at: .after(.seconds(seconds)))
        slowness.judge(response, limit: limit, at: .after(.seconds(seconds)))
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
        response.note(.milliseconds(70), at: .after(.zero))
        for (middle, lag) in [(20, 3), (40, 1), (70, 1), (700, 1), (0, 3)] as [(Int64, Int)] {
            slowness.compare(response, to: .milliseconds(middle), at: .after(.nanoseconds(1)))
            #expect(slowness.lag == lag, "\(middle)")
        }
        slowness.compare(response, to: nil, at: .after(.nanoseconds(1)))
        #expect(slowness.lag == 3, "nobody to compare it with")
        slowness.compare(response, to: .milliseconds(1000), at: .after(Slowness.memory))
        #expect(slowness.lag == 3, "its last answer was long ago")
        response.note(.milliseconds(100_000), at: .after(Slowness.memory * 10))
        slowness.compare(response, to: .nanoseconds(1), at: .after(Slowness.memory * 10))
        #expect(slowness.lag == 16, "it gets some pushes, however late it was")
        response.note(.nanoseconds(1), at: .after(Slowness.memory * 20))
        slowness.compare(response, to: .nanoseconds(1), at: .after(Slowness.memory * 20))
        #expect(slowness.lag == 1)
    }

    @Test func theQuickerOfTwoConnectionsIsTheMeasureOfBoth() {
        #expect(Slowness.middle(of: [.seconds(5)]) == nil)
        #expect(Slowness.middle(of: [.seconds(9), .seconds(5)]) == .seconds(5))
        #expect(Slowness.middle(of: [.seconds(9), .seconds(1), .seconds(5)]) == .seconds(5))
        #expect(Slowness.limit(beside: .milliseconds(1)) == .milliseconds(21))
        #expect(Slowness.limit(beside: .milliseconds(100)) == .milliseconds(400))
    }

    /// Delays that a busy thread adds to immediate answers are chance.
    @Test mutating func noConnectionLagsOnLoopback() {
        response.note(.milliseconds(19), at: .after(.zero))
        slowness.compare(response, to: .microseconds(90), at: .after(.nanoseconds(1)))
        #expect(slowness.lag == 1)
    }

    /// Pushes are rare, and one is late: that justifies no handshake, however long no other push follows.
    @Test mutating func oneLateAnswerReplacesNoConnection() {
        answer(in: 500, at: 0)
        for second in 1..<3600 as Range<Int64> {
            let now = MonotonicTime.after(.seconds(second))
            slowness.judge(response, limit: Self.limit, at: now)
            #expect(!slowness.stays(at: now))
            #expect(slowness.isSlow == (second < 2), "it gets pushes again, to be measured")
        }
    }

    @Test mutating func anAnswerInTimeForgetsTheLateOnes() {
        for second in 0..<60 as Range<Int64> {
            answer(in: second % 7 == 6 ? 10 : 500, at: second)
            #expect(!slowness.stays(at: .after(.seconds(second))) && slowness.violation() == nil)
        }
    }

    @Test mutating func noConnectionIsSlowBesideTooFewOthers() {
        for second in 0..<60 as Range<Int64> { answer(in: 500, at: second, limit: nil) }
        #expect(!slowness.isSlow && !slowness.stays(at: .after(.seconds(60))))
    }
}
