import FanfareFanOut
import FanfareLineup
import FanfareModel
import Testing

@Suite struct LineupTests {
    private let three = ["a", "b", "c"]

    private func stage(_ topics: [String], favourite: String? = nil) -> LineupStage {
        let stage = LineupStage()
        stage.follow(topics, favourite: favourite)
        for topic in topics { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    @Test func M2_aGoalHasTheSpotlightAtOnceAndGivesItBack() {
        let stage = stage(three)
        stage.goal("c")
        let goal = stage.pushes()
        #expect(goal.map(\.spotlight) == ["c"])
        #expect(goal.first?.payload.alert?.title == "goal 1 in c")
        #expect(goal.first?.shown == three, "the person's order stays")
        let after = stage.pass(seconds: 100)
        #expect(after.map(\.spotlight) == ["a"] && after.map(\.at) == [80])
        #expect(after.allSatisfy { $0.payload.alert == nil && $0.payload.priority == .conserving })
    }

    @Test func M1_eightMatchesAreNotEightPushesInTwoSeconds() {
        let topics = (0..<8).map { "match/\($0)" }
        let stage = stage(topics)
        var pushes: [LineupStage.Push] = []
        for topic in topics {
            stage.point(topic)
            pushes += stage.pass(seconds: 0.25)
        }
        pushes += stage.pass(seconds: 10)
        #expect(pushes.count == 2, "the first at once, all others together")
        #expect(pushes.last?.content?.topics.map(\.minimal) == Array(repeating: "1", count: 8))
        #expect(stage.shard.isQuiet)
    }

    @Test func anEssentialAlertDoesNotWaitForTheInterval() {
        let stage = stage(three)
        stage.point("a")
        #expect(stage.pushes().count == 1)
        stage.point("b")
        #expect(stage.pushes().isEmpty)
        #expect(!stage.shard.isQuiet, "what waits is owed")
        stage.goal("c")
        let goal = stage.pushes()
        #expect(goal.map(\.spotlight) == ["c"])
        #expect(goal.first?.content?.topics.map(\.minimal) == ["1", "1", "1"], "it takes along what waited")
        #expect(stage.shard.isQuiet)
    }

    @Test func invisibleChangeIsNoPush() {
        let stage = stage(three)
        stage.detail("b")
        #expect(stage.pass(seconds: 10).isEmpty)
        #expect(stage.shard.isQuiet)
        stage.detail("a")
        #expect(stage.pass(seconds: 10).count == 1, "the spotlight is shown whole")
    }

    @Test func rotationHasABudget() {
        let stage = stage(three)
        var goals = 0
        var returns: [Int64] = []
        for _ in 0..<12 {
            stage.goal("c")
            for push in stage.pass(seconds: 25) {
                if push.payload.alert != nil { goals += 1 } else { returns.append(push.at) }
            }
        }
        #expect(goals == 12)
        #expect((6...10).contains(returns.count), "four at once and one a minute, at \(returns)")
    }

    @Test func nothingRotatesWhileNothingIsLive() {
        let stage = LineupStage()
        stage.follow(three)
        for topic in three { stage.publish(topic, hasBegun: false) }
        _ = stage.pass(seconds: 60)
        stage.publish("c", priority: .immediate, alert: "postponed", occasionWeight: 85, hasBegun: false)
        #expect(stage.pushes().map(\.spotlight) == ["c"])
        #expect(stage.pass(seconds: 3600).isEmpty)
        let wait = (stage.shard.nextDue ?? .never) - stage.moment.monotonic
        #expect(wait > .seconds(6 * 3600), "nobody is woken, but for what has lasted eight hours")
    }

    /// Neither state fits beside the rows, so which of them has the spotlight is not to be seen.
    @Test func invisibleCycleOfTheSpotlightIsNoPush() {
        let stage = LineupStage(lineups: LineupRules(round: .seconds(10)))
        stage.follow(["a", "b"])
        for topic in ["a", "b"] { stage.publish(topic, fill: 3000) }
        #expect(stage.pass(seconds: 5).allSatisfy { $0.content?.spotlight == nil && $0.shown.count > 0 })
        #expect(stage.pass(seconds: 300).isEmpty)
        stage.publish("a")
        stage.publish("b")
        _ = stage.pass(seconds: 5)
        let seen = stage.pass(seconds: 30)
        #expect(
            seen.map(\.spotlight) == ["a", "b", "a"] || seen.map(\.spotlight) == ["b", "a", "b"], "small ones are seen")
        #expect(seen.allSatisfy { $0.payload.priority == .conserving && $0.payload.alert == nil })
    }

    @Test func aTopicThatFindsNoRoomInALineupIsNoPush() {
        let topics = (0..<60).map { "match/\($0)" }
        let stage = stage(topics)
        stage.goal("match/0")
        let first = stage.pass(seconds: 10)
        #expect(first.first?.content.map { $0.more > 0 && $0.topics.count > 8 } == true)
        stage.point("match/59")
        #expect(stage.pass(seconds: 10).isEmpty)
        #expect(stage.shard.isQuiet)
    }

    @Test func anEndedTopicOfALineupIsShownUntilItsDismissal() {
        let stage = stage(three)
        stage.end("b", dismissAfter: .seconds(900))
        #expect(stage.pass(seconds: 800).isEmpty, "a lineup that goes on shows the same")
        let after = stage.pass(seconds: 200)
        #expect(after.map(\.shown) == [["a", "c"]])
        #expect(after.allSatisfy { $0.payload.priority == .conserving && $0.payload.alert == nil })
    }

    @Test(arguments: [Duration.zero, .seconds(900)])
    func theLastEndIsTheLineupsEnd(dismissAfter: Duration) {
        let stage = stage(three)
        for topic in ["b", "c"] { stage.end(topic, dismissAfter: dismissAfter) }
        #expect(stage.pass(seconds: 10).allSatisfy { $0.payload.event == .update })
        stage.end("a", dismissAfter: dismissAfter)
        let last = stage.pass(seconds: 5000)
        #expect(last.map(\.payload.event) == [.end])
        #expect(last.first?.shown == three, "with its summary, though the others were dismissed before")
        stage.follow(three, activity: 2)
        #expect(stage.pass(seconds: 10).map(\.payload.event) == [.end], "who comes later gets one end")
    }

    @Test func theFavouriteKeepsTheSpotlight() {
        let stage = stage(three, favourite: "b")
        stage.goal("c")
        #expect(stage.pass(seconds: 30).map(\.spotlight) == ["c", "b"])
        stage.follow(three, activity: 2)
        #expect(
            stage.pass(seconds: 1).map(\.spotlight) == ["a"], "the same topics without a favourite are another lineup")
    }

    /// The match is resumed when the end of its lineup has been put off, and what it shows is not urgent.
    @Test func aLineupThatBeginsAgainIsNotEnded() {
        let stage = LineupStage()
        stage.follow(["a"])
        stage.publish("a")
        _ = stage.pass(seconds: 10)
        stage.end("a", dismissAfter: .seconds(60))
        #expect(stage.pull().map(\.payload.event) == [.end])
        stage.answer(.throttled)
        stage.point("a")
        #expect(stage.shard.violatedInvariant() == nil)
        #expect(stage.pass(seconds: 100).map(\.payload.event) == [.update])
    }
}
