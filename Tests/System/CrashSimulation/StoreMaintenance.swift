import FanfareLog
import FanfareModel

/// Work of an operator on a store while no engine uses it, drawn from a seed: `fanfare people prune`, `export` with `import`, and `fanfare log trim`.
struct StoreMaintenance {
    private var random: SplitMix64
    private(set) var met = Met()

    /// Numbers of the work that a world has met.
    struct Met {
        /// Rows that a pruning has removed, entries that a trimming has removed, and rows that an import has brought back.
        var pruned = 0, trimmed = 0, imported = 0
        /// Outages of several hours.
        var outages = 0

        static func += (sum: inout Met, more: Met) {
            sum.pruned += more.pruned
            sum.trimmed += more.trimmed
            sum.imported += more.imported
            sum.outages += more.outages
        }
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// Draws the time for which no engine runs. Log time lags behind the wall clock after an outage.
    mutating func outage(hours: ClosedRange<Int>) -> Duration {
        guard random.chance(0.5) else { return .milliseconds(Int.random(in: 1...5000, using: &random)) }
        met.outages += 1
        return .seconds(Int.random(in: hours, using: &random) * 3600 + Int.random(in: 0...1800, using: &random))
    }

    /// Removes the entries before the newest checkpoint.
    mutating func trim(_ log: MemoryLog) throws {
        guard random.chance(0.5), let newest = try log.checkpoints.positions().first, newest > 1 else { return }
        let start = log.start
        log.trim(through: newest - 1)
        met.trimmed += Int(log.start - start)
    }

    /// Removes cards that are over, and cards that later ones replace.
    ///
    /// - Returns: whether it did.
    mutating func prune(_ people: MemoryPeopleStore, at wall: FeedTime) throws -> Bool {
        guard random.chance(0.7) else { return false }
        let pruning = Pruning(now: wall)
        var removals: [PeopleChange] = []
        for slice in 0..<Card.slices {
            try pruning.judge(slice: slice, of: people) { (key, found) throws(LogError) in
                if case .success(.some(_)) = found { removals.append(.remove(key)) }
            }
        }
        try people.apply(removals)
        met.pruned += removals.count
        return true
    }

    /// Imports the lines of some shown cards again, with their app or without it.
    ///
    /// - Returns: the imported cards.
    mutating func importAgain(_ people: MemoryPeopleStore) throws -> [Card] {
        var shown: [Card] = []
        try people.read { (_, found) throws(LogError) in
            if case .success(let card) = found, card.phase == .shown { shown.append(card) }
            return true
        }
        var imported: [Card] = []
        for card in shown where random.chance(0.2) {
            var line = Card(
                subscriber: card.subscriber, activity: card.activity, token: card.token, audience: card.audience,
                startedAt: card.startedAt)
            line.preferences = card.preferences
            if random.chance(0.5) { line.app = card.app }
            imported.append(line)
        }
        try people.apply(imported.map { PeopleChange.insert($0) })
        met.imported += imported.count
        return imported
    }
}
