import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct SlotSetTests {
    @Test(arguments: 0..<5 as Range<UInt64>) func theSetAgreesWithASetOfSlots(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var set = SlotSet()
        var model: Set<ActivitySlot> = []
        for step in 0..<2000 {
            let slot = ActivitySlot(UInt32.random(in: 0..<300, using: &random))
            let isInsertion = random.chance(0.5)
            let hasChanged = isInsertion ? set.insert(slot) : set.remove(slot)
            let isNew = isInsertion ? model.insert(slot).inserted : model.remove(slot) != nil
            guard hasChanged == isNew, set.contains(slot) == isInsertion, set.count == model.count else {
                Issue.record("seed \(seed), step \(step): \(set.count) instead of \(model.count)")
                return
            }
        }
        let found = (UInt32(0)..<300).map { ActivitySlot($0) }.filter { set.contains($0) }
        #expect(Set(found) == model && set.violation() == nil)
    }

    @Test func slotsFarApartAreDifferentMembers() {
        var set = SlotSet()
        for slot in [0, 63, 64, UInt32.max] { set.insert(ActivitySlot(slot)) }
        let isNew = set.insert(ActivitySlot(64))
        #expect(!isNew && set.count == 4 && set.contains(ActivitySlot(.max)) && !set.contains(ActivitySlot(65)))
        #expect(set.violation() == nil)
    }
}
