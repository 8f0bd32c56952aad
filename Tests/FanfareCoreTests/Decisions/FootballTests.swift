import FanfareCore
import Testing

/// What a match's facts become, and what is said about it.
@Suite struct FootballTests {
    let feed = FootballFeed()

    @Test func aMatchFromStartToEnd() {
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
}
