public import FanfareModel

/// Reducer for football matches, from the facts `teams`, `period`, `goal`, `card`, `substitution`, `shootoutKick`.
///
/// The state has the keys of the mapping for football feeds: names, scores, the period and its start, cards, the last scoreboard
/// event as text, and the key that it changed.
package struct FootballReducer: Reducer {
    private enum Side: String { case home, away }

    /// Periods during which the phone's clock runs.
    private static let played: Set<String> = ["1H", "2H", "ET1", "ET2"]
    private static let periods = played.union(["PRE", "HT", "ETB", "PEN", "FT", "SUSP", "ABD", "POSTP"])

    fileprivate struct Team {
        var name: String?
        var score: Int64 = 0
        var shootout: Int64 = 0
        var yellow: Int64 = 0
        var red: Int64 = 0
    }

    private var home = Team()
    private var away = Team()
    private var period = "PRE"
    private var periodStartedAt: FeedTime?
    private var hasShootout = false
    private var lastEvent: String?
    private var highlight: String?

    package init() {}

    package func understands(factKind: String) -> Bool {
        switch factKind {
        case "teams", "period", "goal", "card", "substitution", "shootoutKick": true
        default: false
        }
    }

    package func fault(in fact: Fact) -> String? {
        func text(_ key: String) -> String? {
            fact.values[key]?.stringValue == nil ? "a \(fact.kind) needs \(key) as text" : nil
        }
        func optionalText(_ key: String) -> String? { fact.values[key].flatMap { _ in text(key) } }
        func flag(_ key: String) -> String? {
            fact.values[key].map { $0.boolValue == nil } == true ? "\(key) of a \(fact.kind) is true or false" : nil
        }
        func side() -> String? { Self.side(of: fact) == nil ? "a \(fact.kind) needs side, home or away" : nil }
        switch fact.kind {
        case "teams": return text("home") ?? text("away")
        case "period":
            guard let period = fact.values["period"]?.stringValue, Self.periods.contains(period) else {
                return "a period needs period, one of \(Self.periods.sorted().joined(separator: ", "))"
            }
            return nil
        case "goal": return side() ?? optionalText("player") ?? flag("ownGoal") ?? flag("penalty")
        case "shootoutKick":
            return side() ?? (fact.values["scored"] == nil ? "a shootoutKick needs scored" : flag("scored"))
                ?? optionalText("player")
        case "card":
            let color = fact.values["color"]?.stringValue ?? ""
            return side() ?? (Card(rawValue: color) == nil ? "a card needs color, yellow, secondYellow or red" : nil)
                ?? optionalText("player")
        case "substitution": return side() ?? optionalText("playerIn") ?? optionalText("playerOut")
        default: return nil
        }
    }

    package mutating func fold(_ entry: LedgerEntry) {
        switch entry {
        case .fact(let fact): fold(fact)
        case .withdrawal(let fact, _):
            guard Self.isScoreboard(fact) else { return }
            lastEvent = withdrawn(fact)
            highlight = Self.key(of: fact)
        }
    }

    private mutating func fold(_ fact: Fact) {
        if fact.kind == "teams" {
            home.name = fact.values["home"]?.stringValue
            away.name = fact.values["away"]?.stringValue
            return
        }
        let side = Self.side(of: fact)
        switch fact.kind {
        case "period":
            period = fact.values["period"]?.stringValue ?? period
            guard period != "PRE" else {
                // No period has begun, so there is nothing for the scoreboard.
                periodStartedAt = nil
                return
            }
            periodStartedAt = fact.at
            hasShootout = hasShootout || period == "PEN"
        case "goal": change(side) { $0.score += 1 }
        case "shootoutKick":
            hasShootout = true
            if fact.values["scored"]?.boolValue == true { change(side) { $0.shootout += 1 } }
        case "card":
            let card = Card(fact)
            change(side) {
                if card != .red { $0.yellow += 1 }
                if card != .yellow { $0.red += 1 }
            }
        default: break
        }
        lastEvent = happened(fact)
        highlight = Self.key(of: fact)
    }

    private mutating func change(_ side: Side?, _ body: (inout Team) -> Void) {
        switch side {
        case .home: body(&home)
        case .away: body(&away)
        case nil: break
        }
    }

    package var state: JSONObject {
        var state: JSONObject = [
            "homeScore": .int(home.score), "awayScore": .int(away.score), "period": .string(period),
            "clockRunning": .bool(Self.played.contains(period)), "homeYellow": .int(home.yellow),
            "awayYellow": .int(away.yellow), "homeRed": .int(home.red), "awayRed": .int(away.red),
        ]
        state["home"] = home.name.map(JSONValue.string)
        state["away"] = away.name.map(JSONValue.string)
        state["periodStartedAt"] = periodStartedAt.map { .double($0.activityKitSeconds) }
        if hasShootout {
            state["homeShootout"] = .int(home.shootout)
            state["awayShootout"] = .int(away.shootout)
        }
        state["lastEvent"] = lastEvent.map(JSONValue.string)
        state["highlight"] = highlight.map(JSONValue.string)
        return state
    }

    /// Score in short: `TOT 2` beside `1 LEI`; `2–1`. After a shoot-out, its result: `TOT 5` beside `4 LEI`; `5–4 p`.
    package func shortForms(of state: JSONObject) -> ShortForms? {
        guard let home = state["homeScore"]?.intValue, let away = state["awayScore"]?.intValue else { return nil }
        // A score that does not fit costs the name a letter: `HO 10`.
        func side(_ key: String, besides other: String, _ form: (_ name: String) -> String) -> String {
            let (name, other) = (state[key]?.stringValue ?? "", state[other]?.stringValue ?? "")
            func formed(_ letters: Int) -> String { form(name.abbreviated(to: letters, besides: other)) }
            for letters in [3, 2] {
                let text = formed(letters)
                if text.width <= ShortForms.widthMax * 100 { return text }
            }
            return formed(1)
        }
        func forms(_ home: Int64, _ away: Int64, _ mark: String) -> ShortForms {
            ShortForms(
                compactLeading: side("home", besides: "away") { "\($0) \(home)" },
                compactTrailing: side("away", besides: "home") { "\(away) \($0)" },
                minimal: "\(home)–\(away)\(mark)")
        }
        guard let home = state["homeShootout"]?.intValue, let away = state["awayShootout"]?.intValue else {
            return forms(home, away, "")
        }
        return forms(home, away, " p")
    }

    package var isPresentable: Bool { home.name != nil || lastEvent != nil }

    /// Always `nil`: full time alone does not end a match; the feed says when it is over.
    package var ending: String? { nil }
}

// MARK: - Names of facts

extension FootballReducer {
    private enum Card: String {
        case yellow, secondYellow, red
        init?(_ fact: Fact) { self.init(rawValue: fact.values["color"]?.stringValue ?? "") }
    }

    /// Returns `true` if `lastEvent` and `highlight` report the fact.
    private static func isScoreboard(_ fact: Fact) -> Bool {
        fact.kind != "teams" && fact.values["period"]?.stringValue != "PRE"
    }

    private static func side(of fact: Fact) -> Side? { (fact.values["side"]?.stringValue).flatMap(Side.init) }

    /// Returns the content state key that a scoreboard fact changes.
    private static func key(of fact: Fact) -> String {
        let side = side(of: fact)?.rawValue ?? ""
        switch fact.kind {
        case "goal": return side + "Score"
        case "shootoutKick": return side + "Shootout"
        case "card": return side + (Card(fact) == .yellow ? "Yellow" : "Red")
        case "period": return "period"
        default: return "lastEvent"
        }
    }

    private func name(_ fact: Fact) -> String {
        Self.side(of: fact) == .home ? home.name ?? "Home" : away.name ?? "Away"
    }

    /// Returns `H. Kane (Tottenham Hotspur)`, or only the team if the feed names no player.
    private func who(_ fact: Fact) -> String {
        guard let player = fact.values["player"]?.stringValue, !player.isEmpty else { return name(fact) }
        // The player of an own goal belongs to the other team.
        return fact.values["ownGoal"]?.boolValue == true ? "\(player) for \(name(fact))" : "\(player) (\(name(fact)))"
    }

    private func what(_ fact: Fact) -> String {
        switch fact.kind {
        case "goal":
            if fact.values["ownGoal"]?.boolValue == true { return "Own goal" }
            return fact.values["penalty"]?.boolValue == true ? "Penalty goal" : "Goal"
        case "shootoutKick": return fact.values["scored"]?.boolValue == true ? "Shoot-out: scored" : "Shoot-out: missed"
        case "card":
            switch Card(fact) {
            case .secondYellow: return "Second yellow card"
            case .red: return "Red card"
            case .yellow, nil: return "Yellow card"
            }
        case "substitution": return "Substitution"
        default: return "Period"
        }
    }

    private func happened(_ fact: Fact) -> String {
        switch fact.kind {
        case "period": Self.title(ofPeriod: period)
        case "substitution":
            switch (fact.values["playerIn"]?.stringValue, fact.values["playerOut"]?.stringValue) {
            case (let on?, let off?): "Substitution: \(on) for \(off) (\(name(fact)))"
            case (let on?, nil): "Substitution: \(on) comes on (\(name(fact)))"
            case (nil, let off?): "Substitution: \(off) goes off (\(name(fact)))"
            case (nil, nil): "Substitution: \(name(fact))"
            }
        default: "\(what(fact)): \(who(fact))"
        }
    }

    private func withdrawn(_ fact: Fact) -> String {
        switch fact.kind {
        case "goal": "Goal cancelled: \(who(fact))"
        case "period": "Corrected: \(Self.title(ofPeriod: period))"
        case "substitution": "Substitution withdrawn: \(name(fact))"
        default: "\(what(fact)) withdrawn: \(who(fact))"
        }
    }

    private static func title(ofPeriod period: String) -> String {
        switch period {
        case "PRE": "Not started"
        case "1H": "Kick-off"
        case "HT": "Half-time"
        case "2H": "Second half"
        case "ETB": "Extra time to come"
        case "ET1": "Extra time"
        case "ET2": "Extra time, second half"
        case "PEN": "Penalty shoot-out"
        case "FT": "Full time"
        case "SUSP": "Suspended"
        case "ABD": "Abandoned"
        case "POSTP": "Postponed"
        default: period
        }
    }
}

// MARK: - Occasions

extension OccasionKind {
    /// A goal, including own goals and penalties of the match.
    public static let goal = OccasionKind("goal")
    /// The withdrawal of a goal, as after a video review.
    public static let goalCancelled = OccasionKind("goalCancelled")
    /// A straight red or second yellow card: a player is sent off.
    public static let redCard = OccasionKind("redCard")
    /// The withdrawal of a red or second yellow card.
    public static let redCardCancelled = OccasionKind("redCardCancelled")
    /// The start of the first half.
    public static let kickOff = OccasionKind("kickOff")
    /// The end of the match, after a shoot-out if there is one.
    public static let fullTime = OccasionKind("fullTime")
    /// The start of the shoot-out.
    public static let shootout = OccasionKind("shootout")
    /// One kick of the shoot-out, scored or missed.
    public static let shootoutKick = OccasionKind("shootoutKick")
    /// A suspension, abandonment or postponement.
    public static let interrupted = OccasionKind("interrupted")
    /// Half-time and every other change of period, and each correction of one.
    public static let periodChange = OccasionKind("periodChange")
    /// A first yellow card.
    public static let yellowCard = OccasionKind("yellowCard")
    /// A substitution of one player for another.
    public static let substitution = OccasionKind("substitution")
}

extension FootballReducer {
    package func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? {
        switch entry {
        case .fact(let fact):
            guard let kind = occasionKind(of: fact) else { return nil }
            return Occasion(kind, highlight: Self.key(of: fact), text: text(kind, fact, shown))
        case .withdrawal(let fact, _):
            let kind: OccasionKind
            switch fact.kind {
            case "goal": kind = .goalCancelled
            case "card" where Card(fact) != .yellow: kind = .redCardCancelled
            case "shootoutKick": kind = .shootoutKick
            case "period" where Self.isScoreboard(fact): kind = .periodChange
            default: return nil
            }
            return Occasion(kind, highlight: Self.key(of: fact), text: text(kind, fact, shown))
        }
    }

    private func occasionKind(of fact: Fact) -> OccasionKind? {
        switch fact.kind {
        case "goal": return .goal
        case "shootoutKick": return .shootoutKick
        case "card": return Card(fact) == .yellow ? .yellowCard : .redCard
        case "substitution": return .substitution
        case "period":
            switch fact.values["period"]?.stringValue {
            case "1H": return .kickOff
            case "PEN": return .shootout
            case "FT": return .fullTime
            case "SUSP", "ABD", "POSTP": return .interrupted
            case "PRE": return nil
            default: return .periodChange
            }
        default: return nil
        }
    }

    private func text(_ kind: OccasionKind, _ fact: Fact, _ shown: JSONObject) -> AlertText {
        let score = Self.score(in: shown)
        switch kind {
        case .goal:
            let penalty = fact.values["penalty"]?.boolValue == true ? ", penalty" : ""
            let own = fact.values["ownGoal"]?.boolValue == true ? "Own goal: " : ""
            return AlertText(title: "Goal! \(score)", body: own + who(fact) + penalty, sound: "default")
        case .goalCancelled: return AlertText(title: "Goal cancelled: \(score)", body: who(fact), sound: "default")
        case .redCardCancelled: return AlertText(title: withdrawn(fact), body: score, sound: "default")
        case .redCard: return AlertText(title: "\(what(fact)): \(who(fact))", body: score, sound: "default")
        case .kickOff: return AlertText(title: "Kick-off", body: Self.pairing(in: shown))
        case .fullTime: return AlertText(title: "Full time", body: score, sound: "default")
        default: return AlertText(title: happened(fact), body: score)
        }
    }

    private static func pairing(in state: JSONObject) -> String {
        "\(state["home"]?.stringValue ?? "Home") – \(state["away"]?.stringValue ?? "Away")"
    }

    /// Returns `Germany 1–1 Italy (6–5 on penalties)`.
    private static func score(in state: JSONObject) -> String {
        func number(_ key: String) -> String { state[key]?.intValue.map(String.init) ?? "0" }
        let score =
            "\(state["home"]?.stringValue ?? "Home") \(number("homeScore"))–\(number("awayScore")) "
            + "\(state["away"]?.stringValue ?? "Away")"
        guard state["homeShootout"] != nil else { return score }
        return score + " (\(number("homeShootout"))–\(number("awayShootout")) on penalties)"
    }
}

// MARK: - Serial form

extension FootballReducer {
    func write(to writer: inout SerialWriter) {
        for team in [home, away] {
            writer.write(team.name)
            for number in [team.score, team.shootout, team.yellow, team.red] { writer.write(signed: number) }
        }
        writer.write(period)
        writer.write(periodStartedAt)
        writer.write(hasShootout)
        writer.write(lastEvent)
        writer.write(highlight)
    }

    init(reading reader: inout SerialReader) throws(SerialError) {
        home = try Team(reading: &reader)
        away = try Team(reading: &reader)
        period = try reader.text()
        periodStartedAt = try reader.optionalDecidedTime()
        hasShootout = try reader.flag("shoot-out")
        lastEvent = try reader.optionalText()
        highlight = try reader.optionalText()
    }
}

extension FootballReducer.Team {
    fileprivate init(reading reader: inout SerialReader) throws(SerialError) {
        name = try reader.optionalText()
        score = try reader.count(below: 1 << 40)
        shootout = try reader.count(below: 1 << 40)
        yellow = try reader.count(below: 1 << 40)
        red = try reader.count(below: 1 << 40)
    }
}

extension SerialReader {
    /// Reads a number that may still be counted up without an overflow.
    fileprivate mutating func count(below bound: Int64) throws(SerialError) -> Int64 {
        let count = try signed()
        guard 0..<bound ~= count else { throw .malformed("count") }
        return count
    }
}
