import FanfareModel

/// A node's wall clock, which is set wrong now and then, and the engine's estimate of it. Phones and the service have right clocks of their
/// own: a phone drops stamps that are too old or too far ahead.
struct NodeClock {
    /// Moment that the node's threads use.
    private(set) var moment: Moment
    /// Time by which the wall clock is ahead, and the time at which it is put right.
    private var error: (lead: Duration, until: MonotonicTime)?
    private var estimate: WallEstimate
    private var isWrongFromStart = false
    /// Wall time at monotonic zero as proven by the service; `nil` if the service proves no time.
    var provenOrigin: Int64?

    /// Bounds on stamps from the store.
    var stamps = StampBounds()

    /// - Parameter error: seconds by which the clock is wrong from the start, and the seconds for which it is.
    init(at truth: Moment, error: (seconds: Int64, lasts: Int64)? = nil) {
        let ahead = (error?.seconds ?? 0) * 1000
        estimate = WallEstimate(
            wallMilliseconds: truth.wallMilliseconds + ahead, monotonicNanoseconds: truth.monotonic.nanoseconds)
        moment = truth
        self.error = error.map { (.seconds($0.seconds), truth.monotonic + .seconds($0.lasts)) }
        isWrongFromStart = error != nil
        read(at: truth)
    }

    /// Puts a clock right that was wrong from the start.
    mutating func mend() { if isWrongFromStart { error = nil } }

    /// Is `true` while the machine's clock is right, even if the engine estimates another time.
    var isRight: Bool { error == nil }
    var isAhead: Bool { error.map { $0.lead > .zero } ?? false }
    var isBack: Bool { error.map { $0.lead < .zero } ?? false }

    mutating func read(at truth: Moment) {
        if let error, error.until <= truth.monotonic { self.error = nil }
        moment = estimate.read(
            wallMilliseconds: truth.wallMilliseconds + (error?.lead.milliseconds ?? 0),
            monotonicNanoseconds: truth.monotonic.nanoseconds, provenOrigin: provenOrigin)
        moment.stamps = stamps
    }

    /// Sets the clock wrong; it is put right minutes later.
    ///
    /// - Parameter daysLast: most seconds for which it is wrong by days. Before the service has proven a time, an
    ///   error of days cannot be distinguished from the truth.
    mutating func set(at truth: Moment, daysLast: Int64, using random: inout SplitMix64) {
        func seconds(_ range: ClosedRange<Int64>) -> Duration {
            let nanoseconds = range.lowerBound * 1_000_000_000...range.upperBound * 1_000_000_000
            return .nanoseconds(Int64.random(in: nanoseconds, using: &random))
        }
        // A clock that has never been right cannot be distinguished from a right one.
        let isBelieved = abs(moment.wallMilliseconds - truth.wallMilliseconds) < 1000
        guard error == nil, isBelieved || !isWrongFromStart else { return }
        isWrongFromStart = false
        let now = truth.monotonic
        let days = seconds(7 * 3600...30 * 24 * 3600)
        error =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (seconds(-5...5), now + seconds(1...40))
            case 1: (seconds(-4 * 3600 ... -1), now + seconds(1...600))
            case 2: (seconds(1...3 * 3600), now + seconds(1...600))
            case 3: (days, now + seconds(1...daysLast))
            default: (.zero - days, now + seconds(1...daysLast))
            }
        read(at: truth)
    }
}
