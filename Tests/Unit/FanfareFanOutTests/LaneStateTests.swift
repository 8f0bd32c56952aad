import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

@Suite struct LaneStateTests {
    @Test func eachQueueHasOneEntry() {
        var state = LaneState()
        let entered = [state.enter(1, turn: 32), state.enter(2, turn: 32), state.enter(1, turn: 32)]
        #expect(entered == [true, true, false] && state.current == 1)
        state.dropEntry(in: 1)
        let again = state.enter(1, turn: 32)
        #expect(again)
    }

    @Test func entryOutlivesTheStayInItsLane() {
        var state = LaneState()
        _ = state.enter(0, turn: 32)
        state.leave()
        #expect(state.current == nil)
        let isNew = state.enter(0, turn: 32)
        #expect(!isNew)
    }

    @Test func visitsUseUpATurn() {
        var state = LaneState()
        _ = state.enter(0, turn: 32)
        state.charge(40)
        #expect(state.deficit == -8)
        state.renewTurn(32)
        #expect(state.deficit == 32)
    }

    @Test func parkedAudienceIsInNoLane() {
        var wheel = ShardTimers()
        let timer = wheel.insert(.audience(3), due: 1_000_000_000)
        var state = LaneState()
        _ = state.enter(0, turn: 32)
        state.park(until: timer)
        #expect(state.current == nil && state.parked.map { wheel.subject(of: $0) } == .audience(3))
        state.unpark()
        #expect(state.parked == nil && state.current == nil)
    }
}

@Suite struct LaneQueueTests {
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
