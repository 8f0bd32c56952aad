import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct ActivityLineTests {
    /// Activities come and leave from any place, and the first is drawn among them.
    @Test(arguments: 0..<20 as Range<UInt64>) func theOrderIsThatOfArrivalAndEachPlaceIsKnown(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var line = ActivityLine()
        var positions = GrowingColumn<UInt32>(repeating: .max, count: 60)
        var array: [ActivitySlot] = []
        for step in 0..<3000 {
            let free = (0..<UInt32(60)).map(ActivitySlot.init).filter { !array.contains($0) }
            // The line alternates between long and short.
            let joins = random.chance(step / 150 % 2 == 0 ? 0.65 : 0.35)
            if joins, let slot = free.randomElement(using: &random) {
                line.append(slot, positions: &positions)
                array.append(slot)
            } else if let slot = random.chance(0.5) ? array.first : array.randomElement(using: &random) {
                line.remove(at: Int(positions[Int(slot.rawValue)]), positions: &positions)
                array.removeAll { $0 == slot }
            }
            if random.chance(0.1) {
                let before = line.first
                line.drawFirst(by: random.next(), positions: &positions)
                if let first = before, let drawn = line.first, let place = array.firstIndex(of: drawn) {
                    #expect(array[0] == first)
                    array.swapAt(0, place)
                }
            }
            let places = line.places
            let areKnown = places.allSatisfy { positions[Int($0.slot.rawValue)] == UInt32($0.position) }
            let areContained = places.allSatisfy { line.contains($0.slot, at: $0.position) }
            guard places.map(\.slot) == array, areKnown, areContained, line.violation() == nil,
                line.count == array.count, line.first == array.first,
                line.isEmpty == array.isEmpty
            else {
                Issue.record("seed \(seed), step \(step): \(places), not \(array)")
                return
            }
        }
    }

    @Test func chanceReachesEachActivityOfALineWithoutGaps() {
        var positions = GrowingColumn<UInt32>(repeating: .max, count: 20)
        var line = ActivityLine()
        for slot in UInt32(0)..<20 { line.append(ActivitySlot(slot), positions: &positions) }
        for place in 0..<5 { line.remove(at: place, positions: &positions) }
        let drawn = (0..<UInt64(15)).map { random in
            var copy = line
            copy.drawFirst(by: random, positions: &positions)
            return copy.first
        }
        #expect(drawn == (5..<UInt32(20)).map { ActivitySlot($0) })
    }

    /// Starts come and go for days while one of them waits for its moment.
    @Test func gapsDoNotAccumulateBehindAnActivityThatStays() {
        var positions = GrowingColumn<UInt32>(repeating: .max, count: 2)
        var line = ActivityLine()
        line.append(ActivitySlot(0), positions: &positions)
        for _ in 0..<1000 {
            line.append(ActivitySlot(1), positions: &positions)
            #expect(positions[1] <= 17)
            line.remove(at: Int(positions[1]), positions: &positions)
        }
        #expect(line.first == ActivitySlot(0) && line.count == 1)
    }
}
