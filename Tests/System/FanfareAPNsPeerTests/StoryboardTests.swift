import FanfareFeeds
import FanfareModel
import Foundation
import Testing

/// The worked examples of a good Live Activity as people see them on a phone, written out and checked in. Read them as a person would;
/// `FANFARE_STORYBOARDS=record` writes them anew.
@Suite(.serialized) struct StoryboardTests {
    private static let folder = #filePath.components(separatedBy: "/StoryboardTests.swift")[0] + "/Storyboards/"
    private static let recordings: String? = {
        let named = ProcessInfo.processInfo.environment["FANFARE_FEEDS"]
        let beside = #filePath.components(separatedBy: "/Tests/")[0] + "/../shared/feeds"
        return [named, beside].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    private func check(_ name: String, _ topics: String..., in paths: [String]) throws {
        try check(name, topics, in: paths)
    }

    private func check(_ name: String, _ topics: [String], in paths: [String]) throws {
        let ids = topics.map { TopicID($0) }
        let frames = try StoryStage.frames(of: ids.count == 1 ? .topic(ids[0]) : .lineup(ids), in: paths)
        let told = "\(topics.joined(separator: ", "))\n\n" + frames.map { "\($0.lines)\n" }.joined()
        let file = Self.folder + name + ".txt"
        if ProcessInfo.processInfo.environment["FANFARE_STORYBOARDS"] == "record" {
            try told.write(toFile: file, atomically: true, encoding: .utf8)
        }
        let expected = try String(contentsOfFile: file, encoding: .utf8)
        guard told != expected else { return }
        let parts = zip(told.split(separator: "\n"), expected.split(separator: "\n")).first { $0 != $1 }
        Issue.record("\(name): told \(parts?.0 ?? "another number of lines"), expected \(parts?.1 ?? "")")
    }

    private func check(_ name: String, _ topics: String..., in feed: GeneratedFeed, seed: UInt64 = 1) throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(at: scratch.url, withIntermediateDirectories: true)
        var bytes: [UInt8] = []
        feed.write(seed: seed) { bytes += $0 }
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.path("feed.ndjson")))
        try check(name, topics, in: [scratch.path("feed.ndjson")])
    }

    /// Example 1, with an event that no recording has: a goal that the video referee cancels.
    @Test func storyboardOfACancelledGoalIsUnchanged() throws {
        try check("match-cancelled-goal", "match/1002", in: .matchDay)
    }

    /// Example 1.
    @Test(.enabled(if: recordings != nil, "SKIPPED: no recordings here; set FANFARE_FEEDS to their folder"))
    func storyboardOfARecordedMatchIsUnchanged() throws {
        let match = try #require(Self.recordings) + "/wyscout-football/matches/2500089.json"
        try check("match-recorded", "match/2500089", in: [match])
    }

    /// Example 2.
    @Test func storyboardOfARoundOfMatchesIsUnchanged() throws {
        try check("matches", "match/1001", "match/1002", "match/1003", in: .matchDay)
    }

    /// Example 3.
    @Test func storyboardOfAnOrderIsUnchanged() throws { try check("order", "order/5001", in: .delivery) }

    /// Example 3.
    @Test(.enabled(if: recordings != nil, "SKIPPED: no recordings here; set FANFARE_FEEDS to their folder"))
    func storyboardOfATrainIsUnchanged() throws {
        try check(
            "train", "trip/20240208/045613_E..S/1E%200736%20P-A%2FWTC",
            in: [try #require(Self.recordings) + "/nyct-gtfsrt"])
    }

    /// Example 4.
    @Test func storyboardOfARideIsUnchanged() throws { try check("ride", "ride/7001", in: .ride) }

    /// Example 5.
    @Test func storyboardOfATableIsUnchanged() throws { try check("queue", "queue/305", in: .queue) }
}

extension StoryStage.Frame {
    /// The content of a card and its two small forms; the phone counts down to dates by itself.
    fileprivate var lines: String {
        var text = "\(now.description.prefix(19).suffix(8))  "
        text += rows.map { "\($0)\n" } ?? "\(compact)   \(card)\n"
        if let alert {
            let words = ["title", "body"].compactMap { alert[$0]?.stringValue }.filter { !$0.isEmpty }
            text += "          alert: \(words.joined(separator: " — "))\n"
        }
        if let dismissAfter {
            let minutes = dismissAfter.milliseconds / 60_000
            text += "          ends; the card goes \(minutes == 0 ? "at once" : "after \(minutes) min")\n"
        }
        return text
    }

    /// The content of a lineup: each topic in short, and the last event of the one in the spotlight.
    private var rows: String? {
        guard let topics = state["topics"]?.arrayValue?.compactMap(\.objectValue) else { return nil }
        let spotlight = state["spotlight"]?.objectValue
        let lines = topics.enumerated().map { index, topic in
            let forms = ["compactLeading", "compactTrailing"].compactMap { topic[$0]?.stringValue }
            let isInSpotlight = spotlight?["index"]?.intValue == Int64(index)
            let last = isInSpotlight ? spotlight?["state"]?.objectValue?["lastEvent"]?.stringValue : nil
            return (isInSpotlight ? "> " : "  ")
                + ([forms.joined(separator: " | ")] + [last].compactMap(\.self)).joined(separator: "   ")
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: 10))
    }

    private func form(_ key: String) -> String { (state[key] ?? short[key])?.stringValue ?? "" }

    private var compact: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let pair = String(repeating: " ", count: max(0, 6 - form("compactLeading").count)) + form("compactLeading")
        return padded("\(pair) | \(form("compactTrailing"))", 15) + "  " + padded("[\(form("minimal"))]", 8)
    }

    /// The fields that a card shows, in the order in which an app would lay them out.
    private var card: String {
        func text(_ key: String) -> String? {
            guard let value = state[key] else { return nil }
            if let number = value.intValue { return "\(number)" }
            return value.stringValue ?? value.doubleValue.map { "\($0)" }
        }
        if let home = text("home"), let away = text("away"), let homeScore = text("homeScore") {
            let cards = [("homeRed", "awayRed", "red"), ("homeYellow", "awayYellow", "yellow")].compactMap {
                home, away, name -> String? in
                let (a, b) = (text(home) ?? "0", text(away) ?? "0")
                return a == "0" && b == "0" ? nil : "\(name) \(a)–\(b)"
            }
            let kicks = text("homeShootout").map { "\($0)–\(text("awayShootout") ?? "") on penalties" }
            let score = "\(home) \(homeScore)–\(text("awayScore") ?? "") \(away)"
            let parts = [score, kicks, text("period"), text("lastEvent")]
            return (parts.compactMap { $0 } + cards).joined(separator: " · ")
        }
        let minutes = state["arrivesAt"]?.doubleValue.map { arrival in
            // Rounded to the minute, as a phone shows it.
            "in \(max(0, Int(((arrival - now.activityKitSeconds) / 60).rounded(.up)))) min"
        }
        let stops = text("stopsLeft").map { "\($0) stops left" } ?? text("stopsBefore").map { "\($0) stops before" }
        let queue = text("position").map { "position \($0)" }
        let parts: [String?] = [
            text("line"), text("destination").map { "to \($0)" }, text("status"), text("nextStop").map { "next \($0)" },
            stops, minutes, text("courier"), text("driver"), text("plate"), text("fare").map { "fare \($0)" }, queue,
            text("estimateMinutes").map { "about \($0) min" },
            state["progress"]?.doubleValue.map { "\(Int(($0 * 100).rounded())) %" },
        ]
        return parts.compactMap { $0 }.joined(separator: " · ")
    }
}
