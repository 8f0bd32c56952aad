import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// A topic that lasts more than eight hours goes on in another card, which takes the first one's place (rule L1).
@Suite struct L1RenewalTests {
    private let stage = EmbeddedShard()
    private let hour: Int64 = 3600
    private let silent = Preferences(alerts: .none)

    @Test func theOldCardEndsWhenTheNewCardsTokenHasRegistered() throws {
        stage.beginRenewable()
        let (after, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect((6 * hour + 1800...6 * hour + 2101).contains(after), "\(after) s")
        let start = try #require(pushes.first?.payload.start)
        #expect(pushes.count == 1)
        #expect(String(decoding: start.attributes, as: UTF8.self) == #"{"activity":"card~2","match":"m1"}"#)
        stage.answer(pushes, .accepted)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[1]], "the old card is kept current")
        stage.follow("card~2", token: 2)
        let next = stage.settle()
        #expect(next.map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
        #expect(next.first { $0.event == .end }?.token == [1])
        #expect(next.first { $0.event == .update }?.token == [2])
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func theOldCardStaysToTheLastWithoutTheNewCardsToken() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.pass(seconds: 1500)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[1]])
        stage.pass(seconds: hour)
        #expect(stage.passUntilPush(seconds: 400).pushes.isEmpty)
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        #expect(stage.shard.statistics.activities == 1)
    }

    @Test func anOldCardWithoutASuccessorEnds() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .deadToken)
        let (after, pushes) = stage.passUntilPush(seconds: hour)
        #expect((900...1500).contains(after), "\(after) s")
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.state) == [#"{"score":1}"#])
    }

    @Test func theFirstNameOfARenewedCardMeansTheNewCard() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.follow("card", token: 9)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[2]], "the old card's token, reported late, means nothing")
        stage.unfollow("card")
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.lifecycle.renewals.handedOverCount == 0)
        stage.follow("card", token: 5)
        #expect(stage.settle().map(\.token) == [[5]], "and a new beginning is one")
    }

    /// The old card's pushes are answered 429 while the new one is being started, whose start shows the goal already.
    @Test(arguments: [false, true]) func L1_whatTheOldCardHasMissedTheNewOneTells(isRevoked: Bool) {
        stage.beginRenewable()
        stage.pass(seconds: 6 * hour + 1700)
        stage.publish(4, renews: true)
        stage.answer(stage.pull(), .throttled)
        stage.pass(seconds: 2)
        stage.answer(stage.pull(), .throttled)
        stage.publish(5, alert: "goal", renews: true)
        var starts: [EmbeddedShard.Push] = []
        while starts.isEmpty, stage.shard.statistics.pushes.sent < 100 {
            let pushes = stage.pull()
            starts = pushes.filter { $0.event == .start }
            stage.answer(pushes.filter { $0.event != .start }, .throttled)
            if starts.isEmpty { stage.pass(seconds: 1) }
        }
        #expect(starts.map(\.state) == [#"{"score":5}"#])
        stage.answer(starts, .accepted)
        if isRevoked { stage.revoke("goal") }
        stage.follow("card~2", token: 2)
        #expect(stage.shard.violatedInvariant() == nil)
        let next = stage.settle().filter { $0.token == [2] }
        #expect(next.map(\.payload.alert?.title) == (isRevoked ? [] : ["goal"]))
        stage.pass(seconds: 200)
        _ = stage.settle()
        #expect(stage.shard.statistics.alerts.accepted == (isRevoked ? 0 : 1))
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The person follows again by the app's own name, while the renewed card's end is in flight or pending.
    @Test(arguments: [DeliveryOutcome.accepted, .throttled, nil] as [DeliveryOutcome?])
    func L1_afterTheRenewedCardWasLetGoTheFirstNameIsANewOnes(outcome: DeliveryOutcome?) {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        _ = stage.fates()
        stage.unfollow()
        let end = outcome == nil ? [] : stage.pull()
        stage.follow("card", token: 5)
        #expect(stage.shard.violatedInvariant() == nil)
        if let outcome { stage.answer(end, outcome) }
        stage.pass(seconds: 100)
        let pushes = stage.settle()
        #expect(pushes.filter { $0.token == [5] }.map(\.event) == [.update])
        #expect(pushes.filter { $0.token == [2] }.map(\.event) == (outcome == .accepted ? [] : [.end]))
        stage.unfollow()
        #expect(stage.settle().map(\.token) == [[5]])
        #expect(stage.shard.statistics.activities == 0 && !stage.shard.lifecycle.renewals.hasNames)
        #expect(stage.fates().isEmpty)
    }

    @Test func L1_anOldCardThatStillWaitsForItsEndKeepsItsToken() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        for push in stage.pull() { stage.answer([push], push.token == [1] ? .throttled : .accepted) }
        _ = stage.fates()
        stage.unfollow()
        stage.follow("card", token: 1)
        #expect(stage.fates() == [.ended], "the old card's")
        stage.follow("card", token: 5)
        #expect(stage.shard.violatedInvariant() == nil)
        stage.pass(seconds: 100)
        let pushes = stage.settle()
        #expect(pushes.filter { $0.event == .end }.map(\.token).sorted { $0[0] < $1[0] } == [[1], [2]])
        #expect(pushes.filter { $0.event == .update }.map(\.token) == [[5]])
        #expect(stage.shard.statistics.activities == 1 && stage.shard.violatedInvariant() == nil)
    }

    @Test func L1_anUnfollowOfTheRenewedCardIsTakenBackUnderTheFirstName() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.unfollow()
        stage.follow("card", token: 2)
        stage.publish(3, renews: true)
        #expect(stage.settle().map(\.event) == [.update])
        stage.unfollow()
        let end = stage.pull()
        _ = stage.fates()
        stage.follow("card", token: 2)
        #expect(stage.fates() == [.ended])
        stage.answer(end, .accepted)
        #expect(stage.shard.statistics.activities == 0)
    }

    @Test func aRenewedCardIsRenewedInItsTurn() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        let (_, pushes) = stage.passUntilPush(seconds: 8 * hour)
        stage.answer(pushes, .accepted)
        #expect(pushes.map(\.event) == [.start])
        stage.follow("card~3", token: 3)
        #expect(stage.settle().map(\.token) == [[2]])
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[3]])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// A topic that never ends is renewed three times a day.
    @Test func theFirstAndTheLatestNamesOfACardGoOn() {
        stage.beginRenewable()
        for edition in 2...20 {
            stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
            stage.follow("card~\(edition)", token: UInt8(edition))
            _ = stage.settle()
            _ = stage.fates()
        }
        #expect(stage.shard.lifecycle.renewals.handedOverCount == Renewal.namesMax)
        #expect(stage.shard.violatedInvariant() == nil)
        for name in ["card", "card~17", "card~18", "card~19", "card~20"] {
            #expect(stage.shard.lifecycle.slot(of: ActivityID(hashing: name)) != nil, "\(name)")
        }
        stage.unfollow("card")
        #expect(stage.settle().map(\.token) == [[20]])
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    /// Preferences that are set under the old name while both cards exist apply to both.
    @Test func L1_preferencesUnderTheOldNameReachTheStartedCard() {
        stage.beginRenewable()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        stage.follow("card", token: 1, preferences: silent)
        stage.answer(start, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.publish(3, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert) == [nil])
    }

    /// A device's start token changes before the renewal's start has left, or after that start was refused, which permits another one.
    @Test(arguments: [(DeliveryOutcome.notProcessed, Int64(10)), (.deadToken, 600)])
    func L1_aRenewalGoesToTheNewestStartToken(answer: DeliveryOutcome, seconds: Int64) {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, answer)
        stage.start(device: 8)
        let (_, pushes) = stage.passUntilPush(seconds: seconds)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[8]])
    }

    /// The old card waits for the new one's token once its start has left, although the topic no longer renews cards.
    @Test func L1_aRenewalThatHasBegunIsFinished() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, renews: false)
        _ = stage.settle()
        // The end of another activity makes the scan pass.
        stage.pass(seconds: 1300)
        stage.follow("other", token: 9, age: .seconds(8 * hour - 700))
        #expect(stage.settle().map(\.token) == [[9]])
        let ends = stage.passUntilPush(seconds: 400).pushes
        stage.answer(ends, .accepted)
        #expect(ends.map(\.token) == [[9]])
        stage.follow("card~2", token: 2)
        #expect(stage.settle().map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
    }

    // MARK: - Start tokens that change

    /// A device's start token changes while the renewal's start to the old token is in flight.
    @Test(arguments: [DeliveryOutcome.notProcessed, .deadToken, .throttled])
    func L1_aRenewalOnItsWayGoesToTheNewestStartToken(outcome: DeliveryOutcome) {
        stage.beginRenewable()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        stage.start(device: 8)
        stage.answer(start, outcome)
        let again = stage.passUntilPush(seconds: 10).pushes
        #expect(again.map(\.event) == [.start] && again.map(\.token) == [[8]])
        #expect(stage.fates().isEmpty)
        stage.answer(again, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.map(\.token) == [[8]], "and the next one")
    }

    /// The start to the old token was accepted, so the renewal's start goes to the new token.
    @Test func L1_aStartTokenThatIsReplacedAfterTheStartIsTheNextOnes() {
        stage.publish(1, renews: true)
        stage.start()
        _ = stage.settle()
        stage.start(device: 8)
        stage.follow()
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.map(\.token) == [[8]])
    }

    // MARK: - Ends during a renewal

    /// A person who ends the card while its successor starts wants neither.
    @Test func anUnfollowDuringARenewalEndsBothCards() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.unfollow()
        #expect(stage.settle().map(\.token) == [[1]])
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.lifecycle.renewals.handedOverCount == 0)
    }

    @Test func aDismissedCardIsNotRenewed() {
        stage.beginRenewable()
        stage.publish(2, renews: true)
        _ = stage.settle(.deadToken)
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    /// An activity that the app started can be renewed after a `start` command for it.
    @Test func anActivityThatTheAppStartedIsRenewed() {
        stage.publish(1, renews: true)
        stage.follow()
        stage.start()
        _ = stage.settle()
        let (_, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[7]])
    }

    // MARK: - Alerts while there are two cards

    /// The old card has had the alert.
    @Test func aGoalIsToldOnceByTwoCards() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
        #expect(pushes.allSatisfy { $0.payload.alert == nil })
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The push with the alert is in flight to the old card. If it were not processed, there would be no old card to retry.
    @Test func aGoalOnItsWayToTheOldCardIsNotToldByTheNewOne() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        #expect(stage.pull().map(\.payload.alert?.title) == ["goal"])
        stage.follow("card~2", token: 2)
        #expect(stage.settle().allSatisfy { $0.payload.alert == nil })
    }

    /// The alert has not been sent to the old card, or its push was throttled.
    @Test(arguments: [nil, DeliveryOutcome.throttled]) func aGoalThatTheOldCardHasNotToldIsToldByTheNewOne(
        outcome: DeliveryOutcome?
    ) {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        if let outcome { stage.answer(stage.pull(), outcome) }
        stage.follow("card~2", token: 2)
        #expect(stage.settle().filter { $0.event == .update }.map(\.payload.alert?.title) == ["goal"])
    }

    /// The old card is dismissed, or the system has ended it, before the new one's token comes.
    @Test(arguments: [false, true]) func aGoalThatTheOldCardHasToldBeforeItWentIsNotToldAgain(isDismissed: Bool) {
        stage.beginRenewable()
        let (after, start) = stage.passUntilPush(seconds: 8 * hour)
        stage.answer(start, .accepted)
        if !isDismissed { stage.pass(seconds: 7 * hour - after - 10) }
        stage.publish(2, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
        if isDismissed {
            stage.publish(3, renews: true)
            #expect(stage.settle(.deadToken).map(\.token) == [[1]])
        } else {
            while stage.shard.statistics.activities > 1 {
                stage.pass(seconds: 1)
                #expect(stage.pull().isEmpty)
            }
        }
        #expect(stage.shard.statistics.activities == 1)
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]])
        #expect(pushes.map(\.payload.alert?.title) == [nil])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// An audience's version numbers mean nothing in another audience.
    @Test func moveOfBothCardsIsReportedOnce() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        let other = TopicID("other")
        for score in Int64(1)...9 { stage.publish(score, in: other, renews: true) }
        stage.move(to: other)
        stage.publish(10, in: other, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
        stage.publish(11, in: other, alert: "second", renews: true)
        stage.follow("card~2", token: 2, in: other)
        #expect(stage.settle().filter { $0.event == .update }.map(\.payload.alert?.title) == ["second"])
    }
}
