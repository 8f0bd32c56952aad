import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfarePresentation
import FanfareReplay
import Foundation
import Testing

@testable import FanfareCLI

/// Findings of `--check` in the cards of a feed, and none in ours.
extension PreviewTests {
    private static let recordings: String? = {
        let named = ProcessInfo.processInfo.environment["FANFARE_FEEDS"]
        let beside = #filePath.components(separatedBy: "/Tests/")[0] + "/../shared/feeds"
        return [named, beside].compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }()
    private static let skipped: Comment = "SKIPPED: no recordings here; set FANFARE_FEEDS to their folder"

    /// A feed whose second update of three is too long for the card.
    private func crowded(kind: String = "parcel") throws -> String {
        func line(_ time: String, _ leading: String) -> String {
            #"{"topic":"parcel/5","topicKind":"\#(kind)","at":"2026-06-13T\#(time)Z","set":{"compactLeading":"\#(leading)","#
                + #""compactTrailing":"1","minimal":"1","status":"on its way"}}"#
        }
        return try written([
            line("10:00:00", "A"), line("10:01:00", "MMMMMMMM MMMMMMMM"), line("10:02:00", "B"),
        ])
    }

    @Test func everyUpdateOfATopicIsChecked() throws {
        let feed = try crowded()
        let picture = feed + ".svg"
        defer { for file in [feed, picture] { try? FileManager.default.removeItem(atPath: file) } }
        let line = "\(feed) --topic parcel/5 --svg \(picture)"
        #expect(try parse(line).run() == .done)
        #expect(try parse(line + " --check").run() == .incomplete)
        #expect(try parse(line + " --check --at 2026-06-13T10:00:30Z").run() == .done, "the future is not checked")
    }

    @Test func aTemplateOfAnotherKindIsRefused() throws {
        let feed = try crowded()
        let template = try written([try #require(CardTemplate.builtInFile("ride"))])
        defer { for file in [feed, template] { try? FileManager.default.removeItem(atPath: file) } }
        for line in ["--topic parcel/5", "--check"] {
            let error = #expect(throws: UsageError.self) { try parse("\(feed) \(line) --template \(template)").run() }
            #expect(error?.description.contains("its kind is ride, and what is shown is of kind parcel") == true)
        }
    }

    @Test func aMistypedFieldOfATemplateIsFound() throws {
        let feed = try written([
            #"{"topic":"parcel/5","topicKind":"parcel","at":"2026-06-13T10:00:00Z","set":{"compactLeading":"A","#
                + #""compactTrailing":"1","minimal":"1","status":"on its way"}}"#
        ])
        let good = try #require(CardTemplate.builtInFile("generic"))
        let bad = try written([good.replacing("{status}", with: "{stattus}")])
        let own = try written([good])
        defer { for file in [feed, bad, own] { try? FileManager.default.removeItem(atPath: file) } }
        #expect(try parse("\(feed) --topic parcel/5 --check --template \(own)").run() == .done)
        #expect(try parse("\(feed) --topic parcel/5 --check --template \(bad)").run() == .incomplete)
        #expect(try parse("\(feed) --check --template \(bad)").run() == .incomplete)
    }

    /// The preview draws no field that the app does not get.
    @Test func M3_aStateWithoutShortFormsIsSaid() throws {
        let (feed, rules) = try parcel()
        defer { try? FileManager.default.removeItem(atPath: feed) }
        let source = PreviewSource(paths: [feed], feed: FeedOptions(), rules: rules, until: nil)
        let moment = try #require(try source.moments(of: TopicID("parcel/5"), all: false).last)
        #expect(moment.content.state["compactLeading"] == nil)
        let findings = try PreviewStudio(PreviewLook()).findings(of: moment.content, on: [Device.phones[0]])
        #expect(findings.contains { $0.kind == .logoAlone && $0.location.hasSuffix("compact") })
    }

    /// A card that becomes stale later is not what people see at the moment.
    @Test func aCheckLeavesOutCardsThatBecomeStaleAfterTheMoment() throws {
        let feed = try parcel().feed
        let generic = try #require(CardTemplate.builtInFile("generic"))
        let tooLong = String(repeating: "Not up to date ", count: 9)
        let template = try written([
            generic.replacing("kind = \"generic\"", with: "kind = \"parcel\"").replacing(
                "Not up to date", with: tooLong)
        ])
        let file = try written([
            "[parcel]", "reducer = \"patches\"", "staleAfter = \"20 min\"", "short.compactLeading = \"{minutes}\"",
            "short.compactTrailing = \"min\"", "short.minimal = \"{minutes}\"",
        ])
        defer { for path in [feed, template, file] { try? FileManager.default.removeItem(atPath: path) } }
        for subject in ["--topic parcel/5", ""] {
            let line = "\(feed) \(subject) --check --template \(template) --rules \(file)"
            #expect(try parse(line).run() == .incomplete)
            #expect(try parse(line + " --at 2026-06-13T10:19:59Z").run() == .done)
            #expect(try parse(line + " --at 2026-06-13T10:20:00Z").run() == .incomplete)
        }
    }

    private func findings(in paths: [String], rules: String? = nil, until: String? = nil) throws -> (Int, String) {
        let studio = try PreviewStudio(PreviewLook())
        let source = PreviewSource(
            paths: paths, feed: FeedOptions(), rules: try rules.map { try Arguments.rules(at: $0) } ?? .builtIn,
            until: until.flatMap { FeedTime(rfc3339: $0) })
        var (updates, tally) = (0, FindingTally())
        var fault: (any Error)?
        try source.forEachPush(to: nil) { moment in
            updates += 1
            do {
                for content in moment.looks(until: nil) {
                    tally.add(try studio.findings(of: content, on: Device.all), in: content)
                }
            } catch { fault = error }
        }
        if let fault { throw fault }
        return (updates, tally.text)
    }

    @Test(arguments: [
        "CancelledGoal", "Delivery", "Ending", "Goal", "LocalUpdates", "Queue", "Ride", "Shootout", "Slate", "Train",
        "TurnedOff", "Workout",
    ]) func everyUpdateOfAnExampleFits(name: String) throws {
        let rules = Self.examples + name + "/rules.toml"
        let (updates, text) = try findings(
            in: [Self.examples + name + "/feed.ndjson"],
            rules: FileManager.default.fileExists(atPath: rules) ? rules : nil)
        #expect(updates > 3)
        #expect(text == "checked: nothing is wrong")
    }

    @Test func everyPushToALineupOfEightFits() throws {
        let source = PreviewSource(
            paths: [Self.examples + "Slate/feed.ndjson"], feed: FeedOptions(), rules: .builtIn, until: nil)
        let studio = try PreviewStudio(PreviewLook())
        let moments = try source.moments(of: (81...88).map { TopicID("match/\($0)") }, favourite: nil, all: true)
        var tally = FindingTally()
        for content in moments.flatMap({ $0.looks(until: nil) }) {
            tally.add(try studio.findings(of: content, on: Device.all), in: content)
        }
        #expect(moments.count > 20)
        #expect(moments.contains { $0.content.others?.count == 7 })
        #expect(tally.text == "checked: nothing is wrong")
    }

    /// Two thousand updates of trains take longer than all others together, so the first ten minutes must do.
    @Test(
        .enabled(if: recordings != nil, skipped),
        arguments: [
            ("dfl-football", nil), ("wyscout-football/matches", nil), ("pwhl-hockey/games", nil),
            ("volleyball-dvw/PM06.dvw", nil), ("volleyball-dvw/example-click-scout.dvw", nil),
            ("nyct-gtfsrt/ace-2024-02-08-0759", "2024-02-08T13:10:00Z"),
        ] as [(String, String?)]
    ) func everyUpdateOfARecordingFits(name: String, until: String?) throws {
        let (updates, text) = try findings(in: ["\(try #require(Self.recordings))/\(name)"], until: until)
        #expect(updates > 20)
        #expect(text == "checked: nothing is wrong")
    }

    @Test func aCheckOfNothingFails() throws {
        #expect(try parse("\(Self.goal) --check --at 2026-06-13T00:00:00Z").run() == .incomplete)
        #expect(try parse("\(Self.goal) --check --format wyscout").run() == .incomplete)
    }

    /// Words and steps of a template stand for values that a feed has.
    @Test func aMistypedValueOfATemplateIsFound() throws {
        let feed = try written([
            #"{"topic":"parcel/5","topicKind":"parcel","at":"2026-06-13T10:00:00Z","set":{"compactLeading":"A","#
                + #""compactTrailing":"1","minimal":"1","status":"onTheWay"}}"#
        ])
        let good = try #require(CardTemplate.builtInFile("generic")).replacing(
            "kind = \"generic\"", with: "kind = \"parcel\"")
        defer { try? FileManager.default.removeItem(atPath: feed) }
        func status(_ more: String, _ until: String = "") throws -> FanfareCLI.ExitStatus {
            let template = try written([good, more])
            defer { try? FileManager.default.removeItem(atPath: template) }
            return try parse("\(feed) --topic parcel/5 --check --template \(template) \(until)").run()
        }
        #expect(try status("") == .done)
        #expect(try status("[words.status]\nonTheWay = \"On the way\"\ndelivered = \"Delivered\"") == .done)
        #expect(try status("[words.status]\nontheway = \"On the way\"") == .incomplete)
        #expect(try status("[words.stauts]\nonTheWay = \"On the way\"") == .incomplete)
        let steps = "[elements.course]\nsteps = \"status\"\nvalues = [\"packed\", \"delivered\"]"
        #expect(try status(steps) == .incomplete)
        #expect(try status(steps, "--at 2026-06-13T10:00:01Z") == .done, "a step may come later")
        #expect(try status("[elements.eta]\ntext = \"{eta} min\"") == .incomplete)
        #expect(try status("[elements.eta]\ntext = \"{eta} min\"\nwhen = { eta = { atLeast = 1 } }") == .done)
    }
}
