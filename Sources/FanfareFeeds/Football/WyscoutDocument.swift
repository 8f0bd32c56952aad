import FanfareJSON

/// A Wyscout match file, reduced to the parts that Fanfare reads.
struct WyscoutDocument {
    enum Period: String {
        case firstHalf = "1H", secondHalf = "2H", extraFirst = "E1", extraSecond = "E2", shootout = "P"
    }

    struct Row {
        let number: Int
        let id: String
        let kind: String
        let period: Period
        /// Seconds from the start of the period.
        let seconds: Double
        let team: Int64?
        let player: Int64?
        /// Meaning for the scoreboard; `nil` for a row that no scoreboard shows.
        let meaning: Meaning?
    }

    /// Meaning of a row, from its name and tags.
    enum Meaning {
        case goal(penalty: Bool)
        /// An own goal; the row's team is the player's own.
        case ownGoal
        case card(FootballTopic.Card)
        case shootoutKick(scored: Bool)
    }

    struct Defect {
        let number: Int
        let reason: String
    }

    private(set) var matchID: Int64?
    private(set) var rows: [Row] = []
    private(set) var defects: [Defect] = []
    /// Teams in the file's order; the home side is first in every recording.
    private(set) var teams: [(id: Int64, name: String)] = []
    private(set) var players: [Int64: String] = [:]

    init(_ bytes: [UInt8], parser: JSONParser) throws(JSONParser.Failure) {
        self = try parser.parse(bytes) { WyscoutDocument($0) }
    }

    private init(_ root: JSONElement) {
        guard let events = root["events"], events.isArray else {
            defects.append(Defect(number: 0, reason: "no `events` in the document"))
            return
        }
        matchID = events.elements.lazy.compactMap { $0["matchId"]?.integer }.first { _ in true }
        for (index, element) in events.elements.enumerated() { readRow(element, number: index + 1) }
        for (key, value) in root.members(of: "teams") {
            guard let id = key.string.flatMap(Int64.init), let name = value["team"]?["name"]?.string else { continue }
            teams.append((id, WyscoutDocument.unescaped(name)))
        }
        for (_, squad) in root.members(of: "players") {
            for element in squad.elements {
                guard let player = element["player"], let id = player["wyId"]?.integer,
                    let name = player["shortName"]?.string
                else { continue }
                players[id] = WyscoutDocument.unescaped(name)
            }
        }
    }

    private mutating func readRow(_ element: JSONElement, number: Int) {
        func defect(_ reason: String) { defects.append(Defect(number: number, reason: reason)) }
        guard let id = element["id"]?.integer else { return defect("the event has no whole number as `id`") }
        guard let name = element["eventName"]?.string else { return defect("the event has no `eventName`") }
        guard let period = element["matchPeriod"]?.string.flatMap(Period.init) else {
            return defect("the event's `matchPeriod` is none of 1H, 2H, E1, E2, P")
        }
        // No period lasts three hours; larger numbers are in another unit.
        guard let seconds = element["eventSec"]?.number, (0..<10_800).contains(seconds) else {
            return defect("the event's `eventSec` is no number of seconds from 0 to 10,800")
        }
        guard element["matchId"]?.integer == matchID else { return defect("the event is of another match") }
        rows.append(
            Row(
                number: number, id: String(id), kind: kind(named: name), period: period, seconds: seconds,
                team: element["teamId"]?.integer, player: element["playerId"]?.integer,
                meaning: WyscoutDocument.meaning(element, name: name, period: period)))
    }

    /// Returns the meaning of a row. Tags (Wyscout's glossary): 101 goal, 102 own goal, 1701 red, 1702 yellow, 1703 second yellow.
    /// A beaten keeper's `Save attempt` has 101, too.
    private static func meaning(_ element: JSONElement, name: String, period: Period) -> Meaning? {
        var tags: Set<Int64> = []
        for tag in element.elements(of: "tags") {
            if let id = tag["id"]?.integer { tags.insert(id) }
        }
        let isPenalty = name == "Free Kick" && element["subEventName"]?.string == "Penalty"
        if period == .shootout, isPenalty { return .shootoutKick(scored: tags.contains(101)) }
        if tags.contains(102) { return .ownGoal }
        if tags.contains(101), period != .shootout, name == "Shot" || name == "Free Kick" {
            return .goal(penalty: isPenalty)
        }
        if tags.contains(1701) { return .card(.red) }
        if tags.contains(1703) { return .card(.secondYellow) }
        if tags.contains(1702) { return .card(.yellow) }
        return nil
    }

    /// Decodes the literal `\u00fc` text by which names spell non-ASCII letters: JSON's escapes a second time. Other text stays
    /// unchanged.
    static func unescaped(_ text: String) -> String {
        guard text.contains("\\u") else { return text }
        var units: [UInt16] = []
        var rest = Array(text.utf16)[...]
        while let unit = rest.popFirst() {
            let escape = rest.prefix(5)
            let digits = escape.dropFirst().compactMap { Character(UnicodeScalar($0) ?? " ").hexDigitValue }
            if unit == UInt16(ascii: "\\"), escape.first == UInt16(ascii: "u"), digits.count == 4 {
                units.append(digits.reduce(0) { $0 << 4 | UInt16($1) })
                rest = rest.dropFirst(5)
            } else {
                units.append(unit)
            }
        }
        return String(decoding: units, as: UTF16.self)
    }
}

extension UInt16 {
    fileprivate init(ascii scalar: UnicodeScalar) { self = UInt16(UInt8(ascii: scalar)) }
}
