import Foundation
import Testing

@testable import FanfareCLI

/// The worked examples: each folder of Examples with a feed is one, whose story is written beside it. Read the stories as a person would;
/// `FANFARE_STORYBOARDS=record` writes them anew.
@Suite struct ExampleTests {
    private static let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/Examples/"
    private static let names = [
        "CancelledGoal", "Delivery", "Ending", "Goal", "LocalUpdates", "Queue", "Ride", "Shootout", "Slate", "Train",
        "TurnedOff", "Workout",
    ]

    /// A folder that the list above lacks would not be checked.
    @Test func eachFolderWithAFeedIsAnExample() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter {
            FileManager.default.fileExists(atPath: "\(Self.folder)\($0)/feed.ndjson")
        }
        #expect(folders.sorted() == Self.names)
    }

    @Test(arguments: names) func anExampleTellsItsStory(name: String) throws {
        let feed = "\(Self.folder)\(name)/feed.ndjson"
        let topics = try Self.topics(of: feed)
        var words = [feed, topics.count == 1 ? "--topic" : "--lineup", topics.joined(separator: ",")]
        let rules = "\(Self.folder)\(name)/rules.toml"
        if FileManager.default.fileExists(atPath: rules) { words += ["--rules", rules] }
        let told = try ExplainCommand(words).story()
        let file = "\(Self.folder)\(name)/storyboard.txt"
        if ProcessInfo.processInfo.environment["FANFARE_STORYBOARDS"] == "record" {
            try told.write(toFile: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: file, encoding: .utf8)
        guard told != expected else { return }
        let parts = zip(told.split(separator: "\n"), expected.split(separator: "\n")).first { $0 != $1 }
        Issue.record("\(name): told \(parts?.0 ?? "another number of lines"), expected \(parts?.1 ?? "")")
    }

    /// The queue's booking id and the runner's pulse are in the feeds, and in nothing that leaves the engine.
    @Test(arguments: [("Queue", "T7-40391-KA"), ("Workout", "heartRate")])
    func anExampleKeepsItsSecret(name: String, secret: String) throws {
        #expect(try String(contentsOfFile: "\(Self.folder)\(name)/feed.ndjson", encoding: .utf8).contains(secret))
        #expect(try !String(contentsOfFile: "\(Self.folder)\(name)/storyboard.txt", encoding: .utf8).contains(secret))
    }

    /// Topics of a native feed, in the order in which it names them.
    private static func topics(of feed: String) throws -> [String] {
        struct Line: Decodable { var topic: String }
        var topics: [String] = []
        for line in try String(contentsOfFile: feed, encoding: .utf8).split(separator: "\n") {
            let topic = try JSONDecoder().decode(Line.self, from: Data(line.utf8)).topic
            if !topics.contains(topic) { topics.append(topic) }
        }
        return topics
    }
}
