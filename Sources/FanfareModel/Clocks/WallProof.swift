import Synchronization

/// Evidence of the right time from APNs, for all threads of an engine. A JWT that APNs accepts proves its clock right to an hour;
/// that time then continues with the monotonic clock, however the machine's clock is set later. After APNs has refused a JWT, this
/// is the clock to be tried instead: APNs refuses the JWTs of a wrong one, too.
///
/// Callable from any thread. Pushing threads write it, and threads that read the clocks read it. The value publishes nothing else,
/// so its accesses need no ordering.
package final class WallProof: Sendable {
    private let value = Atomic<Int64>(WallProof.none)
    private let awaited = Atomic(false)
    private static let none = Int64.min
    /// Difference to its own clock that APNs tolerates in a JWT's time, in either direction (spec §9.1). A clock that differs more
    /// from an accepted one is wrong.
    package static let tolerance = Duration.seconds(3600)

    package init() {}

    /// Is `true` for an engine that pushes to APNs. Written before the engine's threads start.
    package var isAwaited: Bool {
        get { awaited.load(ordering: .relaxed) }
        set { awaited.store(newValue, ordering: .relaxed) }
    }

    /// Unix nanoseconds of the proven clock at the start of the monotonic clock. `nil` before APNs has accepted a JWT, and after it
    /// has refused the time it accepted before.
    package var origin: Int64? {
        get {
            let value = value.load(ordering: .relaxed)
            return value == WallProof.none ? nil : value
        }
        set {
            let new = newValue ?? WallProof.none
            // Each pull writes and each thread's turn reads it, so an unchanged value leaves the cache line alone.
            if value.load(ordering: .relaxed) != new { value.store(new, ordering: .relaxed) }
        }
    }
}
