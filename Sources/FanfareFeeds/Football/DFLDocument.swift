import FanfareModel
import Foundation
import FoundationXML

/// A DFL/Sportec event file, reduced to the parts that Fanfare reads.
struct DFLDocument {
    struct Row {
        let line: Int
        var id = ""
        var matchID = ""
        var time = ""
        /// Name of the first child element: `Play`, `Caution`, `Delete`.
        var kind = ""
        /// Attributes of the first child element.
        var attributes: [String: String] = [:]
        /// A shot anywhere below the row: the successful one if there are several.
        var shot: Shot?
        var goal: Shot? { shot.flatMap { $0.isGoal ? $0 : nil } }
    }

    struct Shot {
        var team: String?
        var player: String?
        var penalty: Bool
        /// Is `true` if the shot contains a `SuccessfulShot`.
        var isGoal = false
    }

    private(set) var rows: [Row] = []
    /// Line at which reading stopped, and the reason, if the document is not well formed.
    private(set) var defect: (line: Int, reason: String)?

    init(_ bytes: [UInt8]) {
        let reader = EventReader()
        defect = reader.read(bytes)
        rows = reader.rows
    }
}

/// Match information from a separate file beside the events.
struct DFLMatch {
    private(set) var id = ""
    private(set) var kickoff: FeedTime?
    /// Sides by team id.
    private(set) var sides: [String: Side] = [:]
    private(set) var names: [Side: String] = [:]
    /// Names and sides of the players, by person id.
    private(set) var players: [String: (name: String, side: Side?)] = [:]

    /// Reads match information; `nil` if the document is something else.
    init?(_ bytes: [UInt8]) {
        let reader = MatchReader()
        _ = reader.read(bytes)
        guard let general = reader.general, let id = general["MatchId"] else { return nil }
        self.id = id
        // An unknown kick-off may be written as year 1.
        kickoff = [general["PlannedKickoffTime"], general["KickoffTime"]]
            .compactMap { $0.flatMap { FeedTime(rfc3339: $0) } }.first(where: \.isPlausible)
        for (side, prefix) in [(Side.home, "Home"), (.away, "Guest")] {
            if let team = general[prefix + "TeamId"] { sides[team] = side }
            names[side] = general[prefix + "TeamName"]
        }
        for player in reader.players { players[player.id] = (player.name, sides[player.team]) }
    }
}

/// Wrapper of Foundation's streaming parser, which is not made for untrusted input: it traps on attributes that are not UTF-8 and on
/// processing instructions without content, expands entities, nests without bound, and takes the end of the bytes for the end of the document. So the wrapper checks the
/// parser's input beforehand, and its events here.
private class XMLReader: NSObject, XMLParserDelegate {
    /// Maximum nesting of elements; the engine's feeds have six levels.
    private static let depthMax = 64

    private var refusal: String?
    private var depth = 0

    /// Returns the line and reason of a defect, or `nil` if the document was read to its end.
    final func read(_ bytes: [UInt8]) -> (line: Int, reason: String)? {
        if let line = firstLineThatIsNotUTF8(bytes) { return (line, "invalid UTF-8") }
        if let reason = unwanted(in: bytes) { return (1, reason) }
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = self
        parser.shouldResolveExternalEntities = false
        let isWellFormed = parser.parse()
        let line = max(1, parser.lineNumber)
        if let refusal { return (line, refusal) }
        if !isWellFormed { return (line, "not well-formed XML") }
        return depth == 0 ? nil : (line, "the document is not complete")
    }

    func began(_ name: String, _ attributes: [String: String], on line: Int) {}
    func ended(_ name: String) {}

    final func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        guard refusal == nil else { return }
        depth += 1
        if depth > XMLReader.depthMax {
            refusal = "nested too deep (more than \(XMLReader.depthMax) levels)"
            parser.abortParsing()
        } else {
            began(name, attributes, on: parser.lineNumber)
        }
    }

    final func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard refusal == nil else { return }
        depth -= 1
        ended(name)
    }

    /// Returns the reason to refuse a document with a document type, a processing instruction or another encoding. A document type declares
    /// entities, whose expansion can make a small document huge; another encoding could hide one from this search.
    private func unwanted(in bytes: [UInt8]) -> String? {
        // libxml2 detects UTF-16 by itself, and would read text that the search below cannot see.
        if bytes.contains(0) { return "the document has NUL bytes: it is not UTF-8" }
        if bytes.firstRange(of: Array("<!DOCTYPE".utf8)) != nil {
            return "the document has a document type (<!DOCTYPE), which a feed has no use for"
        }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes[...]
        let instruction = Array("<?".utf8)
        guard text.starts(with: "<?xml".utf8), text.dropFirst(5).first.map(isSpace) == true,
            let end = text.firstRange(of: Array("?>".utf8))
        else { return text.firstRange(of: instruction) == nil ? nil : XMLReader.instructionRefusal }
        if text[end.upperBound...].firstRange(of: instruction) != nil { return XMLReader.instructionRefusal }
        // White space may surround each `=`. libxml2 goes on behind a declaration with a fault, and finds what stands in it.
        let declaration = String(decoding: text.dropFirst(5)[..<end.lowerBound], as: UTF8.self).lowercased()
            .filter { !$0.isWhitespace }
        let encoding = #/encoding=(?:"(?:utf-8|us-ascii)"|'(?:utf-8|us-ascii)')/#
        let standalone = #/standalone=(?:"(?:yes|no)"|'(?:yes|no)')/#
        var rest = declaration[...]
        for part in [#/version=(?:"1\.[0-9]"|'1\.[0-9]')/#, encoding, standalone] {
            if let match = rest.prefixMatch(of: part) { rest = rest[match.range.upperBound...] }
        }
        if rest.isEmpty { return nil }
        return declaration.contains("encoding=")
            ? "the document is not declared as UTF-8"
            : "the document's first line (<?xml) has more than version and encoding"
    }

    private static let instructionRefusal =
        "the document has a processing instruction (<?), which a feed has no use for"

    private func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func firstLineThatIsNotUTF8(_ bytes: [UInt8]) -> Int? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        // A line end is never part of a longer sequence, so each line can be checked by itself.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
    }
}

private final class EventReader: XMLReader {
    private(set) var rows: [DFLDocument.Row] = []
    private var row: DFLDocument.Row?
    /// Innermost shot around the current element.
    private var shot: DFLDocument.Shot?
    private var penaltyDepth = 0

    override func began(_ name: String, _ attributes: [String: String], on line: Int) {
        if name == "Event" {
            row = DFLDocument.Row(
                line: line, id: attributes["EventId"] ?? "", matchID: attributes["MatchId"] ?? "",
                time: attributes["EventTime"] ?? "")
            return
        }
        guard row != nil else { return }
        if row?.kind.isEmpty == true {
            row?.kind = name
            row?.attributes = attributes
        }
        switch name {
        case "Penalty": penaltyDepth += 1
        case "ShotAtGoal":
            shot = DFLDocument.Shot(team: attributes["Team"], player: attributes["Player"], penalty: penaltyDepth > 0)
            if row?.goal == nil { row?.shot = shot }
        case "SuccessfulShot":
            shot?.isGoal = true
            if shot != nil { row?.shot = shot }
        default: break
        }
    }

    override func ended(_ name: String) {
        switch name {
        case "Penalty": penaltyDepth -= 1
        case "ShotAtGoal": shot = nil
        case "Event":
            if let row { rows.append(row) }
            row = nil
        default: break
        }
    }
}

private final class MatchReader: XMLReader {
    private(set) var general: [String: String]?
    private(set) var players: [(id: String, name: String, team: String)] = []
    private var team = ""

    override func began(_ name: String, _ attributes: [String: String], on line: Int) {
        switch name {
        case "General": general = general ?? attributes
        case "Team": team = attributes["TeamId"] ?? ""
        case "Player":
            guard let id = attributes["PersonId"], let name = attributes["Shortname"] ?? attributes["LastName"] else {
                return
            }
            players.append((id, name, team))
        default: break
        }
    }
}
