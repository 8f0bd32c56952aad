import FanfareModel

/// Ids that the shard gives to activities that have lost their names to others, until these activities are gone.
struct SurrogateIDs {
    private var ids: Set<ActivityID> = []
    private var given: UInt64 = 0

    mutating func add(isTaken: (ActivityID) -> Bool) -> ActivityID {
        while true {
            given += 1
            let id = ActivityID((~given).mixed)
            if !isTaken(id), ids.insert(id).inserted { return id }
        }
    }

    mutating func remove(_ id: ActivityID) { if !ids.isEmpty { ids.remove(id) } }
    func contains(_ id: ActivityID) -> Bool { !ids.isEmpty && ids.contains(id) }
}
