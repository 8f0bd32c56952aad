/// What is believed of the wall clock, which somebody may set at any time, by any amount.
///
/// Dates follow the clock as it is: a step counts once it has lasted `doubtFor`, so that a clock which is put right at once has
/// done nothing; less than `stepMin` is followed without doubt. A clock that cannot be right by what APNs has accepted (`WallProof`) is
/// not followed at all: the time before it goes on with the monotonic clock, for as long as APNs goes by that.
///
/// Stamps follow a time of their own. A phone drops what is stamped more than half a minute before its own time, and takes what is
/// stamped up to eight hours ahead of it (spec §3.3): being behind is what must not be, being some hours ahead harms nobody. So that
/// time goes ahead with the clock at once, by `leapMax` at most and where the clock may be right, and never back: where the clock is
/// set back it goes on with the monotonic clock. Only where it would lie more than `leadMax` ahead, of which phones drop everything, the
/// time of dates has its way.
/// What cannot be known: before APNs has accepted anything, whether the clock or the time before was right; and of a clock that was
/// wrong from the start by less than an hour, that it is. Where that was late, phones drop what APNs takes.
///
/// Confined to whoever reads the clocks: one for each thread.
package struct WallEstimate: Sendable {
    /// Less than a phone bears in what is stamped too early.
    static let stepMin = Duration.seconds(25)
    /// A clock that is set twice is put right within this.
    package static let doubtFor = Duration.seconds(5)
    /// Half of what a phone takes: what was stamped by a clock that is put right later is still taken.
    package static let leapMax = Duration.seconds(4 * 3600)
    /// What a phone takes, less the stamps that an activity with a state a second is ahead of the time.
    package static let leadMax = Duration.seconds(7 * 3600)
    /// Less than that is no news for operators: what `ntpd` does, or a thread that was not run between the two readings.
    static let stepToldMin = Duration.seconds(2)

    /// Whether phones take what is stamped after a step, be it the clock before that is right or the one after.
    package static func stampsBear(_ step: Duration) -> Bool { step >= .zero - leadMax && step <= leadMax }

    // Nanoseconds, all of them: Unix time, and from the monotonic clock's start.
    private var wall: Int64
    private var stamp: Int64
    private var raw: Int64
    private var at: Int64
    /// Since when the clock has been far from what is believed.
    private var doubt: Int64?
    private var epoch: UInt32 = 0

    /// By how much the clock was set between the last two readings, ahead or (negative) back; `nil`: it was not.
    package private(set) var step: Duration?
    /// The clock cannot be right: APNs goes by another time, which is used instead.
    package private(set) var isRefuted = false

    package init(wallMilliseconds: Int64, monotonicNanoseconds: Int64) {
        raw = ClockBounds.wall(wallMilliseconds)
        wall = raw
        stamp = raw
        at = monotonicNanoseconds
    }

    /// - Parameter provenOrigin: `WallProof.origin`.
    /// - Returns: the moment to be used for this reading of the clocks.
    package mutating func read(
        wallMilliseconds: Int64, monotonicNanoseconds: Int64, provenOrigin: Int64? = nil
    ) -> Moment {
        let newRaw = ClockBounds.wall(wallMilliseconds)
        let elapsed = ClockBounds.elapsed(from: at, to: monotonicNanoseconds)
        note(step: newRaw - (raw + elapsed))
        raw = newRaw
        at = max(at, monotonicNanoseconds)
        goOn(elapsed, provenOrigin)
        followForStamps(elapsed)
        return Moment(
            wallMilliseconds: wall / 1_000_000, monotonicNanoseconds: at, stampMilliseconds: stamp / 1_000_000,
            stampEpoch: epoch)
    }

    private mutating func goOn(_ elapsed: Int64, _ provenOrigin: Int64?) {
        let expected = min(wall + elapsed, ClockBounds.latest)
        let proven = provenOrigin.map { ClockBounds.time(of: $0, at: at) }
        func mayBeRight(_ time: Int64) -> Bool {
            proven.map { abs(time - $0) <= WallProof.tolerance.nanoseconds } ?? true
        }
        isRefuted = !mayBeRight(raw)
        // Set again, it is another clock, which has lasted for no time.
        let since = step == nil ? doubt ?? at : at
        let isStep = abs(raw - expected) > WallEstimate.stepMin.nanoseconds
        let isInDoubt = isStep && ClockBounds.elapsed(from: since, to: at) < WallEstimate.doubtFor.nanoseconds
        if isInDoubt || isRefuted {
            wall = mayBeRight(expected) ? expected : proven ?? expected
        } else {
            wall = raw
        }
        doubt = abs(raw - wall) > WallEstimate.stepMin.nanoseconds ? since : nil
    }

    private mutating func followForStamps(_ elapsed: Int64) {
        let expected = min(stamp + elapsed, ClockBounds.latest)
        let leap = !isRefuted && raw - wall <= WallEstimate.leapMax.nanoseconds ? raw : wall
        stamp = max(expected, leap, wall)
        if stamp - wall > WallEstimate.leadMax.nanoseconds { stamp = wall }
        // What had been stamped before was too early, or too late, for phones whose time this is.
        if stamp - expected > WallEstimate.stepMin.nanoseconds || stamp < expected { epoch &+= 1 }
    }

    private mutating func note(step nanoseconds: Int64) {
        let isTold = abs(nanoseconds) >= WallEstimate.stepToldMin.nanoseconds
        step = isTold ? .nanoseconds(nanoseconds) : nil
    }
}

/// What a clock may say: sums of it are numbers, whatever is read.
enum ClockBounds {
    /// The year 2200, Unix nanoseconds: no clock is right that says more.
    static let latest: Int64 = 7_258_118_400_000_000_000
    /// 28 years, nanoseconds: nothing runs for so long.
    private static let longest: Int64 = 900_000_000_000_000_000

    /// - Parameter origin: Unix nanoseconds when the monotonic clock began.
    /// - Returns: Unix nanoseconds at some monotonic time.
    static func time(of origin: Int64, at monotonic: Int64) -> Int64 {
        let (sum, overflow) = origin.addingReportingOverflow(monotonic)
        return overflow ? (origin > 0 ? latest : 0) : min(max(0, sum), latest)
    }

    /// - Returns: Unix nanoseconds.
    static func wall(_ milliseconds: Int64) -> Int64 { min(max(0, milliseconds), latest / 1_000_000) * 1_000_000 }

    /// Nanoseconds between two readings of a monotonic clock, of which the later one is not earlier.
    static func elapsed(from earlier: Int64, to later: Int64) -> Int64 {
        let (difference, overflow) = later.subtractingReportingOverflow(earlier)
        guard !overflow else { return later > earlier ? longest : 0 }
        return min(max(0, difference), longest)
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { milliseconds * 1_000_000 }
}
