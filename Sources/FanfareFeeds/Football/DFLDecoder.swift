import FanfareModel

/// Decoder for one DFL/Sportec match, row by row, in the file's order, which is the order of entry: late rows stay late, and rows
/// after the final whistle come after the end.
///
/// Penalties after the whistle that ends play, by their own times, are a shoot-out. It begins with that whistle, and the match ends
/// with the shoot-out's own whistle or with the file. No recording shows the name of a shoot-out in `GameSection`.
struct DFLDecoder: FeedDecoder {
    private let path: String
    private let match: FootballTopic
    private let info: DFLMatch
    private let document: DFLDocument
    private let hasExtraTime: Bool
    /// Time of the whistle before a shoot-out; `nil` without one.
    private let shootoutFrom: FeedTime?
    private var hasEnded = false
    /// Latest event time so far.
    private var latest = FeedTime(milliseconds: 0)
    private var pending: ArraySlice<FeedItem>
    private var position = 0

    init(path: String, document: DFLDocument, info: DFLMatch) {
        self.path = path
        self.document = document
        self.info = info
        match = FootballTopic(matchID: info.id)
        let rows = document.rows
        let hasExtraTime = rows.contains {
            $0.kind == "KickOff" && $0.attributes["GameSection"] == "firstHalfExtra"
        }
        self.hasExtraTime = hasExtraTime
        func whistle(_ section: String) -> FeedTime? {
            rows.last { $0.kind == "FinalWhistle" && $0.attributes["GameSection"] == section }
                .flatMap { FeedTime(rfc3339: $0.time) }
        }
        let playEnds = whistle("secondHalfExtra") ?? (hasExtraTime ? nil : whistle("secondHalf"))
        shootoutFrom = playEnds.flatMap { end in
            let isFollowed = rows.contains { row in
                if let section = row.attributes["GameSection"], DFLDecoder.isShootout(section) { return true }
                return row.shot?.penalty == true && FeedTime(rfc3339: row.time).map { $0 > end } == true
            }
            return isFollowed ? end : nil
        }
        let times = rows.lazy.compactMap { FeedTime(rfc3339: $0.time) }.filter(\.isPlausible)
        let first = times.first { _ in true }
        pending = []
        if let kickoff = info.kickoff ?? first {
            // Never after the first row, whatever the schedule says, and never before the first plausible time.
            let at = max(FeedTime.plausible.lowerBound, min(kickoff + FootballTopic.lead, first ?? kickoff))
            pending.append(
                .event(match.start(home: info.names[.home] ?? "Home", away: info.names[.away] ?? "Away", at: at)))
        }
    }

    mutating func next() -> FeedItem? {
        if let item = pending.popFirst() { return item }
        if position < document.rows.count {
            let row = document.rows[position]
            position += 1
            return item(row)
        }
        if shootoutFrom != nil, !hasEnded, document.defect == nil {
            hasEnded = true
            return .event(match.inferred(period: "FT", at: latest))
        }
        if position == document.rows.count, let defect = document.defect {
            position += 1
            return .rejected(
                FeedRejection(location: "\(path):\(defect.line)", reason: defect.reason, topic: match.topic))
        }
        return nil
    }

    private mutating func item(_ row: DFLDocument.Row) -> FeedItem {
        func rejected(_ reason: String, at: FeedTime? = nil) -> FeedItem {
            .rejected(FeedRejection(location: "\(path):\(row.line)", reason: reason, topic: match.topic, at: at))
        }
        guard !row.id.isEmpty else { return rejected("the event has no `EventId`") }
        guard row.matchID == info.id else { return rejected("the event is of another match, \(row.matchID)") }
        guard let at = FeedTime(rfc3339: row.time) else { return rejected("`EventTime` is no time with an offset") }
        guard at.isPlausible else { return rejected(FeedTime.implausible(row.time), at: at) }
        guard let event = event(row, at: at) else { return rejected("the \(row.kind) is of neither team", at: at) }
        latest = max(latest, at)
        if event.lifecycle == .end { hasEnded = true }
        guard row.kind == "KickOff" || row.kind == "FinalWhistle", let section = row.attributes["GameSection"],
            !DFLDecoder.sections.contains(section), !DFLDecoder.isShootout(section)
        else { return .event(event) }
        pending.append(.event(event))
        return .noticed(
            FeedNotice(
                location: "\(path):\(row.line)",
                text: "the \(row.kind) is of a part of the match that is not known, \(section), and changes nothing"))
    }

    /// Returns the event of a row, or `nil` if the row needs a side and names none.
    private func event(_ row: DFLDocument.Row, at: FeedTime) -> FeedEvent? {
        let name = kind(named: row.kind)
        if let shot = row.shot, shot.penalty, let shootoutFrom, at > shootoutFrom {
            return side(shot.team).map {
                match.shootoutKick($0, player: player(shot.player), scored: shot.isGoal, id: row.id, at: at)
            }
        }
        if let goal = row.goal {
            return side(goal.team).map {
                match.goal(
                    $0, player: player(goal.player), ownGoal: false, penalty: goal.penalty, id: row.id, at: at)
            }
        }
        let team = row.attributes["Team"]
        switch row.kind {
        case "Delete":
            return FeedEvent(
                topic: match.topic, at: at, id: row.id, kind: name, change: .retraction(of: row.id))
        case "KickOff":
            // A kick-off without a section restarts play after a goal.
            guard let period = DFLDecoder.beginning(row.attributes["GameSection"]) else { break }
            return match.period(period, id: row.id, kind: name, at: at)
        case "FinalWhistle":
            guard let period = ending(row.attributes["GameSection"]) else { break }
            return match.period(period, id: row.id, kind: name, at: at)
        case "OwnGoal":
            // The goal counts against the player's own side.
            let unlucky = row.attributes["Player"].flatMap { info.players[$0]?.side } ?? side(team)
            return unlucky.map {
                match.goal(
                    $0.other, player: player(row.attributes["Player"]), ownGoal: true, penalty: false, id: row.id,
                    at: at)
            }
        case "Caution":
            return side(team).map {
                match.card(
                    $0, player: player(row.attributes["Player"]), DFLDecoder.card(row.attributes["CardColor"]),
                    id: row.id, at: at)
            }
        case "Substitution":
            return side(team).map {
                match.substitution(
                    $0, playerIn: player(row.attributes["PlayerIn"]), playerOut: player(row.attributes["PlayerOut"]),
                    id: row.id, at: at)
            }
        default: break
        }
        return match.raw(name, id: row.id, at: at)
    }

    private func side(_ team: String?) -> Side? { team.flatMap { info.sides[$0] } }
    private func player(_ id: String?) -> String? { id.flatMap { info.players[$0]?.name } }

    private static func card(_ color: String?) -> FootballTopic.Card {
        switch color {
        case "red": .red
        case "yellowRed": .secondYellow
        default: .yellow
        }
    }

    private static func beginning(_ section: String?) -> String? {
        switch section {
        case "firstHalf": "1H"
        case "secondHalf": "2H"
        case "firstHalfExtra": "ET1"
        case "secondHalfExtra": "ET2"
        case let section? where isShootout(section): "PEN"
        default: nil
        }
    }

    private static let sections: Set = ["firstHalf", "secondHalf", "firstHalfExtra", "secondHalfExtra"]

    private static func isShootout(_ section: String) -> Bool { section.lowercased().contains("penalt") }

    private func ending(_ section: String?) -> String? {
        switch section {
        case "firstHalf": "HT"
        case "secondHalf" where hasExtraTime: "ETB"
        case "secondHalf", "secondHalfExtra": shootoutFrom == nil ? "FT" : "PEN"
        case let section? where DFLDecoder.isShootout(section): "FT"
        default: nil
        }
    }
}
