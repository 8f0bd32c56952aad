import FanfareCore
import FanfareLoop

extension ClockSource {
    /// The system's.
    public static let system = ClockSource(
        wallMilliseconds: Clock.wallMilliseconds, monotonicNanoseconds: Clock.monotonicNanoseconds)
}

/// The clocks as one thread believes them: the only place at which it reads them. Confined to that thread.
final class ThreadClock {
    private let source: ClockSource
    private var estimate: WallEstimate

    init(_ source: ClockSource) {
        self.source = source
        estimate = WallEstimate(
            wallMilliseconds: source.wallMilliseconds(), monotonicNanoseconds: source.monotonicNanoseconds())
    }

    func now() -> Moment {
        estimate.read(wallMilliseconds: source.wallMilliseconds(), monotonicNanoseconds: source.monotonicNanoseconds())
    }

    /// By how much somebody has set the wall clock between the last two readings.
    var step: Duration? { estimate.step }
}
