import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The waits of activities whose pushes have failed.
@Suite struct RetriesTests {
    private func stage(_ members: Int, _ shard: Shard = Shard()) -> EmbeddedShard {
        let stage = EmbeddedShard(shard)
        for number in 1...members { stage.follow("card \(number)", token: UInt8(number)) }
        stage.publish(1)
        return stage
    }

    @Test func onlyTheActivityThatFailedWaitsAndThenGetsTheNewestState() {
        let stage = stage(2)
        stage.answer(stage.pull(), by: { $0.token == [1] ? .throttled : .accepted })
        stage.publish(2)
        #expect(stage.settle().map(\.token) == [[2]])
        let (after, pushes) = stage.passUntilPush(seconds: 10)
        #expect((1...2).contains(after) && pushes.map(\.token) == [[1]])
        #expect(pushes.map(\.state) == [#"{"score":2}"#] && stage.shard.violatedInvariant() == nil)
    }

    @Test func eachFailureInARowDoublesTheWait() {
        let stage = stage(1)
        stage.answer(stage.pull(), .throttled)
        for failures in 0..<6 {
            let wait = Int64(1) << failures
            let (after, pushes) = stage.passUntilPush(seconds: 200)
            #expect(pushes.count == 1 && (wait...wait * 3 / 2 + 1).contains(after), "\(after) s for \(failures)")
            stage.answer(pushes, .throttled)
        }
        stage.answer(stage.passUntilPush(seconds: 200).pushes)
        stage.publish(2)
        stage.answer(stage.pull(), .throttled)
        #expect(stage.passUntilPush(seconds: 200).after <= 2, "an accepted push ends the row")
    }

    @Test func activitiesThatFailTogetherDoNotReturnTogether() {
        let stage = stage(40)
        stage.answer(stage.pull(), .throttled)
        stage.pass(.milliseconds(999))
        #expect(stage.pull().isEmpty)
        stage.pass(.milliseconds(251))
        let first = stage.pull().count
        stage.pass(.milliseconds(260))
        let second = stage.pull().count
        #expect(first > 0 && second > 0 && first + second == 40)
    }

    @Test func aNewTokenEndsTheWait() {
        let stage = stage(1)
        stage.answer(stage.pull(), .throttled)
        #expect(stage.pull().isEmpty)
        stage.apply(.replaceToken(ActivityID(hashing: "card 1"), token: [9]))
        #expect(stage.settle().map(\.token) == [[9]])
        #expect(stage.passUntilPush(seconds: 10).pushes.isEmpty, "the former wait brings nothing")
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func activitiesAreHeldWhileTooManyTokensSeemDeadAndSomeAreTried() {
        let stage = stage(10, Shard(deadTokenAnswers: 4...100, deadTokenProbes: 2))
        stage.answer(stage.pull(), .deadToken)
        #expect(stage.shard.statistics.activities == 7, "the guard shuts with the fourth answer")
        #expect(stage.shard.statistics.pushes.dead == 3 && stage.shard.statistics.pushes.held == 7)
        #expect(stage.passUntilPush(seconds: 9).pushes.isEmpty)
        stage.pass(seconds: 1)
        #expect(stage.pull().count == 2, "two of them are tried")
        stage.answerAll()
        #expect(stage.pull().isEmpty && stage.shard.violatedInvariant() == nil)
    }

    @Test func heldActivitiesAreRemovedOnceAnOperatorTrustsTheAnswers() {
        let stage = stage(10, Shard(deadTokenAnswers: 4...100, deadTokenProbes: 2))
        stage.answer(stage.pull(), .deadToken)
        stage.apply(.confirmDeadTokens)
        stage.pass(seconds: 10)
        #expect(stage.settle(.deadToken).count == 7)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.violatedInvariant() == nil)
    }
}
