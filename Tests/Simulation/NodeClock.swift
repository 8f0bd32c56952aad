import FanfareModel

/// A node's wall clock, which somebody sets wrong now and then, and what the engine believes of it. Phones and the service have
/// clocks of their own, which are right: a phone drops what is stamped too long before its time, or too far ahead of it.
struct NodeClock {
    /// What the node's threads use.
    private(set) var moment: Moment
    /// Nanoseconds that the wall clock is ahead, and the monotonic clock at which it is put right.
    private var error: (nanoseconds: Int64, until: Int64)?
    private var estimate: WallEstimate
    private var isWrongFromStart = false
    /// What the service has shown; `nil` where it says nothing of clocks.
    var provenOrigin: Int64?

    private static let second: Int64 = 1_000_000_000

    /// - Parameter error: the clock is wrong from the start, by so much, for so long; seconds.
    init(at truth: Moment, error: (seconds: Int64, lasts: Int64)? = nil) {
        let ahead = (error?.seconds ?? 0) * 1000
        estimate = WallEstimate(
            wallMilliseconds: truth.wallMilliseconds + ahead, monotonicNanoseconds: truth.monotonicNanoseconds)
        moment = truth
        self.error = error.map {
            ($0.seconds * NodeClock.second, truth.monotonicNanoseconds + $0.lasts * NodeClock.second)
        }
        isWrongFromStart = error != nil
        read(at: truth)
    }

    /// What was wrong from the start is put right.
    mutating func mend() { if isWrongFromStart { error = nil } }

    /// As it is set.
    var isRight: Bool { error == nil }
    var isAhead: Bool { error.map { $0.nanoseconds > 0 } ?? false }
    var isBack: Bool { error.map { $0.nanoseconds < 0 } ?? false }

    mutating func read(at truth: Moment) {
        if let error, error.until <= truth.monotonicNanoseconds { self.error = nil }
        moment = estimate.read(
            wallMilliseconds: truth.wallMilliseconds + (error?.nanoseconds ?? 0) / 1_000_000,
            monotonicNanoseconds: truth.monotonicNanoseconds, provenOrigin: provenOrigin)
    }

    /// The clock is set, and put right minutes later.
    ///
    /// - Parameter daysLast: seconds at most for which it is wrong by days. Before the service has shown which time is right
    ///   nobody can tell those from the truth.
    mutating func set(at truth: Moment, daysLast: Int64, using random: inout SplitMix64) {
        func seconds(_ range: ClosedRange<Int64>) -> Int64 {
            Int64.random(in: range.lowerBound * NodeClock.second...range.upperBound * NodeClock.second, using: &random)
        }
        // As long as it has never been right, nobody can tell a wrong time from it.
        let isBelieved = abs(moment.wallMilliseconds - truth.wallMilliseconds) < 1000
        guard error == nil, isBelieved || !isWrongFromStart else { return }
        isWrongFromStart = false
        let now = truth.monotonicNanoseconds
        let days = seconds(7 * 3600...30 * 24 * 3600)
        error =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (seconds(-5...5), now + seconds(1...40))
            case 1: (seconds(-4 * 3600 ... -1), now + seconds(1...600))
            case 2: (seconds(1...3 * 3600), now + seconds(1...600))
            case 3: (days, now + seconds(1...daysLast))
            default: (-days, now + seconds(1...daysLast))
            }
        read(at: truth)
    }
}
