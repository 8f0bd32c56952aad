import FanfareModel
import FanfareQueues

/// The state of a lineup's audience at rest, as it goes into a row of `LineupTable` and comes back. The one member has the newest version, or that
/// version is in flight.
struct RestingLineup {
    /// Row in the shard's `LineupTable`.
    let row: Int
    /// Position of the favourite among the lineup's topics.
    let pinned: Int?
    let member: ActivitySlot
    /// Number of the newest version, and the hash of its content.
    let number: UInt32
    let displayHash: UInt64
    let priority: Priority
    /// `Lineup.publishedAt`.
    let publishedAt: MonotonicTime
    let rotation: RestingRotation
    /// Position of the spotlight among the lineup's topics.
    let spotlight: Int?
    let wakeUp: ShardTimers.Entry?
    /// Low bits of the number of alerts, by class (`AlertHistory.resting`).
    let alertCounts: SIMD2<UInt8>
}
