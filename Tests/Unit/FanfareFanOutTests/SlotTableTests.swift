import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct SlotTableTests {
    /// The table agrees with a dictionary after random inserts and removals of ids that are chosen to collide often.
    @Test(arguments: UInt64(1)...20) func slotTableAgreesWithADictionary(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var activities = GrowingColumn<Activity>()
        var table = SlotTable()
        var model: [ActivityID: ActivitySlot] = [:]
        for _ in 0..<2000 {
            // Few low bits and many high ones make long runs of neighbours, some of which wrap around the end.
            let id = ActivityID(random.next() % 64 &* 0x1_0000_0000_0001 &+ random.next() % 4)
            if let slot = model[id] {
                #expect(table.find(id, in: activities) == slot, "seed \(seed)")
                if random.chance(0.5) {
                    table.remove(slot, in: activities)
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

    /// A reservation for some of the ids, or for none, and ids that differ in no bit that tells segments apart.
    @Test(arguments: [0, 100_000, 300_000], [false, true])
    func anInsertionMovesTheSlotsOfOneSegment(reserved: Int, areAlike: Bool) {
        var random = SplitMix64(seed: 7)
        var table = SlotTable()
        table.reserve(reserved)
        var activities = GrowingColumn<Activity>()
        let count = areAlike ? UInt64(5000) : 200_000
        for number in 0..<count {
            // The inverse of the factor that mixes the bits.
            let id = ActivityID(areAlike ? number &* 0xF1DE_83E1_9937_733D : random.next())
            activities.append(Activity(id: id))
            table.insert(ActivitySlot(UInt32(number)), in: activities)
        }
        #expect(table.count == Int(count) && table.violation(in: activities) == nil)
        #expect((table.longestSegment == SegmentTable.segmentSizeMax) != areAlike)
        for number in 0..<UInt32(count) where number % 3 != 0 { table.remove(ActivitySlot(number), in: activities) }
        let found = activities.indices.filter { table.find(activities[$0].id, in: activities) != nil }
        #expect(found == Array(stride(from: 0, to: Int(count), by: 3)) && table.count == found.count)
        #expect(table.violation(in: activities) == nil)
    }

    @Test func aReservationLeavesATableWithSlotsAsItIs() {
        var activities = GrowingColumn<Activity>()
        activities.append(Activity(id: ActivityID(7)))
        var table = SlotTable()
        table.insert(ActivitySlot(0), in: activities)
        table.reserve(1_000_000)
        #expect(table.longestSegment == 16 && table.find(ActivityID(7), in: activities) == ActivitySlot(0))
    }

    @Test func theGreaterOfTwoReservationsHolds() {
        var table = SlotTable()
        table.reserve(100_000)
        table.reserve(16)
        #expect(table.longestSegment == SegmentTable.segmentSizeMax)
    }

    @Test func aSlotThatIsNotFoundByItsIDIsAViolation() {
        var activities = GrowingColumn<Activity>()
        for id in 0..<UInt64(10) { activities.append(Activity(id: ActivityID(id))) }
        var table = SlotTable()
        for slot in UInt32(0)..<10 { table.insert(ActivitySlot(slot), in: activities) }
        #expect(table.violation(in: activities) == nil)
        // Its bucket is empty.
        activities[7].id = ActivityID(12)
        #expect(table.violation(in: activities) != nil)
    }
}
