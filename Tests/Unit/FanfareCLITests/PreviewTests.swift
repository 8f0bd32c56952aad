import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfarePresentation
import FanfareReplay
import Foundation
import Testing

@testable import FanfareCLI

@Suite struct PreviewTests {
    static let examples = #filePath.components(separatedBy: "/Tests/")[0] + "/Examples/"
    static let goal = examples + "Goal/feed.ndjson"

    func parse(_ line: String) throws -> PreviewCommand {
        try PreviewCommand(line.split(separator: " ").map(String.init))
    }

    /// Weights have fonts of their own.
    @Test func twoFontsMeasureTwoWeights() throws {
        let folder = "/usr/share/fonts/opentype/inter/"
        func widths(_ names: [String]) throws -> [Double] {
            let measure = try TextMeasure(files: names.map { folder + $0 })
            return Weight.allCases.map { measure.width(of: "Northspire", size: 17, weight: $0) }
        }
        let one = try widths(["Inter-Medium.otf"])
        #expect(one[0] == one[1])
        let two = try widths(["Inter-Medium.otf", "Inter-SemiBold.otf"])
        #expect(two[0] == one[0] && two[1] > one[1])
        #expect(throws: FontError.self) { try widths(["Inter-Medium.otf", "Inter-Medium.otf", "Inter-Medium.otf"]) }
    }

    @Test func everyOptionArrives() throws {
        let command = try parse(
            "day.ndjson --lineup a,b --favourite b --at 2026-06-13T14:00:00Z --svg a.svg --html b.html --png c.png --check"
        )
        #expect(command.subject == .lineup([TopicID("a"), TopicID("b")]))
        #expect(command.favourite == TopicID("b"))
        #expect(command.at?.description == "2026-06-13T14:00:00.000Z")
        #expect(command.outputs == [.svg("a.svg"), .html("b.html"), .png("c.png")])
        #expect(command.checks)
        #expect(try parse("day.ndjson --topic a --story --html b.html").isStory)
        #expect(try parse("--print-template ride").printed == "ride")
        #expect(try parse("day.ndjson --check").subject == nil)
    }

    @Test(arguments: [
        ("--topic a", "the feed is missing"), ("day.ndjson", "--topic or --lineup is missing"),
        ("- --topic a", "-: a preview"), ("d --topic a --topic b", "one preview at a time"),
        ("d --topic a --favourite b", "--favourite"), ("d --lineup a,b --favourite c", "none of the lineup's"),
        ("d --topic a --story", "expected --html FILE"), ("d --topic a --story --svg x", "a recording is a page"),
        ("d --topic a --device iphone", "--device iphone: expected one of"), ("d --topic a --dark", "unknown option"),
        ("--print-template cricket", "expected one of football"),
        ("d --topic a --font /nowhere", "cannot be read as a font"),
        ("d --topic a --story --html h --device iphone-393 --device watch-40", "--device: a story shows one device"),
        ("d --topic a --phone p", "--phone: only means something with --story"),
        ("d --topic a --story --html h --phone /nowhere", "--phone /nowhere: cannot be read"),
    ]) func aWrongLineIsRefused(line: String, message: String) throws {
        let error = #expect(throws: (any Error).self) { try parse(line).run() }
        #expect(error.map { "\($0)".contains(message) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    /// A recording cannot be made again.
    @Test func aFileThatIsReadIsNeverWritten() throws {
        let copy = NSTemporaryDirectory() + "fanfare-preview-\(UUID()).ndjson"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: Self.goal, toPath: copy)
        for option in ["--svg", "--html", "--png"] {
            let error = #expect(throws: UsageError.self) {
                try parse("\(copy) --topic match/71 \(option) \(copy)").run()
            }
            #expect(error?.description.contains("is read and written") == true)
        }
        #expect(try Data(contentsOf: URL(filePath: copy)) == Data(contentsOf: URL(filePath: Self.goal)))
        let twice = #expect(throws: UsageError.self) {
            try parse("\(copy) --topic match/71 --svg \(copy).x --html \(copy).x").run()
        }
        #expect(twice?.description.contains("is written twice") == true)
    }

    /// Of two outputs to one file the second would replace the first.
    @Test func aFileIsKnownHoweverItIsSpelled() throws {
        let folder = NSTemporaryDirectory() + "fanfare-preview-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder + "/in", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "g.svg")
        try FileManager.default.createSymbolicLink(atPath: folder + "/other", withDestinationPath: folder + "/in/g.svg")
        let one = FileRoles.target(of: folder + "/g.svg")
        #expect(FileRoles.target(of: folder + "/in/../g.svg") == one)
        #expect(FileRoles.target(of: folder + "/link") == one)
        #expect(FileRoles.target(of: folder + "/other") == FileRoles.target(of: folder + "/in/g.svg"))
        #expect(FileRoles.target(of: folder + "/h.svg") != one)
        #expect(FileRoles.target(of: "./g.svg") == FileRoles.target(of: "g.svg"))
        let error = #expect(throws: UsageError.self) {
            try parse("\(Self.goal) --topic match/71 --svg \(folder)/g.svg --html \(folder)/link").run()
        }
        #expect(error?.description.hasSuffix("link: is written twice") == true)
    }

    @Test func aCardThatHasGoneIsDrawnNowhere() throws {
        let line = "\(Self.examples)Ride/feed.ndjson --topic ride/7104 --at 2026-12-31T00:00:00Z"
        let error = #expect(throws: UsageError.self) { try parse(line).run() }
        #expect(error?.description.contains("its card has been gone since") == true, "\(error.debugDescription)")
    }

    func written(_ lines: [String]) throws -> String {
        let path = NSTemporaryDirectory() + "fanfare-preview-\(UUID()).ndjson"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A parcel that is said to move at ten, and again at nine in the evening.
    func parcel(_ rules: String = "") throws -> (feed: String, rules: Rules) {
        func line(_ time: String, _ minutes: Int) -> String {
            #"{"topic":"parcel/5","topicKind":"parcel","at":"2026-06-13T\#(time)Z","set":{"minutes":\#(minutes)}}"#
        }
        let feed = try written([line("10:00:00", 90), line("12:00:00", 60), line("21:00:00", 10)])
        let file = try written(["[parcel]", "reducer = \"patches\"", rules])
        defer { try? FileManager.default.removeItem(atPath: file) }
        return (feed, try Arguments.rules(at: file))
    }

    /// The engine ends an activity ten minutes before the system would, so that its card shows the newest state.
    @Test func L1_anActivityEndsBeforeEightHours() throws {
        let (feed, rules) = try parcel()
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: rules, until: nil)
        let moments = try source.moments(of: TopicID("parcel/5"), all: true)
        #expect(
            moments.map(\.content.at.description)
                == ["10:00", "12:00", "17:50"].map { "2026-06-13T\($0):00.000Z" })
        #expect(moments.map(\.content.isOver) == [false, false, true])
        #expect(moments.last?.dismissAfter == .seconds(1800))
        let last = try #require(try source.moments(of: TopicID("parcel/5"), all: false).last)
        let limit = last.content.at + .seconds(5 * 3600 + 3000)
        #expect(last.ending(by: limit + .milliseconds(-1)) == nil)
        #expect(last.ending(by: limit)?.goneAt == limit + .seconds(1800))
    }

    /// The lineup is ended by a shard, as people's activities are; its scan takes a step a second.
    @Test func L1_aTopicAndALineupEndAtTheSameAge() throws {
        let (feed, rules) = try parcel()
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: rules, until: nil)
        let topic = try #require(try source.moments(of: TopicID("parcel/5"), all: true).first { $0.content.isOver })
        let lineup = try #require(
            try source.moments(of: [TopicID("parcel/5")], favourite: nil, all: true).first { $0.content.isOver })
        #expect(abs(topic.content.at.milliseconds - lineup.content.at.milliseconds) <= 2000)
    }

    @Test func L1_anActivityThatIsRenewedGoesOn() throws {
        let (feed, rules) = try parcel("atLimit = \"renew\"")
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: rules, until: nil)
        #expect(try source.moments(of: TopicID("parcel/5"), all: true).map(\.content.isOver) == [false, false, false])
    }

    /// Changes that wait for their interval go out later than the moment.
    @Test func nothingIsShownOfTheFuture() throws {
        func line(_ second: String, _ minutes: Int) -> String {
            #"{"topic":"parcel/5","topicKind":"parcel","at":"2026-06-13T10:00:\#(second)Z","set":{"minutes":\#(minutes)}}"#
        }
        let feed = try written([line("00.000", 90), line("00.100", 80)])
        defer { try? FileManager.default.removeItem(atPath: feed) }
        func minutes(_ time: String) throws -> JSONValue? {
            let source = PreviewSource(
                paths: [feed], feed: FeedOptions(), rules: .builtIn, until: FeedTime(rfc3339: time))
            return try source.moments(of: TopicID("parcel/5"), all: false).last?.content.state["minutes"]
        }
        #expect(try minutes("2026-06-13T10:00:00.500Z") == 90)
        #expect(try minutes("2026-06-13T10:00:09Z") == 80)
    }

    @Test func aLineupIsGoneAfterItsDismissal() throws {
        let source = PreviewSource(
            paths: [Self.examples + "Slate/feed.ndjson"], feed: FeedOptions(), rules: .builtIn, until: nil)
        let moments = try source.moments(of: (81...88).map { TopicID("match/\($0)") }, favourite: nil, all: true)
        let last = try #require(moments.last)
        #expect(last.content.isOver)
        let stays = try #require(last.dismissAfter)
        #expect(stays >= .seconds(900) && stays <= .seconds(1800))
        #expect(moments.dropLast().allSatisfy { $0.dismissAfter == nil })
    }

    /// The eight hours of an activity begin with the first news of one of its topics, however long ago other topics began.
    @Test func L1_aLineupBeginsWithItsOwnTopics() throws {
        func line(_ time: String, _ topic: String, _ score: Int) -> String {
            #"{"topic":"\#(topic)","topicKind":"game","at":"2026-\#(time)Z","set":{"score":\#(score)}}"#
        }
        let feed = try written([
            line("03-01T10:00:00", "other", 1), line("06-13T10:00:00", "a", 1), line("06-13T11:00:00", "b", 2),
        ])
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: .builtIn, until: nil)
        let moments = try source.moments(of: [TopicID("a"), TopicID("b")], favourite: nil, all: true)
        #expect(moments.first?.content.at == FeedTime(rfc3339: "2026-06-13T10:00:00Z"))
        #expect(moments.allSatisfy { !$0.content.isOver && $0.content.others != nil })
    }

    /// The topic is the same, and its second activity has eight hours of its own.
    @Test func L1_aTopicThatBeginsAgainHasAnotherActivity() throws {
        func line(_ time: String, _ seq: Int, _ rest: String) -> String {
            #"{"topic":"t","topicKind":"queue","at":"2026-06-\#(time)Z","seq":\#(seq),\#(rest)}"#
        }
        let feed = try written([
            line("12T18:00:00", 1, #""kind":"start","set":{"currentPositionInQueue":5}"#),
            line("12T18:20:00", 2, #""kind":"end","set":{"currentPositionInQueue":0}"#),
            line("13T18:00:00", 3, #""kind":"start","set":{"currentPositionInQueue":9}"#),
            line("13T18:30:00", 4, #""set":{"currentPositionInQueue":2}"#),
        ])
        let file = try written(["[queue]", "reducer = \"patches\"", "reopens = \"afresh\""])
        defer { for path in [feed, file] { try? FileManager.default.removeItem(atPath: path) } }
        let source = PreviewSource(
            paths: [feed], feed: FeedOptions(), rules: try Arguments.rules(at: file), until: nil)
        let moments = try source.moments(of: TopicID("t"), all: true)
        #expect(moments.map { $0.content.state["currentPositionInQueue"] } == [5, 0, 9, 2])
        #expect(moments.last?.limit?.at == FeedTime(rfc3339: "2026-06-14T01:50:00Z"))
    }

    @Test func anUnknownTopicIsToldWhichThereAre() throws {
        func error(_ topic: String, until: String? = nil) -> String {
            let source = PreviewSource(
                paths: [Self.goal], feed: FeedOptions(), rules: .builtIn, until: until.flatMap { FeedTime(rfc3339: $0) }
            )
            do {
                _ = try source.moments(of: TopicID(topic), all: false)
                return ""
            } catch { return error.description }
        }
        #expect(error("match/72") == "match/72: the feed does not speak of it; its topics are match/71")
        #expect(
            error("match/71", until: "2026-06-13T10:00:00Z")
                == "match/71: the feed first speaks of it at 2026-06-13T13:50:00.000Z")
    }

    /// The program that makes pictures is not on every machine; where it is, it draws with the font that measured.
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/rsvg-convert"), "SKIPPED: no rsvg-convert here"))
    func aPictureIsDrawnWithTheFontThatMeasured() throws {
        func picture(_ font: String) throws -> Data {
            let path = NSTemporaryDirectory() + "fanfare-preview-\(UUID()).png"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let svg =
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"20\"><text y=\"15\" "
                + "font-family=\"Inter\">Kestrel 1</text></svg>"
            try PNGFile.write(svg, to: path, fonts: [font])
            return try Data(contentsOf: URL(filePath: path))
        }
        let folder = "/usr/share/fonts/opentype/inter/"
        #expect(try picture(folder + "Inter-Black.otf") != picture(folder + "Inter-Thin.otf"))
    }

    @Test func L6_anOldCardIsStaleAndItsBannerHasGone() throws {
        let (feed, rules) = try parcel("staleAfter = \"20 min\"")
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(
            paths: [feed], feed: FeedOptions(), rules: rules, until: FeedTime(rfc3339: "2026-06-13T12:30:00Z"))
        var moment = try #require(try source.moments(of: TopicID("parcel/5"), all: false).last)
        let pushedAt = moment.content.at
        let fresh = moment.seen(at: pushedAt + .seconds(1199))
        #expect(fresh.content.state[CardContent.staleField] == nil)
        let stale = moment.seen(at: pushedAt + .seconds(1200))
        #expect(stale.content.state[CardContent.staleField] == true)
        #expect(stale.times.last?.text == "2026-06-13T12:20:00.000Z · stale since 2026-06-13T12:20:00.000Z")
        #expect(!moment.showsBanner(at: pushedAt))
        moment.alert = AlertText(title: "Here", body: "")
        #expect(moment.showsBanner(at: pushedAt))
        #expect(!moment.showsBanner(at: pushedAt + .seconds(60)))
    }

    /// A sheet has two times: that of the push, and that at which people look.
    @Test func aSheetNamesThePushAndTheTimeItIsSeen() throws {
        let (feed, rules) = try parcel("staleAfter = \"20 min\"")
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(
            paths: [feed], feed: FeedOptions(), rules: rules, until: FeedTime(rfc3339: "2026-06-13T12:30:00Z"))
        let moment = try #require(try source.moments(of: TopicID("parcel/5"), all: false).last)
        let pushedAt = moment.content.at
        func times(_ seconds: Int) -> [String] {
            moment.seen(at: pushedAt + .seconds(seconds)).times.map { "\($0.name) \($0.text)" }
        }
        let push = "push 2026-06-13T12:00:00.000Z · patch"
        #expect(times(0) == [push])
        #expect(times(60) == [push, "seen 2026-06-13T12:01:00.000Z"])
        #expect(times(1800) == [push, "seen 2026-06-13T12:30:00.000Z · stale since 2026-06-13T12:20:00.000Z"])
        // By its age: the activity's first push was at ten.
        let over = moment.seen(at: pushedAt + .seconds(8 * 3600)).times.last?.text
        #expect(over?.contains(" · almost eight hours are over, ended at 2026-06-13T17:50:00.000Z") == true)
    }

    /// Passes after the last push, and the card's end.
    @Test func aStoryTellsWhatHappensAfterTheLastPush() throws {
        let source = PreviewSource(
            paths: [Self.examples + "Ending/feed.ndjson"], feed: FeedOptions(), rules: .builtIn, until: nil)
        let moments = try source.moments(of: TopicID("match/74"), all: true)
        #expect(moments.last?.cause == "the feed ends")
        #expect(moments.last?.unsent.isEmpty == false)
        #expect(moments.last?.isPush == false)
        let end = try #require(moments.last { $0.dismissAfter != nil })
        let dismissal = try #require(end.dismissal)
        #expect(dismissal.content.at == end.content.at + (try #require(end.dismissAfter)))
        #expect(try PreviewStudio(PreviewLook()).frame(of: dismissal, on: Device.phones[0]).pictures.isEmpty)
        let restaurant = Self.examples + "Queue/"
        let queue = PreviewSource(
            paths: [restaurant + "feed.ndjson"], feed: FeedOptions(),
            rules: try Arguments.rules(at: restaurant + "rules.toml"), until: nil)
        #expect(
            try queue.moments(of: TopicID("table/31"), all: true).last?.dismissal == nil, "its card goes with its end")
    }

    @Test func aStoryHasAFrameForEachUpdate() throws {
        let source = PreviewSource(paths: [Self.goal], feed: FeedOptions(), rules: .builtIn, until: nil)
        let moments = try source.moments(of: TopicID("match/71"), all: true)
        let studio = try PreviewStudio(PreviewLook())
        let frames = try moments.map { try studio.frame(of: $0, on: Device.phones[0]) }
        #expect(frames.count > 5)
        #expect(
            frames.dropLast().allSatisfy { $0.pictures.map(\.surface) == ["compact", "expanded", "Lock Screen, dark"] })
        #expect(
            frames.last?.pictures.map(\.surface) == ["Lock Screen, dark"], "the system keeps the ended card there only")
        #expect(frames.last?.dismissAfter != nil)
        #expect(frames.contains { $0.alert != nil && $0.cause == "goal" })
        #expect(frames.contains { !$0.unsent.isEmpty })
    }

    @Test func aPreviewShowsTheStateOfItsMoment() throws {
        func spoken(_ time: String) throws -> String? {
            let source = PreviewSource(
                paths: [Self.goal], feed: FeedOptions(), rules: .builtIn, until: FeedTime(rfc3339: time))
            let moment = try #require(try source.moments(of: TopicID("match/71"), all: false).last)
            return try PreviewStudio(PreviewLook()).frame(of: moment, on: Device.phones[0]).spoken
        }
        #expect(try spoken("2026-06-13T14:13:00Z")?.hasPrefix("Northspire City nil, Kestrel Bay United nil") == true)
        #expect(try spoken("2026-06-13T14:13:40Z")?.hasPrefix("Northspire City one, Kestrel Bay United nil") == true)
    }

    /// The preview names lines that it does not draw, and no check passes over them.
    @Test func thePreviewNamesLinesThatAreUnreadableOrRejected() throws {
        func line(_ time: String, _ rest: String) -> String {
            #"{"topic":"parcel/5","topicKind":"parcel","at":"2026-06-13T\#(time)Z","set":{"compactLeading":"A","#
                + #""compactTrailing":"1","minimal":"1","status":"x"\#(rest)}}"#
        }
        let large = String(repeating: "x", count: 4000)
        let feed = try written([
            line("10:00:00", ""), line("10:01:00", "").dropLast(3) + "",
            line("10:02:00", #","note":"\#(large)""#), line("10:03:00", #","status":"y""#),
        ])
        defer { try? FileManager.default.removeItem(atPath: feed) }
        func lines(_ until: String?) throws -> [String] {
            let source = PreviewSource(
                paths: [feed], feed: FeedOptions(), rules: .builtIn, until: until.flatMap { FeedTime(rfc3339: $0) })
            _ = try source.moments(of: TopicID("parcel/5"), all: false)
            return source.unseen.lines
        }
        // A line that cannot be read has no time: it may be of this moment.
        #expect(try lines("2026-06-13T10:00:00Z").count == 1)
        let all = try lines(nil)
        #expect(all.count == 2)
        #expect(all.first?.contains(".ndjson:2: ") == true, "\(all)")
        #expect(all.last?.contains("rejected") == true && all.last?.contains("3072") == true, "\(all)")
        #expect(try parse("\(feed) --topic parcel/5").run() == .done)
        for subject in ["--topic parcel/5", ""] {
            #expect(try parse("\(feed) \(subject) --check").run() == .incomplete)
            #expect(try parse("\(feed) \(subject) --check --at 2026-06-13T10:00:00Z").run() == .incomplete)
        }
        let other = TopicID("parcel/6")
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: .builtIn, until: nil)
        _ = try? source.moments(of: other, all: false)
        #expect(source.unseen.lines.count == 1, "what is another's is not missing here")
        let lineup = PreviewSource(paths: [feed], feed: FeedOptions(), rules: .builtIn, until: nil)
        _ = try lineup.moments(of: [TopicID("parcel/5")], favourite: nil, all: false)
        #expect(lineup.unseen.lines == all)
    }
}
