import FanfareModel
import Testing

@testable import FanfareFanOut

/// What a run of equal activities, and one activity alone, make of an answer.
@Suite struct ActivityRunsTests {
    @Test func anAcceptedPushChangesAnActivityAloneAndOneOfARunAlike() {
        var store = ActivityStore()
        let slots = (0..<UInt64(2)).map { store.insert(ActivityID($0), token: [UInt8($0)]) }
        for slot in slots {
            store[slot].flags = .inFlight
            store[slot].sending = 5
            store[slot].delivered = 3
            store[slot].alerted = 4
            _ = store[slot].failures.add(in: 0)
        }
        let second = store[slots[1]]
        store.settle(slots[0], at: 5)
        let completion = DeliveryCompletion(slot: slots[1], generation: second.generation, outcome: .accepted)
        let settled = store.settle([completion], from: 0, like: second)
        #expect(settled == 1)
        for slot in slots {
            let activity = store[slot]
            #expect(activity.flags.isEmpty && activity.failures.count == 0)
            #expect(activity.delivered == 5 && activity.alerted == 5)
        }
    }

    @Test func anAcceptedPushTakesNoSettledAlertsBack() {
        var store = ActivityStore()
        let slot = store.insert(ActivityID(1), token: [1])
        store[slot].alerted = 9
        store.settle(slot, at: 5)
        #expect(store[slot].delivered == 5 && store[slot].alerted == 9)
    }
}
