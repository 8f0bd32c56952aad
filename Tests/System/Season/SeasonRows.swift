import FanfareLog

/// The rows of cards of a season's store, which are written in batches.
final class SeasonRows {
    private let store: LMDBPeopleStore
    private let register: PeopleRegister
    private let batchMax: Int
    /// Rows of each day that a planted leak keeps.
    private let leaks: Int
    /// Rows of this day that the leak has kept.
    private var leaked = 0
    /// Changes that are written next.
    private var changes: [PeopleEntry] = []

    init(_ store: LMDBPeopleStore, batchMax: Int, leaks: Int) {
        self.store = store
        register = PeopleRegister(store)
        self.batchMax = batchMax
        self.leaks = leaks
    }

    func take(_ change: PeopleEntry) throws {
        changes.append(change)
        if changes.count >= batchMax { try write() }
    }

    /// Returns whether a planted leak keeps the row of a card that is over.
    func keepsLeak() -> Bool {
        guard leaked < leaks else { return false }
        leaked += 1
        return true
    }

    func write() throws {
        guard !changes.isEmpty else { return }
        try register.apply(changes)
        changes.removeAll(keepingCapacity: true)
    }

    func count() throws -> Int { try store.count() }

    func beginDay() { leaked = 0 }
}
