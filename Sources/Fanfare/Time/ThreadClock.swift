import FanfareLoop
public import FanfareModel

extension ClockSource {
    /// The system's clocks. Each engine collects its own evidence about them, so every call returns a new source.
    public static var system: ClockSource {
        ClockSource(
            wall: { FeedTime(milliseconds: Clock.wallMilliseconds()) },
            monotonic: { MonotonicTime(nanoseconds: Clock.monotonicNanoseconds()) })
    }
}

/// One thread's estimate of the clocks, and the only place where the thread reads them. Confined to that thread.
package final class ThreadClock {
    private let source: ClockSource
    private var estimate: WallEstimate
    /// Time from which on the clock counts as right without a proof.
    private let assumedAt: MonotonicTime

    package init(_ source: ClockSource) {
        self.source = source
        let now = source.monotonic()
        estimate = WallEstimate(wallMilliseconds: source.wall().milliseconds, monotonicNanoseconds: now.nanoseconds)
        assumedAt = now + WallTrust.patience
    }

    package func now() -> Moment {
        let proof = source.proof.origin
        var moment = estimate.read(
            wallMilliseconds: source.wall().milliseconds, monotonicNanoseconds: source.monotonic().nanoseconds,
            provenOrigin: proof)
        moment.stamps = source.stamps.bounds(at: moment.monotonic)
        if proof != nil {
            moment.trust = .proven
        } else if source.proof.isAwaited, moment.monotonic < assumedAt {
            moment.trust = .awaitsProof
        }
        return moment
    }

    /// Step by which the wall clock was set between the last two readings; `nil` if there was none.
    var step: Duration? { estimate.step }
    /// Is `true` if the time of APNs differs from the machine's clock; this clock then follows APNs.
    var isRefuted: Bool { estimate.isRefuted }
}
