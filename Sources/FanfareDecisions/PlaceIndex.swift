/// Index of topics' places by the hash of their ids. It is an open-addressed table with linear probing, at most half full, so finding a topic
/// costs two cache misses when its data is cold: one here, one for the topic itself.
///
/// The index stores no ids; callers compare them.
struct PlaceIndex: Sendable {
    private struct Entry {
        /// Lower half of the hash, which also determines the entry's first position. The callers' comparison tells ids with equal tags apart.
        var tag: UInt32
        /// Place plus 1; 0 marks a free entry.
        var place: UInt32
    }

    /// Entries, a power of two of them.
    private var entries = [Entry](repeating: Entry(tag: 0, place: 0), count: 64)
    private(set) var count = 0

    /// - Parameter isIt: returns `true` if the topic at a place has the id; rarely called for other topics.
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

    /// - Parameter place: place of an id that is not in the index.
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
        // Later entries move into the gap if a look-up would not find them behind it.
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

    /// Describes a wrong count, a place that has two entries, or one that is not found; `nil` if there is none. For tests.
    func violation() -> String? {
        let taken = entries.filter { $0.place != 0 }
        guard taken.count == count, 2 * count <= entries.count else {
            return "\(count) places are counted, \(taken.count) of \(entries.count) entries are taken"
        }
        guard Set(taken.map(\.place)).count == count else { return "a place has two entries" }
        let lost = taken.first { entry in
            let place = Int(entry.place) - 1
            return find(UInt64(entry.tag), { $0 == place }) != place
        }
        return lost.map { "place \($0.place - 1) is not found" }
    }
}
