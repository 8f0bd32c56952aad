import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// One start, never a second card; the newest state waits for the update token (rule L7).
@Suite struct L7StartTests {
    let stage = EmbeddedShard()

    @Test func aStartHasAllThatAPhoneAsksFor() throws {
        stage.publish(1)
        stage.start()
        let push = try #require(stage.settle().first)
        #expect(push.token == [7])
        #expect(push.event == .start)
        #expect(push.state == #"{"score":1}"#)
        #expect(push.payload.alert?.title == "Kick-off")
        #expect(push.payload.priority == .immediate)
        #expect(push.payload.stamp == stage.moment.wallSeconds)
        #expect(push.payload.staleDate == stage.moment.wallSeconds + 600)
        let start = try #require(push.payload.start)
        #expect(start.attributesType == "MatchAttributes")
        #expect(String(decoding: start.attributes, as: UTF8.self) == #"{"activity":"card","match":"m1"}"#)
        #expect(start.collapseID?.hasPrefix("start-") == true)
        #expect(stage.shard.isQuiet)
        #expect(stage.shard.statistics.tokenless == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .uncertain])
    func theNewestStateWaitsForTheToken(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.start()
        #expect(stage.settle(outcome).count == 1)
        for score in Int64(2)...4 { stage.publish(score) }
        stage.start()
        stage.pass(seconds: 3600)
        #expect(stage.settle().isEmpty, "neither a second start nor an update")
        #expect(stage.shard.isQuiet)
        stage.follow()
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.update])
        #expect(pushes.map(\.state) == [#"{"score":4}"#])
        #expect(pushes.map(\.token) == [[1]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func aStateThatTheStartCarriedIsNotSentAgain() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.publish(2)
        stage.publish(1)
        stage.follow()
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.isQuiet)
        stage.publish(3)
        #expect(stage.settle().map(\.state) == [#"{"score":3}"#])
    }

    @Test func aStartsStateThatRevertsBeforeThePushIsNotSentAgain() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.publish(2)
        stage.follow()
        stage.publish(1)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.isQuiet)
    }

    @Test func aStartsStateIsNotSentAgainAfterARevokedAlert() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        stage.revoke("goal")
        stage.publish(1)
        stage.follow()
        #expect(stage.settle().isEmpty)
    }

    @Test func aFreshAlertSinceTheStartRidesAlong() {
        stage.publish(1, alert: "before")
        stage.start()
        _ = stage.settle()
        stage.publish(2, alert: "goal")
        stage.follow()
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
    }

    /// The phone's token may come before the answer to the start.
    @Test(arguments: [
        DeliveryOutcome.accepted, .uncertain, .deadToken, .throttled, .serviceError, .notProcessed, .refused,
    ])
    func aCardWhoseTokenPrecedesTheStartsAnswerIsUpdated(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.follow()
        stage.publish(2)
        #expect(stage.pull().isEmpty, "one push at a time")
        stage.answer(start, outcome)
        stage.pass(seconds: 2)
        #expect(stage.settle().map(\.state) == [#"{"score":2}"#])
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.fates().isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Another activity is served between two tries, so all errors but the first count as the start's own.
    @Test(arguments: [DeliveryOutcome.throttled, .serviceError])
    func aRefusalThatTimeMendsIsRetriedAFewTimes(outcome: DeliveryOutcome) {
        stage.follow("other")
        stage.publish(0)
        stage.start()
        var starts = 0
        for second in Int64(1)...3600 {
            stage.publish(second)
            let pushes = stage.pull()
            let tries = pushes.filter { $0.event == .start }
            starts += tries.count
            stage.answer(tries, outcome)
            stage.answer(pushes.filter { $0.event != .start }, .accepted)
            stage.pass(seconds: 1)
        }
        #expect(starts == StartFailure.refusalsMax + (outcome == .throttled ? 0 : 1))
        #expect(stage.fates() == [.notStarted(.gaveUp)])
        #expect(stage.shard.statistics.activities == 1)
    }

    /// The service answers 503 to all pushes, for a minute and a half or for an hour: the errors are not the start's own, so it is not given up.
    @Test(arguments: [90, 3600]) func aStartOutlastsAnOutage(seconds: Int) {
        stage.publish(1)
        stage.follow("other")
        _ = stage.settle()
        for device in 0..<30 { stage.start("card \(device)", device: UInt8(100 + device)) }
        for second in 0..<seconds {
            if second % 10 == 0 { stage.publish(Int64(second)) }
            _ = stage.settle(.serviceError)
            stage.pass(seconds: 1)
        }
        #expect(stage.fates().isEmpty)
        var started = 0
        for _ in 0..<10 {
            started += stage.settle().count { $0.event == .start }
            stage.pass(seconds: 1)
        }
        #expect(started == 30)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// A key is revoked for an hour: these failures do not count against the start.
    @Test func aStartThatWasNotProcessedIsRetriedUntilItIs() {
        stage.publish(1)
        stage.start()
        for _ in 0..<3600 {
            _ = stage.settle(.notProcessed)
            stage.pass(seconds: 1)
        }
        #expect(stage.fates().isEmpty)
        #expect(stage.settle().map(\.event) == [.start])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func aRetryCarriesTheNewestStateAndTheNewestStartToken() {
        stage.publish(1)
        stage.start()
        _ = stage.settle(.notProcessed)
        stage.publish(2)
        stage.start(device: 8)
        let (_, pushes) = stage.passUntilPush(seconds: 10)
        #expect(pushes.map(\.state) == [#"{"score":2}"#])
        #expect(pushes.map(\.token) == [[8]])
    }

    /// The device gets a new start token while a start to the old one is in flight; the outcome of that one does not matter.
    @Test(arguments: [DeliveryOutcome.notProcessed, .throttled, .serviceError, .deadToken])
    func L7_aStartTokenThatIsReplacedOnTheWayFreesTheStart(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.start(device: 8)
        #expect(stage.pull().isEmpty, "one push at a time")
        stage.answer(start, outcome)
        let (after, pushes) = stage.passUntilPush(seconds: 10)
        #expect(after <= 1)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[8]])
        #expect(stage.fates().isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
        stage.answer(pushes, .deadToken)
        #expect(stage.fates() == [.notStarted(.deadToken)])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The old start token is one refusal short of the maximum: refusals of the new one count from 0.
    @Test func L7_aStartTokenThatIsReplacedIsNotRefusedForTheOldOne() {
        stage.publish(1)
        stage.start()
        for _ in 1..<StartFailure.refusalsMax { stage.answer(stage.passUntilPush(seconds: 3600).pushes, .throttled) }
        let last = stage.passUntilPush(seconds: 3600).pushes
        stage.start(device: 8)
        stage.answer(last, .throttled)
        stage.answer(stage.passUntilPush(seconds: 10).pushes, .throttled)
        #expect(stage.fates().isEmpty)
        #expect(stage.passUntilPush(seconds: 10).pushes.map(\.token) == [[8]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// A start that was not accepted is given back to the budget of the device it was meant for.
    @Test func L7_aStartTokenThatIsReplacedHasItsBudgetBack() {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.start(device: 8)
        stage.answer(start, .notProcessed)
        stage.answer(stage.passUntilPush(seconds: 10).pushes, .accepted)
        for device in [UInt8(7), 8] {
            for number in 0...StartBudget.burst { stage.start("card \(device) \(number)", device: device) }
        }
        let devices = stage.settle().map(\.token)
        #expect(devices.count { $0 == [7] } == StartBudget.burst)
        #expect(devices.count { $0 == [8] } == StartBudget.burst - 1)
    }

    @Test func L7_whoUnfollowsAfterItsStartTokenWasReplacedGetsNoStart() {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.start(device: 8)
        stage.unfollow()
        stage.answer(start, .deadToken)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [(DeliveryOutcome.deadToken, StartFailure.deadToken), (.refused, .refused)])
    func aStartThatIsRefusedForGoodIsReported(outcome: DeliveryOutcome, failure: StartFailure) {
        stage.publish(1)
        stage.start()
        #expect(stage.settle(outcome).count == 1)
        #expect(stage.fates() == [.notStarted(failure)])
        #expect(stage.shard.statistics.activities == 0)
        stage.publish(2)
        #expect(stage.settle().isEmpty)
    }

    @Test func nothingStartsBeforeTheTopicDoesOrAfterItHasEnded() {
        stage.start()
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.isQuiet)
        stage.publish(1)
        #expect(stage.settle().map(\.event) == [.start])
        stage.publish(2, event: .end)
        stage.start("late")
        #expect(stage.settle().isEmpty)
        #expect(stage.fates() == [.notStarted(.over)])
        stage.follow()
        #expect(stage.settle().map(\.event) == [.end], "the one that was started gets its end")
        #expect(stage.shard.statistics.activities == 0)
    }

    @Test func aDeviceGetsNoMoreStartsThanItsBudget() {
        stage.publish(1)
        for number in 0...StartBudget.burst { stage.start("card \(number)") }
        stage.start("elsewhere", device: 8)
        #expect(stage.settle().count == StartBudget.burst + 1)
        #expect(!stage.shard.isQuiet)
        #expect(stage.shard.violatedInvariant() == nil)
        let (after, pushes) = stage.passUntilPush(seconds: 3600)
        #expect(after == 900)
        #expect(pushes.count == 1)
    }

    /// A start that was not accepted does not count against the device's budget.
    @Test func aRefusedStartIsNoneOfTheBudget() {
        stage.publish(1)
        for number in 0..<StartBudget.burst { stage.start("card \(number)") }
        stage.answer(stage.pull(), .refused)
        for number in 0..<StartBudget.burst { stage.start("other \(number)") }
        #expect(stage.settle().count == StartBudget.burst)
    }

    /// The audience has two hundred members, a hundred pushes leave each second, and each second there is a new version.
    @Test func aStartThatHasFailedOnceDoesNotWaitForABusyAudienceToRest() {
        for member in 0..<200 { stage.follow("member \(member)", token: UInt8(member % 5)) }
        stage.publish(0)
        _ = stage.settle()
        stage.start(device: 77)
        stage.answer(stage.pull(), .serviceError)
        var startedAfter: Int64?
        for second in Int64(1)...600 where startedAfter == nil {
            stage.pass(seconds: 1)
            stage.publish(second)
            let pushes = stage.pull()
            if pushes.contains(where: { $0.event == .start }) { startedAfter = second }
            stage.answer(pushes, .accepted)
        }
        #expect(startedAfter.map { $0 <= 5 } == true, "\(startedAfter ?? -1) s")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Two hundred starts that fail again and again take only a small share of the pushes.
    @Test func startsThatFailLeaveTheirAudienceAlmostAllOfItsPushes() {
        for member in 0..<200 { stage.follow("member \(member)", token: UInt8(member % 5)) }
        stage.publish(0)
        _ = stage.settle()
        for card in 0..<200 { stage.start("card \(card)", device: UInt8(10 + card)) }
        var (starts, updates) = (0, 0)
        for second in Int64(1)...120 {
            stage.publish(second)
            let pushes = stage.pull()
            let tries = pushes.filter { $0.event == .start }
            // All starts have failed once by then.
            if second > 20 { (starts, updates) = (starts + tries.count, updates + pushes.count - tries.count) }
            stage.answer(tries, .throttled)
            stage.answer(pushes.filter { $0.event != .start }, .accepted)
            stage.pass(seconds: 1)
        }
        #expect(starts > 100 && starts * 50 <= updates, "\(starts) and \(updates)")
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func startsGoBeforeSilentUpdatesAndAfterAlerts() {
        stage.publish(1)
        for member in UInt8(1)...50 { stage.follow("member \(member)", token: member) }
        _ = stage.settle()
        stage.publish(2)
        stage.start()
        #expect(stage.settle().first?.event == .start)
        stage.publish(3, alert: "goal")
        stage.start("other", device: 8)
        let events = stage.settle().map(\.event)
        #expect(events.filter { $0 == .start }.count == 1)
        #expect(events.first == .update)
    }

    /// The request of a start for an existing activity is kept for its renewal.
    @Test func activityWithACardGetsNoSecondOne() {
        stage.publish(1)
        stage.follow()
        stage.start()
        #expect(stage.settle().map(\.event) == [.update])
        #expect(stage.shard.statistics.activities == 1)
    }
}

/// Stopping is one end, dismissed at once, and nothing after it (rule L5).
@Suite struct L5UnfollowTests {
    let stage = EmbeddedShard()

    private func isPrivateEnd(_ push: EmbeddedShard.Push) -> Bool {
        push.event == .end && push.payload.state.isEmpty
            && push.payload.dismissalDate ?? .max < stage.moment.wallSeconds
    }

    @Test func anActivityGetsOneEnd() {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.unfollow()
        stage.publish(2)
        let pushes = stage.settle()
        #expect(pushes.count == 1 && pushes.allSatisfy(isPrivateEnd))
        stage.publish(3)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    @Test func aStartUnfollowedBeforeItsTopicNeverLeaves() {
        stage.start()
        stage.unfollow()
        stage.publish(1)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .uncertain])
    func theEndOfAStartedCardWaitsForItsToken(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.unfollow()
        stage.answer(start, outcome)
        stage.publish(2)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.isQuiet)
        stage.follow()
        let pushes = stage.settle()
        #expect(pushes.count == 1 && pushes.allSatisfy(isPrivateEnd))
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The next token that is reported could belong to either card.
    @Test func theNameOfACardThatIsBeingEndedIsTaken() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.unfollow()
        stage.start()
        #expect(stage.settle().isEmpty)
        #expect(stage.fates() == [.notStarted(.nameTaken)])
        stage.follow()
        let end = stage.pull()
        stage.start()
        #expect(stage.fates() == [.notStarted(.nameTaken)], "until its end is taken")
        stage.answer(end, .accepted)
        stage.start()
        #expect(stage.settle().map(\.event) == [.start] && stage.fates().isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test(arguments: [DeliveryOutcome.throttled, .notProcessed, .refused, .deadToken])
    func aStartThatWasNotTakenNeedsNoEnd(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.start()
        let start = stage.pull()
        stage.unfollow()
        stage.answer(start, outcome)
        stage.pass(seconds: 100)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.fates().isEmpty, "nobody wants to know")
    }
}
