import FanfareFanOut
import FanfareModel
import FanfareTestSupport
import Testing

@testable import Simulation

/// The judge of lineups allows what a lineup may show, and finds what is not the newest in it.
@Suite struct LineupJudgeTests {
    private static let (match, other) = (TopicID("match"), TopicID("other"))
    private static let now = Moment.test.monotonic

    private static func version(
        _ serial: UInt64, of topic: TopicID = LineupJudgeTests.match, home: Int, priority: Priority = .immediate
    ) -> Publication {
        .test(
            serial, of: topic,
            state: [
                "homeScore": .int(Int64(home)), "awayScore": 1, "homeYellow": 0, "awayYellow": 0, "homeRed": 0,
                "awayRed": 0, "period": "first",
            ], priority: priority)
    }

    /// Returns the state of a lineup that shows the match alone.
    private static func lineup(home: Int) -> [UInt8] {
        let scores = #""homeScore":\#(home),"awayScore":1,"homeYellow":0,"awayYellow":0,"homeRed":0,"awayRed":0"#
        let short = #""compactLeading":"HOM \#(home)","compactTrailing":"1 AWA","minimal":"\#(home)–1""#
        let spotlight = #"{"index":0,"kind":"football","state":{\#(scores),"period":"first"}}"#
        return Array(#"{"topics":[{"id":"match","kind":"football",\#(short)}],"spotlight":\#(spotlight)}"#.utf8)
    }

    private static func judged(
        _ state: [UInt8], of topics: [TopicID] = [LineupJudgeTests.match], beside published: PublishedTopics,
        after wait: Duration = .zero
    ) -> String? {
        LineupJudge(rules: LineupRules(), published: published, now: now + wait)
            .judge(.test(state: state), carrying: nil, lineup: topics, for: .test(of: .lineup(topics)), after: .test())
    }

    @Test func aLineupShowsTheNewestVersionOfEachTopic() {
        var published = PublishedTopics()
        published.note(Self.version(1, home: 2), at: Self.now)
        #expect(Self.judged(Self.lineup(home: 2), beside: published) == nil)
        #expect(Self.judged([1], beside: published)?.hasPrefix("no lineup") == true)
        published.note(Self.version(2, home: 3), at: Self.now)
        #expect(Self.judged(Self.lineup(home: 3), beside: published) == nil)
        let former = Self.judged(Self.lineup(home: 2), beside: published)
        #expect(former?.hasPrefix("not the newest of match") == true)
        published.note(Self.version(3, of: Self.other, home: 0), at: Self.now)
        let part = Self.judged(Self.lineup(home: 3), of: [Self.match, Self.other], beside: published)
        #expect(part?.hasSuffix("are missing in their lineup") == true)
    }

    @Test func aVersionThatIsNotUrgentMayWaitForTheInterval() {
        var published = PublishedTopics()
        published.note(Self.version(1, home: 2), at: Self.now)
        published.note(Self.version(2, home: 3, priority: .conserving), at: Self.now)
        #expect(Self.judged(Self.lineup(home: 2), beside: published) == nil)
        #expect(Self.judged(Self.lineup(home: 2), beside: published, after: .seconds(2)) != nil)
    }

    @Test func aSettledLineupShowsOneOfTheVersionsThatMayBeThere() {
        let judge = LineupJudge(rules: LineupRules(), published: PublishedTopics(), now: Self.now)
        let (former, newest) = (Self.version(1, home: 2), Self.version(2, home: 3))
        func stale(_ state: [UInt8], _ versions: [TopicID: [Publication]]) -> String? {
            judge.stale(state, lineup: [Self.match, Self.other], versions: versions)
        }
        #expect(stale(Self.lineup(home: 2), [Self.match: [former, newest]]) == nil)
        #expect(stale(Self.lineup(home: 2), [Self.match: [newest]]) != nil)
        #expect(stale(Self.lineup(home: 2), [Self.other: [newest]])?.hasPrefix("nothing of") == true)
        #expect(stale([1], [:]) == "no lineup")
    }

    @Test func aPushIsTheRotationsIfEverythingWasSentBefore() {
        var (history, published) = (PushHistory.test(), PublishedTopics())
        published.note(Self.version(1, home: 2), at: Self.now)
        func isRotation() -> Bool {
            LineupJudge(rules: LineupRules(), published: published, now: Self.now)
                .isRotation([Self.match], after: history)
        }
        #expect(!isRotation())
        var moment = Moment.test
        moment.monotonic = Self.now + .seconds(3)
        history.sent(
            .test(state: Self.lineup(home: 2)), telling: [], newest: 1, showsLineup: true, at: moment)
        #expect(isRotation())
        published.note(Self.version(2, home: 3), at: Self.now + .seconds(2))
        #expect(!isRotation())
    }
}
