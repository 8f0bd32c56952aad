import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct SweepMembersTests {
    /// Members as wide as a thousand numbers, so that a few dozen need segments.
    private struct Wide {
        let numbers: InlineArray<1000, UInt64>

        init(_ number: UInt64) { numbers = InlineArray(repeating: number) }
        var number: UInt64 { numbers[999] }
    }

    @Test(arguments: UInt64(1)...20) func membersAgreeWithAnArray(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var members = SweepMembers<Wide>()
        var model: [UInt64] = []
        for step in 0..<2000 {
            let value = random.next()
            // They come for a while, then leave.
            switch value % 8 {
            case 0..<(step / 200 % 2 == 0 ? 5 : 2):
                members.append(Wide(value))
                model.append(value)
            case 0..<6 where !model.isEmpty:
                members.removeLast()
                model.removeLast()
            case 6 where !model.isEmpty:
                let (a, b) = (Int(value / 8 % UInt64(model.count)), Int(random.next() % UInt64(model.count)))
                members.swapAt(a, b)
                model.swapAt(a, b)
                members[a] = Wide(value)
                model[a] = value
            case 7 where random.chance(0.01):
                members.removeAll()
                model.removeAll()
            default: break
            }
            let isSame = members.count == model.count && members.isEmpty == model.isEmpty
            #expect(isSame, "seed \(seed), step \(step)")
            if step % 50 == 0 { #expect(members.map(\.number) == model, "seed \(seed), step \(step)") }
        }
    }

    /// Those that stand side by side make up all members, whatever the limit.
    @Test(arguments: [1, 3, 8, 1000]) func neighboursFollowEachOther(limit: Int) {
        var members = SweepMembers<Wide>()
        for number in 0..<UInt64(45) { members.append(Wide(number)) }
        var numbers: [UInt64] = []
        while numbers.count < members.count {
            let next = members.neighbours(from: numbers.count, limit: limit)
            #expect((1...limit).contains(next.count))
            numbers += next.map(\.number)
            if next.isEmpty { break }
        }
        #expect(SweepMembers<Wide>.fewMax == 8 && numbers == Array(0..<45))
    }

    /// The first members of a large audience stay where they are, and so do those in segments.
    @Test func aJoinerMovesAtMostAsManyMembersAsASegmentHas() {
        var members = SweepMembers<UInt32>()
        let capacity = SegmentedArray<UInt32>.segmentCapacity
        var addresses: [UInt] = []
        var movedMax = 0
        for number in 0..<UInt32(5 * capacity) {
            members.append(number)
            // The first member of each stretch tells where the stretch is.
            let present = stride(from: 0, to: members.count, by: capacity).map { position in
                members.neighbours(from: position, limit: 1).withUnsafeBufferPointer {
                    UInt(bitPattern: $0.baseAddress)
                }
            }
            let moved = addresses.indices.count { addresses[$0] != present[$0] }
            movedMax = max(movedMax, moved)
            addresses = present
        }
        let wrong = members.indices.first { members[$0] != UInt32($0) }
        #expect(wrong == nil && addresses.count == 5 && movedMax == 1)
    }

    /// There may be a million audiences of one member.
    @Test func membersTakeThreeWordsBesidesThoseThatThereAre() {
        #expect(MemoryLayout<SweepMembers<ActivitySlot>>.size == 24)
    }
}
