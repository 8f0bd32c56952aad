import FanfareModel

/// Detects a connection whose answers take far longer than those of the others, again and again.
///
/// A slow connection carries only what the others have no room for. It therefore soon has no new answers and no longer counts
/// as slow: it gets its part of the pushes, a tenth if it answers ten times as late, and proves to be slow again, or not.
struct Slowness {
    /// Age above which an answer says nothing about now.
    static let memory = Duration.seconds(2)
    /// Slow comparisons in a row, over at least `time`, that justify a handshake; one late answer does not.
    static let slowInARowMax = 8
    static let time = Duration.seconds(10)

    private(set) var isSlow = false
    /// Answer time as a multiple of the connections' median, as it was when both were last known; 1 before.
    private(set) var lag = 1
    /// Maximum of `lag`: even the slowest connection gets some pushes, and so can show that it is slow no more.
    private static let lagMax = 16
    private var slowInARow = 0
    private var since = MonotonicTime.always
    private var judgedAt = MonotonicTime.always

    /// Time below which differences between answers are chance.
    private static let significantTime = Duration.milliseconds(20)
    /// Factor by which a slow connection's answers take longer than those of the others.
    private static let slowFactor = 4
    /// Minimum difference between a slow connection's answers and those of the others.
    private static let slowMargin = Duration.milliseconds(20)

    /// Returns the median of the connections' response times; `nil` if there are too few to tell. The quicker one of two
    /// connections shows what the other could be.
    static func middle(of responses: [Duration]) -> Duration? {
        responses.count > 1 ? responses.sorted()[(responses.count - 1) / 2] : nil
    }

    /// Returns the time above which an answer is slow.
    static func limit(beside middle: Duration) -> Duration { max(middle * slowFactor, middle + slowMargin) }

    /// Updates `lag`.
    ///
    /// - Parameter middle: median of the connections' response times; `nil` if there are too few to tell.
    mutating func compare(_ response: RoundTrip, to middle: Duration?, at now: MonotonicTime) {
        guard let middle, let least = response.least, let noted = response.notedAt, now - noted < Slowness.memory else {
            return
        }
        let (time, usual) = (max(least, Slowness.significantTime), max(middle, Slowness.significantTime))
        // The quotient of whole numbers is exact, and that of durations may be rounded below one.
        lag = max(1, min(Slowness.lagMax, Int(time.nanoseconds / usual.nanoseconds)))
    }

    /// Updates `isSlow`.
    ///
    /// - Parameters:
    ///   - response: times of the connection's last answers.
    ///   - limit: time above which an answer is slow; `nil` if there are too few other connections to tell.
    mutating func judge(_ response: RoundTrip, limit: Duration?, at now: MonotonicTime) {
        guard let limit, let least = response.least, let noted = response.notedAt, now - noted < Slowness.memory else {
            return isSlow = false
        }
        isSlow = least > limit
        guard isSlow else { return slowInARow = 0 }
        guard noted > judgedAt else { return }
        judgedAt = now
        if slowInARow == 0 { since = now }
        slowInARow += 1
    }

    /// Returns `true` if the connection stays slow, so that another one may do better.
    func stays(at now: MonotonicTime) -> Bool { slowInARow >= Slowness.slowInARowMax && now - since >= Slowness.time }

    /// Describes a lag out of its bounds, or slow comparisons that began after the last one; `nil` if there are none. For tests.
    func violation() -> String? {
        guard (1...Slowness.lagMax).contains(lag) else { return "a lag of \(lag)" }
        return since <= judgedAt ? nil : "slow since \(since), and compared last at \(judgedAt)"
    }
}
