import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// The time after an old card has gone, or begins to go, and before its successor's token is known (rule L1).
@Suite struct L1HandOverTests {
    private let stage = EmbeddedShard()
    private let hour: Int64 = 3600
    private let silent = Preferences(alerts: .none)

    // MARK: - Between the old card and the new one's token

    /// The new card has been started, and the system has ended the old one before the token came.
    private func beginAndExpire() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        #expect(stage.passUntilPush(seconds: 2400).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func L1_aCardsNameMeansItsSuccessorThatIsToCome() {
        beginAndExpire()
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        stage.setPreferences(silent)
        let other = TopicID("other")
        stage.move(to: other)
        stage.publish(5, in: other, alert: "goal", renews: true)
        stage.publish(6, renews: true)
        stage.follow("card~2", token: 2, in: other)
        let pushes = stage.settle()
        #expect(pushes.map(\.state) == [#"{"score":5}"#])
        #expect(pushes.map(\.token) == [[2]])
        #expect(pushes.map(\.payload.alert) == [nil])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The reported token belongs to the old card, which the system has ended.
    @Test func L1_followingUnderTheOldNameIsNoNewActivity() {
        beginAndExpire()
        stage.publish(2, renews: true)
        stage.follow("card", token: 9, preferences: silent)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        stage.publish(3, alert: "goal", renews: true)
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]])
        #expect(pushes.map(\.payload.alert) == [nil])
    }

    @Test func L1_unfollowingUnderTheOldNameEndsTheNewCard() {
        beginAndExpire()
        stage.unfollow()
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]])
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.state) == [""])
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    /// The person follows again, by the app's own name: the token of the unfollowed card may still be reported.
    @Test func L1_whoFollowsAgainBeforeTheTokenOfTheCardThatWasLetGoHasANewOne() {
        beginAndExpire()
        _ = stage.fates()
        stage.unfollow()
        stage.follow("card", token: 5)
        #expect(stage.settle().map(\.token) == [[5]])
        stage.follow("card~2", token: 2)
        stage.publish(3, renews: true)
        let pushes = stage.settle()
        #expect(pushes.filter { $0.token == [2] }.map(\.event) == [.end])
        #expect(pushes.filter { $0.token == [5] }.map(\.event) == [.update])
        #expect(stage.shard.statistics.activities == 1 && !stage.shard.lifecycle.renewals.hasNames)
        #expect(stage.fates().isEmpty && stage.shard.violatedInvariant() == nil)
    }

    /// The token never comes, because some people never allow a card updates.
    @Test func L1_theNameGoesWithTheCardThatNeverCame() {
        beginAndExpire()
        stage.pass(seconds: 9 * hour)
        _ = stage.settle()
        _ = stage.passUntilPush(seconds: 400)
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2")), .expired])
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
        stage.follow()
        #expect(stage.settle().map(\.token) == [[1]], "a new beginning is one")
    }

    /// The start left in time and was not accepted; before its last attempt the system ended the old card after eight hours.
    @Test func L1_theSystemsEightHoursAreNobodysWish() {
        stage.beginRenewable()
        var start = stage.passUntilPush(seconds: 8 * hour).pushes
        // Each attempt is answered after minutes, so the old card is gone before the last one.
        while stage.shard.membership.slot(of: ActivityID(hashing: "card")) != nil {
            stage.pass(seconds: 200)
            stage.answer(start, .throttled)
            start = stage.passUntilPush(seconds: 200).pushes
        }
        stage.answer(start, .notProcessed)
        let again = stage.passUntilPush(seconds: 200).pushes
        #expect(again.map(\.event) == [.start])
        stage.answer(again, .accepted)
        stage.publish(2, renews: true)
        stage.follow("card~2", token: 2)
        #expect(stage.settle().map(\.token) == [[2]])
    }

    /// The person dismisses the old card while the new one's start is in flight: the new card may appear, but its start is not repeated.
    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed])
    func L1_whoDismissesTheOldCardIsNotAskedTwice(outcome: DeliveryOutcome) {
        stage.beginRenewable()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        stage.publish(2, renews: true)
        _ = stage.settle(.deadToken)
        #expect(stage.shard.statistics.activities == 1)
        stage.answer(start, outcome)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        let next = ActivityID(hashing: "card~2")
        if outcome == .accepted {
            #expect(stage.fates() == [.renewed(as: next)])
            stage.unfollow()
            stage.follow("card~2", token: 2)
            #expect(stage.settle().map(\.event) == [.end])
        } else {
            #expect(stage.told() == [EmbeddedShard.Told("card~2", .notStarted(.over))], "no card is there")
        }
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    /// Begins with a new card whose start was accepted, while the end of the topic that both show is in flight to the old card.
    private func beginAndEnd() -> [EmbeddedShard.Push] {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, event: .end, renews: true)
        let end = stage.pull()
        #expect(end.map(\.token) == [[1]] && end.map(\.event) == [.end])
        return end
    }

    private func registerNewCard() {
        stage.shard.apply(.replaceToken(ActivityID(hashing: "card~2"), token: [2]), at: stage.moment)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed])
    func L1_whoUnfollowsWhileTheOldCardIsBeingEndedWantsNoNewOne(outcome: DeliveryOutcome) {
        let end = beginAndEnd()
        stage.unfollow()
        stage.answer(end, outcome)
        _ = stage.settle()
        registerNewCard()
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]] && pushes.map(\.event) == [.end])
        #expect(pushes.map(\.state) == [""], "an end of its own, at once")
        #expect(stage.told().isEmpty)
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed])
    func L1_whoMovesWhileTheOldCardIsBeingEndedGoesOnWithTheNewOne(outcome: DeliveryOutcome) {
        let end = beginAndEnd()
        let other = TopicID("other")
        stage.publish(5, in: other, renews: true)
        stage.move(to: other)
        stage.answer(end, outcome)
        #expect(stage.settle().allSatisfy { $0.token == [1] && $0.event == .end }, "the old one goes")
        registerNewCard()
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]] && pushes.map(\.event) == [.update])
        #expect(pushes.map(\.state) == [#"{"score":5}"#])
        #expect(stage.told() == [EmbeddedShard.Told("card", .renewed(as: next))])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The new card moves independently of the old one, also back to the topic whose end the old card has not got yet.
    @Test func L1_whoMovesBackWhileTheOldCardIsBeingEndedWaitsForWhatComes() {
        let end = beginAndEnd()
        let other = TopicID("other")
        stage.publish(5, in: other, renews: true)
        stage.move(to: other)
        stage.answer(end, .throttled)
        stage.shard.apply(.forget(stage.topic), at: stage.moment)
        stage.move(to: stage.topic)
        stage.publish(3, renews: true)
        registerNewCard()
        let pushes = stage.passUntilPush(seconds: 1).pushes.filter { $0.token == [2] }
        #expect(pushes.map(\.event) == [.update] && pushes.map(\.state) == [#"{"score":3}"#])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The end of the old card's topic has left, and the new card's start was not accepted: there is no card to move.
    @Test func L1_whoMovesTheCardThatIsBeingEndedBeforeThereIsANewOneGetsNone() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .throttled)
        stage.publish(2, event: .end, renews: true)
        let end = stage.pull()
        let other = TopicID("other")
        stage.publish(5, in: other, renews: true)
        stage.move(to: other)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        stage.answer(end, .accepted)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        #expect(stage.told() == [EmbeddedShard.Told("card~2", .notStarted(.over))])
        #expect(stage.shard.statistics.activities == 0)
    }

    /// A card that has been renewed twice has three names.
    @Test func L1_everyNameThatACardHadMeansIt() {
        stage.beginRenewable()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~3", token: 3)
        _ = stage.settle()
        for (number, name) in ["card", "card~2", "card~3"].enumerated() {
            let topic = TopicID("topic \(number)")
            stage.publish(10 + Int64(number), in: topic, renews: true)
            stage.move(name, to: topic)
            #expect(stage.settle().map(\.token) == [[3]], "\(name)")
        }
        stage.follow("card~2", token: 8)
        #expect(stage.settle().map(\.token) == [[3]], "its token, reported late, means nothing")
        stage.unfollow("card~2")
        #expect(stage.settle().map(\.event) == [.end])
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    // MARK: - Between the old card and the new one's start

    private let next = ActivityID(hashing: "card~2")

    /// The service has answered nothing but errors since before the renewal, and the system has ended the old card.
    private func beginAndOutlive(answering outcome: DeliveryOutcome = .serviceError) {
        stage.beginRenewable()
        stage.pass(seconds: 7 * hour + 360, answering: outcome)
        #expect(stage.shard.statistics.tokenless == 1 && stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// A backend takes a reported successor for a card that exists.
    @Test(arguments: [DeliveryOutcome.accepted, .uncertain])
    func L1_aRenewalIsToldWhenTheNewCardsStartMayHaveArrived(outcome: DeliveryOutcome) {
        beginAndOutlive()
        #expect(stage.told().isEmpty, "there is no card")
        let (_, start) = stage.passUntilPush(seconds: 100)
        #expect(start.map(\.event) == [.start])
        #expect(stage.told().isEmpty, "it has not arrived")
        stage.answer(start, outcome)
        #expect(stage.told() == [EmbeddedShard.Told("card", .renewed(as: next))])
        stage.publish(2, renews: true)
        stage.follow("card~2", token: 2)
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.told().isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func L1_aRenewalIsToldWhenItsTokenIsFasterThanTheAnswer() {
        beginAndOutlive()
        let (_, start) = stage.passUntilPush(seconds: 100)
        stage.follow("card~2", token: 2)
        #expect(stage.told() == [EmbeddedShard.Told("card", .renewed(as: next))])
        stage.answer(start, .accepted)
        #expect(stage.told().isEmpty)
    }

    /// The system ends the old card while the start is in flight, and the start is not processed.
    @Test func L1_aStartOnItsWayIsNoCardYet() {
        stage.beginRenewable()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        #expect(stage.passUntilPush(seconds: 2400).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        stage.answer(start, .notProcessed)
        #expect(stage.told().isEmpty)
        stage.answer(stage.passUntilPush(seconds: 100).pushes, .accepted)
        #expect(stage.told() == [EmbeddedShard.Told("card", .renewed(as: next))])
    }

    /// The old card's topic ends before the new card's start has left, or that start is refused for good.
    @Test(arguments: [nil, DeliveryOutcome.refused, .deadToken])
    func L1_withoutANewCardTheOldOneHasExpired(outcome: DeliveryOutcome?) {
        beginAndOutlive(answering: .notProcessed)
        if let outcome {
            _ = stage.settle(outcome)
            stage.answer(stage.passUntilPush(seconds: 100).pushes, outcome)
        } else {
            stage.publish(2, event: .end)
            #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        }
        let failure: StartFailure = outcome == .refused ? .refused : outcome == .deadToken ? .deadToken : .over
        #expect(
            stage.told() == [EmbeddedShard.Told("card~2", .notStarted(failure)), EmbeddedShard.Told("card", .expired)])
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }

    @Test func L1_aCardsNameMeansASuccessorWhoseStartIsToLeave() {
        beginAndOutlive()
        stage.setPreferences(silent)
        let other = TopicID("other")
        stage.publish(5, in: other, renews: true)
        stage.move(to: other)
        stage.follow("card", token: 9, in: other)
        stage.start(device: 8)
        let start = stage.passUntilPush(seconds: 100).pushes
        #expect(start.map(\.event) == [.start])
        #expect(start.map(\.token) == [[8]])
        stage.answer(start, .accepted)
        stage.follow("card~2", token: 2, in: stage.topic)
        stage.publish(6, alert: "goal", renews: true)
        let pushes = stage.settle()
        #expect(pushes.map(\.token) == [[2]])
        #expect(pushes.map(\.state) == [#"{"score":6}"#])
        #expect(pushes.map(\.payload.alert) == [nil])
        #expect(stage.told() == [EmbeddedShard.Told("card", .renewed(as: next))])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// An unfollow that was requested is not reported.
    @Test(arguments: [nil, DeliveryOutcome.accepted, .notProcessed])
    func L1_whoUnfollowsTheCardThatIsToComeGetsNone(outcome: DeliveryOutcome?) {
        beginAndOutlive()
        let start = outcome == nil ? [] : stage.passUntilPush(seconds: 100).pushes
        stage.unfollow()
        if let outcome { stage.answer(start, outcome) }
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        if outcome == .accepted {
            stage.follow("card~2", token: 2)
            #expect(stage.settle().map(\.event) == [.end], "it was there already")
        }
        #expect(stage.told().isEmpty)
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.lifecycle.renewals.hasNames)
    }
}
