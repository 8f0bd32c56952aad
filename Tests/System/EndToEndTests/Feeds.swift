import Foundation
import Testing

/// The recorded feeds, which are outside the repository: in `FANFARE_FEEDS`, or else in a folder beside it.
enum Recordings {
    static let folder = ProcessInfo.processInfo.environment["FANFARE_FEEDS"] ?? "../shared/feeds"
    static let areThere = FileManager.default.fileExists(atPath: folder + "/wyscout-football/matches")
    static let whyNot = "no recordings in \(folder); set FANFARE_FEEDS"

    /// The ten matches of one afternoon that kicked off at the same moment.
    static let tenMatches = (2_500_089...2_500_098).map { "\(folder)/wyscout-football/matches/\($0).json" }
    static let dflMatch = "\(folder)/dfl-football/sportec_events_J03WPY.xml"
}

/// A feed that a test replays.
enum TestFeed: String, CaseIterable, CustomTestStringConvertible {
    case matchDay = "generated match day"
    case tenMatches = "ten Wyscout matches"
    case dflMatch = "DFL match"

    var testDescription: String { rawValue }

    /// The feeds that are installed.
    static var available: [TestFeed] { Recordings.areThere ? allCases : [.matchDay] }

    func paths(in folder: Folder) throws -> [String] {
        switch self {
        case .matchDay:
            let file = folder("match-day.ndjson")
            let end = try Program.run(
                .fanfare, ["generate", "match-day", "--seed", "7", "--output", file], folder: folder)
            guard end.status == 0 else { throw Failure("generate: \(end.errors)") }
            return [file]
        case .tenMatches: return Recordings.tenMatches
        case .dflMatch: return [Recordings.dflMatch]
        }
    }
}
