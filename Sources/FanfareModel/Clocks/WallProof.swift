import Synchronization

/// What is known of the right time from outside, for all threads of an engine: APNs has accepted a JWT, so the clock by which that was
/// made is right to an hour, and whatever the machine's own clock is set to later, that one goes on with the monotonic clock. Where APNs
/// has refused a JWT it is the clock that is tried instead: what is stamped by a wrong one then, APNs refuses, too.
///
/// Any thread. Whoever pushes writes it, whoever reads the clocks reads it; nothing else is published by it, so its order is nobody's.
package final class WallProof: Sendable {
    private let value = Atomic<Int64>(WallProof.none)
    private static let none = Int64.min
    /// APNs compares the time of a JWT with its own and bears so much, either way (spec §9.1). A clock further from one that it has
    /// accepted is wrong.
    package static let tolerance = Duration.seconds(3600)

    package init() {}

    /// What the proven clock said when the monotonic one began: Unix nanoseconds. `nil`: nothing has been accepted yet, or what had been
    /// is refused now.
    package var origin: Int64? {
        get {
            let value = value.load(ordering: .relaxed)
            return value == WallProof.none ? nil : value
        }
        set {
            let new = newValue ?? WallProof.none
            // Written for every pull, read by every thread's turn: a line of memory that does not change is nobody's to wait for.
            if value.load(ordering: .relaxed) != new { value.store(new, ordering: .relaxed) }
        }
    }
}
