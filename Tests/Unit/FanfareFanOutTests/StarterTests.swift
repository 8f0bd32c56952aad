import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// When a start leaves, in which order, and what its failures cost.
@Suite struct StarterTests {
    private let stage = EmbeddedShard()

    @Test func startsLeaveInTheOrderOfTheirRequestsOnceThereIsSomethingToShow() {
        for device in UInt8(1)...3 { stage.start("card \(device)", device: device) }
        #expect(stage.pull().isEmpty && stage.shard.lifecycle.starts.count == 3)
        stage.publish(1)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[1], [2], [3]] && pushes.allSatisfy { $0.event == .start })
        #expect(stage.settle().isEmpty && stage.shard.violatedInvariant() == nil)
    }

    @Test func aDeviceIsSentNoMoreStartsThanItsBudget() {
        stage.publish(1)
        for number in 0..<StartBudget.burst + 2 { stage.start("card \(number)") }
        #expect(stage.settle().count == StartBudget.burst)
        #expect(stage.passUntilPush(seconds: 600).pushes.isEmpty)
        stage.pass(seconds: 301)
        #expect(stage.settle().count == 1, "one has come back")
        #expect(stage.fates().isEmpty && stage.shard.violatedInvariant() == nil)
    }

    @Test func aStartThatWasNotProcessedIsRepeatedAfterASecondAndCostsNoBudget() {
        stage.publish(1)
        stage.start()
        for attempt in 0..<StartBudget.burst + 4 {
            let (after, pushes) = stage.passUntilPush(seconds: 10)
            #expect(pushes.map(\.event) == [.start], "attempt \(attempt)")
            #expect(attempt == 0 ? after == 0 : (1...2).contains(after), "attempt \(attempt)")
            stage.answer(pushes, .notProcessed)
        }
        #expect(stage.fates().isEmpty && stage.shard.violatedInvariant() == nil)
    }

    @Test func aStartThatIsRefusedForGoodIsReportedAndGone() {
        stage.publish(1)
        stage.start()
        stage.answer(stage.pull(), .refused)
        #expect(stage.fates() == [.notStarted(.refused)])
        #expect(stage.shard.statistics.activities == 0 && stage.shard.statistics.tokenless == 0)
        #expect(stage.passUntilPush(seconds: 60).pushes.isEmpty && stage.shard.violatedInvariant() == nil)
    }

    /// The app has started the card by itself.
    @Test func aTokenThatComesBeforeTheStartMakesAnUpdateOfIt() {
        stage.start()
        stage.follow()
        stage.publish(1)
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.update] && pushes.map(\.token) == [[1]])
        #expect(stage.shard.statistics.tokenless == 0 && stage.shard.violatedInvariant() == nil)
    }

    @Test func aStartForATopicThatEndsIsGivenUp() {
        stage.publish(1)
        stage.start()
        stage.publish(2, event: .end)
        #expect(stage.settle().isEmpty)
        #expect(stage.fates() == [.notStarted(.over)] && stage.shard.statistics.activities == 0)
    }

    @Test func noMoreStartsAreNamedThanThereIsRoomAndTheyLeaveInOrder() {
        let shard = Shard()
        shard.keepClaims(ClaimLimits(namedMax: 3))
        let stage = EmbeddedShard(shard)
        stage.publish(1)
        for device in UInt8(1)...5 { stage.start("card \(device)", device: device, number: UInt32(device)) }
        var (named, tokens): ([Int], [[UInt8]]) = ([], [])
        for _ in 0..<10 {
            tokens += stage.settle().map(\.token)
            for request in stage.claims() {
                #expect(tokens.count == named.reduce(0, +), "what is claimed leaves before more is claimed")
                named.append(request.starts.count)
                stage.confirm(request.ticket)
            }
        }
        #expect(named == [3, 2] && tokens == [[1], [2], [3], [4], [5]])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }
}
