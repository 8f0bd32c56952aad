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
        var (early, late) = (Phone.Following(), Phone.Following())
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
        var random = SplitMix64(seed: 1)
        var phone = Phone(
            id: ActivityID(UInt64(1)), node: 0, audience: .topic(Self.match), subscriber: Subscriber(),
            limits: ActivityLimits(), using: &random)
        let moment = Moment(wallMilliseconds: 1_800_000_000_000, monotonicNanoseconds: 2_000_000_000)
        phone.sent(payload, telling: [alert.text], newest: 2, at: moment)
        var published = PublishedTopics()
        for (serial, topic) in [(UInt64(1), Self.match), (UInt64(2), Self.other)] {
            published.note(.test(serial, of: topic), at: Self.now)
        }
        published.note(.test(3, of: Self.match, alert: alert), at: moment.monotonic)
        func judged(after wait: Duration) -> String? {
            LineupJudge(rules: LineupRules(), published: published, now: moment.monotonic + wait)
                .gathering(payload, lineup: [Self.match, Self.other], to: phone)
        }
        #expect(judged(after: .milliseconds(500)) == "an alert right after another, and nothing gathered them (M1)")
        #expect(judged(after: .seconds(1)) == nil)
    }
}
