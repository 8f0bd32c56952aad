import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// No activity lasts more than eight hours: it is ended or renewed before that (rule L1).
@Suite struct L1ExpiryTests {
    let stage = EmbeddedShard()
    private let hour: Int64 = 3600

    @Test func anActivityEndsBeforeEightHoursWithItsNewestState() throws {
        stage.publish(1)
        stage.follow()
        stage.pass(seconds: 2 * hour)
        stage.follow("younger", token: 2)
        _ = stage.settle()
        stage.publish(2)
        _ = stage.settle()
        let (after, pushes) = stage.passUntilPush(seconds: 7 * hour)
        #expect((6 * hour - 600...6 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.count == 1)
        let end = try #require(pushes.first)
        #expect(end.token == [1])
        #expect(end.event == .end)
        #expect(end.state == #"{"score":2}"#)
        #expect(end.payload.dismissalDate == stage.moment.wallSeconds + 1200)
        #expect(stage.shard.violatedInvariant() == nil)
        stage.answer(pushes, .accepted)
        #expect(stage.fates() == [.expired])
        stage.publish(3)
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.passUntilPush(seconds: 3 * hour).pushes.map(\.token) == [[2]], "the other one's time comes too")
    }

    /// The followed topic was never published, or only an earlier topic with the same id was, whose state may belong to another guest.
    @Test(arguments: [true, false], [true, false])
    func L1_whatHasNothingToShowEndsWithoutAState(inLineup: Bool, afterAnother: Bool) {
        if afterAnother {
            stage.publish(1)
            stage.publish(2, event: .end)
            stage.shard.apply(.forget(stage.topic), at: stage.moment)
        }
        let key = inLineup ? AudienceKey.lineup([stage.topic]) : .topic(stage.topic)
        stage.shard.apply(.follow(ActivityID(hashing: "card"), key, token: [1]), at: stage.moment)
        let (after, pushes) = stage.passUntilPush(seconds: 9 * hour)
        #expect((8 * hour - 600...8 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.map(\.event) == [.end] && pushes.map(\.state) == [""])
        #expect(pushes.allSatisfy { $0.payload.dismissalDate ?? .max < stage.moment.wallSeconds })
        stage.answer(pushes, .accepted)
        #expect(stage.fates() == [.expired])
        #expect(stage.shard.statistics.activities == 0 && stage.shard.violatedInvariant() == nil)
    }

    /// The app started the activity, and the backend learns of it hours later.
    @Test func L1_anActivityIsAsOldAsItsPhoneSays() {
        stage.publish(1)
        stage.follow("younger", token: 2)
        stage.follow("older", age: .seconds(6 * hour))
        _ = stage.settle()
        let (after, pushes) = stage.passUntilPush(seconds: 3 * hour)
        #expect((2 * hour - 600...2 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.map(\.token) == [[1]])
        #expect(pushes.map(\.event) == [.end])
    }

    /// An age beyond the lifetime, and a negative one.
    @Test func L1_anAgeThatCannotBeCountsAsTheNearestThatCan() {
        stage.publish(1)
        stage.follow("over", token: 1, age: .seconds(1000 * hour))
        stage.follow("unborn", token: 2, age: .seconds(-1000 * hour))
        _ = stage.settle()
        _ = stage.passUntilPush(seconds: 600)
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.passUntilPush(seconds: 9 * hour).pushes.map(\.token) == [[2]])
    }

    /// An activity joins that is older than those which the scan is passing.
    @Test func L1_anOldActivityAmongYoungOnesHasItsTime() {
        stage.publish(1)
        for member in 0..<600 { stage.follow("member \(member)", token: 2) }
        _ = stage.settle()
        stage.pass(seconds: 7 * hour + 1800 + 30)
        stage.follow("late", token: 1, age: .seconds(7 * hour))
        _ = stage.settle()
        var ended: Int64?
        for second in 0..<hour where ended == nil {
            stage.pass(seconds: 1)
            if stage.settle().contains(where: { $0.token == [1] && $0.event == .end }) { ended = second }
        }
        #expect(ended.map { (hour - 600...hour - 299).contains($0 + 1) } == true, "\(ended ?? -1) s")
    }

    /// There are many activities, so that a lap has many steps.
    @Test func everyOldActivityIsEnded() {
        stage.publish(1)
        for member in 0..<1000 {
            stage.follow("member \(member)")
            if member % 10 == 0 { stage.pass(seconds: 1) }
        }
        _ = stage.settle()
        var ends = 0
        for _ in 0..<(8 * hour - 300) / 10 {
            stage.pass(seconds: 10)
            ends += stage.settle().count
        }
        #expect(ends == 1000)
        #expect(stage.shard.statistics.activities == 0)
    }

    /// The service was away during a lap of the scan, for longer than a lap takes.
    @Test func L1_afterALongPauseNobodyIsSentAnUpdateBeyondTheLimit() {
        stage.publish(1)
        for member in 0..<1000 { stage.follow("member \(member)") }
        _ = stage.settle()
        stage.pass(seconds: 7 * hour + 1800)
        for _ in 0..<10 {
            _ = stage.settle()
            stage.pass(seconds: 1)
        }
        stage.pass(seconds: 2100)
        stage.publish(2)
        let pushes = stage.settle()
        #expect(pushes.count == 1000)
        #expect(pushes.allSatisfy { $0.event == .end })
    }

    /// A shard's thread was stalled while the cards of one kick-off became due.
    @Test func L1_manyOldCardsAreEndedInTurnsOfBoundedLength() {
        stage.publish(1)
        for card in 0..<20_000 { stage.follow("card \(card)", age: .seconds(8 * hour - 700)) }
        stage.pass(seconds: 300)
        _ = stage.pull()
        var expired = stage.shard.takeFeedback().count { if case .fate(_, .expired) = $0 { true } else { false } }
        #expect(expired == AgeScanner.visitsMax)
        for _ in 0..<100_000 where expired < 20_000 {
            stage.answer(stage.pull(), .accepted)
            expired += stage.fates().count
            stage.pass(seconds: 1)
        }
        #expect(expired == 20_000)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    // MARK: - Alerts of an end

    private let silent = Preferences(alerts: .none)

    /// Begins with a card that has the newest state and is due for its end in a second.
    private func beginOld(preferences: Preferences? = nil) {
        stage.publish(1)
        stage.follow(preferences: preferences, age: .seconds(8 * hour - 601))
        _ = stage.settle()
    }

    /// The goal is published in the second in which the card is to end.
    @Test func anEndForItsAgeTellsOfAMissedAlert() {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        let end = stage.settle()
        #expect(end.map(\.event) == [.end])
        #expect(end.map(\.state) == [#"{"score":2}"#])
        #expect(end.map(\.payload.alert?.title) == ["goal"])
        #expect(stage.shard.statistics.alerts.accepted == 1)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The alert's push is in flight when the card is to end.
    @Test(arguments: [DeliveryOutcome.accepted, .uncertain, .refused, .notProcessed, .throttled, .serviceError])
    func anEndForItsAgeTellsOfAnAlertThatCameBack(outcome: DeliveryOutcome) {
        beginOld()
        stage.publish(2, alert: "goal")
        let push = stage.pull()
        #expect(push.map(\.payload.alert?.title) == ["goal"])
        stage.pass(seconds: 2)
        #expect(stage.pull().isEmpty)
        stage.answer(push, outcome)
        let isNoChance = ![.accepted, .uncertain, .refused].contains(outcome)
        let end = stage.passUntilPush(seconds: 5).pushes
        #expect(end.map(\.event) == [.end])
        #expect(end.map(\.payload.alert?.title) == [isNoChance ? "goal" : nil])
        stage.answer(end, .accepted)
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.accepted == (outcome == .uncertain || outcome == .refused ? 0 : 1))
        #expect(alerts.uncertain == (outcome == .uncertain ? 1 : 0) && alerts.refused == (outcome == .refused ? 1 : 0))
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The end is throttled; before that there is a second goal, or the first one is revoked.
    @Test(arguments: [false, true]) func anEndForItsAgeTellsOfWhatIsNewestWhenItIsTriedAgain(isRevoked: Bool) {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        let end = stage.pull()
        #expect(end.map(\.event) == [.end])
        if isRevoked { stage.revoke("goal") } else { stage.publish(3, alert: "second") }
        stage.answer(end, .throttled)
        let again = stage.passUntilPush(seconds: 5).pushes
        #expect(again.map(\.event) == [.end])
        #expect(again.map(\.payload.alert?.title) == [isRevoked ? nil : "second"])
        stage.answer(again, .accepted)
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.accepted + alerts.superseded + alerts.revoked == (isRevoked ? 1 : 2))
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The card is unfollowed while its end is in flight, or while the end waits for a retry.
    @Test(arguments: [false, true]) func endForAgeCarriesNoAlertAfterAnUnfollow(isOnItsWay: Bool) {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        let end = stage.pull()
        #expect(end.map(\.event) == [.end])
        if isOnItsWay { stage.unfollow() }
        stage.answer(end, .throttled)
        if !isOnItsWay { stage.unfollow() }
        stage.publish(3, alert: "second")
        let again = stage.passUntilPush(seconds: 5).pushes
        #expect(again.map(\.event) == [.end])
        #expect(again.map(\.payload.alert?.title) == [nil] && !again.contains { $0.state.contains("3") })
        stage.answer(again, .accepted)
        #expect(stage.shard.statistics.alerts.accepted == 0)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The end is sent again after a lost answer: its alert counts, so the next one exceeds the limit. The alert of a throttled end does not
    /// count, because nobody has heard it.
    @Test(arguments: [DeliveryOutcome.uncertain, .throttled])
    func A2_theAlertOfAnEndForItsAgeCounts(outcome: DeliveryOutcome) {
        var limits = ActivityLimits()
        limits.alerts = TokenBucket.Size(burst: 1, refill: .seconds(1800))
        let stage = EmbeddedShard(Shard(limits: limits))
        stage.publish(1)
        stage.follow(age: .seconds(8 * hour - 601))
        _ = stage.settle()
        stage.publish(2, alert: "goal", class: .ordinary)
        stage.pass(seconds: 2)
        let end = stage.pull()
        #expect(end.map(\.payload.alert?.title) == ["goal"])
        stage.answer(end, outcome)
        stage.publish(3, alert: "card", class: .ordinary)
        let again = stage.passUntilPush(seconds: 30).pushes
        #expect(again.map(\.event) == [.end])
        #expect(again.map(\.payload.alert?.title) == [outcome == .throttled ? "card" : nil])
        stage.answer(again, .accepted)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// If it did not count as planned, the app's backend would alert the person, too.
    @Test func A3_whatAnEndForItsAgeTellsOfIsPlanned() {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        let end = stage.pull()
        #expect(end.map(\.payload.alert?.title) == ["goal"])
        #expect(stage.disposition(of: "goal") == .planned)
        #expect(stage.disposition(of: "corner") == .noActivity, "its end is on its way without that")
        stage.answer(end, .throttled)
        #expect(stage.disposition(of: "goal") == .planned)
        #expect(stage.disposition(of: "corner") == .silenced(.unknown))
        stage.publish(3, alert: "second")
        #expect(stage.disposition(of: "second") == .planned)
        stage.revoke("second")
        #expect(stage.disposition(of: "second") == .silenced(.revoked))
        stage.unfollow()
        #expect(stage.disposition(of: "goal") == .noActivity)
        _ = stage.passUntilPush(seconds: 5)
    }

    @Test func A3_noAlertIsPlannedForACardThatHasLeft() {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.unfollow()
        #expect(stage.disposition(of: "goal") == .noActivity)
    }

    @Test func endForAgeCarriesNoMaskedAlert() {
        beginOld(preferences: silent)
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        #expect(stage.settle().map(\.payload.alert?.title) == [nil])
        #expect(stage.shard.statistics.alerts.silenced == 1)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// An alert that was carried along by a move to a lineup still counts as missed.
    @Test func anEndForItsAgeTellsOfCarriedAlerts() {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.shard.apply(
            .move(ActivityID(hashing: "card"), .lineup([stage.topic, TopicID("other")])), at: stage.moment)
        stage.pass(seconds: 2)
        let end = stage.settle()
        #expect(end.map(\.event) == [.end] && end.map(\.payload.alert?.title) == ["goal"])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func activityWithoutTokenIsRemovedAfterEightHours() {
        stage.publish(1)
        stage.start()
        _ = stage.settle()
        stage.pass(seconds: 8 * hour - 1)
        #expect(stage.settle().isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        stage.pass(seconds: 301)
        #expect(stage.settle().isEmpty)
        _ = stage.passUntilPush(seconds: 301)
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.fates() == [.expired])
    }

    // MARK: - Ends that never arrive

    private static let troubles: [DeliveryOutcome] = [.serviceError, .throttled, .uncertain, .notProcessed]

    @Test(arguments: troubles) func L1_whoHasLeftAndCannotBeEndedIsGoneAfterEightHours(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.pass(seconds: hour)
        stage.unfollow()
        stage.pass(seconds: 7 * hour - 10, answering: outcome)
        #expect(stage.shard.statistics.activities == 1 && !stage.shard.isQuiet, "its card may still be there")
        stage.pass(seconds: 360, answering: outcome)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.isQuiet)
        #expect(stage.shard.violatedInvariant() == nil)
        let reports = stage.shard.takeFeedback().compactMap { if case .report(let line) = $0 { line } else { nil } }
        #expect(reports.count == 1 && reports.first?.hasPrefix("1 ends have not arrived") == true)
    }

    @Test(arguments: troubles) func L1_whoCannotBeToldOfAnythingKeepsNoTopic(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.publish(2)
        stage.pass(seconds: 8 * hour + 360, answering: outcome)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.isQuiet)
        #expect(stage.fates() == [.expired])
        stage.publish(3, event: .end)
        stage.shard.apply(.forget(stage.topic), at: stage.moment)
        #expect(stage.shard.membership.topics.count == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The scan visits the card while its end is in flight, and the end is not accepted.
    @Test func L1_anEndOnItsWayWhenTheHandComesByIsNoReasonNeverToComeAgain() {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.pass(seconds: 7 * hour + 1795)
        stage.publish(2, event: .end)
        let end = stage.pull()
        #expect(end.map(\.event) == [.end])
        stage.pass(seconds: 10)
        #expect(stage.pull().isEmpty)
        stage.answer(end, .throttled)
        stage.pass(seconds: 2160, answering: .throttled)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.isQuiet)
    }

    // MARK: - Starts that have not been sent

    /// Eight hours count from the card's appearance: a match on Saturday morning may be followed on Friday evening.
    @Test func L1_aStartThatWaitsForItsTopicDoesNotAge() {
        stage.start()
        #expect(stage.passUntilPush(seconds: 12 * hour).pushes.isEmpty)
        #expect(stage.fates().isEmpty && stage.shard.statistics.tokenless == 1)
        stage.publish(1)
        #expect(stage.settle().map(\.event) == [.start])
        stage.follow()
        let (after, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect((8 * hour - 600...8 * hour - 299).contains(after + 1), "\(after) s")
        #expect(pushes.map(\.event) == [.end])
    }

    /// The app has started the card itself before the push that was to do so: the card is as old as the app says, and not as the request.
    @Test(arguments: [Int64(0), 600]) func L1_aCardThatItsAppHasStartedIsNotAsOldAsARequestThatWaits(age: Int64) {
        stage.start()
        #expect(stage.passUntilPush(seconds: 12 * hour).pushes.isEmpty)
        stage.follow(age: .seconds(age))
        stage.publish(1)
        #expect(stage.settle().map(\.event) == [.update])
        let (after, pushes) = stage.passUntilPush(seconds: 8 * hour)
        let whole = Int64(after) + 1 + age
        #expect(
            (Int64(8 * hour) - 600...Int64(8 * hour) - 299).contains(whole) && pushes.map(\.event) == [.end],
            "\(whole) s")
    }

    @Test func aStartThatNothingComesForIsGivenUpAfterAWeek() {
        stage.start()
        for _ in 0..<7 * 24 * 60 - 1 {
            stage.pass(seconds: 60)
            #expect(stage.pull().isEmpty)
        }
        #expect(stage.fates().isEmpty && stage.shard.statistics.activities == 1)
        for _ in 0..<7 {
            stage.pass(seconds: 60)
            #expect(stage.pull().isEmpty)
        }
        #expect(stage.fates() == [.notStarted(.waitedTooLong)])
        #expect(stage.shard.statistics.activities == 0 && stage.shard.membership.topics.count == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }
}
