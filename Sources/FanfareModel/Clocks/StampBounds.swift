import Synchronization

/// Bounds on stamps (`aps.timestamp`) that outlive the process, in Unix seconds. A stamp may be ahead of the clock, and the clock may be set
/// back across a restart: the stamps of a process begin behind all that the processes before it may have used.
@usableFromInline package struct StampBounds: Sendable, Equatable {
    /// The least stamp of a push.
    package var floor: Int64
    /// The greatest stamp ahead of the time of stamps. It is durable, so the next process begins behind it.
    package var ceiling: Int64

    /// Maximum by which a stamp may be ahead of the clock; devices drop later ones (spec §3.3, Apple staff).
    @inlinable package static var aheadMax: Int64 { 8 * 3600 }

    /// Without a store, nothing is known of earlier stamps, and nothing will be of these.
    @usableFromInline package init(floor: Int64 = 0, ceiling: Int64 = .max) {
        (self.floor, self.ceiling) = (floor, ceiling)
    }
}

extension StampBounds {
    /// Maximum by which the least stamp may be ahead of the clock: the devices' limit, less the room that stamps of an activity with a state a second
    /// need.
    @inlinable package static var floorAheadMax: Int64 { 7 * 3600 }

    /// Bounds of a process that begins behind another one. Nothing is reserved beyond the clock, so that processes that end at once put the next one
    /// no further ahead.
    ///
    /// - Parameters:
    ///   - last: the ceiling of that process; `nil` if there was none.
    ///   - now: wall clock time.
    package init(after last: Int64?, at now: FeedTime) {
        let second = StampBounds.second(now)
        // Stamps further ahead came from a wrong clock, and were dropped.
        floor = last.map { $0 - second < StampBounds.floorAheadMax ? $0 + 1 : 0 } ?? 0
        ceiling = max(floor, second + StampCeiling.timeReserve)
    }

    /// Returns the seconds by which the stamps begin ahead of the clock.
    package func lead(at now: FeedTime) -> Int64 { max(0, floor - StampBounds.second(now)) }

    /// Returns the second of a clock within the bounds of ceilings, which have four bytes, however wrong the clock is.
    private static func second(_ now: FeedTime) -> Int64 {
        min(max(2, now.milliseconds / 1000), Int64(UInt32.max) - 2 * aheadMax)
    }
}

/// Stamp ceiling of an engine. Callable from any thread: the thread of the store raises it, and pushing threads read it. The value publishes nothing
/// else, so its accesses need no ordering.
package final class StampCeiling: Sendable {
    private let floor: Int64
    /// Time at which the floor was that.
    private let begun: MonotonicTime
    private let ceiling: Atomic<Int64>

    /// Creates the ceiling of an engine without a store.
    package convenience init() { self.init(StampBounds(), at: MonotonicTime(nanoseconds: 0)) }

    package init(_ bounds: StampBounds, at now: MonotonicTime) {
        floor = bounds.floor
        begun = now
        ceiling = Atomic(bounds.ceiling)
    }

    /// Returns the bounds at a monotonic time. The floor rises with it, because limits and dates count in stamps, but slower, so that the clock
    /// catches up: an hour in ten. It rises as far as the ceiling, so that the next process begins behind it.
    package func bounds(at now: MonotonicTime) -> StampBounds {
        let passed = floor == 0 ? 0 : ClockBounds.elapsed(from: begun, to: now) / 10 * 9 / 1_000_000_000
        return StampBounds(floor: max(floor, min(floor + passed, reserved)), ceiling: reserved)
    }

    /// The greatest stamp that may be ahead of the time of stamps.
    package var reserved: Int64 { ceiling.load(ordering: .relaxed) }

    /// Allows stamps up to this one, which is durable.
    package func raise(to stamp: Int64) { ceiling.max(stamp, ordering: .relaxed) }

    /// Seconds by which a ceiling is ahead of the greatest stamp that was used. A process that is killed puts the next one so far ahead.
    package static let reserve: Int64 = 4
    /// Seconds by which a ceiling is ahead of the clock, so that a pause costs a write each quarter of a minute, and the push after it no wait.
    package static let timeReserve: Int64 = 30
}
