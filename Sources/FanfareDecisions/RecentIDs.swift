import FanfareModel

/// The newest `capacity` ids, to recognise duplicates. One more id evicts the oldest.
///
/// Every event looks up its id, and few are duplicates. So the look-up is an open-addressing table of places in the ring, at most
/// half full, with linear probing.
struct RecentIDs: Sendable {
    private let capacity: UInt32
    /// Ids in order of arrival; once full, the next one replaces `oldest`.
    private var ring: [(id: String, hash: UInt64)] = []
    private var oldest: UInt32 = 0
    /// Hash table of places in the ring, counted from 1; 0 is free. Its size is a power of two.
    private var table = RecentIDs.empty
    /// Empty table, shared by all instances without ids.
    private static let empty = [UInt32](repeating: 0, count: 32)

    init(capacity: Int) { self.capacity = UInt32(min(max(1, capacity), Int(UInt32.max) - 1)) }

    func contains(_ id: String) -> Bool { table[find(id, id.utf8.keyedHash)] != 0 }

    mutating func insert(_ id: String) {
        let hash = id.utf8.keyedHash
        var free = find(id, hash)
        guard table[free] == 0 else { return }
        var place = ring.count
        if ring.count == Int(capacity) {
            place = Int(oldest)
            oldest = (oldest + 1) % capacity
            remove(ring[place].id, ring[place].hash)
            ring[place] = (id, hash)
            free = find(id, hash)
        } else {
            // Reserves as many ids as the first table takes, because most topics have more than one or two.
            if ring.isEmpty { ring.reserveCapacity(min(Int(capacity), table.count / 2)) }
            ring.append((id, hash))
            if 2 * ring.count > table.count { return grow() }
        }
        table[free] = UInt32(place + 1)
    }

    /// Returns the position of the id in the table, or the free one where it belongs.
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

    /// Removes an id, and moves later ones into the gap if a look-up would miss them otherwise.
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

    /// Describes an id that is not found, a place that the table has twice or not at all, or too many ids; `nil` if there is none. For tests.
    func violation() -> String? {
        guard ring.count <= Int(capacity), 2 * ring.count <= table.count else {
            return "\(ring.count) ids are in a table of \(table.count) for \(capacity) ids"
        }
        guard ring.count == Int(capacity) ? oldest < capacity : oldest == 0 else {
            return "the oldest of \(ring.count) ids is at \(oldest)"
        }
        guard table.filter({ $0 != 0 }).sorted() == ring.indices.map({ UInt32($0 + 1) }) else {
            return "the table does not have each of \(ring.count) ids once"
        }
        let lost = ring.indices.first { place in
            let (id, hash) = ring[place]
            return hash != id.utf8.keyedHash || table[find(id, hash)] != UInt32(place + 1)
        }
        return lost.map { "id \(ring[$0].id) is not found" }
    }
}

extension RecentIDs {
    func write(to writer: inout SerialWriter) {
        writer.write(UInt64(capacity))
        writer.write(all: ring[Int(oldest)...] + ring[..<Int(oldest)]) { $0.write($1.id) }
    }

    /// Inserts the ids of another set, oldest first.
    mutating func insert(_ others: RecentIDs) {
        for id in others.ring[Int(others.oldest)...] + others.ring[..<Int(others.oldest)] { insert(id.id) }
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        self.init(capacity: Int(clamping: try reader.unsigned()))
        for id in try reader.all({ (reader) throws(SerialError) in try reader.text() }) { insert(id) }
    }
}
