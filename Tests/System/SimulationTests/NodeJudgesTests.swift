import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// Each judge of a shard allows a good sequence and finds the fault of a bad one.
@Suite struct NodeJudgesTests {
    private static let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private static let (match, other) = (TopicID("match"), TopicID("other"))

    @Test func aQuestionIsAnsweredOnceAndInItsTurn() {
        var judge = QuestionJudge<Int>()
        let questions = [judge.ask(), judge.ask()]
        judge.reached(1, lacking: [7])
        let (early, first, again) = (judge.seen(answerTo: 3), judge.seen(answerTo: 1), judge.seen(answerTo: 1))
        let answered = judge.takeAnswered()
        #expect(questions == [1, 2] && first == nil && early != nil && again != nil)
        #expect(answered.map { $0.question } == [1] && answered.map { $0.lacks } == [[7]])
        #expect(judge.violation() == "nobody answers question 2")
        let second = judge.seen(answerTo: 2)
        #expect(second == nil && judge.violation() == nil)
    }

    @Test func aNewerVersionOvertakesAnOrdinaryOneThatWaits() {
        var judge = OvertakingJudge()
        judge.took(.publish(.test(1)))
        judge.took(.publish(.test(2, event: .end)))
        let ordinary = judge.seen(1, overtakenBy: .publish(.test(2)))
        let end = judge.seen(2, overtakenBy: .publish(.test(3)))
        let unknown = judge.seen(4, overtakenBy: .publish(.test(5)))
        #expect(ordinary == nil && end == "publication 2 is left out, which everybody is to get")
        #expect(unknown == "publication 4 is overtaken and did not wait")
    }

    @Test func noVersionOvertakesAnotherOverAQuestion() {
        var judge = OvertakingJudge()
        judge.took(.publish(.test(1)))
        judge.took(.reportQuiet(1))
        let violation = judge.seen(1, overtakenBy: .publish(.test(2)))
        #expect(violation == "publication 1 waits for what comes after a question")
    }

    /// Returns the fault when the newer version overtakes the older one.
    private static func overtaking(_ old: Publication, by new: Publication) -> String? {
        var judge = OvertakingJudge()
        judge.took(.publish(old))
        return judge.seen(old.serial, overtakenBy: .publish(new))
    }

    @Test func noVersionIsLeftOutThatEverybodyIsToGet() {
        let fault = "publication 1 is left out, which everybody is to get"
        #expect(Self.overtaking(.test(1, alert: .test), by: .test(2)) == fault)
        #expect(Self.overtaking(.test(1, prominence: Prominence(occasionWeight: 5)), by: .test(2)) == fault)
        #expect(Self.overtaking(.test(1, isRepublished: true), by: .test(2)) == fault)
    }

    @Test func aVersionIsOvertakenByANewerOneOfItsTopicThatIsAsUrgent() {
        let (strange, slow) = (
            "publication 1 is overtaken by something else", "publication 1 waits for a less urgent one"
        )
        #expect(Self.overtaking(.test(1), by: .test(2, of: Self.other)) == strange)
        #expect(Self.overtaking(.test(1), by: .test(1)) == strange)
        #expect(Self.overtaking(.test(1), by: .test(2, priority: .conserving)) == slow)
        #expect(Self.overtaking(.test(1), by: .test(2, event: .end, priority: .conserving)) == nil)
    }

    @Test func aPublicationIsReportedCompleteOnceUnlessAPhoneLacksIt() {
        var judge = CompletionJudge()
        judge.note(.test(1), at: Self.now)
        #expect(judge.violation(lacked: [], doubtful: []) == "publication 1 was reported complete 0 times")
        #expect(judge.violation(lacked: [1], doubtful: []) == nil && judge.violation(lacked: [], doubtful: [1]) == nil)
        judge.completed(1)
        #expect(judge.violation(lacked: [], doubtful: []) == nil && judge.violation(lacked: [1], doubtful: []) != nil)
        judge.completed(1)
        #expect(judge.violation(lacked: [], doubtful: [1]) == "publication 1 was reported complete 2 times")
    }

    @Test func aVersionThatWasOvertakenIsNotReportedComplete() {
        var judge = CompletionJudge()
        judge.note(.test(1), at: Self.now)
        judge.overtook(1)
        #expect(judge.violation(lacked: [], doubtful: []) == nil)
        judge.completed(1)
        #expect(judge.violation(lacked: [], doubtful: []) == "publication 1 was reported complete 1 times")
    }

    @Test func operatorsHearThatDeadTokensAreFewAgain() {
        var judge = DeadTokenJudge(remembering: 2...10, probes: 1)
        for _ in 0..<2 { judge.answered(dead: true) }
        judge.heard("2 of 2 pushes went to dead tokens")
        for _ in 0..<6 { judge.answered(dead: false) }
        #expect(judge.isShut && judge.violation() == nil)
        judge.answered(dead: false)
        #expect(!judge.isShut && judge.violation() == "operators were told 1 and 0 times of dead tokens")
        judge.heard("dead tokens are few again")
        #expect(judge.violation() == nil)
    }

    @Test func aShutGuardTriesHeldTokensInTheirOrder() {
        var judge = DeadTokenJudge(remembering: 2...10, probes: 1)
        for _ in 0..<2 { judge.answered(dead: true) }
        for phone in 1...3 { judge.hold(phone, [1], at: Self.now) }
        let early = judge.release(at: Self.now + .seconds(9)) { _, _ in .stays }
        let first = judge.release(at: Self.now + .seconds(10)) { phone, _ in phone == 1 ? .hasGone : .stays }
        judge.overrule()
        let others = judge.release(at: Self.now + .seconds(20)) { _, _ in .stays }
        #expect(early.isEmpty && first == [2] && others == [3])
    }

    @Test func operatorsHearOfEachAlarmOfTheGuard() {
        var judge = DeadTokenJudge(remembering: 2...10, probes: 1)
        judge.answered(dead: true)
        #expect(!judge.isShut && judge.violation() == nil)
        judge.answered(dead: true)
        #expect(judge.isShut && judge.violation() != nil)
        judge.heard("2 of 2 pushes went to dead tokens")
        #expect(judge.violation() == nil)
    }

    @Test func silentPushesHaveTheirShareBesideAlerts() {
        var judge = LaneJudge(LaneShares(visits: [8, 4, 2, 1], quantum: 4))
        let allowed = (0..<18).compactMap { _ in judge.silentBeforeAlert() }
        let beyond = judge.silentBeforeAlert()
        #expect(allowed.isEmpty && beyond == "silent pushes overtake the alerts of other audiences")
    }

    private static let lanes = LaneShares(visits: [8, 4, 2, 1], quantum: 4)

    @Test func pushesOfTheFirstLaneMakeUpForSilentOnes() {
        var judge = LaneJudge(Self.lanes)
        for _ in 0..<18 { _ = judge.seen(.overtaking) }
        let urgent = [judge.seen(.urgent), judge.seen(.urgent)]
        let (silent, beyond) = (judge.seen(.overtaking), judge.seen(.overtaking))
        #expect(urgent.allSatisfy { $0 == nil } && silent == nil && beyond != nil)
    }

    @Test func aCursorExcusesNoMoreVisitsThanItMakes() {
        var (excused, limited) = (LaneJudge(Self.lanes), LaneJudge(Self.lanes))
        excused.cursorBegins(over: 2, most: 5)
        limited.cursorBegins(over: 9, most: 1)
        for _ in 0..<18 { _ = (excused.silentBeforeAlert(), limited.silentBeforeAlert()) }
        let (visit, beyond) = (excused.silentBeforeAlert(), excused.silentBeforeAlert())
        let tooMany = limited.silentBeforeAlert()
        #expect(visit == nil && beyond != nil && tooMany != nil)
    }

    @Test func privateEndsHaveTheirShareBesideAlerts() {
        var judge = LaneJudge(Self.lanes)
        let allowed = (0..<16).compactMap { _ in judge.seen(.overtakingEnd) }
        let beyond = judge.seen(.overtakingEnd)
        let (alert, next) = (judge.seen(.alert), judge.seen(.overtakingEnd))
        #expect(allowed.isEmpty && beyond == "private ends overtake the alerts of others (10)")
        #expect(alert == nil && next == nil)
    }

    @Test func aPushOvertakesTheAlertThatAnotherAudienceAwaits() {
        let waiting = Phone.test()
        var (left, waits) = (Phone.test(of: .topic(Self.other)), PushHistory.test())
        let (silent, end) = (Payload.test(), Payload.test(.end))
        let phone = left
        waits.noteAlert(of: .test(1, of: Self.match, alert: .test))
        left.joined(nil, tenure: 0, at: Self.now)
        func ranked(
            _ payload: Payload, for phone: Phone, lacking alerts: LackedAlerts = LackedAlerts(),
            awaitsClaim: Bool = false, lifetime: Duration = .seconds(3600)
        ) -> LaneJudge.Rank {
            let ranking = LaneRanking(
                phones: [waiting, phone], histories: [waits, .test()], node: 0, now: Self.now, lifetime: lifetime,
                gathers: false, awaitsClaim: { _ in awaitsClaim })
            return ranking.rank(of: payload, for: phone, lacking: alerts)
        }
        #expect(ranked(silent, for: phone) == .overtaking)
        #expect(ranked(end, for: left) == .overtakingEnd)
        #expect(ranked(end, for: phone) == .urgent)
        #expect(ranked(silent, for: waiting, lacking: waits.alerts) == .urgent)
        #expect(ranked(.test(alert: Alert.test.text), for: phone) == .alert)
        #expect(ranked(silent, for: phone, awaitsClaim: true) == .alone)
        // The system has ended the other card.
        #expect(ranked(silent, for: phone, lifetime: .seconds(1)) == .alone)
    }

    @Test func aRotationIsSilentAndKeepsToItsBudget() {
        func payload(_ priority: Priority) -> Payload {
            Payload(
                event: .update, logLabel: "", state: [], stamp: 1, staleDate: nil, dismissalDate: nil, alert: nil,
                priority: priority)
        }
        var judge = RotationJudge()
        let size = TokenBucket.Size(burst: 1, refill: .seconds(60))
        let loud = judge.seen(payload(.immediate), isLive: true, after: .zero, granting: size)
        let idle = judge.seen(payload(.conserving), isLive: false, after: .zero, granting: size)
        let first = judge.seen(payload(.conserving), isLive: true, after: .zero, granting: size)
        let second = judge.seen(payload(.conserving), isLive: true, after: .seconds(59), granting: size)
        #expect(loud == "the rotation's push is loud" && idle == "nothing is live, and it rotates")
        #expect(first == nil && second == "2 pushes of the rotation's own, 1 granted")
    }

    @Test func aTextOfSeveralAlertsNamesEachOfThem() {
        func alert(_ title: String, _ body: String) -> Alert {
            Alert(
                cause: title, class: .essential, text: AlertText(title: .text(title), body: .text(body)),
                freshFor: .seconds(60), highlight: nil)
        }
        let (first, second) = (alert("Goal", "Player 1"), alert("Card", "Player 2"))
        var alerts = ToldAlerts()
        alerts.note(first, of: Self.match)
        alerts.note(second, of: Self.other)
        let both = AlertText(title: .text("Goal"), body: .text("Player 1\nCard · Player 2"))
        #expect(alerts.told(by: first.text) == [first.text] && alerts[second.text]?.topic == Self.other)
        #expect(alerts.told(by: both) == [first.text, second.text])
        #expect(alerts.told(by: AlertText(title: .text("Goal"), body: .text("Player 3"))) == nil)
    }

    // MARK: What a phone is to see

    @Test func aFollowerOfATenureSeesNothingOfTheNextOne() {
        var published = PublishedTopics()
        var (early, late) = (Following(), Following())
        early.join(.topic(Self.match), tenure: published.tenure(of: Self.match), at: Self.now)
        published.note(.test(1, of: Self.match), at: Self.now)
        published.note(.test(2, of: Self.match, event: .end, freesID: true), at: Self.now)
        #expect(published.isWaited(.topic(Self.match)))
        late.join(.topic(Self.match), tenure: published.tenure(of: Self.match), at: Self.now)
        #expect(published.hasNews(for: early) && !published.hasNews(for: late))
        published.note(.test(3, of: Self.match), at: Self.now)
        #expect(published.newestSerial(for: early) == 2 && published.newestSerial(for: late) == 3)
        #expect(!published.shows(Self.match, to: early) && published.shows(Self.match, to: late))
    }

    @Test func aForgottenTopicStaysWhileAPhoneShowsIt() {
        var published = PublishedTopics()
        published.note(.test(1, of: Self.match, event: .end), at: Self.now)
        published.forget(Self.match)
        published.keepForgotten([Self.match], surely: [])
        #expect(published.latest[Self.match] != nil && published.mayBeUnknown == [Self.match])
        published.keepForgotten([], surely: [])
        #expect(published.latest[Self.match] == nil && published.forgotten.isEmpty && published.mayBeUnknown.isEmpty)
        #expect(published.last(of: Self.match)?.serial == 1 && published.tenure(of: Self.match) == 1)
    }

    @Test func alertsOfALineupAreGatheredWhileAnotherTopicIsLive() {
        let alert = Alert(
            cause: "goal", class: .essential, text: AlertText(title: "Goal", body: ""), freshFor: .seconds(60),
            highlight: nil)
        let payload = Payload(
            event: .update, logLabel: "", state: [], stamp: 1_800_000_000, staleDate: nil, dismissalDate: nil,
            alert: alert.text, priority: .immediate)
        var history = PushHistory.test()
        let moment = Moment(wallMilliseconds: 1_800_000_000_000, monotonicNanoseconds: 2_000_000_000)
        history.sent(payload, telling: [alert.text], newest: 2, at: moment)
        var published = PublishedTopics()
        for (serial, topic) in [(UInt64(1), Self.match), (UInt64(2), Self.other)] {
            published.note(.test(serial, of: topic), at: Self.now)
        }
        published.note(.test(3, of: Self.match, alert: alert), at: moment.monotonic)
        func judged(after wait: Duration) -> String? {
            LineupJudge(rules: LineupRules(), published: published, now: moment.monotonic + wait)
                .gathering(payload, lineup: [Self.match, Self.other], after: history.last)
        }
        #expect(judged(after: .milliseconds(500)) == "an alert right after another, and nothing gathered them (M1)")
        #expect(judged(after: .seconds(1)) == nil)
    }
}
