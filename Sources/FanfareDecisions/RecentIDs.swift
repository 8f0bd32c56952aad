import FanfareModel

/// The newest `capacity` ids, to know duplicates by. Adding one more forgets the oldest.
///
/// Every event asks for its id, which few repeat. So it is an open table of places in the ring, at most half full and probed in
/// order.
struct RecentIDs: Sendable {
    private let capacity: Int
    /// In order of arrival; once full, `oldest` is where the next one goes.
    private var ring: [(id: String, hash: UInt64)] = []
    private var oldest = 0
    /// Places in the ring, counted from 1; 0 is free. A power of two.
    private var table = RecentIDs.empty
    /// One for all who know no id yet.
    private static let empty = [UInt32](repeating: 0, count: 32)

    init(capacity: Int) { self.capacity = min(max(1, capacity), Int(UInt32.max) - 1) }

    func contains(_ id: String) -> Bool { table[find(id, id.utf8.keyedHash)] != 0 }

    mutating func insert(_ id: String) {
        let hash = id.utf8.keyedHash
        var free = find(id, hash)
        guard table[free] == 0 else { return }
        var place = ring.count
        if ring.count == capacity {
            place = oldest
            oldest = (oldest + 1) % capacity
            remove(ring[place].id, ring[place].hash)
            ring[place] = (id, hash)
            free = find(id, hash)
        } else {
            // As many as the first table takes: most topics have more ids than one or two.
            if ring.isEmpty { ring.reserveCapacity(min(capacity, table.count / 2)) }
            ring.append((id, hash))
            if 2 * ring.count > table.count { return grow() }
        }
        table[free] = UInt32(place + 1)
    }

    /// Where the table has the id, or where it would go.
    private func find(_ id: String, _ hash: UInt64) -> Int {
        var position = Int(truncatingIfNeeded: hash) & (table.count - 1)
        while table[position] != 0 {
            let known = ring[Int(table[position]) - 1]
            if known.hash == hash, known.id == id { break }
            position = (position + 1) & (table.count - 1)
        }
        return position
    }

    private mutating func grow() {
        table = [UInt32](repeating: 0, count: 2 * table.count)
        for (place, known) in ring.enumerated() { table[find(known.id, known.hash)] = UInt32(place + 1) }
    }

    /// What stands behind the gap moves into it, where a look-up would not find it otherwise.
    private mutating func remove(_ id: String, _ hash: UInt64) {
        let mask = table.count - 1
        var gap = find(id, hash)
        var position = gap
        while true {
            position = (position + 1) & mask
            guard table[position] != 0 else { break }
            let home = Int(truncatingIfNeeded: ring[Int(table[position]) - 1].hash)
            guard (position &- home) & mask >= (position &- gap) & mask else { continue }
            table[gap] = table[position]
            gap = position
        }
        table[gap] = 0
    }
}
