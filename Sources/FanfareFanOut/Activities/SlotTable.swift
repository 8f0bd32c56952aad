import FanfareModel
import FanfareQueues

/// The slots of activities by id, in a hash table that grows by small steps.
///
/// The ids stay in the store, which is passed to each call, so no id is stored twice. Ids are hashes already, keyed ones if they are
/// made from a value that an app or a phone may choose (`ActivityID`); they need no further hashing.
struct SlotTable {
    private var table = SegmentTable()

    var count: Int { table.count }

    /// - Parameter activities: the store's column, in which every slot of the table still has its id.
    func find(_ id: ActivityID, in activities: GrowingColumn<Activity>) -> ActivitySlot? {
        table.find(id.rawValue) { activities[$0].id == id }.map { ActivitySlot(UInt32($0)) }
    }

    /// Inserts a slot, whose id must not be in the table.
    mutating func insert(_ slot: ActivitySlot, in activities: GrowingColumn<Activity>) {
        table.insert(Int(slot.rawValue)) { activities[$0].id.rawValue }
    }

    /// Removes a slot, which must be in the table.
    mutating func remove(_ slot: ActivitySlot, in activities: GrowingColumn<Activity>) {
        table.remove(Int(slot.rawValue)) { activities[$0].id.rawValue }
    }

    /// Makes room for that many slots in an empty table, unless it has that room. A table with slots grows by small steps.
    mutating func reserve(_ capacity: Int) { table.reserve(capacity) }

    // MARK: Checks

    /// Number of buckets that a look-up of a slot in the table reads.
    func probes(_ slot: ActivitySlot, in activities: GrowingColumn<Activity>) -> Int {
        table.probes(Int(slot.rawValue), activities[Int(slot.rawValue)].id.rawValue)
    }

    /// Greatest number of buckets of a segment.
    var longestSegment: Int { table.longestSegment }

    /// Describes a wrong count, or a slot that is not found by its id; `nil` if there is none.
    func violation(in activities: GrowingColumn<Activity>) -> String? {
        if let violation = table.violation() { return "slots by id: \(violation)" }
        let lost = table.places.first { find(activities[$0].id, in: activities)?.rawValue != UInt32($0) }
        return lost.map { "slot \($0) is not found by its id" }
    }
}
