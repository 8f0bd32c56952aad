import Synchronization

/// Bounds on stamps (`aps.timestamp`) that outlive the process, in Unix seconds. A stamp may be ahead of the clock, and the clock may be set
/// back across a restart: the stamps of a process begin behind all that the processes before it may have used.
@usableFromInline package struct StampBounds: Sendable, Equatable {
    /// The least stamp of a push.
    package var floor: Int64
    /// The greatest stamp ahead of the time of stamps. It is durable, so the next process begins behind it.
    package var mark: Int64

    /// Maximum by which a stamp may be ahead of the clock; devices drop later ones (spec §3.3, Apple staff).
    package static let aheadMax: Int64 = 8 * 3600

    /// Without a store, nothing is known of earlier stamps, and nothing will be of these.
    @usableFromInline package init(floor: Int64 = 0, mark: Int64 = .max) { (self.floor, self.mark) = (floor, mark) }
}

extension StampBounds {
    /// Bounds of a process that begins behind another one.
    ///
    /// - Parameters:
    ///   - last: the mark of that process; `nil` if there was none.
    ///   - now: wall clock time.
    package init(after last: Int64?, at now: FeedTime) {
        floor = (last ?? -1) + 1
        // However wrong the clock is, a mark has four bytes.
        let second = min(max(2, now.milliseconds / 1000), Int64(UInt32.max) - 2 * StampBounds.aheadMax)
        // Stamps beyond that came from a wrong clock, and were dropped. The floor counts again if it is this clock that is wrong.
        mark = (floor <= second + StampBounds.aheadMax ? max(floor, second) : second) + StampMark.reserve
    }
}

/// Mark of stamps of an engine. Callable from any thread: the thread of the store raises it, and those that push read it. The value
/// publishes nothing else, so its accesses need no ordering.
package final class StampMark: Sendable {
    private let floor: Int64
    private let mark: Atomic<Int64>

    /// Creates the mark of an engine without a store.
    package convenience init() { self.init(StampBounds()) }

    package init(_ bounds: StampBounds) {
        floor = bounds.floor
        mark = Atomic(bounds.mark)
    }

    package var bounds: StampBounds { StampBounds(floor: floor, mark: mark.load(ordering: .relaxed)) }

    /// Allows stamps up to this one, which is durable.
    package func raise(to stamp: Int64) { mark.max(stamp, ordering: .relaxed) }

    /// Seconds by which a mark is ahead of the stamp that it is for.
    package static let reserve: Int64 = 10
}
