import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Pushes to a visited member.
@Suite struct PushSenderTests {
    private func stage(_ members: Int, limits: ActivityLimits = ActivityLimits()) -> EmbeddedShard {
        let stage = EmbeddedShard(Shard(limits: limits))
        for number in 1...members { stage.follow("card \(number)", token: UInt8(number)) }
        return stage
    }

    @Test func membersInTheSameStateShareOnePayload() {
        let stage = stage(5)
        stage.publish(1)
        let pushes = stage.pull()
        #expect(pushes.count == 5)
        #expect(Set(pushes.map { ObjectIdentifier($0.payload) }).count == 1)
    }

    @Test func noActivityGetsTwoStatesWithOneStamp() {
        let stage = stage(1)
        var stamps: [Int64] = []
        for score in Int64(1)...5 {
            stage.publish(score)
            stamps += stage.settle().map(\.payload.stamp)
        }
        #expect(stamps.count == 5 && zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func aMemberWithAPushInFlightGetsTheNewestStateAfterItsAnswer() {
        let stage = stage(1)
        stage.publish(1)
        let first = stage.pull()
        for score in Int64(2)...3 { stage.publish(score) }
        #expect(first.count == 1 && stage.pull().isEmpty && stage.shard.sender.inFlight == 1)
        stage.answer(first)
        #expect(stage.shard.sender.inFlight == 0)
        #expect(stage.settle().map(\.state) == [#"{"score":3}"#], "the states in between are no push")
    }

    @Test func aChangeAndItsReversalNeedNoPush() {
        let stage = stage(2)
        stage.publish(1)
        stage.settle()
        for score in [2, 1] as [Int64] { stage.publish(score) }
        #expect(stage.settle().isEmpty && stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func aPersonWhoWantsNoAlertsGetsTheStateWithoutIt() {
        let stage = EmbeddedShard()
        stage.follow("loud", token: 1)
        stage.follow("quiet", token: 2, preferences: Preferences(alerts: AlertMask.none))
        stage.publish(1)
        stage.settle()
        stage.publish(2, alert: "goal")
        let pushes = stage.settle()
        #expect(pushes.map(\.state) == [#"{"score":2}"#, #"{"score":2}"#])
        let (loud, quiet) = (pushes.first { $0.token == [1] }, pushes.first { $0.token == [2] })
        #expect(loud?.payload.alert?.title == "goal" && quiet?.payload.alert == nil)
        #expect(stage.shard.statistics.alerts.accepted == 1 && stage.shard.statistics.alerts.silenced == 1)
    }

    @Test func pushesBeyondAnActivitysBudgetGoAtPriorityFive() {
        var limits = ActivityLimits()
        limits.immediate = TokenBucket.Size(burst: 2, refill: .seconds(3600))
        let stage = stage(1, limits: limits)
        var priorities: [Priority] = []
        for score in Int64(1)...4 {
            stage.publish(Publication.test(stage.nextSerial(), kind: .generic, state: ["score": .int(score)]))
            priorities += stage.settle().map(\.payload.priority)
        }
        #expect(priorities == [.immediate, .immediate, .conserving, .conserving])
        #expect(stage.shard.statistics.pushes.downgradedToLowPriority == 2)
    }

    @Test func aSweepVisitsTheNextMembersAndNoMoreThanItsLimit() throws {
        let stage = stage(10)
        stage.publish(1)
        let membership = stage.shard.membership
        let topic = try #require(membership.topics.index(of: stage.topic))
        let audience = membership.awake(try #require(membership.topics[topic].followers))
        let next = Array(audience.order.next(limit: 4))
        var batch = DeliveryBatch()
        let visits = stage.shard.sender.sweep(audience, limit: 4, at: stage.moment, into: &batch)
        #expect(visits == 4 && batch.deliveries.map(\.slot) == next && audience.order.remaining == 6)
        let rest = stage.shard.sender.sweep(audience, limit: 100, at: stage.moment, into: &batch)
        #expect(rest == 6 && Set(batch.deliveries.map(\.slot)).count == 10 && audience.order.remaining == 0)
        #expect(stage.shard.sender.inFlight == 10 && stage.shard.violatedInvariant() == nil)
    }
}
