import FanfareLineup
import FanfareModel
import Testing

@testable import FanfareFanOut

/// News come to lineups by a cursor, and most lineups rest in a row of a table.
@Suite struct LineupCursorTests {
    private let three = ["a", "b", "c"]

    private func stage(lineups count: Int = 1, _ rules: LineupRules = LineupRules(gather: .zero)) -> LineupStage {
        let stage = LineupStage(lineups: rules)
        for number in 0..<count { stage.follow(three + ["own \(number)"], activity: UInt64(number) + 1) }
        for topic in three { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        return stage
    }

    private func resting(_ stage: LineupStage) -> Int {
        stage.shard.membership.lineups.all.count { stage.shard.membership.lineups.isResting($0) }
    }

    @Test func tenVersionsWhileTheCursorGoesRoundAreOnePush() {
        let stage = stage(lineups: 3)
        for _ in 0..<10 {
            for topic in three { stage.point(topic) }
        }
        let pushes = stage.pass(seconds: 60)
        #expect(pushes.map(\.activity).sorted() == [1, 2, 3])
        #expect(pushes.allSatisfy { $0.content?.topics.map(\.minimal) == ["10", "10", "10"] })
        #expect(stage.shard.isQuiet)
    }

    @Test func publishingTouchesNoLineup() {
        let stage = stage(lineups: 5)
        #expect(resting(stage) == 5)
        stage.goal("a")
        #expect(resting(stage) == 5 && stage.shard.membership.lineups.newsCount == 1 && !stage.shard.isQuiet)
        #expect(stage.pull(limit: 2).count == 2)
        #expect(resting(stage) == 3, "two pushes are on their way, and nobody else has been visited")
        stage.answer(.accepted)
        #expect(resting(stage) == 5)
        #expect(stage.pass(seconds: 1).count == 3)
    }

    /// A version published between two pulls reaches the members that the cursor has passed and those that it has not.
    @Test func cursorWrapsRoundToMembersWithTheOlderVersion() {
        let stage = stage(lineups: 5)
        stage.goal("a")
        let first = stage.pull(limit: 2).map(\.activity)
        stage.answer(.accepted)
        stage.advance(seconds: 1)
        stage.goal("b")
        let rest = stage.pass(seconds: 1)
        #expect(first.count == 2 && rest.count == 5)
        #expect(Set(rest.map(\.activity)) == [1, 2, 3, 4, 5])
        #expect(rest.allSatisfy { $0.content?.topics.map(\.minimal).prefix(2) == ["1", "1"] })
    }

    @Test(arguments: [DeliveryOutcome.notProcessed, .throttled, .uncertain, .serviceError])
    func lineupInTroubleDoesNotRestBeforeItsEnd(outcome: DeliveryOutcome) {
        let stage = stage(lineups: 2)
        stage.goal("a")
        #expect(stage.pull().count == 2)
        stage.answer(outcome)
        #expect(resting(stage) == 0)
        #expect(stage.pass(seconds: 10).count == 2)
        #expect(resting(stage) == 2 && stage.shard.isQuiet)
    }

    @Test func aSecondMemberWakesALineupAndTheLastLetsItRest() {
        let stage = stage()
        stage.goal("b")
        _ = stage.pass(seconds: 1)
        #expect(resting(stage) == 1)
        stage.follow(three + ["own 0"], activity: 2)
        let joined = stage.pass(seconds: 1)
        #expect(joined.map(\.activity) == [2] && joined.map(\.spotlight) == ["b"], "it shows what the other one does")
        #expect(resting(stage) == 0)
        stage.unfollow(activity: 1)
        _ = stage.pass(seconds: 1)
        stage.point("a")
        #expect(stage.pass(seconds: 60).first?.activity == 2)
        #expect(resting(stage) == 1 && stage.shard.violatedInvariant() == nil)
    }

    /// The first member's card is brought up to date by the rotation, which has no push left.
    @Test(arguments: [false, true]) func aSecondMemberIsNoPushToTheFirst(isForgotten: Bool) {
        let stage = stage(
            LineupRules(gather: .zero, rotationPushes: TokenBucket.Size(burst: 1, refill: .seconds(3600))))
        stage.goal("c")
        #expect(stage.pass(seconds: 30).map(\.spotlight) == ["c", "a"], "the return takes the only push")
        stage.end("b", dismissAfter: .seconds(60))
        stage.point("a")
        #expect(stage.pass(seconds: 120).map(\.shown) == [three])
        #expect(resting(stage) == 1)
        if isForgotten { stage.forget("b") }
        stage.follow(three + ["own 0"], activity: 2)
        let joined = stage.pass(seconds: 60)
        #expect(joined.map(\.activity) == [2])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The lineup was made with its content, and a topic is dismissed at the moment at which somebody joins: nobody can be sent the content that
    /// the first member has.
    @Test func theRotationPaysForThePushThatAJoinerCauses() {
        let stage = LineupStage(
            lineups: LineupRules(gather: .zero, rotationPushes: TokenBucket.Size(burst: 1, refill: .seconds(3600))))
        for topic in three { stage.publish(topic) }
        stage.follow(three)
        #expect(stage.pass(seconds: 5).map(\.shown) == [three])
        stage.end("b", dismissAfter: .seconds(60))
        #expect(stage.pass(seconds: 10).isEmpty && resting(stage) == 1)
        stage.advance(seconds: 50)
        stage.follow(three, activity: 2)
        #expect(stage.pass(seconds: 5).allSatisfy { $0.shown == ["a", "c"] })
        stage.goal("c")
        #expect(stage.pass(seconds: 60).map(\.spotlight) == ["c", "c"], "no push is left for the way back")
    }

    /// Neither the wait for other alerts, nor that for the interval, nor a push in flight makes an object of a lineup.
    @Test func lineupThatWaitsIsARow() {
        let stage = stage(lineups: 3, LineupRules())
        func rows() -> Int { stage.shard.membership.lineups.all.count { stage.shard.membership.lineups.isLone($0) } }
        stage.goal("b")
        #expect(stage.pushes().isEmpty && rows() == 3)
        #expect(stage.pass(seconds: 0.99).isEmpty)
        #expect(stage.pass(seconds: 0.1).map(\.spotlight) == ["b", "b", "b"])
        stage.point("a")
        #expect(stage.pass(seconds: 1).isEmpty && rows() == 3 && !stage.shard.isQuiet)
        stage.advance(seconds: 2)
        #expect(stage.pull().count == 3 && rows() == 3)
        stage.answer(.accepted)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// Each lineup has one push in flight when the next goal comes to it.
    @Test(arguments: [DeliveryOutcome.accepted, .refused, .notProcessed])
    func goalDuringAPushFollowsItsAnswer(outcome: DeliveryOutcome) {
        let stage = stage(lineups: 2)
        stage.goal("a")
        #expect(stage.pull().count == 2)
        stage.goal("b")
        #expect(stage.pull().isEmpty && stage.shard.violatedInvariant() == nil)
        stage.answer(outcome)
        #expect(stage.shard.violatedInvariant() == nil)
        let next = stage.pass(seconds: 1)
        #expect(next.map(\.spotlight) == ["b", "b"] && next.allSatisfy { $0.payload.alert != nil })
        #expect(stage.shard.isQuiet)
    }

    /// A program asks for the disposition of an alert when its lineup rests.
    @Test func anAlertFromBeforeALineupsRestIsNotForgotten() {
        let stage = stage()
        func disposition() -> AlertDisposition {
            stage.shard.dispositions.disposition(
                of: "goal 2 in a", in: TopicID("a"), for: ActivityID(1), at: stage.moment)
        }
        _ = disposition()
        stage.goal("a")
        _ = stage.pass(seconds: 1)
        stage.goal("a")
        _ = stage.pass(seconds: 30)
        #expect(resting(stage) == 1)
        #expect(disposition() == .accepted)
    }

    @Test func unvisitedNewsCountsFromItsArrival() {
        let stage = stage(LineupRules())
        stage.goal("b")
        stage.advance(seconds: 5)
        let late = stage.pushes()
        #expect(late.map(\.spotlight) == ["b"], "the second in which it waits for others is long over")
        let back = stage.pass(seconds: 60)
        #expect(back.map(\.spotlight) == ["a"])
        #expect(back[0].time - late[0].time == .seconds(15), "twenty seconds after it happened")
    }

    private func stage(_ rules: LineupRules) -> LineupStage { stage(lineups: 1, rules) }

    /// News that no cursor has brought yet are owed, too: a stop of the engine now leaves five people without the goal.
    @Test func newsThatTheCursorHasNotBroughtAreOwed() {
        let stage = stage(lineups: 5)
        #expect(stage.shard.statistics.owed == 0)
        stage.goal("a")
        #expect(stage.shard.statistics.owed == 5)
        #expect(stage.pull(limit: 2).count == 2)
        #expect(stage.shard.statistics.owed == 5)
        stage.answer(.accepted)
        #expect(stage.shard.statistics.owed == 3)
        _ = stage.pass(seconds: 10)
        #expect(stage.shard.statistics.owed == 0)
        stage.goal("b")
        #expect(stage.shard.statistics.owed == 5)
    }

    @Test func aQuestionPushesNothingAndLeavesALineupAtRest() {
        let stage = stage()
        func ask() {
            _ = stage.shard.dispositions.disposition(of: "x", in: TopicID("a"), for: ActivityID(1), at: stage.moment)
        }
        ask()
        #expect(resting(stage) == 1)
        stage.point("a")
        #expect(stage.pushes().count == 1)
        stage.point("a")
        #expect(stage.pushes().isEmpty, "the interval has not passed")
        ask()
        #expect(stage.pushes().isEmpty, "the interval has not passed for who asks")
        #expect(stage.pass(seconds: 3).map { $0.content?.topics.first?.minimal } == ["2"])
        #expect(resting(stage) == 1 && stage.shard.violatedInvariant() == nil)
    }

    /// The budget of the rotation is spent when a match is dismissed: the card loses it when there is budget again.
    @Test(arguments: [1, 2] as [UInt64]) func aDismissalThatTheBudgetDefersIsShownLater(members: UInt64) {
        let rules = LineupRules(gather: .zero, rotationPushes: TokenBucket.Size(burst: 1, refill: .seconds(60)))
        let stage = LineupStage(lineups: rules)
        for activity in 1...members { stage.follow(three, activity: activity) }
        for topic in three { stage.publish(topic) }
        _ = stage.pass(seconds: 60)
        stage.end("b", dismissAfter: .seconds(20))
        stage.goal("c")
        _ = stage.pass(seconds: 200)
        // The end of the goal's dwell time and the dismissal were pushes of the rotation.
        stage.goal("c")
        let shown = stage.pass(seconds: 200).last?.shown
        #expect(shown == ["a", "c"])
        stage.end("c", dismissAfter: .seconds(21))
        stage.goal("a")
        let pushes = stage.pass(seconds: 600)
        #expect(pushes.last?.shown == ["a"], "\(pushes.map(\.shown))")
    }
}
