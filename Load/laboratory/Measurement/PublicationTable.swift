import FanfareModel
import Synchronization

/// Knowledge of each publication: the planned moment of its cause, and the moment of its decision.
///
/// The core's thread writes a row before any shard can know the publication; the ring's release publishes it to the shards, which only
/// read it. `Sendable` is unchecked because the compiler does not know of that order.
package final class PublicationTable: @unchecked Sendable {
    package struct Row {
        /// Monotonic nanoseconds; `decided` is the moment before the shards got it.
        package var planned: Int64 = 0
        package var decided: Int64 = 0
        package var series = Series.conserving
        /// Index of the topic kind in `kinds`.
        package var kind: UInt8 = 0
        /// Number of the goal whose spread is kept, from 1; 0 for others.
        package var goal: UInt8 = 0
        /// Is `false` for what was planned before the measurement.
        package var isMeasured = false
        /// Index of the topic in the schedule; `unknown` for one that the schedule does not have.
        package var topic = Row.unknown
        /// Serial of the topic's publication before this one; 0 for its first, and without a known topic.
        package var previous: UInt32 = 0

        package static let unknown = UInt32.max
    }

    package static let goalsMax = 64
    package static let kindsMax = 4
    /// Serials from 1 to this one have a row; later publications are not measured, and are counted as such.
    package let capacity: Int
    private let rows: UnsafeMutablePointer<Row>
    /// Publications that all of their activities have, by serial.
    private let finished: UnsafeMutablePointer<Atomic<Bool>>
    /// Moment at which each publication's last activity had it, by serial; 0 if none did. Core's thread.
    private let lasts: UnsafeMutablePointer<Int64>

    package init(capacity: Int) {
        self.capacity = capacity
        rows = .allocate(capacity: capacity + 1)
        rows.initialize(repeating: Row(), count: capacity + 1)
        lasts = .allocate(capacity: capacity + 1)
        lasts.initialize(repeating: 0, count: capacity + 1)
        finished = .allocate(capacity: capacity + 1)
        for serial in 0...capacity { (finished + serial).initialize(to: Atomic(false)) }
    }

    /// Bytes of memory that the table takes, all of them from its beginning on.
    package var bytes: Int { (capacity + 1) * (MemoryLayout<Row>.stride + MemoryLayout<Int64>.stride + 1) }

    deinit {
        rows.deallocate()
        lasts.deallocate()
        finished.deinitialize(count: capacity + 1)
        finished.deallocate()
    }

    /// Core's thread only, before the publication is handed to the shards.
    package func note(_ row: Row, of serial: UInt64) { if serial <= UInt64(capacity) { rows[Int(serial)] = row } }

    /// - Parameter serial: of a publication that the caller has learnt of through its shard's ring.
    package subscript(serial: UInt64) -> Row { serial <= UInt64(capacity) ? rows[Int(serial)] : Row() }

    /// Notes that all activities have the publication. Core's thread.
    package func finish(_ serial: UInt64) {
        if serial <= UInt64(capacity) { finished[Int(serial)].store(true, ordering: .relaxed) }
    }

    /// Notes the moment at which the publication's last activity had it, or at which the wait for that ended. Core's thread.
    package func noteLast(_ moment: Int64, of serial: UInt64) {
        if serial <= UInt64(capacity) { lasts[Int(serial)] = moment }
    }

    /// Core's thread.
    package func last(of serial: UInt64) -> Int64? {
        guard serial <= UInt64(capacity), lasts[Int(serial)] > 0 else { return nil }
        return lasts[Int(serial)]
    }

    /// Is `true` some time after all activities have the publication. Any thread.
    package func isFinished(_ serial: UInt64) -> Bool {
        serial <= UInt64(capacity) && finished[Int(serial)].load(ordering: .relaxed)
    }
}
