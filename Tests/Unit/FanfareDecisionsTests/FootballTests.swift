import FanfareDecisions
import FanfareModel
import Testing

/// The state of a match that its facts fold to, and the texts about it.
@Suite struct FootballTests {
    let feed = FootballFeed()

    @Test func aMatchIsDecidedFromStartToEnd() {
        var story = Scripted()
        #expect(story.apply(feed.start()).reason == "start")
        #expect(story.apply(feed.period(0, "1H")).outcome == .published)
        #expect(story.apply(feed.pass(3)).outcome == .unchanged)
        #expect(story.apply(feed.goal(60, "g1")).outcome == .published)
        #expect(story.apply(feed.card(100, "c1")).outcome == .published)
        #expect(story.apply(feed.period(2700, "HT")).outcome == .published)
        #expect(story.apply(feed.period(3600, "2H")).outcome == .published)
        #expect(story.apply(feed.goal(4000, "g2", "away", player: "Salah")).outcome == .published)
        #expect(story.apply(feed.period(6400, "FT")).alert == .granted)
        #expect(story.apply(feed.end(6400)).outcome == .published)

        let topic = story.topic("match/1")
        #expect(topic?.ended == true)
        #expect(topic?.version == 9)
        let state: JSONObject = [
            "home": "Home", "away": "Away", "homeScore": 1, "awayScore": 1, "period": "FT", "clockRunning": false,
            "periodStartedAt": .double(at(6400).activityKitSeconds), "homeYellow": 1, "awayYellow": 0, "homeRed": 0,
            "awayRed": 0, "lastEvent": "Full time", "highlight": "period",
            "compactLeading": "HOM 1", "compactTrailing": "1 AWA", "minimal": "1–1",
        ]
        #expect(topic?.state == state)
        #expect(topic?.published == state)
        #expect(story.publications.map(\.version) == Array(1...9))
        #expect(story.publications.map(\.serial) == Array(1...9))
        #expect(
            story.publications.compactMap { $0.alert?.text.title } == [
                "Kick-off", "Goal! Home 1–0 Away", "Goal! Home 1–1 Away", "Full time",
            ])
        #expect(story.publications.last?.event == .end)
    }

    // MARK: - Facts

    @Test func aSecondYellowRaisesBothCounts() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.card(10, "c1"))
        story.apply(feed.card(20, "c2", "secondYellow"))
        story.apply(feed.card(30, "c3", "red", "away"))
        #expect(story.state("match/1", "homeYellow") == 2)
        #expect(story.state("match/1", "homeRed") == 1)
        #expect(story.state("match/1", "awayYellow") == 0)
        #expect(story.state("match/1", "awayRed") == 1)
        #expect(story.state("match/1", "lastEvent") == "Red card: Rice (Away)")
        #expect(story.state("match/1", "highlight") == "awayRed")
    }

    @Test func thePhoneRunsTheClock() {
        var story = Scripted()
        story.apply(feed.start(-600))
        #expect(story.state("match/1", "period") == "PRE")
        #expect(story.state("match/1", "periodStartedAt") == nil)
        for (number, period) in ["1H", "HT", "2H", "ETB", "ET1", "ET2", "PEN", "FT"].enumerated() {
            let seconds = Double(number) * 1000
            story.apply(feed.period(seconds, period))
            #expect(story.state("match/1", "period") == .string(period))
            #expect(story.state("match/1", "clockRunning") == .bool(["1H", "2H", "ET1", "ET2"].contains(period)))
            #expect(story.state("match/1", "periodStartedAt") == .double(at(seconds).activityKitSeconds))
        }
    }

    /// A scoreboard would show nothing of the events before the match.
    @Test func theTimeBeforeTheMatchIsNotNews() {
        var story = Scripted()
        story.apply(feed.start(-600))
        let record = story.apply(feed.period(-600, "PRE"))
        #expect(record.outcome == .unchanged)
        #expect(story.state("match/1", "lastEvent") == nil)
        #expect(story.state("match/1", "highlight") == nil)
    }

    @Test func theShootoutHasItsOwnScore() {
        var story = Scripted()
        story.apply(feed.start(0))
        #expect(story.state("match/1", "homeShootout") == nil)
        story.apply(feed.period(10, "PEN"))
        #expect(story.state("match/1", "homeShootout") == 0)
        story.apply(feed.kick(20, "k1", "home", scored: true))
        story.apply(feed.kick(30, "k2", "away", scored: false))
        story.apply(feed.kick(40, "k3", "away", scored: true))
        #expect(story.state("match/1", "homeShootout") == 1)
        #expect(story.state("match/1", "awayShootout") == 1)
        #expect(story.state("match/1", "homeScore") == 0)
        #expect(story.state("match/1", "lastEvent") == "Shoot-out: scored: Kroos (Away)")
        #expect(story.state("match/1", "highlight") == "awayShootout")
    }

    @Test func lastEventTellsWhatJustHappened() {
        var story = Scripted()
        story.apply(feed.start(0))
        var told: [JSONValue?] = []
        for event in [
            feed.goal(10, "g1"), feed.substitution(20, "s1"), feed.card(30, "c1"), feed.pass(35), feed.cancel(40, "c1"),
            feed.period(50, "HT"), feed.fact(60, "goal", "g2", ["side": "away", "player": "Rice", "ownGoal": true]),
            feed.fact(70, "substitution", "s2", ["side": "home", "playerIn": "Son"]),
        ] {
            story.apply(event)
            told.append(story.state("match/1", "lastEvent"))
        }
        #expect(
            told == [
                "Goal: Kane (Home)", "Substitution: Origi for Firmino (Away)", "Yellow card: Rice (Home)",
                "Yellow card: Rice (Home)", "Yellow card withdrawn: Rice (Home)", "Half-time",
                "Own goal: Rice for Away",
                "Substitution: Son comes on (Home)",
            ])
    }

    /// A card entered ten minutes late counts, and the text stays that of the newest fact.
    @Test func aLateCardCountsAndIsNotNews() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.goal(700, "g1"))
        let record = story.apply(feed.card(100, "c1"), now: at(710))
        #expect(record.outcome == .published)
        #expect(record.reason.contains("late by 600 s"))
        #expect(story.state("match/1", "homeYellow") == 1)
        #expect(story.state("match/1", "lastEvent") == "Goal: Kane (Home)")
        #expect(story.state("match/1", "highlight") == "homeScore")
    }

    // MARK: - Retraction

    @Test func aFactWithdrawnBeforeItComesCountsAsRetracted() {
        var story = Scripted()
        story.apply(feed.start(0))
        let early = story.apply(feed.cancel(90, "g1", id: "d1"))
        #expect(early.outcome == .unchanged)
        #expect(early.reason == "fact g1 is not known; should it arrive, it counts as withdrawn")
        let fact = story.apply(feed.goal(60, "g1"), now: at(100))
        #expect(fact.outcome == .retracted)
        #expect(fact.alert == nil)
        #expect(story.state("match/1", "homeScore") == 0)
        #expect(story.revoked.isEmpty)

        // The state equals that of the other order; the phones finally get it, too.
        story.finish()
        var other = Scripted()
        for event in [feed.start(0), feed.goal(60, "g1"), feed.cancel(90, "g1", id: "d1")] { other.apply(event) }
        #expect(story.topic("match/1")?.state == other.topic("match/1")?.state)
        #expect(story.topic("match/1")?.published == story.topic("match/1")?.state)
    }

    @Test func aWithdrawnPeriodGivesWayToTheOneBefore() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.period(10, "1H"))
        story.apply(feed.period(100, "HT"))
        #expect(story.apply(feed.cancel(110, "period-HT")).outcome == .published)
        #expect(story.state("match/1", "period") == "1H")
        #expect(story.state("match/1", "clockRunning") == true)
        #expect(story.state("match/1", "periodStartedAt") == .double(at(10).activityKitSeconds))
        #expect(story.state("match/1", "lastEvent") == "Corrected: Kick-off")
    }

    @Test func oneOfTwoGoalsOfASecondCanBeWithdrawn() {
        var story = Scripted()
        story.apply(feed.start(0))
        story.apply(feed.goal(10, "b"))
        story.apply(feed.goal(10, "a", "away"))
        #expect(story.state("match/1", "lastEvent") == "Goal: Kane (Home)", "b after a, whatever came first")
        story.apply(feed.cancel(20, "b"))
        #expect(story.state("match/1", "homeScore") == 0)
        #expect(story.state("match/1", "awayScore") == 1)
    }

    @Test(arguments: [
        ("AFC Bournemouth", "BOU"), ("Tottenham Hotspur", "TOT"), ("1. FC Köln", "KÖL"), ("VfL Bochum 1848", "BOC"),
        ("PSV", "PSV"), ("", ""),
    ])
    func M3_aTeamIsKnownByTheWordThatNamesIt(name: String, short: String) {
        let forms = FootballReducer().shortForms(of: ["home": .string(name), "homeScore": 1, "awayScore": 0])
        #expect(forms?.compactLeading == "\(short) 1")
    }

    @Test(arguments: [
        ("Manchester City", "Manchester United", "MCI", "MUN"), ("Manchester City", "Manchester", "MCI", "MAN"),
        ("Sheffield United FC", "Sheffield Wednesday FC", "SUN", "SWE"), ("Real Madrid", "Real Sociedad", "RMA", "RSO"),
        ("Same", "Same", "SAM", "SAM"), ("Al-Nassr", "Al-Hilal", "ALN", "ALH"), ("Al-Ahli", "Kestrel", "ALA", "KES"),
        ("(الأهلي)", "Kestrel", "الأ", "KES"), ("Tottenham Hotspur", "Leicester City", "TOT", "LEI"),
    ])
    func M3_twoTeamsDoNotLookAlike(home: String, away: String, homeShort: String, awayShort: String) {
        let forms = FootballReducer().shortForms(of: [
            "home": .string(home), "away": .string(away), "homeScore": 1, "awayScore": 0,
        ])
        #expect(forms?.compactLeading == "\(homeShort) 1")
        #expect(forms?.compactTrailing == "0 \(awayShort)")
    }

    /// The short forms are on the phone, but are no reason for a push.
    @Test func M3_shortFormsRepeatWhatIsSeen() {
        var rules = Rules.builtIn
        for key in ["homeScore", "lastEvent", "highlight"] { rules.kinds[.football]?.content.fields[key] = .ignored }
        var story = Scripted(rules: rules)
        story.apply(feed.start(0))
        story.apply(feed.card(10, "c1"))
        #expect(story.apply(feed.goal(20, "g1")).outcome == .unchanged)
        #expect(story.apply(feed.card(30, "c2")).outcome == .published)
        let shown = String(decoding: story.publications.last?.state.bytes ?? [], as: UTF8.self)
        #expect(shown.contains(#""compactLeading":"HOM 1","compactTrailing":"0 AWA""#), "\(shown)")
        #expect(story.topic("match/1")?.published?["minimal"] == "1–0")
    }

    @Test func M3_whatRulesAndFeedSayComesFirst() {
        var rules = Rules.builtIn
        rules.kinds[.football]?.content.derived.minimal = "{homeScore}"
        var story = Scripted(rules: rules)
        story.apply(feed.start(0))
        story.apply(feed.event(5, "patch", .patch(["compactLeading": "H"])))
        let state = story.topic("match/1")?.published
        #expect(state?["compactLeading"] == "H")
        #expect(state?["compactTrailing"] == "0 AWA")
        #expect(state?["minimal"] == "0")
    }

    @Test func M3_aShootoutIsWhatCounts() {
        let forms = FootballReducer().shortForms(of: [
            "home": "Ada", "away": "Bo", "homeScore": 1, "awayScore": 1, "homeShootout": 5, "awayShootout": 6,
        ])
        #expect(forms == ShortForms(compactLeading: "ADA 5", compactTrailing: "6 BO", minimal: "5–6 p"))
    }
}
