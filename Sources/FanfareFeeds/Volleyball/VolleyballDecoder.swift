import FanfareModel
import Foundation

/// Decoder for a volleyball match as scouts type it (DataVolley, a `.dvw` file): sections of lines, fields separated by semicolons.
///
/// A point row has the score after it, so the newest counts. Its time of day (`ScoutClock`) is taken as UTC; a row without one gets that
/// of the row before. Dates depend on the scout's country (`ScoutedDay`). A `**set` row decides a set; the last one ends the match.
struct VolleyballDecoder: FeedDecoder {
    private var items: [FeedItem] = []
    private var position = 0

    mutating func next() -> FeedItem? {
        guard position < items.count else { return nil }
        position += 1
        return items[position - 1]
    }

    private let path: String
    private let topic: TopicID
    private var clock: ScoutClock
    private var now: FeedTime { clock.now }
    private var names = (home: "Home", away: "Away")
    private var points = (home: 0, away: 0)
    private var set = 1
    private var number = 0

    /// - Parameter kickoff: time of the first row, which overrides the day and hour in the file.
    init(path: String, bytes: [UInt8], kickoff: FeedTime? = nil) throws(UndecodableDocument) {
        self.path = path
        let name = (path as NSString).lastPathComponent
        let suffix = (name as NSString).pathExtension
        topic = TopicID("match/" + percentEncoded(suffix.isEmpty ? name : String(name.dropLast(suffix.count + 1))))
        let text = CodePage.text(bytes)
        var sections: [String: [Substring]] = [:]
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[3"), let close = line.firstIndex(of: "]") {
                section = String(line[line.index(line.startIndex, offsetBy: 2)..<close])
            } else {
                sections[section, default: []].append(line)
            }
        }
        let header = (sections["MATCH"] ?? []).prefix(2).map {
            $0.split(separator: ";", omittingEmptySubsequences: false)
        }
        // The dates follow `GENERATOR-DAY:` and `LASTCHANGE-DAY:`.
        let others = (sections["DATAVOLLEYSCOUT"] ?? []).filter { $0.contains("-DAY:") }.map { line in
            line[line.index(after: line.firstIndex(of: ":") ?? line.startIndex)...]
        }
        let serial = header.count > 1 && header[1].count > 2 ? Int(header[1][2]) : nil
        let scouted = ScoutedDay(written: header.first?.first ?? "", serial: serial, others: others)
        let teams = (sections["TEAMS"] ?? []).map { $0.split(separator: ";", omittingEmptySubsequences: false) }
        guard teams.count >= 2, teams[0].count > 1, teams[1].count > 1 else {
            throw UndecodableDocument(path, "[3TEAMS] does not name both teams")
        }
        names = (String(teams[0][1]), String(teams[1][1]))
        let rows = sections["SCOUT"] ?? []
        let times = rows.map { VolleyballDecoder.seconds($0) }
        clock = ScoutClock(times, day: scouted.start, kickoff: kickoff)
        if kickoff == nil, let doubt = scouted.doubt { items.append(.noticed(FeedNotice(location: path, text: doubt))) }
        add(
            "teams", id: "teams",
            [
                "home": .string(names.home), "away": .string(names.away), "homePoints": 0, "awayPoints": 0, "set": 1,
            ], lifecycle: .start)
        // A file that was copied during play, or cut, has points after its last finished set, and does not end the match.
        let last = rows.lastIndex { VolleyballDecoder.isSetEnd($0) || VolleyballDecoder.isPoint($0) }
        for (index, row) in rows.enumerated() { take(row, isLastSet: index == last) }
    }

    private mutating func take(_ row: Substring, isLastSet: Bool) {
        number += 1
        clock.pass()
        // One recorder ends its file with a row of NULs.
        guard let first = row.unicodeScalars.first, first.value > 0x20 else { return }
        let code = row.prefix { $0 != ";" }
        if VolleyballDecoder.isSetEnd(row) {
            finishSet(isLast: isLastSet)
        } else if let side = VolleyballDecoder.side(code), VolleyballDecoder.isPoint(row) {
            guard code.endIndex < row.endIndex else { return reject("\(code): the row is cut short") }
            let score = code.dropFirst(2).split(separator: ":").compactMap { Int($0) }
            guard score.count == 2, score.allSatisfy({ (0...99).contains($0) }) else {
                return reject("\(code): a point row tells the score, as *p08:05")
            }
            points = (score[0], score[1])
            let team = side == "home" ? names.home : names.away
            // Points of one second are ordered by their ids, so these sort as scores grow.
            add(
                "point",
                id: "point/\(set)/\(VolleyballDecoder.digits(score[0], 2))-\(VolleyballDecoder.digits(score[1], 2))",
                [
                    "side": .string(side), "homePoints": .int(Int64(points.home)),
                    "awayPoints": .int(Int64(points.away)),
                    "set": .int(Int64(set)), "text": .string("Point: \(team)"), "key": .string(side + "Points"),
                ])
        } else if let side = VolleyballDecoder.side(code), code.dropFirst().first == "T" {
            let team = side == "home" ? names.home : names.away
            add(
                "timeout", id: "timeout/\(number)",
                ["side": .string(side), "text": .string("Time-out: \(team)"), "key": "lastEvent"])
        } else {
            items.append(.event(FeedEvent(topic: topic, at: now, id: "\(number)", kind: "touch")))
        }
    }

    private mutating func finishSet(isLast: Bool) {
        guard points.home != points.away else { return reject("a set ends at \(points.home):\(points.away)") }
        let side = points.home > points.away ? "home" : "away"
        let team = side == "home" ? names.home : names.away
        let score = "\(points.home)–\(points.away)"
        var values: JSONObject = [
            "side": .string(side), "text": .string("Set \(set): \(team), \(score)"), "key": .string(side + "Sets"),
        ]
        if !isLast {
            // The next set begins; after the last one, its points stay.
            values.merge(["homePoints": 0, "awayPoints": 0, "set": .int(Int64(set + 1))])
        }
        add("set", id: "set/\(set)", values, lifecycle: isLast ? .end : nil)
        set += 1
        points = (0, 0)
    }

    private mutating func add(
        _ kind: String, id: String, _ values: JSONObject, lifecycle: FeedEvent.Lifecycle? = nil
    ) {
        items.append(
            .event(
                FeedEvent(
                    topic: topic, topicKind: lifecycle == .start ? .volleyball : nil, at: now, id: id, kind: kind,
                    lifecycle: lifecycle, change: .fact(Fact(id: id, kind: kind, at: now, values: values)))))
    }

    private mutating func reject(_ reason: String) {
        items.append(
            .rejected(FeedRejection(location: "\(path): row \(number)", reason: reason, topic: topic, at: now)))
    }

    // MARK: - Fields

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// Returns the seconds of the day from field 7 (from 0), `18.45.07`, with the separators of the machine's country.
    private static func seconds(_ row: Substring) -> Int64? {
        let fields = row.split(separator: ";", maxSplits: 8, omittingEmptySubsequences: false)
        guard fields.count > 7 else { return nil }
        let parts = fields[7].split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
        guard parts.count == 3, (0...23).contains(parts[0]), (0...59).contains(parts[1]), (0...59).contains(parts[2])
        else { return nil }
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    private static func side(_ code: Substring) -> String? {
        switch code.first {
        case "*": "home"
        case "a": "away"
        default: nil
        }
    }

    /// Returns `true` for a row like `*p08:05;…`.
    private static func isPoint(_ row: Substring) -> Bool { side(row) != nil && row.dropFirst().first == "p" }

    /// Returns `true` for a row like `**1set`.
    private static func isSetEnd(_ row: Substring) -> Bool {
        row.hasPrefix("**") && row.dropFirst(2).first?.isNumber == true && row.dropFirst(3).hasPrefix("set")
    }
}
