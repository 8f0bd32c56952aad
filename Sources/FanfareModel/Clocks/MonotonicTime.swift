/// Reading of the monotonic clock, which never goes back, whatever the wall clock does. Every wait, backoff and measurement goes by it.
///
/// The clock begins anywhere, so programs compare and subtract two readings of one process; one reading alone says nothing.
public struct MonotonicTime: Sendable, Hashable, InstantProtocol, BitwiseCopyable {
    /// Nanoseconds since the clock's arbitrary beginning (`ClockSource.monotonic`).
    public var nanoseconds: Int64

    /// Creates a time from a number of nanoseconds since the clock's beginning.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The time of a deadline that is none: after all others.
    @inlinable package static var never: MonotonicTime { MonotonicTime(nanoseconds: .max) }
    /// A time before every reading.
    @inlinable package static var always: MonotonicTime { MonotonicTime(nanoseconds: .min) }

    /// Returns `true` if `one` is earlier.
    @inlinable public static func < (one: MonotonicTime, other: MonotonicTime) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// Returns the time after a wait, of which at most 146 years count; the last or the first time beyond 64 bits.
    @inlinable public func advanced(by duration: Duration) -> MonotonicTime {
        advanced(byNanoseconds: duration.nanoseconds)
    }

    /// Returns the time after some nanoseconds, for paths on which a division of 128 bits counts.
    @inlinable package func advanced(byNanoseconds wait: Int64) -> MonotonicTime {
        let (sum, overflows) = nanoseconds.addingReportingOverflow(wait)
        return overflows ? (wait < 0 ? .always : .never) : MonotonicTime(nanoseconds: sum)
    }

    /// Returns the time from this reading to another one, negative if the other is earlier; at most 64 bits of nanoseconds.
    @inlinable public func duration(to other: MonotonicTime) -> Duration {
        .nanoseconds(other.nanoseconds(since: self))
    }

    /// Returns the nanoseconds from another time to this one, at most 64 bits of them; negative if the other is later.
    @inlinable package func nanoseconds(since other: MonotonicTime) -> Int64 {
        let (span, overflows) = nanoseconds.subtractingReportingOverflow(other.nanoseconds)
        return overflows ? (nanoseconds < other.nanoseconds ? .min : .max) : span
    }

    @inlinable package static func + (time: MonotonicTime, wait: Duration) -> MonotonicTime { time.advanced(by: wait) }
    @inlinable package static func - (time: MonotonicTime, span: Duration) -> MonotonicTime {
        time.advanced(byNanoseconds: -span.nanoseconds)
    }
    @inlinable package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        earlier.duration(to: later)
    }
    @inlinable package static func += (time: inout MonotonicTime, wait: Duration) { time = time + wait }
}

extension Duration {
    /// Nanoseconds, at most 2^62 in either direction (146 years), whatever duration a program has set.
    @inlinable package var nanoseconds: Int64 {
        // Not from `components`, which takes three times as long.
        Int64(min(max(attoseconds / 1_000_000_000, -(1 << 62)), 1 << 62))
    }
}
