import FanfareLineup
import FanfareModel
import FanfareQueues
import Testing

@testable import FanfareFanOut

/// A person changes what an activity shows while it runs.
@Suite struct LineupChangeTests {
    private let old = ["a", "b", "c"]

    private func stage() -> LineupStage {
        let stage = LineupStage()
        stage.follow(old)
        for topic in old + ["d"] { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    @Test(
        "add, remove, reorder, pin: one silent push",
        arguments: [(["a", "b", "c", "d"], nil), (["a", "c"], nil), (["c", "b", "a"], nil), (["a", "b", "c"], "b")])
    func anyChangeOfALineupIsOneSilentPush(topics: [String], favourite: String?) {
        let stage = stage()
        stage.goal("b")
        let before = stage.pass(seconds: 0.1)
        stage.move(topics, favourite: favourite)
        let pushes = stage.pass(seconds: 1)
        #expect(pushes.map(\.shown) == [topics])
        #expect(pushes.allSatisfy { $0.payload.alert == nil && $0.payload.event == .update })
        #expect(before.count == 1 && pushes[0].payload.stamp > before[0].payload.stamp)
        stage.move(topics, favourite: favourite)
        #expect(stage.pass(seconds: 1).isEmpty, "the same once more changes nothing")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func anAlertThatALineupMissedComesAlongWithItsChange() {
        let stage = stage()
        stage.goal("b")
        stage.move(["b", "d"])
        let pushes = stage.pass(seconds: 10)
        #expect(pushes.map(\.payload.alert?.title) == ["goal 1 in b"], "with the one push of the change")
        #expect(pushes.map(\.shown) == [["b", "d"]])
        #expect(stage.shard.statistics.alerts.accepted == 1)
    }

    @Test func anAlertOfATopicNoLongerShownDoesNotComeAlong() {
        let stage = stage()
        stage.goal("b")
        stage.move(["c", "d"])
        #expect(stage.pass(seconds: 10).map(\.payload.alert) == [nil])
    }

    @Test func anAlertThatALineupHasHadDoesNotComeAgain() {
        let stage = stage()
        stage.goal("b")
        #expect(stage.pushes().count == 1)
        // Somebody else has the new lineup already, and lacks the alert there.
        stage.follow(["b", "d"], activity: 2)
        stage.move(["b", "d"])
        #expect(stage.pass(seconds: 10).map(\.payload.alert) == [nil, nil])
    }

    /// The push that told of the goal left before the change; its answer decides.
    @Test(arguments: [DeliveryOutcome.accepted, .uncertain, .notProcessed, .throttled])
    func anAlertOnTheWayIsToldOnce(outcome: DeliveryOutcome) {
        let stage = stage()
        stage.goal("b")
        #expect(stage.pull().count == 1)
        stage.move(["b", "d"])
        stage.answer(outcome)
        let cameBack = outcome == .notProcessed || outcome == .throttled
        let pushes = stage.pass(seconds: 10)
        #expect(pushes.map(\.payload.alert?.title) == [cameBack ? "goal 1 in b" : nil])
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.accepted + alerts.uncertain == 1, "counted once: \(alerts)")
    }

    @Test func anAlertBroughtAlongIsNamedWithTheNextGoal() {
        let stage = stage()
        stage.goal("b")
        stage.move(["b", "d"])
        stage.goal("d")
        let pushes = stage.pass(seconds: 10)
        #expect(pushes.first?.payload.alert?.title == "goal 1 in d")
        #expect(pushes.first?.payload.alert?.body == "by somebody\ngoal 1 in b · by somebody")
        #expect(stage.shard.statistics.alerts.accepted == 2)
    }

    @Test func anAlertBroughtAlongMayBeRevokedOrBroughtFurther() {
        let stage = stage()
        stage.goal("b")
        stage.move(["b", "d"])
        stage.move(["d", "b", "c"])
        #expect(stage.pushes().map(\.payload.alert?.title) == ["goal 1 in b"])
        stage.goal("b")
        stage.move(["b", "d"])
        stage.revoke("goal 2 in b", of: "b")
        #expect(stage.pass(seconds: 10).map(\.payload.alert) == [nil])
        #expect(stage.shard.statistics.alerts.revoked == 1)
    }

    @Test func oneTopicAndALineupAreChangedIntoEachOther() {
        let stage = stage()
        stage.shard.apply(.move(ActivityID(1), .topic(TopicID("a"))), at: stage.moment)
        #expect(stage.pass(seconds: 1).count == 1)
        stage.goal("a")
        stage.move(["a", "b"])
        #expect(stage.pass(seconds: 10).map(\.payload.alert?.title) == ["goal 1 in a"])
    }

    @Test func nothingFollowsAnEnd() {
        let stage = stage()
        for topic in old { stage.end(topic, dismissAfter: .seconds(900)) }
        let end = stage.pull()
        stage.move(["a", "d"])
        stage.answer(.accepted)
        stage.goal("d")
        #expect(end.map(\.payload.event) == [.end])
        #expect(stage.pass(seconds: 100).isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    // MARK: Lineups that nobody has

    @Test func theLastMemberTakesTheLineupWithIt() {
        let stage = stage()
        stage.follow(old, activity: 2)
        _ = stage.pass(seconds: 1)
        let audiences = stage.shard.membership.audiences.count
        for round in 0..<100 { stage.move(round % 2 == 0 ? ["b", "a"] : ["c", "a"]) }
        #expect(stage.shard.membership.audiences.count == audiences + 2, "places are used again")
        #expect(stage.shard.membership.lineups.count == 2)
        stage.unfollow(activity: 1)
        stage.unfollow(activity: 2)
        _ = stage.pass(seconds: 1)
        #expect(stage.shard.membership.lineups.count == 0 && stage.shard.membership.topics.lineupsListed == 0)
        #expect(stage.shard.violatedInvariant() == nil && stage.shard.isQuiet)
    }

    @Test func aLineupThatCameBackShowsTheNewest() {
        let stage = stage()
        stage.move(["d"])
        _ = stage.pass(seconds: 1)
        stage.point("b")
        stage.move(old)
        #expect(stage.pass(seconds: 1).map { $0.content?.topics.map(\.minimal) ?? [] } == [["0", "1", "0"]])
    }

    /// A publication that waited for a lineup's interval is complete when nobody is left to get it.
    @Test func changesThatWaitGoWithTheLastMember() {
        let stage = stage()
        stage.point("a")
        _ = stage.pass(seconds: 0.1)
        stage.point("b")
        #expect(!stage.shard.isQuiet)
        stage.unfollow()
        _ = stage.pushes()
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// Ended topics are dismissed hours later: wake-ups for that do not outlive many changes of mind.
    @Test func wakeUpsOfFormerLineupsDoNotPileUp() {
        let stage = stage()
        stage.end("a", dismissAfter: .seconds(4 * 3600))
        for _ in 0..<100 {
            stage.move(["b", "a"])
            stage.move(["c", "a"])
        }
        #expect(
            stage.shard.membership.timers.count == 2 && stage.shard.membership.timers.capacity < 8,
            "the lineup's and the age scan's")
    }
}
