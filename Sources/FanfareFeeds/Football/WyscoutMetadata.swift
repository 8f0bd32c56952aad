import FanfareJSON
import FanfareModel

/// `matches-metadata.json`: the data about matches that their own files lack.
struct WyscoutMetadata {
    struct Match {
        let kickoff: FeedTime
        let sides: [Int64: Side]
    }

    private let matches: [Int64: Match]

    subscript(matchID: Int64) -> Match? { matches[matchID] }

    init(path: String, parser: JSONParser, documentSizeMax: ByteCount) throws(FeedError) {
        guard let bytes = try ByteFile.contents(of: path, limit: documentSizeMax) else {
            throw FeedError(path: path, reason: "larger than \(documentSizeMax)")
        }
        do {
            matches = try parser.parse(bytes) { WyscoutMetadata.matches($0) }
        } catch {
            throw FeedError(path: path, reason: error.reason)
        }
    }

    private static func matches(_ root: JSONElement) -> [Int64: Match] {
        var matches: [Int64: Match] = [:]
        for element in root.elements {
            // `dateutc` is like `2018-05-13 14:00:00`, with or without a zone.
            guard let id = element["wyId"]?.integer, let date = element["dateutc"]?.string,
                let kickoff = FeedTime(rfc3339: date + "Z") ?? FeedTime(rfc3339: date), kickoff.isPlausible
            else { continue }
            var sides: [Int64: Side] = [:]
            for (key, team) in element.members(of: "teamsData") {
                guard let id = key.string.flatMap(Int64.init), let side = team["side"]?.string.flatMap(Side.init) else {
                    continue
                }
                sides[id] = side
            }
            matches[id] = Match(kickoff: kickoff, sides: sides)
        }
        return matches
    }
}
