import FanfareModel

/// A hash table of activities' slots by id: open addressing with linear probing, four bytes per bucket, at most three quarters full.
///
/// The ids stay in the store, which is passed to each call, so no id is stored twice. Ids are hashes already, keyed ones if they are
/// made from a value that an app or a phone may choose (`ActivityID`); they need no further hashing.
struct SlotTable {
    private static let empty = UInt32.max

    private var buckets: [UInt32] = Array(repeating: empty, count: 16)
    private(set) var count = 0

    /// - Parameter activities: the store's array, in which every slot of the table still has its id.
    func find(_ id: ActivityID, in activities: [Activity]) -> ActivitySlot? {
        var bucket = home(id)
        while buckets[bucket] != SlotTable.empty {
            if activities[Int(buckets[bucket])].id == id { return ActivitySlot(buckets[bucket]) }
            bucket = (bucket + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// Inserts a slot, whose id must not be in the table.
    mutating func insert(_ slot: ActivitySlot, in activities: [Activity]) {
        if (count + 1) * 4 > buckets.count * 3 { grow(to: buckets.count * 2, activities) }
        place(slot.rawValue, activities[Int(slot.rawValue)].id)
        count += 1
    }

    /// Removes an id, which must be in the table. Entries that it displaced move back, so there are no tombstones, and probe sequences
    /// do not grow with churn.
    mutating func remove(_ id: ActivityID, in activities: [Activity]) {
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

    mutating func reserve(_ capacity: Int, in activities: [Activity]) {
        var size = buckets.count
        while capacity * 4 > size * 3 { size *= 2 }
        if size > buckets.count { grow(to: size, activities) }
    }

    /// Number of buckets that a look-up of an id in the table reads; for checks.
    func probes(_ id: ActivityID, in activities: [Activity]) -> Int {
        var bucket = home(id)
        var probes = 1
        while activities[Int(buckets[bucket])].id != id {
            bucket = (bucket + 1) & (buckets.count - 1)
            probes += 1
        }
        return probes
    }

    /// Describes a wrong count, or a slot that is not found by its id; `nil` if there is none.
    func violation(in activities: [Activity]) -> String? {
        let taken = buckets.filter { $0 != SlotTable.empty }
        guard taken.count == count, count * 4 <= buckets.count * 3 else {
            return "\(count) ids are counted, \(taken.count) are in \(buckets.count) buckets"
        }
        let lost = taken.first { find(activities[Int($0)].id, in: activities) != ActivitySlot($0) }
        return lost.map { "slot \($0) is not found by its id" }
    }

    private func home(_ id: ActivityID) -> Int { Int(truncatingIfNeeded: id.rawValue) & (buckets.count - 1) }

    private mutating func place(_ slot: UInt32, _ id: ActivityID) {
        var bucket = home(id)
        while buckets[bucket] != SlotTable.empty { bucket = (bucket + 1) & (buckets.count - 1) }
        buckets[bucket] = slot
    }

    private mutating func grow(to size: Int, _ activities: [Activity]) {
        let old = buckets
        buckets = Array(repeating: SlotTable.empty, count: size)
        for slot in old where slot != SlotTable.empty { place(slot, activities[Int(slot)].id) }
    }
}
