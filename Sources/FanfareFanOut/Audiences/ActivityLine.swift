import FanfareQueues

/// Activities in order of arrival; any of them may leave. The `positions` column, indexed by slot, has the place of each; every call
/// updates it.
struct ActivityLine {
    private var entries: [ActivitySlot?] = []
    /// Place of the first activity; the end if there is none.
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: ActivitySlot? { head < entries.count ? entries[head] : nil }
    /// All activities and their places, first in, first.
    var places: [(position: Int, slot: ActivitySlot)] {
        entries.indices.compactMap { position in entries[position].map { (position, $0) } }
    }

    // For checks.
    func contains(_ slot: ActivitySlot, at position: Int) -> Bool {
        position < entries.count && entries[position] == slot
    }

    /// Describes a gap at the head, or a wrong count; `nil` if there is none.
    func violation() -> String? {
        guard count == entries.count(where: { $0 != nil }), head <= entries.count,
            entries.prefix(head).allSatisfy({ $0 == nil }), head == entries.count || entries[head] != nil
        else { return "a line counts \(count) activities, and begins at \(head) of \(entries.count)" }
        return nil
    }

    mutating func append(_ slot: ActivitySlot, positions: inout GrowingColumn<UInt32>) {
        positions[Int(slot.rawValue)] = UInt32(entries.count)
        entries.append(slot)
        count += 1
    }

    /// Exchanges the first activity with one that chance chooses; does nothing if the chosen place is a gap.
    mutating func drawFirst(by random: UInt64, positions: inout GrowingColumn<UInt32>) {
        guard count > 1 else { return }
        let place = head + Int(random % UInt64(entries.count - head))
        guard let first = entries[head], let other = entries[place] else { return }
        entries.swapAt(head, place)
        positions[Int(other.rawValue)] = UInt32(head)
        positions[Int(first.rawValue)] = UInt32(place)
    }

    mutating func remove(at position: Int, positions: inout GrowingColumn<UInt32>) {
        entries[position] = nil
        count -= 1
        while head < entries.count, entries[head] == nil { head += 1 }
        // Gaps are removed when they outnumber the activities, so each costs as much as one entry.
        guard entries.count > 16, count * 2 < entries.count else { return }
        entries.removeAll { $0 == nil }
        head = 0
        for (position, slot) in entries.enumerated() {
            if let slot { positions[Int(slot.rawValue)] = UInt32(position) }
        }
    }
}
