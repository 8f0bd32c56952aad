import FanfareDecisions
import FanfareModel
import Testing

/// Only declared kinds alert (A1), not too often (A2), never for old facts, and never twice for one cause.
@Suite struct AlertTests {
    let feed = FootballFeed()

    func started() -> Scripted {
        var story = Scripted()
        story.apply(feed.start(0, home: "Spurs", away: "Leicester"))
        return story
    }

    @Test func aGoalAlertsWithWordsOfItsOwn() throws {
        var story = started()
        let record = story.apply(feed.goal(60, "g1"))
        #expect(record.alert == .granted)
        #expect(record.alertReason == "goal")
        let alert = try #require(story.publications.last?.alert)
        #expect(alert.cause == "g1")
        #expect(alert.class == .essential)
        #expect(alert.highlight == "homeScore")
        #expect(alert.freshFor == .seconds(300))
        #expect(alert.text == AlertText(title: "Goal! Spurs 1–0 Leicester", body: "Kane (Spurs)", sound: "default"))
        #expect(story.publications.last?.priority == .immediate)
    }

    /// A backend reads the record before it sends a notification of its own.
    @Test func A3_theRecordNamesTheAlert() {
        var story = started()
        #expect(story.apply(feed.goal(60, "g1")).alert == .granted)
        #expect(story.apply(feed.substitution(70, "s1")).alert == nil)
        story.apply(feed.event(80, "mute", .operation(.mute)))
        let silent = story.apply(feed.goal(90, "g2"))
        #expect(silent.alert == .demoted && silent.alertReason == "muted by an operator")
    }

    @Test func A4_theStateNamesWhatTheAlertIsAbout() {
        var story = started()
        story.apply(feed.card(50, "c1", "red", "away"))
        #expect(story.topic("match/1")?.published?["highlight"] == "awayRed")
        #expect(story.publications.last?.alert?.highlight == "awayRed")
        story.apply(feed.goal(60, "g1"))
        #expect(story.topic("match/1")?.published?["highlight"] == "homeScore")
        #expect(story.publications.last?.alert?.highlight == "homeScore")
        story.apply(feed.cancel(70, "g1"))
        #expect(story.publications.last?.alert?.highlight == "homeScore")
    }

    @Test func alertsNameOwnGoalsAndPenalties() {
        var story = started()
        story.apply(feed.fact(60, "goal", "g1", ["side": "home", "player": "Fuchs", "ownGoal": true]))
        story.apply(feed.fact(90, "goal", "g2", ["side": "away", "player": "Vardy", "penalty": true]))
        story.apply(feed.fact(120, "goal", "g3", ["side": "away"]))
        #expect(
            story.publications.compactMap { $0.alert?.text.body } == [
                "Own goal: Fuchs for Spurs", "Vardy (Leicester), penalty", "Leicester",
            ])
    }

    @Test(arguments: ["yellow", "substitution", "kick", "halfTime", "secondHalf", "pass"])
    func ordinaryFootballEventIsSilent(_ what: String) {
        var story = started()
        let event =
            switch what {
            case "yellow": feed.card(60, "c1")
            case "substitution": feed.substitution(60, "s1")
            case "kick": feed.kick(60, "k1", "home", scored: true)
            case "halfTime": feed.period(60, "HT")
            case "secondHalf": feed.period(60, "2H")
            default: feed.pass(60)
            }
        #expect(story.apply(event).alert == nil)
        #expect(story.publications.allSatisfy { $0.alert == nil })
    }

    @Test(arguments: [
        ("1H", "Kick-off"), ("PEN", "Penalty shoot-out"), ("FT", "Full time"), ("SUSP", "Suspended"),
        ("ABD", "Abandoned"),
    ])
    func periodOfAMatchAlertsWithItsTitle(period: String, title: String) {
        var story = started()
        #expect(story.apply(feed.period(60, period)).alert == .granted)
        #expect(story.publications.last?.alert?.text.title == .text(title))
    }

    // MARK: - Late facts

    @Test func A1_aLateFactIsShownSilently() {
        var story = started()
        story.apply(feed.pass(700))
        let late = story.apply(feed.goal(100, "g1"), now: at(700))
        #expect(late.outcome == .published)
        #expect(late.alert == nil)
        #expect(late.reason.contains("late by 600 s: silent"))
        #expect(story.publications.last?.alert == nil)
        #expect(story.state("match/1", "homeScore") == 1)
    }

    @Test func aLateAlertInTheFeedsOwnWordsIsSilent() {
        var story = started()
        story.apply(feed.pass(700))
        var event = feed.goal(100, "g1")
        event.alert = AlertText(title: "Goal", body: "")
        let record = story.apply(event, now: at(700))
        #expect(record.outcome == .published)
        #expect(record.alert == .demoted)
        #expect(record.alertReason == "late news does not alert")
        #expect(story.publications.last?.alert == nil)
    }

    // MARK: - Cancellation

    @Test func aCancelledGoalRevokesItsAlertAndHasOneOfItsOwn() throws {
        var story = started()
        story.apply(feed.goal(60, "g1"))
        let record = story.apply(feed.cancel(150, "g1", id: "g1/review"))
        #expect(record.outcome == .published)
        #expect(record.alert == .granted)
        #expect(record.alertReason == "goalCancelled")
        #expect(story.revoked == ["g1"])
        let alert = try #require(story.publications.last?.alert)
        #expect(alert.cause == "g1/cancelled")
        #expect(alert.class == .essential)
        #expect(
            alert.text
                == AlertText(title: "Goal cancelled: Spurs 0–0 Leicester", body: "Kane (Spurs)", sound: "default"))
        #expect(story.state("match/1", "lastEvent") == "Goal cancelled: Kane (Spurs)")
        #expect(story.state("match/1", "highlight") == "homeScore")
        let revocation = story.decisions.firstIndex { if case .revokeAlert = $0 { true } else { false } }
        let publication = story.decisions.lastIndex { if case .publish = $0 { true } else { false } }
        #expect(try #require(revocation) < #require(publication))
    }

    /// A provider's delete row has the id and the time of the deleted row.
    @Test func aWithdrawalDatedLikeItsGoalAlertsAllTheSame() {
        var story = started()
        story.apply(feed.goal(60, "g1"))
        story.apply(feed.pass(140))
        let record = story.apply(feed.cancel(60, "g1", id: "g1"), now: at(150))
        #expect(record.outcome == .published)
        #expect(record.alert == .granted)
        #expect(story.revoked == ["g1"])
    }

    @Test func cancellationOfAGoalWithoutAlertCausesNoAlert() {
        var story = started()
        story.apply(feed.pass(700))
        story.apply(feed.goal(100, "g1"), now: at(700))
        let record = story.apply(feed.cancel(800, "g1"))
        #expect(record.outcome == .published)
        #expect(record.alert == nil)
        #expect(story.revoked.isEmpty)
    }

    @Test func theSameGoalTwiceAlertsOnce() {
        var story = started()
        story.apply(feed.goal(60, "g1"))
        #expect(story.apply(feed.goal(60, "g1")).outcome == .duplicate)
        var renamed = feed.goal(60, "g1")
        renamed.id = "another event"
        #expect(story.apply(renamed).outcome == .duplicate)
        #expect(story.apply(feed.cancel(70, "g1")).outcome == .published)
        #expect(story.apply(feed.cancel(80, "g1")).outcome == .duplicate)
        #expect(story.apply(feed.goal(60, "g1"), now: at(90)).outcome == .duplicate)
        #expect(story.publications.compactMap { $0.alert?.cause } == ["g1", "g1/cancelled"])
        #expect(story.revoked == ["g1"])
    }

    @Test func aRequestInOwnWordsForACauseThatHasAlertedIsDemoted() {
        var story = started()
        story.apply(feed.goal(60, "g1"))
        var event = feed.event(70, "note", .patch(["note": "replay"]), alert: AlertText(title: "Goal", body: "again"))
        event.id = "g1"
        let record = story.apply(event)
        #expect(record.outcome == .duplicate)
        #expect(record.alert == .demoted)
    }

    // MARK: - Budgets

    /// The recorded 5–4: nine goals, two of them four minutes apart.
    @Test func nineGoalsAndFullTimeAreAllGranted() {
        var story = started()
        story.apply(feed.period(1, "1H"))
        let minutes = [4, 7, 16, 47, 49, 53, 60, 73, 76]
        for (number, minute) in minutes.enumerated() {
            #expect(story.apply(feed.goal(Double(minute) * 60, "g\(number)")).alert == .granted)
        }
        #expect(story.apply(feed.period(5700, "FT")).alert == .granted)
    }

    @Test func aShootoutOfEighteenKicksLeavesFullTimeItsAlert() {
        var story = started()
        for goal in 0..<4 { story.apply(feed.goal(60 + Double(goal), "g\(goal)")) }
        #expect(story.apply(feed.period(8000, "PEN")).alert == .granted)
        for kick in 0..<18 {
            let record = story.apply(
                feed.kick(8030 + 40 * Double(kick), "k\(kick)", kick % 2 == 0 ? "home" : "away", scored: kick % 3 > 0))
            #expect(record.outcome == .published)
        }
        let record = story.apply(feed.period(8800, "FT"))
        #expect(record.alert == .granted)
        #expect(story.publications.last?.alert?.text.body == "Spurs 4–0 Leicester (6–6 on penalties)")
    }

    @Test func A2_aStormOfGoalsIsDemotedButFullTimeIsNot() {
        var story = started()
        let verdicts = (0..<40).map { story.apply(feed.goal(60 + Double($0), "g\($0)")) }
        #expect(verdicts.allSatisfy { $0.outcome == .published }, "no limiter ever drops a state")
        let granted = verdicts.filter { $0.alert == .granted }.count
        #expect(granted == 18, "ten of the goals' own and eight of the reserve")
        #expect(verdicts.last?.alert == .demoted)
        #expect(
            verdicts.last?.alertReason?.hasPrefix("over budget for goal and the reserve is empty, next in ") == true)
        #expect(story.apply(feed.period(101, "FT")).alert == .granted)
    }

    @Test func aStormOfRedCardsTakesNothingFromGoals() {
        var story = started()
        let cards = (0..<12).map { story.apply(feed.card(60 + Double($0), "c\($0)", "red")) }
        #expect(cards.filter { $0.alert == .granted }.count == 3)
        #expect(cards[3].alertReason == "over budget for redCard, next in 297 s")
        let goals = (0..<10).map { story.apply(feed.goal(80 + Double($0), "g\($0)")) }
        #expect(goals.allSatisfy { $0.alert == .granted })
    }

    @Test func A2_ordinaryKindsShareABucketBesideTheirOwn() {
        var story = started()
        story.apply(feed.period(0.5, "1H"))
        for card in 0..<3 { #expect(story.apply(feed.card(10 + Double(card), "c\(card)", "red")).alert == .granted) }
        #expect(story.apply(feed.period(20, "SUSP")).alert == .demoted)
        #expect(story.apply(feed.goal(30, "g1")).alert == .granted)
    }

    // MARK: - In the feed's own words

    @Test func requestedAlertsPassAtOnceAndAreGoverned() throws {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.set(0, ["status": "placed"]))
        let words = AlertText(title: "Out for delivery", body: "Three stops before you")
        let first = story.apply(orders.set(1, ["status": "out"], id: "e1", alert: words))
        #expect(first.outcome == .published)
        #expect(first.alert == .granted)
        let alert = try #require(story.publications.last?.alert)
        #expect(alert.text == words)
        #expect(alert.cause == "e1")
        #expect(alert.class == .ordinary)
        for number in 2...3 {
            #expect(
                story.apply(orders.set(1 + Double(number), ["n": .int(Int64(number))], alert: words)).alert == .granted)
        }
        let over = story.apply(orders.set(20, ["n": 9], alert: words))
        #expect(over.outcome == .published, "demoted to a silent update")
        #expect(over.alert == .demoted)
        #expect(over.alertReason == "over budget for requested, next in 281 s")
        #expect(story.publications.last?.alert == nil)
        #expect(story.publications.last?.priority == .conserving)
    }

    @Test func anAlertWithoutAVisibleChangeIsDemoted() {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.set(0, ["status": "placed"]))
        let record = story.apply(orders.set(10, ["status": "placed"], alert: AlertText(title: "Hello", body: "")))
        #expect(record.outcome == .unchanged)
        #expect(record.alert == .demoted)
        #expect(record.alertReason == "no update to ride on")
        #expect(story.publications.count == 1)
    }

    @Test func aTextThatIsTooLongIsDemoted() {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.set(0, ["status": "placed"]))
        let words = AlertText(title: "T", body: String(repeating: "x", count: 768))
        let record = story.apply(orders.set(10, ["status": "out"], alert: words))
        #expect(record.alert == .demoted)
        #expect(record.alertReason == "text of 769 bytes, at most 768")
    }

    /// Empty arguments still cost quotes and commas, and a control character takes six bytes of JSON.
    @Test(arguments: [
        AlertText(title: .localized(key: "K", arguments: Array(repeating: "", count: 1500)), body: ""),
        AlertText(title: "T", body: String(repeating: "\u{1}", count: 200)),
        AlertText(title: "T", body: String(repeating: "\"\n", count: 200)),
        AlertText(title: "T", body: "B", sound: String(repeating: "\\", count: 400)),
    ])
    func aTextThatIsTooLongInAPushIsDemoted(words: AlertText) {
        let orders = PatchFeed()
        var story = Scripted()
        story.apply(orders.set(0, ["status": "placed"]))
        #expect(story.apply(orders.set(10, ["status": "out"], alert: words)).alert == .demoted)
    }
}
