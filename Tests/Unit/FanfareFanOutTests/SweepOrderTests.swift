import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct SweepOrderTests {
    /// An order of slots with its column of positions, and beside it the plain sets of those that the lap has still to visit and has visited.
    private struct Run {
        static let slots = 40

        var order = SweepOrder<ActivitySlot>()
        var positions = GrowingColumn<UInt32>(repeating: 0, count: Run.slots)
        var unvisited: Set<ActivitySlot> = []
        var visited: Set<ActivitySlot> = []

        var free: [ActivitySlot] {
            (0..<UInt32(Run.slots)).map(ActivitySlot.init).filter { !unvisited.contains($0) && !visited.contains($0) }
        }

        func position(of slot: ActivitySlot) -> Int { Int(positions[slot.index]) }

        mutating func join(_ slot: ActivitySlot, isVisited: Bool) {
            if isVisited {
                visited.insert(slot)
                order.joinVisited(slot, positions: &positions)
            } else {
                unvisited.insert(slot)
                order.join(slot, positions: &positions)
            }
        }

        mutating func leave(_ slot: ActivitySlot) {
            order.leave(at: position(of: slot), positions: &positions)
            unvisited.remove(slot)
            visited.remove(slot)
        }

        /// Visits the next members; whether all of them were due is for the caller to see.
        mutating func visit(limit: Int) -> [ActivitySlot] {
            let next = Array(order.next(limit: limit))
            order.advance(by: next.count)
            unvisited.subtract(next)
            visited.formUnion(next)
            return next
        }

        /// Visits all that are unvisited.
        mutating func finish() -> [ActivitySlot] {
            var all: [ActivitySlot] = []
            while order.remaining > 0 { all += visit(limit: 7) }
            return all
        }

        mutating func restart() {
            order.restart()
            unvisited.formUnion(visited)
            visited = []
        }

        /// The members from the cursor on, read as far ahead as the lap goes.
        var ahead: [ActivitySlot] {
            var all: [ActivitySlot] = []
            while all.count < order.remaining {
                let more = order.next(limit: 5, skipping: all.count)
                guard !more.isEmpty else { break }
                all += more
            }
            return all
        }

        /// Difference between order and sets; `nil` if there is none.
        var difference: String? {
            if Set(order.members) != unvisited.union(visited) || order.count != unvisited.count + visited.count {
                return "members"
            }
            if order.remaining != unvisited.count { return "number of unvisited members" }
            if order.members.indices.contains(where: { position(of: order.members[$0]) != $0 }) { return "positions" }
            if unvisited.contains(where: { !order.isUnvisited(position(of: $0)) }) { return "a member is skipped" }
            if visited.contains(where: { order.isUnvisited(position(of: $0)) }) { return "a member is visited twice" }
            if ahead.count != unvisited.count || Set(ahead) != unvisited { return "members ahead" }
            return order.violation()
        }
    }

    /// Members come, go, are visited and drawn, and laps begin anew, in any order.
    @Test(arguments: 0..<20 as Range<UInt64>) func eachLapVisitsEachMemberOnceWhoeverComesAndGoes(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var run = Run()
        for step in 0..<3000 {
            let before = run
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                guard let slot = run.free.randomElement(using: &random) else { continue }
                run.join(slot, isVisited: random.chance(0.5))
            case 3..<6:
                guard let slot = run.order.members.randomElement(using: &random) else { continue }
                run.leave(slot)
            case 6..<8:
                let limit = Int.random(in: 1...6, using: &random)
                let next = run.visit(limit: limit)
                #expect(next.count <= limit && next.isEmpty == before.unvisited.isEmpty, "seed \(seed), step \(step)")
                #expect(before.unvisited.isSuperset(of: next), "seed \(seed), step \(step)")
            case 8: run.order.drawNext(by: random.next(), positions: &run.positions)
            default: if random.chance(0.3) { run.restart() }
            }
            let stayed = before.order.members.filter(Set(run.order.members).contains)
            let moved = stayed.count { run.positions[$0.index] != before.positions[$0.index] }
            #expect(moved <= 3, "seed \(seed), step \(step)")
            if let difference = run.difference {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }

    /// Members with the version before last are further behind than those who have just had the last one.
    @Test(arguments: 0..<20) func aNewLapGoesOnWithThoseWhomTheLastOneHadNotReached(visited: Int) {
        var run = Run()
        for slot in UInt32(0)..<20 { run.join(ActivitySlot(slot), isVisited: false) }
        let first = (0..<visited).flatMap { _ in run.visit(limit: 1) }
        run.restart()
        #expect(run.finish().suffix(visited) == first)
    }

    @Test func aMemberWhoHasJoinedAsVisitedWaitsForTheNextLap() {
        var run = Run()
        for slot in UInt32(0)..<4 { run.join(ActivitySlot(slot), isVisited: false) }
        _ = run.visit(limit: 2)
        run.join(ActivitySlot(9), isVisited: true)
        let rest = run.finish()
        #expect(Set(rest) == [ActivitySlot(2), ActivitySlot(3)])
        run.restart()
        let lap = run.finish()
        #expect(lap.count == 5 && lap.contains(ActivitySlot(9)))
    }

    /// Chance takes one of those whom a claim or an alert names, and lets them stay the next ones.
    @Test(arguments: 0..<20 as Range<UInt64>) func aDrawReachesEachOfTheNextMembersAndNoOther(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var run = Run()
        for slot in UInt32(0)..<12 { run.join(ActivitySlot(slot), isVisited: false) }
        _ = run.visit(limit: Int.random(in: 0..<12, using: &random))
        // The range wraps.
        run.restart()
        let count = Int.random(in: 1...12, using: &random)
        let named = Set(run.ahead.prefix(count))
        var drawn: Set<ActivitySlot> = []
        for draw in UInt64(0)..<400 {
            run.order.drawNext(among: count, by: draw.mixed, positions: &run.positions)
            drawn.formUnion(run.order.next(limit: 1))
            #expect(Set(run.ahead.prefix(count)) == named && run.difference == nil, "seed \(seed), draw \(draw)")
        }
        #expect(drawn == named, "seed \(seed)")
    }

    /// A sweep stops where members cease to stand side by side, and goes on behind.
    @Test func aLapOfALargeAudienceVisitsEachMemberOnce() {
        let count = 2 * SweepMembers<ActivitySlot>.fewMax + 100
        var order = SweepOrder<ActivitySlot>()
        var positions = GrowingColumn<UInt32>(repeating: 0, count: count)
        for slot in 0..<UInt32(count) { order.join(ActivitySlot(slot), positions: &positions) }
        // The lap begins in the middle and wraps.
        order.advance(by: 1000)
        order.restart()
        for slot in stride(from: 0, to: count, by: 7) { order.leave(at: Int(positions[slot]), positions: &positions) }
        let ahead = Array(order.next(limit: count, skipping: 10).prefix(5))
        var visited: [ActivitySlot] = []
        while order.remaining > 0 {
            let next = Array(order.next(limit: 5000))
            order.advance(by: next.count)
            visited += next
            if next.isEmpty { break }
        }
        #expect(visited.count == order.count && Set(visited).count == visited.count)
        #expect(!visited.contains { $0.index % 7 == 0 } && ahead == Array(visited[10..<15]))
        let wrong = order.members.indices.first { Int(positions[order.members[$0].index]) != $0 }
        #expect(wrong == nil && order.violation() == nil)
    }

    @Test func anOrderAtRestHasOneMemberWhoIsVisited() {
        var run = Run()
        for slot in UInt32(0)..<4 { run.join(ActivitySlot(slot), isVisited: false) }
        _ = run.visit(limit: 2)
        run.order.rest(ActivitySlot(7))
        #expect(Array(run.order.members) == [ActivitySlot(7)] && run.order.remaining == 0 && !run.order.isUnvisited(0))
        #expect(run.order.next(limit: 5).isEmpty && run.order.violation() == nil)
        run.positions[7] = 0
        (run.unvisited, run.visited) = ([], [ActivitySlot(7)])
        run.join(ActivitySlot(1), isVisited: false)
        #expect(run.difference == nil && run.finish() == [ActivitySlot(1)])
    }

    @Test func aCursorThatHasGoneBeyondTheMembersIsAViolation() {
        var run = Run()
        for slot in UInt32(0)..<3 { run.join(ActivitySlot(slot), isVisited: true) }
        #expect(run.order.violation() == nil)
        run.order.advance(by: 2)
        #expect(run.order.violation() != nil)
    }
}
