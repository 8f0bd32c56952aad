import FanfareModel

/// What of the lineups waits for the store: those of one member, by their rows, whose alerts a claim names that is not durable yet, and the
/// cursors and queues whose next lineup no claim names, because there are too many names.
struct WaitingLineups {
    private struct Entry {
        let row: UInt32
        let ticket: UInt64
    }

    /// In the order of the tickets.
    private var named = Queue<Entry>()
    private var parked: [LaneMember] = []
    /// The timer at which nothing of this waits any longer, and its time in monotonic nanoseconds. All have one timer, because they wait for
    /// the same store; the others have theirs.
    var timer: (entry: TimingWheel.Entry, due: Int64)?

    var isEmpty: Bool { named.isEmpty && parked.isEmpty }

    mutating func append(_ row: Int, ticket: UInt64) { named.append(Entry(row: UInt32(row), ticket: ticket)) }

    /// Adds a member of the lanes, which is parked there.
    mutating func append(_ member: LaneMember) { parked.append(member) }

    mutating func takeParked() -> [LaneMember] {
        defer { parked = [] }
        return parked
    }

    /// Removes and returns a lineup whose claim is durable; `nil` if there is none.
    ///
    /// - Parameter durable: ticket up to which claims are durable.
    mutating func takeFirst(durable: UInt64) -> Int? {
        guard let first = named.first, first.ticket <= durable else { return nil }
        named.removeFirst()
        return Int(first.row)
    }

    // For checks.
    func contains(_ row: Int) -> Bool { named.elements.contains { $0.row == UInt32(row) } }
    func contains(_ member: LaneMember) -> Bool { parked.contains { $0 === member } }
}
