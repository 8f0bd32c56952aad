import FanfareModel

/// Lineups of one member whose wake-up is due, by row, first come, first served: the timers of a million lineups may be due together, and
/// the lanes let others have their turns between the visits.
///
/// Each lane has one such member. An entry counts while its lineup has the flag `isDue`. Confined to its shard's thread.
final class DueLineups: LaneMember {
    let number: Int
    // Unchecked for the reason given in `Membership`.
    @safe @exclusivity(unchecked) private var rows = DueEntries()
    /// Entries that go before all of `rows`.
    @safe @exclusivity(unchecked) private var first = DueEntries()
    /// Number of entries that do not count.
    @safe @exclusivity(unchecked) private var abandoned = 0
    /// Number of entries that do not count and are left alone.
    private static let abandonedMin = 16
    /// Number of entries that each abandoned one makes the queue examine. With eight of them, fewer than half of the entries do not count, beside
    /// `abandonedMin`.
    static let examinedMax = 8

    init(lane number: Int) { self.number = number }

    override var hasWork: Bool { count > abandoned }
    override var preferredLane: Int { number }

    var count: Int { first.count + rows.count }
    /// Number of entries that go before the others, including entries that do not count.
    var firstCount: Int { first.count }

    func append(_ row: Int, isFirst: Bool = false) {
        if isFirst { first.append(row) } else { rows.append(row) }
    }

    /// Removes and returns the first lineup that is due; `nil` if there is none.
    ///
    /// - Parameter isDue: returns whether the lineup has an entry here that counts.
    func popFirst(isDue: (Int) -> Bool) -> Int? {
        while let row = first.popFirst() ?? rows.popFirst() {
            if isDue(row) {
                removeAbandoned()
                return row
            }
            abandoned -= 1
        }
        return nil
    }

    /// Removes all entries if none counts. They would be served never, and take the room of lineups whose claims are durable.
    private func removeAbandoned() {
        guard abandoned == count, abandoned > 0 else { return }
        first.removeAll()
        rows.removeAll()
        abandoned = 0
    }

    /// Makes any entry the first one, of those that go before the others if there are any.
    func drawNext(by random: UInt64) {
        if first.isEmpty { rows.drawFirst(by: random) } else { first.drawFirst(by: random) }
    }

    /// Notes that an entry does not count any more. A few entries are examined each time, so that those that do not count do not accumulate while
    /// nothing is served, and a million of them lengthen no turn.
    ///
    /// - Parameter isDue: returns whether the lineup still has an entry here.
    func abandon(isDue: (Int) -> Bool) {
        abandoned += 1
        removeAbandoned()
        guard abandoned > DueLineups.abandonedMin else { return }
        // The entries of both are examined in proportion to their numbers.
        let ofFirst = max(first.isEmpty ? 0 : 1, DueLineups.examinedMax * first.count / count)
        for _ in 0..<ofFirst {
            if first.examineNext(isDue: isDue) { abandoned -= 1 }
        }
        for _ in ofFirst..<DueLineups.examinedMax {
            if rows.examineNext(isDue: { isDue($0) && !first.hasKept($0) }) { abandoned -= 1 }
        }
    }

    /// Describes a lineup without an entry, or a wrong count of those that count; `nil` if there are none.
    ///
    /// - Parameter due: the lineups that have an entry here that counts.
    func violation(due: Set<Int>) -> String? {
        let listed = Set(first.elements + rows.elements)
        guard due.isSubset(of: listed) else { return "lineups are due in lane \(number), and nobody will visit them" }
        guard count - abandoned == due.count else {
            return "lane \(number) counts \(count - abandoned) lineups that are due, has \(due.count)"
        }
        return first.violation() ?? rows.violation()
    }
}
