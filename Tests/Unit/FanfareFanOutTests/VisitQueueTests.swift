import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct VisitQueueTests {
    /// Activities are queued, served and go elsewhere, as their `queued` flags say; some come back before their old entries are met.
    @Test(arguments: 0..<20 as Range<UInt64>) func everyWantedActivityIsServedAndOthersAreSkipped(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = VisitQueue()
        var wanted: Set<ActivitySlot> = []
        for step in 0..<4000 {
            let slot = ActivitySlot(UInt32.random(in: 0..<100, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3: if wanted.insert(slot).inserted { queue.append(slot) }
            case 3..<6: if wanted.remove(slot) != nil { queue.abandon { wanted.contains($0) } }
            case 6: queue.drawFirst(by: random.next())
            default:
                var next = queue.popFirst()
                while let skipped = next, !wanted.contains(skipped) { next = queue.popFirst() }
                #expect((next == nil) == wanted.isEmpty, "seed \(seed), step \(step)")
                if let next { wanted.remove(next) }
            }
            let violation = queue.violation { wanted.contains($0) }
            #expect(violation == nil, "seed \(seed), step \(step)")
            #expect(wanted.isSubset(of: queue.slots), "seed \(seed), step \(step)")
            #expect(queue.count <= wanted.count * 3 + 40, "seed \(seed), step \(step)")
        }
    }

    @Test func activitiesAreServedInTheOrderInWhichTheyCame() {
        var queue = VisitQueue()
        let slots = (0..<UInt32(50)).map { ActivitySlot($0) }
        for slot in slots { queue.append(slot) }
        var wanted = slots
        for slot in slots where slot.rawValue % 3 == 0 {
            wanted.removeAll { $0 == slot }
            queue.abandon { wanted.contains($0) }
        }
        var served: [ActivitySlot] = []
        while let next = queue.popFirst() { if wanted.contains(next) { served.append(next) } }
        #expect(served == wanted && queue.isEmpty)
    }

    /// An activity that has left and come back has two entries, of which one is enough.
    @Test func entriesThatAreRemovedLeaveOneForEachActivity() {
        var queue = VisitQueue()
        let slot = ActivitySlot(3)
        for _ in 0..<17 {
            queue.append(slot)
            queue.abandon { $0 == slot }
        }
        #expect(queue.count == 1 && queue.slots == [slot])
        let violations = [queue.violation { _ in true }, queue.violation { _ in false }]
        #expect(violations[0] == nil && violations[1] != nil, "nobody has abandoned the entry")
    }
}
