import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct LanesTests {
    /// Visits that are to be made in one lane.
    private final class Job: LaneMember {
        let number: Int
        var work = 0
        var wanted = 0

        init(_ number: Int, work: Int = 0, lane: Int = 0) {
            self.number = number
            self.work = work
            wanted = lane
        }

        override var hasWork: Bool { work > 0 }
        override var preferredLane: Int { wanted }
    }

    private static let shares = LaneShares(visits: [8, 4, 2, 1], quantum: 3)

    /// Serves the next member one visit, and returns it.
    private static func visit(_ lanes: inout Lanes) -> Job? {
        guard let job = lanes.current() as? Job else { return nil }
        job.work -= 1
        lanes.charge(job, 1)
        return job
    }

    /// Work comes, goes and changes its lane, members leave and are parked, and each of them is served as long as it stands in a lane.
    @Test(arguments: 0..<20 as Range<UInt64>) func aMemberIsServedExactlyWhileALaneHasWorkOfIt(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var lanes = Lanes(Self.shares)
        var wheel = ShardTimers()
        let jobs = (0..<12).map { Job($0) }
        /// Numbers of the members that are to be served while they have work, and of those that are parked.
        var (standing, parked): (Set<Int>, Set<Int>) = ([], [])
        for step in 0..<5000 {
            guard let job = jobs.randomElement(using: &random) else { continue }
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3:
                job.work += Int.random(in: 1...5, using: &random)
                job.wanted = Int.random(in: 0..<Lane.count, using: &random)
                lanes.enqueue(job)
                if !parked.contains(job.number) { standing.insert(job.number) }
            case 3:
                lanes.abandon(job)
                standing.remove(job.number)
            case 4:
                guard !parked.contains(job.number) else { continue }
                lanes.park(job, until: wheel.insert(.audience(0), due: 1_000_000_000))
                standing.remove(job.number)
                parked.insert(job.number)
            case 5:
                guard parked.remove(job.number) != nil else { continue }
                lanes.unpark(job)
                if job.work > 0 { standing.insert(job.number) }
            case 6: job.work = max(0, job.work - 2)  // visited out of turn
            case 7: job.wanted = Int.random(in: 0..<Lane.count, using: &random)
            case 8: lanes.drawNext(by: random.next())
            default:
                let due = jobs.filter { standing.contains($0.number) && $0.work > 0 }
                let served = Self.visit(&lanes)
                let isRight = served.map { next in due.contains { $0 === next } && lanes.served == next.wanted }
                guard isRight ?? due.isEmpty else {
                    Issue.record("seed \(seed), step \(step): \(served.map { "\($0.number)" } ?? "nobody") is served")
                    return
                }
            }
            #expect(lanes.violation() == nil, "seed \(seed), step \(step)")
            #expect(jobs.allSatisfy { $0.work == 0 || ($0.lane.current != nil) == standing.contains($0.number) })
        }
        for number in parked { lanes.unpark(jobs[number]) }
        for job in jobs { lanes.enqueue(job) }
        for _ in 0..<100_000 { if Self.visit(&lanes) == nil { break } }
        #expect(jobs.allSatisfy { $0.work == 0 } && lanes.isEmpty && lanes.entries == 0, "seed \(seed)")
    }

    @Test func eachLaneGetsItsShareOfEveryRoundAndTheFirstItsOwnBeforeTheOthers() {
        var lanes = Lanes(Self.shares)
        for lane in 0..<Lane.count { lanes.enqueue(Job(lane, work: 1000, lane: lane)) }
        for round in 0..<10 {
            let served = (0..<15).map { _ in Self.visit(&lanes)?.wanted }
            let shares = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3]
            #expect(served == shares, "round \(round)")
        }
    }

    @Test func aLaneWithoutWorkLeavesItsShareToTheOthers() {
        var lanes = Lanes(Self.shares)
        lanes.enqueue(Job(0, work: 1000, lane: 2))
        lanes.enqueue(Job(1, work: 1000, lane: 3))
        let served = (0..<6).map { _ in Self.visit(&lanes)?.wanted }
        #expect(served == [2, 2, 3, 2, 2, 3])
    }

    /// A burst after an hour of quiet must not keep the others waiting.
    @Test func aLaneThatWasIdleHasSavedNoShare() {
        var lanes = Lanes(Self.shares)
        lanes.enqueue(Job(0, work: 1000, lane: 2))
        for _ in 0..<51 { _ = Self.visit(&lanes) }
        lanes.enqueue(Job(1, work: 1000, lane: 1))
        let served = (0..<18).compactMap { _ in Self.visit(&lanes)?.wanted }
        #expect(served == [1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 1])
    }

    @Test func membersOfALaneTakeTurnsOfOneQuantum() {
        var lanes = Lanes(LaneShares(visits: [1000, 1, 1, 1], quantum: 3))
        for number in 0..<3 { lanes.enqueue(Job(number, work: number == 1 ? 4 : 100)) }
        let served = (0..<17).map { _ in Self.visit(&lanes)?.number }
        #expect(served == [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 1, 2, 2, 2, 0])
    }

    @Test func aTurnAllowsNoMoreVisitsThanItsQuantumAndTheLanesShare() throws {
        var lanes = Lanes(Self.shares)
        let job = Job(0, work: 100, lane: 1)
        #expect(lanes.allowance(of: job) == 0, "it stands in no lane")
        lanes.enqueue(job)
        lanes.enqueue(Job(1, work: 100, lane: 3))
        var allowed: [Int] = []
        for _ in 0..<3 {
            let current = lanes.current()
            let member = try #require(current)
            allowed.append(lanes.allowance(of: member))
            lanes.charge(member, lanes.allowance(of: member))
        }
        // A quantum, the rest of the share, and the other lane's share.
        #expect(allowed == [3, 1, 1])
    }

    /// The visit has parked the member, and its lane still pays for it.
    @Test func theVisitOfAMemberThatIsParkedMeanwhileIsPaidByItsLane() throws {
        var (lanes, wheel) = (Lanes(Self.shares), ShardTimers())
        let jobs = [Job(0, work: 100, lane: 2), Job(1, work: 100, lane: 2), Job(2, work: 100, lane: 3)]
        for job in jobs { lanes.enqueue(job) }
        let current = lanes.current()
        let first = try #require(current)
        lanes.park(first, until: wheel.insert(.audience(0), due: 1_000_000_000))
        lanes.charge(first, 2)
        let next = lanes.current()
        #expect(next === jobs[2])
    }

    /// They come and go while nothing is pulled.
    @Test func entriesOfMembersThatHaveLeftDoNotAccumulate() {
        var lanes = Lanes()
        for number in 0..<20_000 {
            let job = Job(number, work: 1)
            lanes.enqueue(job)
            lanes.abandon(job)
            guard lanes.entries <= 600, number % 1000 > 0 || lanes.violation() == nil else {
                Issue.record("\(lanes.entries) entries after \(number) members")
                return
            }
        }
    }
}
