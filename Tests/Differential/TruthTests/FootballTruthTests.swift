import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Foundation
import Testing

@Suite(.enabled(if: Recordings.areHere, "\(Recordings.skipped)"))
struct FootballTruthTests {
    struct Wyscout: Decodable {
        let matches: [Match]

        struct Match: Decodable {
            let id: Int
            let file: String
            let home, away: Team
            let final: [Int64]
            let shootout: [Int64]?
            let goals: [Goal]
            let shootoutKicks: [Kick]
            let cardsInEventStream: [Card]
            let eventCount: Int
            let kickoffUtc: String
        }

        struct Team: Decodable { let name: String }
        struct Card: Decodable { let team, card: String }
        struct Kick: Decodable {
            let team, player: String
            let scored: Bool
        }

        struct Goal: Decodable {
            let period, team, player: String
            let sec: Double
            let ownGoal, penalty: Bool
            let scoreAfter: [Int64]
        }
    }

    private static let simultaneous = "2018-05-13T14:00:00Z"

    private func wyscout(_ isWanted: (Wyscout.Match) -> Bool) throws -> (Replay, [Wyscout.Match]) {
        let facts: Wyscout = try Recordings.facts("wyscout-football/facts.json")
        let matches = facts.matches.filter(isWanted)
        return (try Replay(matches.map { Recordings.path("wyscout-football/" + $0.file) }), matches)
    }

    private func check(_ replay: Replay, _ match: Wyscout.Match, score: [Int64]) throws {
        let id = "match/\(match.id)"
        let topic = try replay.topic(id)
        var expected: JSONObject = [
            "home": .string(match.home.name), "away": .string(match.away.name), "homeScore": .int(score[0]),
            "awayScore": .int(score[1]), "period": "FT", "clockRunning": false,
            "homeYellow": .int(match.count("home", "yellow")), "awayYellow": .int(match.count("away", "yellow")),
            "homeRed": .int(match.count("home", "red")), "awayRed": .int(match.count("away", "red")),
        ]
        expected["homeShootout"] = match.shootout.map { .int($0[0]) }
        expected["awayShootout"] = match.shootout.map { .int($0[1]) }
        for key in ["homeShootout", "awayShootout"] + expected.members.map(\.key) {
            #expect(topic.state[key] == expected[key], "\(id) \(key)")
            #expect(topic.published?[key] == expected[key], "\(id) \(key), published")
        }
        #expect(topic.ended)

        let goals = replay.events.filter { $0.topic.rawValue == id && $0.kind == "goal" }
        #expect(goals.count == match.goals.count)
        for (event, goal) in zip(goals, match.goals) {
            var values: JSONObject = ["side": .string(goal.team), "player": .string(goal.player)]
            if goal.ownGoal { values["ownGoal"] = true }
            if goal.penalty { values["penalty"] = true }
            guard case .fact(let fact) = event.change else {
                Issue.record("a goal is no fact: \(event)")
                continue
            }
            #expect(fact.values == values)
            try check(replay, goal: event, score: goal.scoreAfter)
        }
    }

    /// Published by its own event: at once, not with a later one.
    private func check(_ replay: Replay, goal: FeedEvent, score: [Int64]) throws {
        let (record, publication) = try replay.publication(of: try #require(goal.id), in: goal.topic.rawValue)
        #expect(record.outcome == .published)
        #expect(record.causes.contains(try #require(goal.id)))
        #expect(record.alert == .granted)
        let state = try #require(publication).state.bytes
        let object = try #require(JSONSerialization.jsonObject(with: Data(state)) as? [String: Any])
        #expect((object["homeScore"] as? NSNumber)?.int64Value == score[0])
        #expect((object["awayScore"] as? NSNumber)?.int64Value == score[1])
    }

    @Test func tenSimultaneousMatchesEndAtTheirRecordedScores() throws {
        let (replay, matches) = try wyscout { $0.kickoffUtc == FootballTruthTests.simultaneous }
        #expect(matches.count == 10)
        #expect(replay.rejections.isEmpty)
        for match in matches {
            try check(replay, match, score: match.final)
            let own = replay.events.filter { $0.topic.rawValue == "match/\(match.id)" }
            // Its own events, and those that are inferred: start, two halves, half-time, end.
            #expect(own.count == match.eventCount + 5)
            #expect(try replay.topic("match/\(match.id)").version >= 5)
        }
        #expect(replay.records.filter { $0.origin == .event }.count == replay.events.count)
    }

    @Test func recordedShootoutHasItsKicksAndScore() throws {
        let (replay, matches) = try wyscout { $0.id == 1_694_436 }
        let match = try #require(matches.first)
        try check(replay, match, score: [1, 1])
        let kicks = replay.events.filter { $0.kind == "shootoutKick" }
        #expect(kicks.count == 18)
        for (event, kick) in zip(kicks, match.shootoutKicks) {
            guard case .fact(let fact) = event.change else {
                Issue.record("a kick is no fact: \(event)")
                continue
            }
            #expect(
                fact.values == [
                    "side": .string(kick.team), "scored": .bool(kick.scored), "player": .string(kick.player),
                ])
        }
        let periods = replay.events.compactMap { event -> JSONValue? in
            if case .fact(let fact) = event.change, fact.kind == "period" { return fact.values["period"] }
            return nil
        }
        #expect(periods == ["1H", "HT", "2H", "ETB", "ET1", "ET2", "PEN", "FT"])
    }

    /// The result was 0–1, but the stream has no goal: 0–0 is the right answer to it.
    @Test func goalMissingFromTheStreamIsMissingFromTheScore() throws {
        let (replay, matches) = try wyscout { $0.id == 2_499_781 }
        try check(replay, try #require(matches.first), score: [0, 0])
    }

    struct DFL: Decodable {
        let matchId, home, away, kickoff: String
        let final: [Int64]
        let goals: [Row]
        let cards: [Row]
        let substitutions: [Row]
        let deletedEventIds: [String]
        let eventCount: Int
        let eventKinds: [String: Int]

        struct Row: Decodable {
            let time, eventId, team: String
            let player, card, playerIn, playerOut: String?
        }
    }

    @Test func recordedDFLMatchEndsWithItsScoreAndCards() throws {
        let facts: DFL = try Recordings.facts("dfl-football/facts.json")
        let replay = try Replay([Recordings.path("dfl-football")])
        #expect(replay.rejections.isEmpty)
        #expect(replay.events.count == facts.eventCount + 1, "every row, and the start")
        let id = "match/" + facts.matchId
        let topic = try replay.topic(id)
        let yellow = Dictionary(grouping: facts.cards, by: \.team).mapValues { JSONValue.int(Int64($0.count)) }
        let expected: JSONObject = [
            "home": .string(facts.home), "away": .string(facts.away), "homeScore": .int(facts.final[0]),
            "awayScore": .int(facts.final[1]), "period": "FT", "clockRunning": false,
            "homeYellow": yellow["home"] ?? 0, "awayYellow": yellow["away"] ?? 0, "homeRed": 0, "awayRed": 0,
        ]
        for (key, value) in expected.members.map({ ($0.key, $0.value) }) {
            #expect(topic.state[key] == value, "\(key)")
        }
        #expect(topic.ended)

        let goal = try #require(replay.events.first { $0.kind == "goal" })
        #expect(goal.id == facts.goals.first?.eventId)
        #expect(goal.at == FeedTime(rfc3339: try #require(facts.goals.first?.time)))
        try check(replay, goal: goal, score: facts.final)

        let values = replay.events.compactMap { event -> JSONObject? in
            guard case .fact(let fact) = event.change, fact.kind == "card" || fact.kind == "substitution" else {
                return nil
            }
            return fact.values
        }
        for card in facts.cards {
            let wanted: JSONObject = [
                "side": .string(card.team), "color": "yellow", "player": .string(try #require(card.player)),
            ]
            #expect(values.contains(wanted))
        }
        for row in facts.substitutions {
            let wanted: JSONObject = [
                "side": .string(row.team), "playerIn": .string(try #require(row.playerIn)),
                "playerOut": .string(try #require(row.playerOut)),
            ]
            #expect(values.contains(wanted))
        }

        // A card of the first half was entered after the final whistle: the state has it, the phones never saw it.
        let late = replay.records.filter {
            $0.reason == "after end" && $0.kind == "caution" || $0.id == "18237400001484"
        }
        #expect(late.map(\.outcome) == [.late])
        #expect(topic.state["awayYellow"] == 7)
        #expect(topic.published?["awayYellow"] == 6)

        let kinds = Dictionary(grouping: replay.events, by: \.kind).mapValues(\.count)
        #expect(kinds["delete"] == facts.deletedEventIds.count)
        #expect(kinds["throwIn"] == facts.eventKinds["ThrowIn"])
    }
}

extension FootballTruthTests.Wyscout.Match {
    fileprivate func count(_ team: String, _ color: String) -> Int64 {
        Int64(cardsInEventStream.filter { $0.team == team && $0.card == color }.count)
    }
}
