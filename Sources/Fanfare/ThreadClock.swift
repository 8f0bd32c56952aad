import FanfareLoop
public import FanfareModel

extension ClockSource {
    /// The system's. What is known of it is the engine's own, so this is another one for each.
    public static var system: ClockSource {
        ClockSource(wallMilliseconds: Clock.wallMilliseconds, monotonicNanoseconds: Clock.monotonicNanoseconds)
    }
}

/// The clocks as one thread believes them: the only place at which it reads them. Confined to that thread.
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

    /// By how much somebody has set the wall clock between the last two readings.
    var step: Duration? { estimate.step }
    /// APNs goes by another time than the machine's clock, and so does this one.
    var isRefuted: Bool { estimate.isRefuted }
}
