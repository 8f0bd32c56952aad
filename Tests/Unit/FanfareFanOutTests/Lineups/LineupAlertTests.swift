import FanfareLineup
import FanfareModel
import Testing

@testable import FanfareFanOut

/// Alerts of a lineup: their order among the members, and several goals together.
@Suite struct LineupAlertTests {
    private let three = ["a", "b", "c"]

    private func stage(_ topics: [String], _ rules: LineupRules = LineupRules(gather: .zero)) -> LineupStage {
        let stage = LineupStage(lineups: rules)
        stage.follow(topics)
        for topic in topics { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    // MARK: Who first

    @Test(
        arguments: [("a", [1, 3, 2, 4]), ("b", [2, 1, 4]), ("c", [4, 3])], [LineupRules(gather: .zero), LineupRules()])
    func aGoalComesFirstToThoseWhoseSpotlightItsMatchHas(goal: (topic: String, order: [UInt64]), rules: LineupRules) {
        let stage = stage(["a", "b"], rules)
        stage.follow(["b", "a"], activity: 2)
        stage.publish("c")
        stage.follow(["a", "c"], activity: 3)
        stage.follow(["c", "b", "a"], activity: 4)
        #expect(stage.pass(seconds: 60).map(\.spotlight) == ["b", "a", "c"])
        stage.goal(goal.topic)
        #expect(stage.pass(seconds: 1).map(\.activity) == goal.order)
    }

    /// Only the content of the card counts. Nobody has seen an event elsewhere that waits for the interval.
    @Test func spotlightThatWasNeverPublishedIsNone() {
        let stage = stage(["a", "b"])
        stage.follow(["b", "a"], activity: 2)
        _ = stage.pass(seconds: 60)
        stage.point("a")
        #expect(stage.pushes().map(\.spotlight) == ["a", "b"])
        stage.card("b")
        #expect(stage.pushes().isEmpty)
        stage.goal("b")
        #expect(stage.pushes().map(\.activity) == [2, 1])
    }

    // MARK: Several at once

    @Test func twoGoalsAtOnceAreOnePushThatNamesBoth() {
        let stage = stage(three)
        stage.goal("b")
        stage.goal("c")
        let pushes = stage.pass(seconds: 10)
        #expect(pushes.count == 1)
        #expect(pushes.first?.payload.alert?.title == "goal 1 in c")
        #expect(pushes.first?.payload.alert?.body == "by somebody\ngoal 1 in b · by somebody")
        #expect(stage.shard.statistics.alerts.accepted == 2)
    }

    @Test func memberThatHadOneGoalGetsTheOtherAlertOnly() {
        let stage = stage(three)
        stage.goal("b")
        let push = stage.pull()
        stage.follow(three, activity: 2)
        stage.goal("c")
        stage.answer(.accepted)
        let next = stage.pass(seconds: 10)
        #expect(push.map(\.payload.alert?.body) == ["by somebody"])
        #expect(next.compactMap(\.payload.alert?.body) == ["by somebody", "by somebody"], "each once, and each alone")
    }

    @Test func ofOneTopicTheNewerGoalSupersedesTheOlder() {
        let stage = stage(three)
        stage.goal("b")
        stage.goal("c")
        stage.goal("b")
        let alert = stage.pushes().first?.payload.alert
        #expect(alert?.title == "goal 2 in b" && alert?.body == "by somebody\ngoal 1 in c · by somebody")
        #expect(stage.shard.statistics.alerts.accepted == 2 && stage.shard.statistics.alerts.superseded == 1)
    }

    @Test func revokingOneOfTwoGoalsLeavesTheOther() {
        for (revoked, left) in [("b", "c"), ("c", "b")] {
            let stage = stage(three)
            stage.goal("b")
            stage.goal("c")
            stage.revoke("goal 1 in \(revoked)", of: revoked)
            let alert = stage.pushes().first?.payload.alert
            #expect(alert?.title == "goal 1 in \(left)" && alert?.body == "by somebody")
            #expect(stage.shard.statistics.alerts.accepted == 1 && stage.shard.statistics.alerts.revoked == 1)
        }
    }

    /// A push on its way when the goal is cancelled may come back unprocessed: then it goes without.
    @Test func anAlertRevokedOnItsWayIsNotToldAgain() {
        let stage = stage(three)
        stage.goal("b")
        stage.goal("c")
        #expect(stage.pull().count == 1)
        stage.revoke("goal 1 in b", of: "b")
        stage.answer(.notProcessed)
        #expect(stage.pushes().map(\.payload.alert?.body) == ["by somebody"])
    }

    @Test func anAlertNamesAsManyGoalsAsThereIsRoomFor() {
        let topics = (0..<8).map { "match/\($0)" }
        let stage = stage(topics)
        let long = String(repeating: "x", count: 150)
        for topic in topics {
            stage.publish(topic, priority: .immediate, alert: "\(topic) \(long)", occasionWeight: 100)
        }
        let alert = stage.pushes().first?.payload.alert
        #expect(alert?.body.description.split(separator: "\n").count == 4)
        #expect((alert?.size ?? .zero) <= .bytes(768))
    }

    @Test func oneFactInTwoTopicsIsOneAlert() {
        let stage = stage(three)
        stage.publish("a", priority: .immediate, alert: "goal", occasionWeight: 100)
        #expect(stage.pushes().map(\.payload.alert?.title) == ["goal"])
        stage.publish("b", priority: .immediate, alert: "goal", occasionWeight: 100)
        let again = stage.pass(seconds: 1)
        #expect(again.map(\.payload.alert) == [nil] && again.map(\.spotlight) == ["b"])
    }

    /// Two orders of one person are delivered: the alerts have the same words and counted causes, and are two.
    @Test func equalWordsWithoutAProvidersIDAreTwoAlerts() {
        let stage = stage(three)
        stage.publish("a", priority: .immediate, alert: "state/5", isCauseOfProvider: false, occasionWeight: 100)
        #expect(stage.pushes().map(\.payload.alert?.title) == ["state/5"])
        stage.publish("b", priority: .immediate, alert: "state/5", isCauseOfProvider: false, occasionWeight: 100)
        #expect(stage.pass(seconds: 1).map(\.payload.alert?.title) == ["state/5"])
        #expect(stage.shard.statistics.alerts.accepted == 2)
    }

    /// A rotation is due while a push is in flight, and a goal comes: it waits in the lane of alerts when the answer comes, not in that of the
    /// rotations.
    @Test func aGoalDoesNotStandBehindRotations() {
        let stage = LineupStage(lineups: LineupRules(gather: .zero))
        stage.follow(three)
        stage.follow(["c", "a"], activity: 2)
        stage.follow(["a", "c"], activity: 3)
        for topic in three { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pull().map(\.activity) == [1])
        stage.advance(seconds: 300)
        stage.shard.wakeDue(at: stage.moment)
        let due = stage.shard.membership.dueLineups
        #expect(due[2].hasWork, "the time in the spotlight is over")
        stage.goal("c")
        // The cursor has passed the first one, and the rotations have not had their turn.
        #expect(stage.pull(limit: 2).map(\.activity) == [2, 3] && due[2].hasWork)
        stage.answer(.accepted)
        #expect(due[0].hasWork && !due[2].hasWork)
        #expect(stage.pushes().map(\.payload.alert?.title) == ["goal 1 in c"])
    }

    /// A push that failed made an object of the row; at rest again, its rotation does not wait in the lane of failures.
    @Test func aRotationAfterAFailureIsInTheLaneOfRotations() {
        let stage = stage(three)
        stage.goal("b")
        _ = stage.pull()
        stage.answer(.notProcessed)
        #expect(stage.pushes().map(\.spotlight) == ["b"])
        stage.advance(seconds: 300)
        stage.shard.wakeDue(at: stage.moment)
        #expect(stage.shard.membership.dueLineups.map(\.hasWork) == [false, false, true, false])
    }

    /// Where the rules let no goal wait for another. Once its push has left, what is told of the next depends on the answer; its
    /// stamp is the next second's, as no phone may see two states in one.
    @Test(arguments: [
        (DeliveryOutcome.accepted, "by somebody"), (.refused, "by somebody"), (.uncertain, "by somebody"),
        (.notProcessed, "by somebody\ngoal 1 in b · by somebody"),
        (.throttled, "by somebody\ngoal 1 in b · by somebody"),
    ])
    func aGoalWithinTheGatherOfAnEarlierGoalAlertsWithIt(answer: DeliveryOutcome, told: String) {
        let stage = stage(three)
        stage.goal("b")
        let first = stage.pull().map(\.payload)
        stage.goal("c")
        #expect(stage.pull().isEmpty, "one push at a time")
        stage.answer(answer)
        let isThrottled = answer == .throttled
        let second = isThrottled ? stage.pass(seconds: 5) : stage.pushes()
        #expect(second.map(\.spotlight) == ["c"])
        #expect(second.first?.content?.topics.map(\.minimal) == ["0", "1", "1"])
        let payload = second.first?.payload
        #expect(payload?.alert?.title == "goal 1 in c" && payload?.alert?.body == .text(told))
        #expect(payload?.alert?.sound == "default" && payload?.priority == .immediate)
        if !isThrottled { #expect(payload?.stamp == first.first.map { $0.stamp + 1 }) }
        #expect(first.map(\.alert?.body) == ["by somebody"] && stage.pass(seconds: 10).isEmpty)
    }

    // MARK: Gathered

    @Test func M1_twoGoalsInOneSecondAreOnePushThatNamesBoth() {
        let stage = stage(three, LineupRules())
        let start = stage.time
        stage.goal("b")
        #expect(stage.pass(seconds: 0.4).isEmpty)
        stage.goal("c")
        #expect(stage.pass(seconds: 0.59).isEmpty)
        let pushes = stage.pass(seconds: 10)
        #expect(
            pushes.map(\.spotlight) == ["c"] && pushes.map(\.time) == [start + .seconds(1)], "a second after the first")
        #expect(pushes.first?.payload.alert?.title == "goal 1 in c")
        #expect(pushes.first?.payload.alert?.body == "by somebody\ngoal 1 in b · by somebody")
        #expect(stage.shard.statistics.alerts.accepted == 2 && stage.shard.isQuiet)
    }

    @Test func M1_eightGoalsAreNotEightPushesInTwoSeconds() {
        let topics = (0..<8).map { "match/\($0)" }
        let stage = stage(topics, LineupRules())
        var pushes: [LineupStage.Push] = []
        for topic in topics {
            stage.goal(topic)
            pushes += stage.pass(seconds: 0.25)
        }
        pushes += stage.pass(seconds: 10)
        #expect(pushes.count == 2 && stage.shard.statistics.alerts.accepted == 8)
    }

    /// A sweep still brings an older alert, as a slow service makes it last.
    @Test func twoGoalsDuringASweepAreOnePushForEverybody() {
        let stage = stage(three, LineupRules())
        stage.follow(three, activity: 2)
        _ = stage.pass(seconds: 10)
        stage.goal("a")
        stage.advance(seconds: 1)
        #expect(stage.pull(limit: 1).count == 1)
        stage.goal("b")
        stage.answer(.accepted)
        #expect(stage.pass(seconds: 0.5).isEmpty)
        stage.goal("c")
        let pushes = stage.pass(seconds: 5)
        let two = "by somebody\ngoal 1 in b · by somebody"
        #expect(Set(pushes.map(\.payload.alert?.body)) == [.text(two), .text(two + "\ngoal 1 in a · by somebody")])
        #expect(Set(pushes.map(\.activity)) == [1, 2] && pushes.count == 2)
    }

    /// Both members are served because of answers, before the sweep comes to them: the next alert waits for others all the same.
    @Test func anAlertWaitsAfterOneThatTheSweepDidNotBring() {
        let stage = stage(three, LineupRules())
        stage.follow(three, activity: 2)
        _ = stage.pass(seconds: 10)
        stage.goal("a")
        stage.advance(seconds: 1)
        #expect(stage.pull().count == 2)
        // The sweep finds both in flight.
        stage.point("c")
        stage.advance(seconds: 10)
        #expect(stage.pull().isEmpty)
        stage.answer(.accepted)
        stage.goal("b")
        #expect(stage.pull(limit: 0).isEmpty)
        stage.advance(seconds: 1)
        let told = stage.pull(limit: 2)
        #expect(told.map(\.payload.alert?.title) == ["goal 1 in b", "goal 1 in b"])
        stage.answer(.accepted)
        stage.goal("c")
        #expect(stage.pull(limit: 1).isEmpty)
        #expect(stage.pass(seconds: 0.5).isEmpty)
        #expect(stage.pass(seconds: 0.5).map(\.payload.alert?.title) == ["goal 2 in c", "goal 2 in c"])
    }

    @Test func memberThatMovesMeanwhileGetsTheAlertOnce() {
        let stage = stage(three, LineupRules())
        stage.follow(["c", "b"], activity: 2)
        _ = stage.pass(seconds: 10)
        stage.goal("b")
        stage.move(["c", "b"])
        let pushes = stage.pass(seconds: 10)
        #expect(pushes.filter { $0.payload.alert != nil }.map(\.activity).sorted() == [1, 2])
        #expect(stage.shard.statistics.alerts.accepted == 2)
    }

    @Test func aGoalThatIsCancelledMeanwhileIsNotHeardOf() {
        let stage = stage(three, LineupRules())
        stage.goal("b")
        stage.revoke("goal 1 in b", of: "b")
        #expect(stage.pass(seconds: 0.5).isEmpty)
        #expect(stage.pass(seconds: 10).allSatisfy { $0.payload.alert == nil })
        #expect(stage.shard.statistics.alerts.revoked == 1)
    }

    /// A score outweighs whatever else is told of with it, before it or after it.
    @Test(arguments: [false, true]) func theWeightierTopicOfAPushHasTheSpotlight(goalIsFirst: Bool) {
        let stage = stage(three, LineupRules())
        if goalIsFirst { stage.goal("b") }
        stage.publish("c", priority: .immediate, alert: "kick-off", occasionWeight: 60)
        if !goalIsFirst { stage.goal("b") }
        let pushes = stage.pass(seconds: 18)
        #expect(pushes.map(\.spotlight) == ["b"], "and keeps it for its dwell time")
        #expect(stage.shard.statistics.alerts.accepted == 2)
    }

    /// Changes during the gathering of goals leave with them, and the interval begins then.
    @Test func aPushOfGatheredGoalsTakesAlongOtherNews() {
        let stage = stage(three, LineupRules())
        let start = stage.time
        stage.goal("b")
        #expect(stage.pass(seconds: 0.5).isEmpty)
        stage.point("c")
        let push = stage.pass(seconds: 1.9)
        #expect(push.map(\.time) == [start + .seconds(1)])
        #expect(push.first?.content?.topics.map(\.minimal) == ["0", "1", "1"])
        stage.point("a")
        #expect(stage.pass(seconds: 10).map(\.time).prefix(1) == [start + .seconds(3)], "two seconds after it")
    }

    /// An activity that wants no alert waits for its state like all others, and has it as fast.
    @Test func aGatheredGoalLeavesAtPriority10WithOtherNews() {
        let stage = LineupStage(lineups: LineupRules())
        stage.follow(three, Preferences(alerts: .none))
        for topic in three { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        stage.point("c")
        let pushes = stage.pass(seconds: 3)
        #expect(pushes.map(\.payload.priority) == [.immediate] && pushes.map(\.payload.alert) == [nil])
    }

    @Test(arguments: [false, true])
    func alertIsNotGatheredWhileNoOtherTopicIsLive(isOver: Bool) {
        let stage = LineupStage(lineups: LineupRules())
        stage.follow(three)
        for topic in three { stage.publish(topic, hasBegun: isOver || topic == "b") }
        if isOver { for topic in ["a", "c"] { stage.end(topic, dismissAfter: .seconds(3600)) } }
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pushes().map(\.spotlight) == ["b"])
        stage.publish("a")
        _ = stage.pass(seconds: 60)
        stage.goal("b")
        #expect(stage.pushes().isEmpty && stage.pass(seconds: 1).map(\.spotlight) == ["b"], "now there is another")
    }

    @Test func theEndOfALineupWaitsForNothing() {
        let stage = stage(["a", "b"], LineupRules())
        stage.end("b", dismissAfter: .seconds(60))
        stage.end("a", dismissAfter: .seconds(60))
        #expect(stage.pushes().map(\.payload.event) == [.end])
        let another = self.stage(["a", "b"], LineupRules())
        another.goal("a")
        #expect(another.pushes().isEmpty)
        another.end("b", dismissAfter: .seconds(60))
        #expect(another.pushes().isEmpty)
        another.end("a", dismissAfter: .seconds(60))
        let end = another.pushes()
        #expect(end.map(\.payload.event) == [.end] && end.first?.payload.alert?.title == "goal 1 in a")
    }

    /// A goal comes in every second, just when the wait of the one before is over: no push waits for longer than two seconds. Two members share an
    /// audience; one has a row.
    @Test(arguments: [1, 2] as [UInt64]) func aGoalInEachSecondIsToldWithinTwoSeconds(members: UInt64) {
        let stage = stage(three, LineupRules())
        if members == 2 { stage.follow(three, activity: 2) }
        _ = stage.pass(seconds: 60)
        var told: [UInt64: [MonotonicTime]] = [:]
        let begins = stage.time
        for second in 0..<30 {
            stage.goal(three[second % 3])
            for push in stage.pushes() { told[push.activity, default: []].append(push.time) }
            stage.advance(seconds: 1)
        }
        #expect(told.count == members)
        for times in told.values {
            let waits = zip(times, [begins] + times).map { $0 - $1 }
            #expect(times.count >= 10 && waits.allSatisfy { $0 <= .seconds(2) }, "\(waits)")
        }
        _ = stage.pass(seconds: 10)
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.accepted + alerts.superseded == 30 * members && alerts.stale == 0)
    }

    /// A weight that no rule may have does not end the process, and is the largest.
    @Test(arguments: [-5, 300, 40_000, Int.max, Int.min]) func aWeightBeyondAllIsClamped(weight: Int) {
        let stage = stage(three)
        stage.publish("c", priority: .immediate, occasionWeight: weight)
        _ = stage.pushes()
        stage.advance(seconds: 5)
        stage.point("a")
        #expect(stage.pushes().map(\.spotlight) == ["c"])
        #expect(stage.shard.violatedInvariant() == nil)
    }
}
