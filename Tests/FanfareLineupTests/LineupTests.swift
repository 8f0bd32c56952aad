import FanfareCore
import FanfareLineup
import Testing

@Suite struct LineupTests {
    private let three = ["a", "b", "c"]

    private func stage(_ topics: [String], favourite: String? = nil) -> Stage {
        let stage = Stage()
        stage.follow(topics, favourite: favourite)
        for topic in topics { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    @Test func aGoalHasTheSpotlightAtOnceAndGivesItBack() {
        let stage = stage(three)
        stage.goal("c")
        let goal = stage.pushes()
        #expect(goal.map(\.lit) == ["c"])
        #expect(goal.first?.payload.alert?.title == "goal 1 in c")
        #expect(goal.first?.shown == three, "the person's order stays")
        let after = stage.pass(seconds: 100)
        #expect(after.map(\.lit) == ["a"] && after.map(\.at) == [80])
        #expect(after.allSatisfy { $0.payload.alert == nil && $0.payload.priority == .conserving })
    }

    @Test func eightMatchesAreNotEightPushesInTwoSeconds() {
        let topics = (0..<8).map { "match/\($0)" }
        let stage = stage(topics)
        var pushes: [Stage.Push] = []
        for topic in topics {
            stage.point(topic)
            pushes += stage.pass(seconds: 0.25)
        }
        pushes += stage.pass(seconds: 10)
        #expect(pushes.count == 2, "the first at once, all others together")
        #expect(pushes.last?.content?.topics.map(\.minimal) == Array(repeating: "1", count: 8))
        #expect(stage.shard.isQuiet)
    }

    @Test func whatIsEssentialDoesNotWaitForTheInterval() {
        let stage = stage(three)
        stage.point("a")
        #expect(stage.pushes().count == 1)
        stage.point("b")
        #expect(stage.pushes().isEmpty)
        #expect(!stage.shard.isQuiet, "what waits is owed")
        stage.goal("c")
        let goal = stage.pushes()
        #expect(goal.map(\.lit) == ["c"])
        #expect(goal.first?.content?.topics.map(\.minimal) == ["1", "1", "1"], "it takes along what waited")
        #expect(stage.shard.isQuiet)
    }

    @Test func whatNobodySeesIsNoPush() {
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
        let stage = Stage()
        stage.follow(three)
        for topic in three { stage.publish(topic, hasBegun: false) }
        _ = stage.pass(seconds: 60)
        stage.publish("c", priority: .immediate, alert: "postponed", news: 85, hasBegun: false)
        #expect(stage.pushes().map(\.lit) == ["c"])
        #expect(stage.pass(seconds: 3600).isEmpty)
    }

    @Test func whatIsOverIsShownUntilItsDismissal() {
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
        #expect(last.first?.shown == (dismissAfter == .zero ? ["a"] : three), "with its summary")
        stage.follow(three, activity: 2)
        #expect(stage.pass(seconds: 10).map(\.payload.event) == [.end], "who comes later gets one end")
    }

    @Test func theFavouriteKeepsTheSpotlight() {
        let stage = stage(three, favourite: "b")
        stage.goal("c")
        #expect(stage.pass(seconds: 30).map(\.lit) == ["c", "b"])
        stage.follow(three, activity: 2)
        #expect(stage.pass(seconds: 1).map(\.lit) == ["a"], "the same topics without a favourite are another lineup")
    }
}
