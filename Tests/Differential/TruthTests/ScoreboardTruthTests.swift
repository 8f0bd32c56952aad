import FanfareDecisions
import FanfareFeeds
import FanfareModel
import Testing

@Suite(.enabled(if: Recordings.areHere, "\(Recordings.skipped)"))
struct ScoreboardTruthTests {
    struct Hockey: Decodable {
        let games: [Game]

        struct Game: Decodable {
            let id: Int
            let file: String
            let home, away: Team
            let final: [Int64]
            let goals: [Goal]
            let penalties: [Penalty]
            let shootout: Bool
            let eventCount: Int
        }
        struct Team: Decodable { let name: String }
        struct Goal: Decodable { let scoreAfter: [Int64] }
        struct Penalty: Decodable { let team: String }
    }

    @Test func sixHockeyGamesEndAtTheirRecordedScores() throws {
        let facts: Hockey = try Recordings.facts("pwhl-hockey/facts.json")
        #expect(facts.games.count == 6)
        for game in facts.games {
            var goals: [(record: DecisionRecord, score: [Int64?])] = []
            let replay = try Replay([Recordings.path("pwhl-hockey/" + game.file)])
            #expect(replay.rejections.isEmpty, "\(replay.rejections)")
            var published: Publication?
            for decision in replay.decisions {
                switch decision {
                case .publish(let publication): published = publication
                case .revokeAlert, .forget, .order: break
                case .record(let record):
                    if record.kind == "goal" {
                        let state = published.map { String(decoding: $0.state.bytes, as: UTF8.self) } ?? ""
                        goals.append((record, ["homeScore", "awayScore"].map { number($0, in: state) }))
                        #expect(record.outcome == .published, "game \(game.id): \(record.reason)")
                        #expect(record.alert == .granted, "game \(game.id): \(record.alertReason ?? "")")
                    }
                    published = nil
                }
            }
            #expect(
                Array(goals.map(\.score).prefix(game.goals.count)) == game.goals.map(\.scoreAfter), "game \(game.id)")
            #expect(goals.count == game.goals.count + (game.shootout ? 1 : 0))
            let topic = try replay.topic("game/\(game.id)")
            #expect(topic.ended)
            #expect(topic.published == topic.state)
            #expect(topic.state["home"]?.stringValue == game.home.name)
            #expect(topic.state["away"]?.stringValue == game.away.name)
            #expect([topic.state["homeScore"], topic.state["awayScore"]] == game.final.map(JSONValue.int))
            #expect(topic.state["period"] == "FT")
            #expect(topic.state["lastEvent"] == "Final")
            for side in ["home", "away"] {
                let count = game.penalties.count { $0.team == side }
                #expect(topic.state[side + "Penalties"] == .int(Int64(count)), "game \(game.id)")
            }
            #expect(topic.version > 10 && topic.version < 60, "game \(game.id): \(topic.version) versions")
            // A quarter of an hour more or less than the three hours that a game takes.
            let times = replay.events.map(\.at)
            #expect(times == times.sorted())
            #expect((times[times.count - 1] - times[0]) < .seconds(3 * 3600 + 900))
        }
    }

    private func number(_ key: String, in state: String) -> Int64? {
        guard let start = state.firstRange(of: "\"\(key)\":")?.upperBound else { return nil }
        return Int64(state[start...].prefix { $0.isNumber })
    }

    struct Volleyball: Decodable {
        let matches: [Match]

        struct Match: Decodable {
            let file, home, away: String
            let setsWon: [Int64]
            let sets: [Set]
            let points: [Point]
            let rowCount: Int
        }
        struct Set: Decodable { let final: [Int64] }
        struct Point: Decodable {
            let set: Int64
            let score: [Int64]
        }
    }

    @Test func threeVolleyballMatchesShowEachRecordedPoint() throws {
        let facts: Volleyball = try Recordings.facts("volleyball-dvw/facts.json")
        #expect(facts.matches.count == 3)
        for match in facts.matches {
            var points: [[JSONValue?]] = []
            let replay = try Replay([Recordings.path("volleyball-dvw/" + match.file)]) { event, topic in
                if event.kind == "point" {
                    points.append([topic.state["set"], topic.state["homePoints"], topic.state["awayPoints"]])
                }
            }
            #expect(replay.rejections.isEmpty, "\(replay.rejections)")
            #expect(
                points == match.points.map { [.int($0.set), .int($0.score[0]), .int($0.score[1])] }, "\(match.file)")
            let topic = try replay.topic("match/" + match.file.dropLast(4))
            #expect(topic.ended)
            #expect(topic.published == topic.state)
            #expect(topic.state["home"]?.stringValue == match.home)
            #expect(topic.state["away"]?.stringValue == match.away)
            #expect([topic.state["homeSets"], topic.state["awaySets"]] == match.setsWon.map(JSONValue.int))
            let last = try #require(match.sets.last)
            #expect([topic.state["homePoints"], topic.state["awayPoints"]] == last.final.map(JSONValue.int))
            let sets = replay.records.filter { $0.kind == "set" }
            #expect(sets.count == match.sets.count)
            #expect(sets.allSatisfy { $0.outcome == .published && $0.alert == .granted })
        }
    }
}
