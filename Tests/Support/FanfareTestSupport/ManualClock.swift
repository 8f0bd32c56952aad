package import FanfareModel
import Synchronization

/// Clocks that a test sets, and that stand still otherwise.
package final class ManualClock: Sendable {
    /// Milliseconds, and nanoseconds.
    private let wall = Atomic<Int64>(ManualClock.start.milliseconds)
    private let monotonic = Atomic<Int64>(1_000_000_000)
    /// Nanoseconds that pass with each reading.
    private let perReading = Atomic<Int64>(0)

    package init() {}

    package static let start = FeedTime(seconds: 1_790_000_000)

    package var source: ClockSource {
        ClockSource(
            wall: { [self] in FeedTime(milliseconds: wall.load(ordering: .relaxed)) },
            monotonic: { [self] in
                let passed = perReading.load(ordering: .relaxed)
                if passed > 0 { pass(.nanoseconds(passed)) }
                return now
            })
    }

    package var now: MonotonicTime { MonotonicTime(nanoseconds: monotonic.load(ordering: .relaxed)) }

    /// As of a thread that has much to do.
    package func pass(perReading duration: Duration) {
        perReading.store(duration.milliseconds * 1_000_000, ordering: .relaxed)
    }

    package func pass(_ duration: Duration) {
        wall.add(duration.milliseconds, ordering: .relaxed)
        monotonic.add(Int64(duration / .nanoseconds(1)), ordering: .relaxed)
    }

    /// Somebody sets the wall clock.
    package func set(by step: Duration) { wall.add(step.milliseconds, ordering: .relaxed) }

    /// Time of a clock that nobody has set.
    package var truth: FeedTime {
        ManualClock.start + .nanoseconds(monotonic.load(ordering: .relaxed) - 1_000_000_000)
    }
}
