import FanfareJSON
import FanfareModel

/// Decoder for a PWHL game (HockeyTech's play-by-play and summary in one document).
///
/// Rows have a game clock, which counts up in each period, and no time of day; the scheduled start is right, the "Eastern" times of
/// the summary are not. So `at` is computed: a minute of play takes 1.8 (108 of the 144 minutes that a recorded game of regular
/// length lasts, without its intermissions), an intermission 18, the break before overtime 2, before another overtime of a play-off
/// 18, before the shoot-out 3, and a shoot-out attempt 40 seconds. Play begins 10 minutes after the scheduled start, as in the
/// recordings, or at the kick-off in the options.
struct HockeyDecoder: FeedDecoder {
    private var events: [FeedItem] = []
    private var position = 0

    mutating func next() -> FeedItem? {
        guard position < events.count else { return nil }
        position += 1
        return events[position - 1]
    }

    /// - Parameter kickoff: start of play, which overrides the document.
    init(
        path: String, bytes: [UInt8], parser: JSONParser, kickoff: FeedTime? = nil
    ) throws(UndecodableDocument) {
        do {
            let read = try parser.parse(bytes) { root in
                Result { () throws(UndecodableDocument) in try Game(root, path: path, kickoff: kickoff) }
            }
            events = try read.get().items
        } catch let undecodable as UndecodableDocument {
            throw undecodable
        } catch {
            throw UndecodableDocument(
                path, "\((error as? JSONParser.Failure)?.reason ?? "\(error)"); is the file complete?")
        }
    }
}

/// A game, converted to items.
private struct Game {
    private(set) var items: [FeedItem] = []

    private let path: String
    private let topic: TopicID
    private let start: FeedTime
    private let home: (id: Int64, name: String)
    private let away: (id: Int64, name: String)
    /// Period 1–3, overtime from 4 on, or `shootoutPeriod`; 0 before the game.
    private var period = 0
    private var now: FeedTime
    private var attempts = 0
    private var shootout = (home: 0, away: 0)
    private var number = 0

    init(_ root: JSONElement, path: String, kickoff: FeedTime?) throws(UndecodableDocument) {
        self.path = path
        guard let details = root["summary_raw"]?["details"], let id = details["id"]?.integer else {
            throw UndecodableDocument(path, "no `summary_raw.details.id` names the game")
        }
        let written = details["GameDateISO8601"]?.string.flatMap { FeedTime(rfc3339: $0) }
        let scheduled = [kickoff, written].compactMap(\.self).first { ($0 + .seconds(86_400)).isPlausible }
        guard let home = Game.team(root, "homeTeam"), let away = Game.team(root, "visitingTeam") else {
            throw UndecodableDocument(path, "the summary does not name `homeTeam` and `visitingTeam`")
        }
        topic = TopicID("game/\(id)")
        if scheduled == nil {
            items.append(
                .noticed(
                    FeedNotice(
                        location: path,
                        text:
                            "the game has no date that can be read (`GameDateISO8601`); the option `kickoff` gives one"
                    )))
        }
        // Play begins ten minutes after the scheduled start, but exactly at a given kick-off.
        start = (scheduled ?? .undated) + .seconds(kickoff != nil && kickoff == scheduled ? 0 : 600)
        now = start + .seconds(-600)
        (self.home, self.away) = (home, away)
        add(
            "teams", id: "teams",
            ["home": .string(home.name), "away": .string(away.name), "period": "PRE"], lifecycle: .start)
        for element in root.elements(of: "pbp_raw") { take(element) }
        finish()
    }

    private static func team(_ root: JSONElement, _ name: StaticString) -> (id: Int64, name: String)? {
        guard let info = root["summary_raw"]?[name]?["info"], let id = info["id"]?.integer,
            let name = info["name"]?.string
        else { return nil }
        return (id, name)
    }

    private mutating func take(_ element: JSONElement) {
        number += 1
        guard let name = element["event"]?.string, let details = element["details"] else {
            return reject("the event has no `event` and `details`")
        }
        guard name != "shootout" else { return attempt(details) }
        // `OT1` and `4` are the same period; a play-off continues until a goal.
        let text = details["period"]?["id"].flatMap { $0.string ?? $0.integer.map(String.init) } ?? ""
        let overtime = text.hasPrefix("OT") ? (text.count == 2 ? 1 : Int(text.dropFirst(2))) : nil
        guard let period = overtime.flatMap({ (1...20).contains($0) ? 3 + $0 : nil }) ?? Int(text),
            (1..<Game.shootoutPeriod).contains(period)
        else { return reject("`period.id` is \"\(text)\"; expected 1, 2, 3, 4, OT1 or a later overtime") }
        let clock = (details["time"]?.string ?? "").split(separator: ":").compactMap { Int64($0) }
        guard clock.count == 2, (0...20).contains(clock[0]), (0...59).contains(clock[1]) else {
            return reject("`time` is not a game clock such as 12:34")
        }
        enter(period)
        now = max(now, Game.time(of: period, seconds: clock[0] * 60 + clock[1], from: start))
        let player = Game.player(details["scoredBy"] ?? details["takenBy"])
        switch name {
        case "goal":
            guard let side = side(details["team"]) else { return reject("`team` of the goal is neither side") }
            let id = details["game_goal_id"]?.string ?? "\(number)"
            add("goal", id: "goal/\(id)", happened("Goal", side, player, key: side + "Score"))
        case "penalty":
            guard let side = side(details["againstTeam"]) else {
                return reject("`againstTeam` of the penalty is neither side")
            }
            let id = details["game_penalty_id"]?.string ?? "\(number)"
            let minutes = details["minutes"]?.string.flatMap(Double.init) ?? details["minutes"]?.number
            let length = minutes.flatMap { Int(exactly: $0.rounded()) }.map { ", \($0) min" } ?? ""
            add("penalty", id: "penalty/\(id)", happened("Penalty\(length)", side, player, key: side + "Penalties"))
        default:
            items.append(.event(FeedEvent(topic: topic, at: now, id: "\(number)", kind: kind(named: name))))
        }
    }

    /// Longer than any shoot-out; short enough that its last time is plausible to the core.
    private static let attemptsMax = 1000

    private mutating func attempt(_ details: JSONElement) {
        guard attempts < Game.attemptsMax else { return reject("more than \(Game.attemptsMax) shoot-out attempts") }
        guard let side = side(details["shooterTeam"]) else { return reject("`shooterTeam` is neither side") }
        enter(Game.shootoutPeriod)
        attempts += 1
        now = now + .seconds(40)
        let isGoal = details["isGoal"]?.value == .bool(true)
        if isGoal, side == "home" { shootout.home += 1 } else if isGoal { shootout.away += 1 }
        let what = isGoal ? "Shoot-out: scored" : "Shoot-out: missed"
        add(
            "shootoutAttempt", id: "attempt/\(attempts)",
            happened(what, side, Game.player(details["shooter"]), key: "lastEvent"))
    }

    /// Ends the game after the last row, because nothing else marks the end.
    private mutating func finish() {
        guard period > 0 else { return reject("no row of the play-by-play could be read") }
        if shootout.home != shootout.away {
            // The official result counts the shoot-out as one goal.
            let side = shootout.home > shootout.away ? "home" : "away"
            add("goal", id: "goal/shootout", happened("Shoot-out won", side, nil, key: side + "Score"))
        }
        add(
            "period", id: "period/FT", ["period": "FT", "text": "Final", "key": "period"], lifecycle: .end)
    }

    private static let shootoutPeriod = 24

    private mutating func enter(_ next: Int) {
        guard next > period else { return }
        period = next
        let isShootout = next == Game.shootoutPeriod
        now = max(now, isShootout ? now + .seconds(180) : Game.time(of: next, seconds: 0, from: start))
        let (id, name, text) =
            switch next {
            case 1: ("1", "1", "First period")
            case 2: ("2", "2", "Second period")
            case 3: ("3", "3", "Third period")
            case 4: ("OT", "OT", "Overtime")
            case Game.shootoutPeriod: ("SO", "SO", "Shoot-out")
            default: ("OT\(next - 3)", "OT", "Overtime \(next - 3)")
            }
        add("period", id: "period/\(id)", ["period": .string(name), "text": .string(text), "key": "period"])
    }

    /// Returns the time of a game clock in whole milliseconds, as the log has them.
    private static func time(of period: Int, seconds: Int64, from start: FeedTime) -> FeedTime {
        let played = Int64(period - 1) * 20 * 60 + seconds
        let intermissions = Int64(min(period - 1, 2) + max(0, period - 4))
        let breaks = intermissions * 18 * 60 + (period >= 4 ? 120 : 0)
        return start + .milliseconds(played * 1800 + breaks * 1000)
    }

    private func side(_ team: JSONElement?) -> String? {
        let id = team?["id"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } }
        return id == home.id ? "home" : id == away.id ? "away" : nil
    }

    /// Returns a name such as `L. Stacey`.
    private static func player(_ element: JSONElement?) -> String? {
        guard let last = element?["lastName"]?.string else { return nil }
        return element?["firstName"]?.string?.first.map { "\($0). \(last)" } ?? last
    }

    private func happened(_ what: String, _ side: String, _ player: String?, key: String) -> JSONObject {
        let team = side == "home" ? home.name : away.name
        var values: JSONObject = [
            "side": .string(side), "key": .string(key),
            "text": .string("\(what): " + (player.map { "\($0) (\(team))" } ?? team)),
        ]
        values["player"] = player.map(JSONValue.string)
        return values
    }

    private mutating func add(
        _ kind: String, id: String, _ values: JSONObject, lifecycle: FeedEvent.Lifecycle? = nil
    ) {
        items.append(
            .event(
                FeedEvent(
                    topic: topic, topicKind: lifecycle == .start ? .hockey : nil, at: now, id: id, kind: kind,
                    lifecycle: lifecycle, change: .fact(Fact(id: id, kind: kind, at: now, values: values)))))
    }

    private mutating func reject(_ reason: String) {
        items.append(
            .rejected(FeedRejection(location: "\(path): event \(number)", reason: reason, topic: topic, at: now)))
    }
}
