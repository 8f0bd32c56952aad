import FanfareModel

/// Finds an activity's slot by its id: open addressing with linear probing, four bytes per bucket, at most three quarters full.
///
/// The ids themselves stay in the store and are handed in, so nothing is kept twice. They are hashes already, keyed ones where they
/// are made from what an app, or a phone, may choose (`ActivityID`); no further hashing is needed.
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

    /// The id must not be in the table.
    mutating func insert(_ slot: ActivitySlot, in activities: [Activity]) {
        if (count + 1) * 4 > buckets.count * 3 { grow(to: buckets.count * 2, activities) }
        place(slot.rawValue, activities[Int(slot.rawValue)].id)
        count += 1
    }

    /// The id must be in the table. What was pushed on by it moves back, so there are no tombstones and a day of churn leaves
    /// the table as short as it was.
    mutating func remove(_ id: ActivityID, in activities: [Activity]) {
        let mask = buckets.count - 1
        var hole = home(id)
        while activities[Int(buckets[hole])].id != id { hole = (hole + 1) & mask }
        var next = (hole + 1) & mask
        while buckets[next] != SlotTable.empty {
            // It may move into the hole unless its home lies behind it, on the way from the hole to where it stands.
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

    /// Buckets at which a look-up of an id in the table looks; for checks.
    func probes(_ id: ActivityID, in activities: [Activity]) -> Int {
        var bucket = home(id)
        var probes = 1
        while activities[Int(buckets[bucket])].id != id {
            bucket = (bucket + 1) & (buckets.count - 1)
            probes += 1
        }
        return probes
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
