import Testing

@testable import FanfareFanOut

@Suite struct AlertMemoryTests {
    @Test func theMemoryHasARowForEachSlotOnceAnybodyHasAsked() {
        var memory = AlertMemory()
        memory.forget(ActivitySlot(0))
        #expect(memory.violation(slots: 1) == nil)
        memory.begin(1)
        #expect(memory.violation(slots: 1) == nil && memory.violation(slots: 2) != nil)
        memory.forget(ActivitySlot(1))
        #expect(memory.violation(slots: 2) == nil && memory.violation(slots: 1) != nil)
    }
}
