import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SlotTableTests {
    /// The table agrees with a dictionary after random inserts and removals of ids that are chosen to collide often.
    @Test(arguments: UInt64(1)...20) func slotTableAgreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var activities: [Activity] = []
        var table = SlotTable()
        var model: [ActivityID: ActivitySlot] = [:]
        for _ in 0..<2000 {
            // Few low bits and many high ones make long runs of neighbours, some of which wrap around the end.
            let id = ActivityID(random.next() % 64 &* 0x1_0000_0000_0001 &+ random.next() % 4)
            if let slot = model[id] {
                #expect(table.find(id, in: activities) == slot, "seed \(seed)")
                if random.chance(0.5) {
                    table.remove(id, in: activities)
                    model[id] = nil
                }
            } else {
                #expect(table.find(id, in: activities) == nil, "seed \(seed)")
                activities.append(Activity(id: id))
                let slot = ActivitySlot(UInt32(activities.count - 1))
                table.insert(slot, in: activities)
                model[id] = slot
            }
            #expect(table.count == model.count)
        }
        for (id, slot) in model { #expect(table.find(id, in: activities) == slot, "seed \(seed)") }
        #expect(table.violation(in: activities) == nil, "seed \(seed)")
    }

    @Test func aSlotThatIsNotFoundByItsIDIsAViolation() {
        var activities = (0..<UInt64(10)).map { Activity(id: ActivityID($0)) }
        var table = SlotTable()
        for slot in UInt32(0)..<10 { table.insert(ActivitySlot(slot), in: activities) }
        #expect(table.violation(in: activities) == nil)
        // Its bucket is empty.
        activities[7].id = ActivityID(12)
        #expect(table.violation(in: activities) != nil)
    }
}
