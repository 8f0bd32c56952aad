import FanfareModel
import Testing

@testable import FanfareFanOut

@Suite struct LaneQueueTests {
    private final class Job: LaneMember {
        let number: Int

        init(_ number: Int) { self.number = number }
    }

    private static func number(_ member: LaneMember?) -> Int? { (member as? Job)?.number }

    /// The queue grows and shrinks over several blocks.
    @Test(arguments: 0..<20 as Range<UInt64>) func laneQueueIsAQueueFromWhichChanceDraws(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = LaneQueue()
        var array: [Int] = []
        for step in 0..<400 {
            let count = Int.random(in: 0...300, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0..<4:
                for number in 0..<count {
                    queue.append(Job(step * 1000 + number))
                    array.append(step * 1000 + number)
                }
            case 4..<7:
                for _ in 0..<min(count, array.count) {
                    #expect(Self.number(queue.first) == array.first, "seed \(seed), step \(step)")
                    queue.removeFirst()
                    array.removeFirst()
                }
            case 7:
                let draw = random.next()
                queue.drawFirst(by: draw)
                if array.count > 1 { array.swapAt(0, Int(draw % UInt64(array.count))) }
            default:
                let unwanted = Int.random(in: 2...5, using: &random)
                queue.removeAll { (Self.number($0) ?? 0) % unwanted == 0 }
                array.removeAll { $0 % unwanted == 0 }
            }
            guard queue.count == array.count, queue.isEmpty == array.isEmpty, queue.violation() == nil,
                Self.number(queue.first) == array.first
            else {
                Issue.record("seed \(seed), step \(step): \(queue.count) of \(array.count)")
                return
            }
        }
        var left: [Int?] = []
        while let first = queue.first {
            left.append(Self.number(first))
            queue.removeFirst()
        }
        #expect(left == array, "seed \(seed)")
    }

    @Test func membersOfOtherLanesAreCountedAsStale() {
        var queue = LaneQueue()
        let jobs = (0..<1000).map { Job($0) }
        for job in jobs {
            _ = job.lane.enter(job.number % 3, turn: 1)
            queue.append(job)
        }
        for _ in 0..<10 { queue.removeFirst() }
        #expect(queue.staleCount(in: 0) == jobs.dropFirst(10).count { $0.number % 3 != 0 })
        for job in jobs { job.lane.leave() }
        #expect(queue.staleCount(in: 0) == 990)
    }

    /// A draw exchanges entries of any two blocks, and loses none.
    @Test func chanceReachesEveryEntryOfAQueue() {
        var queue = LaneQueue()
        let members = (0..<1200).map { _ in LaneMember() }
        for member in members { queue.append(member) }
        for _ in 0..<100 { queue.removeFirst() }
        var drawn: Set<ObjectIdentifier> = []
        for random in UInt64(0)..<1100 {
            queue.drawFirst(by: random)
            if let first = queue.first { drawn.insert(ObjectIdentifier(first)) }
        }
        let waiting = Set(members.dropFirst(100).map { ObjectIdentifier($0) })
        #expect(drawn == waiting, "each distance is drawn once")
        var left: Set<ObjectIdentifier> = []
        while let first = queue.first {
            left.insert(ObjectIdentifier(first))
            queue.removeFirst()
        }
        #expect(left == waiting && queue.isEmpty)
    }
}
