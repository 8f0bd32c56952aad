/// Clocks that an engine reads: the machine's times, which may be wrong. The engine itself judges which of their readings to believe. Any thread may
/// read them.
public struct ClockSource: Sendable {
    /// Unix milliseconds of the wall clock, as the machine has it set. The engine does not believe a step of hours, in either direction, at once.
    public var wallMilliseconds: @Sendable () -> Int64
    /// Nanoseconds from an arbitrary start; never goes back. The clock should include the time for which the machine was suspended.
    public var monotonicNanoseconds: @Sendable () -> Int64
    /// A reading of the wall clock, to be compared with the times of a feed.
    package var wall: FeedTime { FeedTime(milliseconds: wallMilliseconds()) }
    /// Reading of the monotonic clock at this moment, such as a program compares with `FreshnessReport.lastAccepted`.
    public var monotonic: MonotonicTime { MonotonicTime(nanoseconds: monotonicNanoseconds()) }
    /// Evidence from APNs about this wall clock, shared by copies.
    package let proof = WallProof()
    /// Stamp ceiling in the engine's store, shared by copies.
    package var stamps = StampCeiling()

    /// Creates a source. The engine calls both closures on several threads, sometimes at the same time; they must not block.
    public init(
        wallMilliseconds: @escaping @Sendable () -> Int64, monotonicNanoseconds: @escaping @Sendable () -> Int64
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// A source with the same clocks and no evidence.
    package var unproven: ClockSource {
        var other = ClockSource(wallMilliseconds: wallMilliseconds, monotonicNanoseconds: monotonicNanoseconds)
        other.proof.isAwaited = proof.isAwaited
        other.stamps = stamps
        return other
    }
}
