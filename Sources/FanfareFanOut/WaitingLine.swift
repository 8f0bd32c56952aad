/// Activities in the order in which they came, any of which may leave. Each knows its place by the `positions` array that every call
/// updates, indexed by slot.
struct WaitingLine {
    private var entries: [ActivitySlot?] = []
    /// The first one's; or the end.
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: ActivitySlot? { head < entries.count ? entries[head] : nil }
    /// First in, first.
    var places: [(position: Int, slot: ActivitySlot)] {
        entries.indices.compactMap { position in entries[position].map { (position, $0) } }
    }

    mutating func append(_ slot: ActivitySlot, positions: inout [UInt32]) {
        positions[Int(slot.rawValue)] = UInt32(entries.count)
        entries.append(slot)
        count += 1
    }

    mutating func remove(at position: Int, positions: inout [UInt32]) {
        entries[position] = nil
        count -= 1
        while head < entries.count, entries[head] == nil { head += 1 }
        // Gaps are closed when they are most of it, so each costs as much as one entry.
        guard entries.count > 16, count * 2 < entries.count else { return }
        entries.removeAll { $0 == nil }
        head = 0
        for (position, slot) in entries.enumerated() {
            if let slot { positions[Int(slot.rawValue)] = UInt32(position) }
        }
    }
}
