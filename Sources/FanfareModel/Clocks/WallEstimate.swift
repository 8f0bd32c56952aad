/// Estimate of the wall clock, which may be set at any time, by any amount.
///
/// Dates follow the clock as it is set. A step counts once it has lasted `doubtFor`, so a clock that is corrected at once has no
/// effect; smaller changes than `stepMin` are followed without doubt. A clock that contradicts the evidence from APNs (`WallProof`)
/// is not followed: the previous time continues with the monotonic clock while APNs agrees with it.
///
/// Stamps follow a time of their own. A phone drops a stamp that is more than half a minute behind its own time, and accepts one
/// that is up to eight hours ahead of it (spec §3.3): being behind must not happen, being some hours ahead is harmless. So that
/// time leaps ahead with the clock at once, by at most `leapMax` and only if the clock may be right. It never goes back: when the
/// clock is set back, it continues with the monotonic clock. Only a lead of more than `leadMax`, at which phones drop everything,
/// resets it to the time of dates.
///
/// Two things cannot be known. Before APNs has accepted anything, either the clock or the previous time may be right. And a clock
/// may have been wrong from the start by less than an hour; if it was late, phones drop pushes that APNs accepts.
///
/// Confined to the thread that reads the clocks; each has its own.
package struct WallEstimate: Sendable {
    /// Smallest step that is doubted, below the half minute by which a stamp may be behind a phone's time.
    static let stepMin = Duration.seconds(25)
    /// Time that a step must last to count; a clock that is set wrongly and corrected is corrected within it.
    package static let doubtFor = Duration.seconds(5)
    /// Largest leap of the time of stamps: half the lead that phones accept, so phones still accept the stamps of a clock that is
    /// corrected later.
    package static let leapMax = Duration.seconds(4 * 3600)
    /// Largest lead of the time of stamps: the phones' limit, less the lead that stamps of an activity with a state a second have.
    package static let leadMax = Duration.seconds(7 * 3600)
    /// Smallest step that is reported to operators. `ntpd`, or a thread that did not run between the two readings, causes smaller ones.
    static let stepReportedMin = Duration.seconds(2)

    /// Returns `true` if phones accept stamps made after a step, whether the clock was right before it or after it.
    package static func stampsBear(_ step: Duration) -> Bool { step >= .zero - leadMax && step <= leadMax }

    // All three are Unix nanoseconds.
    private var wall: Int64
    private var stamp: Int64
    private var raw: Int64
    private var at: MonotonicTime
    /// Time since which the clock has been far from the estimate.
    private var doubt: MonotonicTime?
    private var epoch: UInt32 = 0

    /// Step of the clock between the last two readings, positive ahead, negative back; `nil` if it was not set.
    package private(set) var step: Duration?
    /// Is `true` while the clock cannot be right because APNs goes by another time, which is used instead.
    package private(set) var isRefuted = false

    package init(wallMilliseconds: Int64, monotonicNanoseconds: Int64) {
        raw = ClockBounds.wall(wallMilliseconds)
        wall = raw
        stamp = raw
        at = MonotonicTime(nanoseconds: monotonicNanoseconds)
    }

    /// - Parameter provenOrigin: `WallProof.origin`.
    /// - Returns: the moment to use for this reading of the clocks.
    package mutating func read(
        wallMilliseconds: Int64, monotonicNanoseconds: Int64, provenOrigin: Int64? = nil
    ) -> Moment {
        let newRaw = ClockBounds.wall(wallMilliseconds)
        let monotonic = MonotonicTime(nanoseconds: monotonicNanoseconds)
        let elapsed = ClockBounds.elapsed(from: at, to: monotonic)
        note(step: newRaw - (raw + elapsed))
        raw = newRaw
        at = max(at, monotonic)
        goOn(elapsed, provenOrigin)
        followForStamps(elapsed)
        return Moment(
            wallMilliseconds: wall / 1_000_000, monotonicNanoseconds: at.nanoseconds,
            stampMilliseconds: stamp / 1_000_000,
            stampEpoch: epoch)
    }

    private mutating func goOn(_ elapsed: Int64, _ provenOrigin: Int64?) {
        let expected = min(wall + elapsed, ClockBounds.latest)
        let proven = provenOrigin.map { ClockBounds.time(of: $0, at: at) }
        func mayBeRight(_ time: Int64) -> Bool {
            proven.map { abs(time - $0) <= WallProof.tolerance.nanoseconds } ?? true
        }
        isRefuted = !mayBeRight(raw)
        // A new step restarts the doubt, because the clock is another one.
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
        // Phones at the new time dropped earlier stamps, which were too early or too late for them.
        if stamp - expected > WallEstimate.stepMin.nanoseconds || stamp < expected { epoch &+= 1 }
    }

    private mutating func note(step nanoseconds: Int64) {
        let isReported = abs(nanoseconds) >= WallEstimate.stepReportedMin.nanoseconds
        step = isReported ? .nanoseconds(nanoseconds) : nil
    }
}
