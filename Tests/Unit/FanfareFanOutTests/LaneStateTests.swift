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
        #expect(state.violation() != nil, "no queue has the audience, which stands in a lane")
        let again = state.enter(1, turn: 32)
        #expect(again && state.violation() == nil)
    }

    @Test func entryOutlivesTheStayInItsLane() {
        var state = LaneState()
        _ = state.enter(0, turn: 32)
        state.leave()
        #expect(state.current == nil && state.violation() == nil)
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
        #expect(state.violation() == nil)
        var served = state
        _ = served.enter(0, turn: 32)
        #expect(served.violation() != nil, "it is parked, and stands in a lane")
        state.unpark()
        #expect(state.parked == nil && state.current == nil)
    }
}
