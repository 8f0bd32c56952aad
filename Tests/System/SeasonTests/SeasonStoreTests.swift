import FanfareDecisions
import FanfareLog
import FanfareModel
import FanfareTestSupport
import Testing

@testable import fanfare_season

/// The store of a season, on some days of a few topics that come and go.
@Suite struct SeasonStoreTests {
    private static let topics = 40
    private static let days = 10

    private static func time(_ time: SeasonTime) -> FeedTime { FeedTime(milliseconds: time.unixMilliseconds) }

    /// Plays the days, on which each topic has a card as long as it has events, claims for its alerts, and a start.
    ///
    /// - Returns: the growth of what the store has, and its topics and rows after the last day.
    private static func play(
        _ leaks: StoreLeaks = StoreLeaks()
    ) throws -> (growth: String?, topics: Int, rows: Int, claims: Int) {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let store = try SeasonStore(folder: folder.path, rules: .builtIn, topicsPerDay: topics, leaks: leaks)
        var judges = StoreJudges()
        var random = SplitMix64(seed: 1)
        let plan = DayPlan(topics: topics, using: &random)
        var (rows, claims) = (0, 0)
        for day in 0..<days {
            for happening in plan.happenings {
                let now = time(SeasonTime(day: day, hour: 0) + .milliseconds(happening.at))
                try store.take(DayPlan.event(day: day, happening, at: now), at: now)
                try takeClaims(of: happening, on: day, at: now, store)
                let (name, token) = ("\(day)/\(happening.topic)", [UInt8](repeating: 7, count: 32))
                if happening.step == 0 {
                    let audience = AudienceKey.topic(DayPlan.id(day: day, happening.topic))
                    let card = FanfareLog.Card(
                        subscriber: name, activity: name, token: token, audience: audience, startedAt: now)
                    try store.take(.follow(card), at: now)
                } else if Int(happening.step) == DayPlan.steps - 1 {
                    try store.takeRemoval(of: ActivityID(name).rawValue, token: token.keyedHash, at: now)
                }
            }
            let figures = try store.endDay(at: time(SeasonTime(day: day + 1, hour: 6)))
            judges.note(figures)
            (rows, claims) = (figures.rows, figures.claims)
        }
        return (judges.growth(), store.topicCount, rows, claims)
    }

    private static func takeClaims(
        of happening: DayPlan.Happening, on day: Int, at now: FeedTime, _ store: SeasonStore
    ) throws {
        let mark = ActivityMark(rawValue: happening.topic)
        if happening.step == 4 { try store.take([], starts: [StartMark(mark, number: UInt32(day))], at: now) }
        guard DayPlan.alerts(happening) else { return }
        let claim = AlertClaim(
            topic: DayPlan.id(day: day, happening.topic), through: now, expires: now + AlertClaim.ageMax,
            activities: [mark])
        try store.take([claim], starts: [], at: now)
    }

    @Test func aStoreOfTopicsThatComeAndGoDoesNotGrow() throws {
        let played = try Self.play()
        #expect(played.growth == nil)
        #expect(played.rows == 0)
        #expect(played.claims > 0, "claims of starts stay for a day and longer")
        #expect(played.topics < Self.topics, "topics of earlier days are forgotten")
    }

    @Test func entriesThatAreNotTrimmedAndRowsThatStayAreFound() throws {
        let played = try Self.play(StoreLeaks(entries: 400, rows: 20))
        let growth = played.growth ?? ""
        #expect(growth.contains("log entries have grown") && growth.contains("rows have grown"), "\(growth)")
        #expect(played.rows == 20 * Self.days)
    }

    @Test func claimsBehindOneThatDoesNotExpireAreFound() throws {
        let played = try Self.play(StoreLeaks(claims: 1))
        #expect(played.growth?.contains("claims have grown") == true, "\(played.growth ?? "none")")
        #expect(played.rows == 0)
    }

    @Test func aFolderThatHasAStoreIsRefused() throws {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        do { _ = try SeasonStore(folder: folder.path, rules: .builtIn, topicsPerDay: 40, leaks: StoreLeaks()) }
        #expect(throws: LogError.self) {
            _ = try SeasonStore(folder: folder.path, rules: .builtIn, topicsPerDay: 40, leaks: StoreLeaks())
        }
    }
}
