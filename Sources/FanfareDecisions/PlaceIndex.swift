/// Finds a topic's place by the hash of its id: an open table, at most half full and probed in order, so that a topic nobody has asked for
/// lately is found with one look into memory that is not at hand, beside the look at the topic itself.
///
/// It knows no ids: whoever asks compares them.
struct PlaceIndex: Sendable {
    private struct Entry {
        /// The lower half of the hash; where the table has more entries than that tells apart, their order does.
        var tag: UInt32
        /// Counted from 1; 0 is free.
        var place: UInt32
    }

    /// A power of two.
    private var entries = [Entry](repeating: Entry(tag: 0, place: 0), count: 64)
    private(set) var count = 0

    /// - Parameter isIt: whether the id is that of the topic at a place; asked of few others.
    @inline(__always)
    func find(_ hash: UInt64, _ isIt: (Int) -> Bool) -> Int? {
        let mask = entries.count - 1
        let tag = UInt32(truncatingIfNeeded: hash)
        var position = Int(tag) & mask
        while entries[position].place != 0 {
            if entries[position].tag == tag {
                let place = Int(entries[position].place) - 1
                if isIt(place) { return place }
            }
            position = (position + 1) & mask
        }
        return nil
    }

    /// - Parameter place: of an id that has none yet.
    mutating func insert(_ place: Int, _ hash: UInt64) {
        count += 1
        if 2 * count > entries.count { grow() }
        put(Entry(tag: UInt32(truncatingIfNeeded: hash), place: UInt32(place + 1)))
    }

    mutating func remove(_ place: Int, _ hash: UInt64) {
        let mask = entries.count - 1
        var gap = Int(UInt32(truncatingIfNeeded: hash)) & mask
        while entries[gap].place != UInt32(place + 1) {
            guard entries[gap].place != 0 else { return }
            gap = (gap + 1) & mask
        }
        count -= 1
        // What stands behind the gap moves into it, where a look-up would not find it otherwise.
        var position = gap
        while true {
            position = (position + 1) & mask
            guard entries[position].place != 0 else { break }
            let home = Int(entries[position].tag)
            guard (position &- home) & mask >= (position &- gap) & mask else { continue }
            entries[gap] = entries[position]
            gap = position
        }
        entries[gap].place = 0
    }

    private mutating func put(_ entry: Entry) {
        let mask = entries.count - 1
        var position = Int(entry.tag) & mask
        while entries[position].place != 0 { position = (position + 1) & mask }
        entries[position] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = [Entry](repeating: Entry(tag: 0, place: 0), count: 2 * old.count)
        for entry in old where entry.place != 0 { put(entry) }
    }
}
