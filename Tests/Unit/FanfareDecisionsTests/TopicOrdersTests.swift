import FanfareModel
import Testing

@testable import FanfareDecisions

@Suite struct TopicOrdersTests {
    @Test func topicIsHeldUntilEachScopeIsLifted() {
        var orders = TopicOrders()
        let paused = [orders.apply(.pause, for: .topic), orders.apply(.pause, for: .all)]
        #expect(paused == [true, true] && orders.isPaused && !orders.isMuted)
        let lifted = orders.apply(.resume, for: .topic)
        #expect(lifted && orders.isPaused)
        _ = orders.apply(.resume, for: .all)
        #expect(!orders.isPaused)
    }

    @Test func repeatedOrderChangesNothing() {
        var orders = TopicOrders()
        let muted = [orders.apply(.mute, for: .kind), orders.apply(.mute, for: .kind)]
        #expect(muted == [true, false])
        let lifted = orders.apply(.unmute, for: .topic)
        #expect(!lifted && orders.isMuted)
    }

    @Test func standingOrdersLeaveTheTopicsOwn() {
        var orders = TopicOrders()
        _ = orders.apply(.mute, for: .topic)
        _ = orders.apply(.pause, for: .kind)
        orders.replaceStanding((muted: [], paused: .all))
        #expect(orders.isMuted && orders.isPaused)
        _ = orders.apply(.resume, for: .all)
        #expect(!orders.isPaused, "the kind's order stands no more")
    }
}
