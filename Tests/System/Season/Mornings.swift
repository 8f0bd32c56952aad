import CountAllocations

/// Numbers of living objects at six in the morning.
struct Tables: Equatable {
    /// Topics of the decision core; `topicsInShard` counts the shard's.
    var topics = 0
    var topicsInShard = 0
    var activities = 0
    /// Activities without an update token.
    var tokenless = 0
    var phones = 0
}

/// What lives at six in the morning after a day.
struct Morning {
    var tables: Tables
    /// Bytes held by the engine and the phones.
    var bytes: Int
    /// What the store had on the day; `nil` without a store.
    var store: StoreFigures?
}

/// Judge of what lives at six in the morning: neither the tables, the heap nor the store grow after the third day.
struct Mornings {
    private(set) var days: [Morning] = []
    /// Bytes held before the engine was made.
    private let bytesBefore: Int
    /// Judges of what the store has, if there is one.
    private(set) var store = StoreJudges()

    /// Tolerance for a hash table, whose capacity follows the busiest day. With few topics that is more than a hundredth of all bytes.
    private static let tableBytes = 128 << 10
    /// Tolerance beside it for a store: LMDB keeps the pages of its largest transaction, and a checkpoint may be under way.
    private static let storeBytes = 2 << 20
    /// Tolerance beside it where a column is large: such a one grows by as much at a time, and a place beyond those of the first days may be a step.
    private static let columnBytes = 2 << 20

    /// - Parameter bytes: bytes held by this thread before the engine is made.
    init(before bytes: Int) { bytesBefore = bytes }

    /// Returns the morning of now.
    func morning(_ tables: Tables, _ store: StoreFigures?) -> Morning {
        Morning(tables: tables, bytes: Int(bytes_held_by_this_thread()) - bytesBefore, store: store)
    }

    mutating func note(_ morning: Morning) { days.append(morning) }

    mutating func note(_ day: StoreFigures) { store.note(day) }

    /// - Parameter hasLargeColumns: `true` if a column of the engine has a range of its own.
    /// - Returns: description of a growth since the third day; `nil` if there is none.
    func growth(hasLargeColumns: Bool) -> String? {
        guard days.count > 3, let last = days.last else { return nil }
        let early = days[2]
        if early.tables != last.tables {
            return "the tables have grown: \(early.tables) after day 3, \(last.tables) after day \(days.count)"
        }
        let tolerance =
            Mornings.tableBytes + (last.store == nil ? 0 : Mornings.storeBytes)
            + (hasLargeColumns ? Mornings.columnBytes : 0)
        guard abs(last.bytes - early.bytes) > max(early.bytes / 100, tolerance) else {
            return store.growth()
        }
        return "the heap has grown: \(early.bytes) bytes after day 3, \(last.bytes) after day \(days.count)"
    }
}
