/// Clocks that an engine reads: the machine's times, which may be wrong. The engine itself judges which of their readings to believe. Any thread may
/// read them.
public struct ClockSource: Sendable {
    /// Reads the wall clock, as the machine has it set. The engine does not believe a step of hours, in either direction, at once.
    public var wall: @Sendable () -> FeedTime
    /// Reads the monotonic clock, which never goes back; a program compares the reading with `FreshnessReport.lastAccepted`. The clock should include
    /// the time for which the machine was suspended.
    public var monotonic: @Sendable () -> MonotonicTime
    /// Evidence from APNs about this wall clock, shared by copies.
    package let proof = WallProof()
    /// Stamp ceiling in the engine's store, shared by copies.
    package var stamps = StampCeiling()

    /// Creates a source. The engine calls both closures on several threads, sometimes at the same time; they must not block.
    public init(wall: @escaping @Sendable () -> FeedTime, monotonic: @escaping @Sendable () -> MonotonicTime) {
        self.wall = wall
        self.monotonic = monotonic
    }

    /// A source with the same clocks and no evidence.
    package var unproven: ClockSource {
        var other = ClockSource(wall: wall, monotonic: monotonic)
        other.proof.isAwaited = proof.isAwaited
        other.stamps = stamps
        return other
    }
}
