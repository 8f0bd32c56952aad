import Testing

@testable import FanfareCore

/// No activity lasts more than eight hours: it ends before, or is renewed (rule L1).
@Suite struct L1ExpiryTests {
    let stage = StartStage()
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

    /// Nothing has come of what it follows, or what has come was another guest's, whose state is nobody else's business.
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

    /// The app started it, and the backend hears of it hours later.
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

    /// What has ended already, or says so, or was begun tomorrow.
    @Test func L1_agesThatCannotBe() {
        stage.publish(1)
        stage.follow("over", token: 1, age: .seconds(1000 * hour))
        stage.follow("unborn", token: 2, age: .seconds(-1000 * hour))
        _ = stage.settle()
        _ = stage.passUntilPush(seconds: 600)
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.passUntilPush(seconds: 9 * hour).pushes.map(\.token) == [[2]])
    }

    /// One that is older than those among which the scan is on its way.
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

    /// Many, so that a lap has many steps.
    @Test func nobodyIsForgotten() {
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

    /// The service was away while a lap was on its way, and for longer than it takes.
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

    // MARK: - What an end tells of

    private let silent = Preferences(alerts: .none)

    /// A card whose end is a second away, and has been sent all there is.
    private func beginOld(preferences: Preferences? = nil) {
        stage.publish(1)
        stage.follow(preferences: preferences, age: .seconds(8 * hour - 601))
        _ = stage.settle()
    }

    /// The goal comes in the second in which the card is to end.
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

    /// Its push is on its way when the card is to end.
    @Test(arguments: [DeliveryOutcome.accepted, .unknown, .refused, .notProcessed, .throttled, .serviceError])
    func anEndForItsAgeTellsOfAnAlertThatCameBack(outcome: DeliveryOutcome) {
        beginOld()
        stage.publish(2, alert: "goal")
        let push = stage.pull()
        #expect(push.map(\.payload.alert?.title) == ["goal"])
        stage.pass(seconds: 2)
        #expect(stage.pull().isEmpty)
        stage.answer(push, outcome)
        let isNoChance = ![.accepted, .unknown, .refused].contains(outcome)
        let end = stage.passUntilPush(seconds: 5).pushes
        #expect(end.map(\.event) == [.end])
        #expect(end.map(\.payload.alert?.title) == [isNoChance ? "goal" : nil])
        stage.answer(end, .accepted)
        let alerts = stage.shard.statistics.alerts
        #expect(alerts.accepted == (outcome == .unknown || outcome == .refused ? 0 : 1))
        #expect(alerts.uncertain == (outcome == .unknown ? 1 : 0) && alerts.refused == (outcome == .refused ? 1 : 0))
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// The end comes back, and meanwhile there is another goal, or the first one is none any more.
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

    /// The end is on its way, or waits, and somebody lets go of the card.
    @Test(arguments: [false, true]) func anEndForItsAgeTellsNothingToWhoeverHasLeft(isOnItsWay: Bool) {
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

    @Test func anEndForItsAgeTellsNobodyWhoWantsNothingToldOfIt() {
        beginOld(preferences: silent)
        stage.publish(2, alert: "goal")
        stage.pass(seconds: 2)
        #expect(stage.settle().map(\.payload.alert?.title) == [nil])
        #expect(stage.shard.statistics.alerts.silenced == 1)
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    /// What it has brought along from another topic's lineup, it has still missed.
    @Test func anEndForItsAgeTellsOfWhatWasBroughtAlong() {
        beginOld()
        stage.publish(2, alert: "goal")
        stage.shard.apply(
            .move(ActivityID(hashing: "card"), .lineup([stage.topic, TopicID("other")])), at: stage.moment)
        stage.pass(seconds: 2)
        let end = stage.settle()
        #expect(end.map(\.event) == [.end] && end.map(\.payload.alert?.title) == ["goal"])
        #expect(stage.shard.isQuiet && stage.shard.violatedInvariant() == nil)
    }

    @Test func whoHasNoTokenIsForgottenAfterEightHours() {
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

    /// So long every push is answered like that, one try in ten seconds at most.
    private func pass(seconds: Int64, answering outcome: DeliveryOutcome) {
        for _ in 0..<seconds / 10 {
            stage.answer(stage.pull(), outcome)
            stage.pass(seconds: 10)
        }
    }

    private static let troubles: [DeliveryOutcome] = [.serviceError, .throttled, .unknown, .notProcessed]

    @Test(arguments: troubles) func L1_whoHasLeftAndCannotBeEndedIsGoneAfterEightHours(outcome: DeliveryOutcome) {
        stage.publish(1)
        stage.follow()
        _ = stage.settle()
        stage.pass(seconds: hour)
        stage.unfollow()
        pass(seconds: 7 * hour - 10, answering: outcome)
        #expect(stage.shard.statistics.activities == 1 && !stage.shard.isQuiet, "its card may still be there")
        pass(seconds: 360, answering: outcome)
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
        pass(seconds: 8 * hour + 360, answering: outcome)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.isQuiet)
        #expect(stage.fates() == [.expired])
        stage.publish(3, event: .end)
        stage.shard.apply(.forget(stage.topic), at: stage.moment)
        #expect(stage.shard.topics.count == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The scan comes by while the end is under way, and that is not taken.
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
        pass(seconds: 2160, answering: .throttled)
        #expect(stage.shard.statistics.activities == 0 && stage.shard.isQuiet)
    }

    // MARK: - Starts that have not been sent

    /// Eight hours count from when there is a card: a match on Saturday morning is asked for on Friday evening.
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
        #expect(stage.shard.statistics.activities == 0 && stage.shard.topics.count == 0)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    // MARK: - Renewal

    /// Started by a push, with its token, an hour old.
    private func begin() {
        stage.publish(1, renews: true)
        stage.start()
        _ = stage.settle()
        stage.follow()
        stage.pass(seconds: hour)
        #expect(stage.settle().isEmpty)
    }

    @Test func theOldOneEndsWhenTheNewOnesTokenHasRegistered() throws {
        begin()
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

    @Test func withoutATokenTheOldOneStaysToTheLast() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.pass(seconds: 1500)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[1]])
        stage.pass(seconds: hour)
        #expect(stage.passUntilPush(seconds: 400).pushes.isEmpty)
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        #expect(stage.shard.statistics.activities == 1)
    }

    @Test func withoutASuccessorItEnds() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .deadToken)
        let (after, pushes) = stage.passUntilPush(seconds: hour)
        #expect((900...1500).contains(after), "\(after) s")
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.state) == [#"{"score":1}"#])
    }

    @Test func theFirstNameMeansTheNewOne() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.follow("card", token: 9)
        stage.publish(2, renews: true)
        #expect(stage.settle().map(\.token) == [[2]], "the old card's token, reported late, means nothing")
        stage.unfollow("card")
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.renewals.handedOverCount == 0)
        stage.follow("card", token: 5)
        #expect(stage.settle().map(\.token) == [[5]], "and a new beginning is one")
    }

    @Test func andItIsRenewedInItsTurn() {
        begin()
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
    @Test func ofManyNamesTheFirstAndTheLatestGoOn() {
        begin()
        for edition in 2...20 {
            stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
            stage.follow("card~\(edition)", token: UInt8(edition))
            _ = stage.settle()
            _ = stage.fates()
        }
        #expect(stage.shard.renewals.handedOverCount == Renewal.namesMax)
        #expect(stage.shard.violatedInvariant() == nil)
        for name in ["card", "card~17", "card~18", "card~19", "card~20"] {
            #expect(stage.shard.slot(of: ActivityID(hashing: name)) != nil, "\(name)")
        }
        stage.unfollow("card")
        #expect(stage.settle().map(\.token) == [[20]])
        #expect(!stage.shard.renewals.hasNames)
    }

    // MARK: - Between the old card and the new one's token

    /// The new card has been started, and the system has ended the old one before the token came.
    private func beginAndExpire() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        #expect(stage.passUntilPush(seconds: 2400).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func L1_theNameMeansTheCardThatIsToCome() {
        beginAndExpire()
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2"))])
        stage.prefer(silent)
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

    /// The token is the old card's, which the system has ended.
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
        #expect(!stage.shard.renewals.hasNames)
    }

    /// Some people never allow it updates.
    @Test func L1_theNameGoesWithTheCardThatNeverCame() {
        beginAndExpire()
        stage.pass(seconds: 9 * hour)
        _ = stage.settle()
        _ = stage.passUntilPush(seconds: 400)
        #expect(stage.fates() == [.renewed(as: ActivityID(hashing: "card~2")), .expired])
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.renewals.hasNames)
        stage.follow()
        #expect(stage.settle().map(\.token) == [[1]], "a new beginning is one")
    }

    /// The start left in time and was not taken; the old card went meanwhile, because its eight hours were over.
    @Test func L1_theSystemsEightHoursAreNobodysWish() {
        begin()
        var start = stage.passUntilPush(seconds: 8 * hour).pushes
        // Each attempt is answered after minutes, so the old card is gone before the last one.
        while stage.shard.store.slot(of: ActivityID(hashing: "card")) != nil {
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

    /// The person dismisses the old card while the new one's start is on its way: it may appear, but nobody asks again.
    @Test(arguments: [DeliveryOutcome.accepted, .notProcessed])
    func L1_whoDismissesTheOldCardIsNotAskedTwice(outcome: DeliveryOutcome) {
        begin()
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
            #expect(stage.told() == [StartStage.Told("card~2", .notStarted(.over))], "no card is there")
        }
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.renewals.hasNames)
    }

    /// The new card's start was taken, and the end of what both show is on its way to the old one.
    private func beginAndEnd() -> [StartStage.Push] {
        begin()
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
        #expect(!stage.shard.renewals.hasNames)
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
        #expect(stage.told() == [StartStage.Told("card", .renewed(as: next))])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The new card goes its own way then, also back to what the old one has not got rid of.
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

    /// The end of what the old card shows has left, and the new one's start was not taken: nobody has a card to move.
    @Test func L1_whoMovesTheCardThatIsBeingEndedBeforeThereIsANewOneGetsNone() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .throttled)
        stage.publish(2, event: .end, renews: true)
        let end = stage.pull()
        let other = TopicID("other")
        stage.publish(5, in: other, renews: true)
        stage.move(to: other)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        stage.answer(end, .accepted)
        #expect(stage.passUntilPush(seconds: 100).pushes.isEmpty)
        #expect(stage.told() == [StartStage.Told("card~2", .notStarted(.over))])
        #expect(stage.shard.statistics.activities == 0)
    }

    /// A card that has been renewed twice has three names.
    @Test func L1_everyNameItHadMeansIt() {
        begin()
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
        #expect(!stage.shard.renewals.hasNames)
    }

    // MARK: - Between the old card and the new one's start

    private let next = ActivityID(hashing: "card~2")

    /// The service has answered nothing but errors since before the renewal, and the system has ended the old card.
    private func beginAndOutlive(answering outcome: DeliveryOutcome = .serviceError) {
        begin()
        pass(seconds: 7 * hour + 360, answering: outcome)
        #expect(stage.shard.statistics.tokenless == 1 && stage.shard.statistics.activities == 1)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Whoever is told that a card goes on as another one takes that for a card that is there.
    @Test(arguments: [DeliveryOutcome.accepted, .unknown])
    func L1_aRenewalIsToldWhenTheNewCardsStartMayHaveArrived(outcome: DeliveryOutcome) {
        beginAndOutlive()
        #expect(stage.told().isEmpty, "there is no card")
        let (_, start) = stage.passUntilPush(seconds: 100)
        #expect(start.map(\.event) == [.start])
        #expect(stage.told().isEmpty, "it has not arrived")
        stage.answer(start, outcome)
        #expect(stage.told() == [StartStage.Told("card", .renewed(as: next))])
        stage.publish(2, renews: true)
        stage.follow("card~2", token: 2)
        #expect(stage.settle().map(\.token) == [[2]])
        #expect(stage.told().isEmpty)
        #expect(stage.shard.violatedInvariant() == nil)
    }

    @Test func L1_orWhenItsTokenIsFasterThanTheAnswer() {
        beginAndOutlive()
        let (_, start) = stage.passUntilPush(seconds: 100)
        stage.follow("card~2", token: 2)
        #expect(stage.told() == [StartStage.Told("card", .renewed(as: next))])
        stage.answer(start, .accepted)
        #expect(stage.told().isEmpty)
    }

    /// The system ends the old card while the start is on its way, and that comes back.
    @Test func L1_aStartOnItsWayIsNoCardYet() {
        begin()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        #expect(stage.passUntilPush(seconds: 2400).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 1)
        stage.answer(start, .notProcessed)
        #expect(stage.told().isEmpty)
        stage.answer(stage.passUntilPush(seconds: 100).pushes, .accepted)
        #expect(stage.told() == [StartStage.Told("card", .renewed(as: next))])
    }

    /// What the old card showed ends before the new one's start has left, or that is refused for good.
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
            stage.told() == [StartStage.Told("card~2", .notStarted(failure)), StartStage.Told("card", .expired)])
        #expect(stage.shard.statistics.activities == 0)
        #expect(!stage.shard.renewals.hasNames)
    }

    @Test func L1_theNameMeansTheCardWhoseStartIsToLeave() {
        beginAndOutlive()
        stage.prefer(silent)
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
        #expect(stage.told() == [StartStage.Told("card", .renewed(as: next))])
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// Nobody is told of what somebody has asked for.
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
        #expect(!stage.shard.renewals.hasNames)
    }

    /// What is wished under the old name while both are there, reaches both.
    @Test func L1_wishesReachTheStartedCardToo() {
        begin()
        let start = stage.passUntilPush(seconds: 8 * hour).pushes
        stage.follow("card", token: 1, preferences: silent)
        stage.answer(start, .accepted)
        stage.follow("card~2", token: 2)
        _ = stage.settle()
        stage.publish(3, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert) == [nil])
    }

    /// A device's start token changes before the renewal's start has left; or after that was refused, which is a new chance.
    @Test(arguments: [(DeliveryOutcome.notProcessed, Int64(10)), (.deadToken, 600)])
    func L1_aRenewalGoesToTheNewestStartToken(answer: DeliveryOutcome, seconds: Int64) {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, answer)
        stage.start(device: 8)
        let (_, pushes) = stage.passUntilPush(seconds: seconds)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[8]])
    }

    /// With the new card on its way, the old one waits for its token, whatever it is to show by now.
    @Test func L1_aRenewalThatHasBegunIsFinished() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, renews: false)
        _ = stage.settle()
        // Somebody else's end makes the scan come by.
        stage.pass(seconds: 1300)
        stage.follow("other", token: 9, age: .seconds(8 * hour - 700))
        #expect(stage.settle().map(\.token) == [[9]])
        let ends = stage.passUntilPush(seconds: 400).pushes
        stage.answer(ends, .accepted)
        #expect(ends.map(\.token) == [[9]])
        stage.follow("card~2", token: 2)
        #expect(stage.settle().map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
    }

    // MARK: - Alerts while there are two cards

    /// The old card has told of it.
    @Test func aGoalIsToldOnceByTwoCards() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        #expect(stage.settle().map(\.payload.alert?.title) == ["goal"])
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.event).sorted { "\($0)" < "\($1)" } == [.end, .update])
        #expect(pushes.allSatisfy { $0.payload.alert == nil })
        #expect(stage.shard.violatedInvariant() == nil)
    }

    /// The push that tells of it is on its way to the old card; if that comes back, there is no old card any more.
    @Test func aGoalOnItsWayToTheOldCardIsNotToldByTheNewOne() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        #expect(stage.pull().map(\.payload.alert?.title) == ["goal"])
        stage.follow("card~2", token: 2)
        #expect(stage.settle().allSatisfy { $0.payload.alert == nil })
    }

    /// The old card has not been sent it, or was, and in vain.
    @Test(arguments: [nil, DeliveryOutcome.throttled]) func aGoalThatTheOldCardHasNotToldIsToldByTheNewOne(
        outcome: DeliveryOutcome?
    ) {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.publish(2, alert: "goal", renews: true)
        if let outcome { stage.answer(stage.pull(), outcome) }
        stage.follow("card~2", token: 2)
        #expect(stage.settle().filter { $0.event == .update }.map(\.payload.alert?.title) == ["goal"])
    }

    /// The old card is dismissed, or the system has ended it, before the new one's token comes.
    @Test(arguments: [false, true]) func aGoalThatTheOldCardHasToldBeforeItWentIsNotToldAgain(isDismissed: Bool) {
        begin()
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

    /// What is told of elsewhere says nothing of what is told here.
    @Test func whoMovesBothCardsIsToldOnce() {
        begin()
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

    /// A device's start token changes while the renewal's start is on its way to the old one.
    @Test(arguments: [DeliveryOutcome.notProcessed, .deadToken, .throttled])
    func L1_aRenewalOnItsWayGoesToTheNewestStartToken(outcome: DeliveryOutcome) {
        begin()
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

    /// It was accepted, and so the next one goes to the new token.
    @Test func L1_aStartTokenThatIsReplacedAfterTheStartIsTheNextOnes() {
        stage.publish(1, renews: true)
        stage.start()
        _ = stage.settle()
        stage.start(device: 8)
        stage.follow()
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.map(\.token) == [[8]])
    }

    /// Whoever ends the card while its successor starts wants neither.
    @Test func unfollowedInBetweenBothEnd() {
        begin()
        stage.answer(stage.passUntilPush(seconds: 8 * hour).pushes, .accepted)
        stage.unfollow()
        #expect(stage.settle().map(\.token) == [[1]])
        stage.follow("card~2", token: 2)
        let pushes = stage.settle()
        #expect(pushes.map(\.event) == [.end])
        #expect(pushes.map(\.token) == [[2]])
        #expect(stage.shard.statistics.activities == 0)
        #expect(stage.shard.renewals.handedOverCount == 0)
    }

    @Test func aDismissedCardIsNotRenewed() {
        begin()
        stage.publish(2, renews: true)
        _ = stage.settle(.deadToken)
        #expect(stage.passUntilPush(seconds: 8 * hour).pushes.isEmpty)
        #expect(stage.shard.statistics.activities == 0)
    }

    /// An activity that the app started can be renewed when it is told how.
    @Test func theAppsOwnActivity() {
        stage.publish(1, renews: true)
        stage.follow()
        stage.start()
        _ = stage.settle()
        let (_, pushes) = stage.passUntilPush(seconds: 8 * hour)
        #expect(pushes.map(\.event) == [.start])
        #expect(pushes.map(\.token) == [[7]])
    }
}
