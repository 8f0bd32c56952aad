import FanfareModel

/// Lineups of one member whose wake-up is due, by row, first come, first served: the timers of a million lineups may be due together, and
/// the lanes let others have their turns between the visits.
///
/// There is one for each lane. An entry counts while its lineup has the flag `isDue`. Confined to its shard's thread.
final class DueLineups: LaneMember {
    let number: Int
    // Unchecked for the reason given in `Shard`.
    @exclusivity(unchecked) private var rows = Queue<UInt32>()
    /// Upper bound on the entries that do not count.
    @exclusivity(unchecked) private var abandoned = 0

    init(lane number: Int) { self.number = number }

    override var due: DueLineups? { self }
    override var hasWork: Bool { !rows.isEmpty }
    override var preferredLane: Int { number }

    var count: Int { rows.count }

    func append(_ row: Int) { rows.append(UInt32(row)) }

    func popFirst() -> Int? {
        let row = rows.popFirst()
        if rows.isEmpty { abandoned = 0 }
        return row.map(Int.init)
    }

    /// Notes that an entry does not count any more. Such entries are removed when they may be half of the queue, so that they do not
    /// accumulate while nothing is served.
    ///
    /// - Parameter isDue: returns whether the lineup still has an entry here.
    func abandon(isDue: (Int) -> Bool) {
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > rows.count else { return }
        var seen: Set<UInt32> = []
        rows = Queue(rows.elements.filter { isDue(Int($0)) && seen.insert($0).inserted })
        abandoned = 0
    }

    // For checks.
    func contains(_ row: Int) -> Bool { rows.elements.contains(UInt32(row)) }
}
