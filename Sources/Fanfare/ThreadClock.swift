import FanfareLoop
public import FanfareModel

extension ClockSource {
    /// The system's clocks. Each engine learns about them on its own, so every call returns a new source.
    public static var system: ClockSource {
        ClockSource(wallMilliseconds: Clock.wallMilliseconds, monotonicNanoseconds: Clock.monotonicNanoseconds)
    }
}

/// Clocks as one thread believes them, and the only place where it reads them. Confined to that thread.
package final class ThreadClock {
    private let source: ClockSource
    private var estimate: WallEstimate

    package init(_ source: ClockSource) {
        self.source = source
        estimate = WallEstimate(
            wallMilliseconds: source.wallMilliseconds(), monotonicNanoseconds: source.monotonicNanoseconds())
    }

    package func now() -> Moment {
        estimate.read(
            wallMilliseconds: source.wallMilliseconds(), monotonicNanoseconds: source.monotonicNanoseconds(),
            provenOrigin: source.proof.origin)
    }

    /// Step by which the wall clock was set between the last two readings; `nil` if there was none.
    var step: Duration? { estimate.step }
    /// Is `true` if APNs goes by another time than the machine's clock; this clock then follows APNs.
    var isRefuted: Bool { estimate.isRefuted }
}
