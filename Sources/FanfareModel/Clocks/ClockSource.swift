/// Where an engine reads the time: what the machine's clocks say, right or wrong. The engine itself judges what of it is to be believed.
/// Any thread.
public struct ClockSource: Sendable {
    /// Unix milliseconds, as they are set: a step of hours, either way, is believed by nobody at once.
    public var wallMilliseconds: @Sendable () -> Int64
    /// Nanoseconds from an arbitrary start; never goes back. Best if it counts the time in which the machine was suspended.
    public var monotonicNanoseconds: @Sendable () -> Int64
    /// What APNs has shown of this wall clock. Copies share it.
    package let proof = WallProof()

    /// Both closures are called on several threads, also at the same time, and must not block.
    public init(
        wallMilliseconds: @escaping @Sendable () -> Int64, monotonicNanoseconds: @escaping @Sendable () -> Int64
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// The same clocks, of which nothing has been shown yet.
    package var unproven: ClockSource {
        ClockSource(wallMilliseconds: wallMilliseconds, monotonicNanoseconds: monotonicNanoseconds)
    }
}
