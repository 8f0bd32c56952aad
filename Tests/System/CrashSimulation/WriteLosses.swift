import FanfareModel
import FanfareTestSupport

/// What crashes leave of the writes that a disk has not confirmed, and the counts of writes and losses.
struct WriteLosses {
    /// Draws what a crash leaves of the last batch of entries; `nil` if it leaves nothing.
    private var tearing: SplitMix64?
    var counts = WorldCounts<CrashOccurrence>()

    /// - Parameter seed: seed of torn writes; `nil` if a crash leaves nothing of a batch.
    init(tearing seed: UInt64?) { tearing = seed.map { SplitMix64(seed: $0) } }

    /// Notes a crash.
    ///
    /// - Parameters:
    ///   - count: number of entries of the last batch.
    ///   - others: number of the disk's other parts of which a write is lost.
    /// - Returns: the number of entries of the last batch that are durable nevertheless.
    mutating func crash(entries count: Int, others: Int) -> Int {
        counts[.lost] += others
        let kept = tear(count)
        if count > 0 {
            counts[kept == 0 ? .lost : kept < count ? .torn : .unheard] += 1
        }
        return kept
    }

    /// Draws how many of these entries are durable.
    private mutating func tear(_ count: Int) -> Int {
        guard count > 0, var random = tearing else { return 0 }
        defer { tearing = random }
        return random.chance(0.5) ? Int.random(in: 1...count, using: &random) : 0
    }
}
