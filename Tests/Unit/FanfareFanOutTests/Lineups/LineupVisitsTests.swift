import FanfareFanOut
import FanfareLineup
import FanfareModel
import Testing

/// Visits to lineups of one member, and the answers to their pushes.
@Suite struct LineupVisitsTests {
    private func stage(
        _ topics: [String] = ["a", "b"], _ preferences: Preferences? = nil,
        rules: LineupRules = LineupRules(gather: .zero)
    ) -> LineupStage {
        let stage = LineupStage(lineups: rules)
        stage.follow(topics, preferences)
        for topic in topics { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    private func texts(_ push: LineupStage.Push) -> [String]? { push.content?.topics.map(\.minimal) }

    @Test func newsThatComeWhileAPushIsInFlightAreTheNextPush() {
        let stage = stage()
        stage.goal("a")
        let first = stage.pull()
        stage.goal("b")
        #expect(first.count == 1 && stage.pull().isEmpty, "one push at a time")
        stage.answer(.accepted)
        let second = stage.pushes()
        #expect(second.map(\.payload.alert?.title) == ["goal 1 in b"] && second.map(texts) == [["1", "1"]])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func changesThatMayWaitLeaveTogetherAfterTheInterval() {
        let stage = stage()
        stage.point("a")
        #expect(stage.pushes().count == 1)
        stage.point("a")
        stage.point("b")
        #expect(stage.pass(seconds: 1.9).isEmpty && !stage.shard.isQuiet)
        #expect(stage.pass(seconds: 0.2).map(texts) == [["2", "1"]])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func alertsWithinTheGatherTimeAreOnePush() {
        let stage = stage(rules: LineupRules())
        stage.goal("a")
        #expect(stage.pass(seconds: 0.5).isEmpty)
        stage.goal("b")
        let pushes = stage.pass(seconds: 0.6)
        #expect(pushes.map(texts) == [["1", "1"]] && pushes.allSatisfy { $0.payload.alert != nil })
        #expect(stage.shard.statistics.alerts.accepted == 2, "the push names both")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func anAlertWhosePushWasNotProcessedIsSentAgainAndCountedOnce() {
        let stage = stage()
        stage.goal("b")
        #expect(stage.pull().map(\.payload.alert?.title) == ["goal 1 in b"])
        stage.answer(.notProcessed)
        #expect(stage.shard.statistics.alerts.accepted == 0)
        #expect(stage.pass(seconds: 10).first?.payload.alert?.title == "goal 1 in b")
        #expect(stage.shard.statistics.alerts.accepted == 1)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func anUnwantedAlertIsSilencedAndItsStateIsSent() {
        let stage = stage(["a", "b"], Preferences(alerts: AlertMask.none))
        stage.goal("b")
        let pushes = stage.pushes()
        #expect(pushes.map(texts) == [["0", "1"]] && pushes.allSatisfy { $0.payload.alert == nil })
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.silenced == 1 && alerts.accepted == 0)
    }

    @Test func theLastEndOfItsTopicsEndsALineup() {
        let stage = stage()
        stage.end("a", dismissAfter: .seconds(600))
        #expect(stage.pass(seconds: 10).allSatisfy { $0.payload.event == .update })
        stage.end("b", dismissAfter: .seconds(600))
        #expect(stage.pass(seconds: 10).map(\.payload.event) == [.end])
        #expect(stage.shard.statistics.activities == 0 && stage.shard.violatedInvariant() == nil)
    }
}
