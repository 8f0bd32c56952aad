import FanfareModel
import FanfareQueues

/// A hash table of activities' slots by id: open addressing with linear probing, four bytes per bucket, at most three quarters full.
///
/// The table consists of segments, which grow one by one: a full segment doubles, and one of `segmentSizeMax` buckets is split in two. An insertion
/// therefore moves the slots of one segment, a tenth of a millisecond's work, however large the table is. A table that grew as a whole would read
/// ten million ids at random places, and all others of the shard would wait for more than a second. A directory finds the segment of an id.
///
/// The ids stay in the store, which is passed to each call, so no id is stored twice. Ids are hashes already, keyed ones if they are
/// made from a value that an app or a phone may choose (`ActivityID`); they need no further hashing.
struct SlotTable {
    /// Hash table of the slots whose ids have the same leading bits, once they are mixed.
    private struct Segment {
        private var buckets: [UInt32]
        /// Number of these bits.
        let bits: Int
        private(set) var count = 0

        init(size: Int, bits: Int) {
            buckets = Array(repeating: SlotTable.empty, count: size)
            self.bits = bits
        }

        var slots: [UInt32] { buckets.filter { $0 != SlotTable.empty } }
        var size: Int { buckets.count }
        /// Is `true` if there is no room for another slot.
        var isFull: Bool { (count + 1) * 4 > buckets.count * 3 }

        private func home(_ id: ActivityID) -> Int { Int(truncatingIfNeeded: id.rawValue) & (buckets.count - 1) }

        func find(_ id: ActivityID, in activities: GrowingColumn<Activity>) -> ActivitySlot? {
            var bucket = home(id)
            while buckets[bucket] != SlotTable.empty {
                if activities[Int(buckets[bucket])].id == id { return ActivitySlot(buckets[bucket]) }
                bucket = (bucket + 1) & (buckets.count - 1)
            }
            return nil
        }

        /// Inserts a slot, for which there must be room.
        mutating func insert(_ slot: UInt32, _ id: ActivityID) {
            var bucket = home(id)
            while buckets[bucket] != SlotTable.empty { bucket = (bucket + 1) & (buckets.count - 1) }
            buckets[bucket] = slot
            count += 1
        }

        /// Removes an id, which must be in the segment. Entries that it displaced move back, so there are no tombstones, and probe sequences
        /// do not grow with churn.
        mutating func remove(_ id: ActivityID, in activities: GrowingColumn<Activity>) {
            let mask = buckets.count - 1
            var hole = home(id)
            while activities[Int(buckets[hole])].id != id { hole = (hole + 1) & mask }
            var next = (hole + 1) & mask
            while buckets[next] != SlotTable.empty {
                // The entry may move into the hole unless its home lies between the hole and its present bucket.
                let distance = (next - home(activities[Int(buckets[next])].id)) & mask
                if distance >= (next - hole) & mask {
                    buckets[hole] = buckets[next]
                    hole = next
                }
                next = (next + 1) & mask
            }
            buckets[hole] = SlotTable.empty
            count -= 1
        }

        /// Number of buckets that a look-up of an id in the segment reads.
        func probes(_ id: ActivityID, in activities: GrowingColumn<Activity>) -> Int {
            var bucket = home(id)
            var probes = 1
            while activities[Int(buckets[bucket])].id != id {
                bucket = (bucket + 1) & (buckets.count - 1)
                probes += 1
            }
            return probes
        }
    }

    private static let empty = UInt32.max
    private static let sizeMin = 16
    /// Number of buckets of a segment that is split when it is full.
    static let segmentSizeMax = 2048
    /// Greatest number of bits that tell segments apart. With as many, a hundred million slots have room, and a full segment doubles again.
    private static let bitsMax = 16

    private var segments = [Segment(size: sizeMin, bits: 0)]
    /// Place of the segment for each value of `directoryBits` leading bits.
    private var directory: [UInt16] = [0]
    private var directoryBits = 0
    private(set) var count = 0

    /// Returns the leading bits of an id. They are mixed (Fibonacci hashing), because the lower bits are those of the buckets.
    private func prefix(of id: ActivityID) -> Int {
        Int(truncatingIfNeeded: (id.rawValue &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - directoryBits))
    }

    /// Returns the place of an id's segment.
    private func place(of id: ActivityID) -> Int { Int(directory[prefix(of: id)]) }

    /// - Parameter activities: the store's column, in which every slot of the table still has its id.
    func find(_ id: ActivityID, in activities: GrowingColumn<Activity>) -> ActivitySlot? {
        segments[place(of: id)].find(id, in: activities)
    }

    /// Inserts a slot, whose id must not be in the table.
    mutating func insert(_ slot: ActivitySlot, in activities: GrowingColumn<Activity>) {
        let id = activities[Int(slot.rawValue)].id
        while segments[place(of: id)].isFull { grow(segmentOf: id, activities) }
        segments[place(of: id)].insert(slot.rawValue, id)
        count += 1
    }

    /// Removes an id, which must be in the table.
    mutating func remove(_ id: ActivityID, in activities: GrowingColumn<Activity>) {
        segments[place(of: id)].remove(id, in: activities)
        count -= 1
    }

    /// Makes room for that many slots in an empty table, unless it has that room. A table with slots grows by small steps.
    mutating func reserve(_ capacity: Int) {
        guard count == 0, capacity * 3 > segments.reduce(0, { $0 + $1.size }) * 2 else { return }
        var (size, bits) = (SlotTable.sizeMin, 0)
        // Ids come and go, and a segment that is full at times would split: a third stays free, some deviations more than chance fills.
        while capacity * 3 > size * 2 << bits {
            if size < SlotTable.segmentSizeMax || bits == SlotTable.bitsMax { size *= 2 } else { bits += 1 }
        }
        // The segments share one array until each of them gets its first slot.
        segments = Array(repeating: Segment(size: size, bits: bits), count: 1 << bits)
        directory = segments.indices.map { UInt16($0) }
        directoryBits = bits
    }

    // MARK: Growth

    private mutating func grow(segmentOf id: ActivityID, _ activities: GrowingColumn<Activity>) {
        let old = segments[place(of: id)]
        guard old.size >= SlotTable.segmentSizeMax, old.bits < SlotTable.bitsMax else {
            segments[place(of: id)] = Segment(size: old.size * 2, bits: old.bits)
            return insert(old.slots, activities)
        }
        if old.bits == directoryBits { doubleDirectory() }
        // The values that lead to the segment are neighbours. From now on the upper half of them leads to the new one.
        let width = 1 << (directoryBits - old.bits)
        let first = prefix(of: id) / width * width
        segments[place(of: id)] = Segment(size: old.size, bits: old.bits + 1)
        for value in first + width / 2..<first + width { directory[value] = UInt16(segments.count) }
        segments.append(Segment(size: old.size, bits: old.bits + 1))
        insert(old.slots, activities)
    }

    private mutating func insert(_ slots: [UInt32], _ activities: GrowingColumn<Activity>) {
        for slot in slots {
            let id = activities[Int(slot)].id
            segments[place(of: id)].insert(slot, id)
        }
    }

    private mutating func doubleDirectory() {
        var doubled: [UInt16] = []
        doubled.reserveCapacity(directory.count * 2)
        for place in directory {
            doubled.append(place)
            doubled.append(place)
        }
        directory = doubled
        directoryBits += 1
    }

    // MARK: Checks

    /// Number of buckets that a look-up of an id in the table reads.
    func probes(_ id: ActivityID, in activities: GrowingColumn<Activity>) -> Int {
        segments[place(of: id)].probes(id, in: activities)
    }

    /// Greatest number of buckets of a segment.
    var longestSegment: Int { segments.reduce(0) { max($0, $1.size) } }

    /// Describes a wrong count, or a slot that is not found by its id; `nil` if there is none.
    func violation(in activities: GrowingColumn<Activity>) -> String? {
        let taken = segments.flatMap(\.slots)
        let isRight = segments.allSatisfy { $0.slots.count == $0.count && $0.count * 4 <= $0.size * 3 }
        guard taken.count == count, isRight else {
            return "\(count) ids are counted, \(taken.count) are in \(segments.count) segments"
        }
        let lost = taken.first { find(activities[Int($0)].id, in: activities) != ActivitySlot($0) }
        return lost.map { "slot \($0) is not found by its id" }
    }
}
