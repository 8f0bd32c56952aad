import Fanfare
import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareReplay
import Foundation
import Testing

@testable import FanfareCLI

@Suite struct CommandLineTests {
    private func parse(_ line: String) throws -> ReplayCommand {
        try ReplayCommand(line.split(separator: " ").map(String.init))
    }

    @Test func everyOptionArrives() throws {
        let command = try parse(
            """
            matches/ day.ndjson --format native --speed 60 --max-gap 2.5 --from 1526220000 --until 2018-05-13T17:00:00Z \
            --kickoff 2018-05-13T14:00:00Z --subscribers 50000 --lineups=4 --favourites --seed 9 --shards 2 --connections 3 \
            --transport apns://127.0.0.1:8443 --ca ca.pem --key apns.p8 --key-id K --team-id T --bundle-id com.example.scores \
            --decisions - --states states.ndjson --json
            """)
        let options = command.options
        #expect(options.paths == ["matches/", "day.ndjson"])
        #expect(options.feed.format == .native)
        #expect(options.feed.kickoff?.description == "2018-05-13T14:00:00.000Z")
        #expect(options.timetable.speed == .times(60))
        #expect(options.timetable.gapMax == .milliseconds(2500))
        #expect(options.timetable.from?.description == "2018-05-13T14:00:00.000Z")
        #expect(options.timetable.until?.description == "2018-05-13T17:00:00.000Z")
        #expect(options.subscribers.count == 50_000)
        #expect(options.subscribers.lineups == 4...4)
        #expect(options.subscribers.hasFavourites)
        #expect(options.subscribers.seed == 9)
        #expect(options.shards == 2)
        #expect(
            options.transport
                == .apns(
                    APNsOptions(
                        host: "127.0.0.1", port: 8443, caFile: "ca.pem", keyFile: "apns.p8", keyID: "K", teamID: "T",
                        bundleID: "com.example.scores", connectionsPerShard: 3)))
        #expect(command.decisionsPath == "-")
        #expect(command.statesPath == "states.ndjson")
        #expect(command.printsJSON)
    }

    @Test func addressOfIPv6StandsInBrackets() throws {
        let command = try parse("f --transport apns://[::1]:8443 --key k --key-id K --team-id T --bundle-id b")
        guard case .apns(let apns, _) = command.options.transport else {
            Issue.record("not apns: \(command.options.transport)")
            return
        }
        #expect(apns.host == "::1")
        #expect(apns.port == 8443)
    }

    @Test func subscribersComeFromAFile() throws {
        let command = try parse("f --subscribers people.txt")
        #expect(command.subscribersPath == "people.txt" && command.options.subscribers.count == 0)
        #expect(try parse("f --subscribers people.txt --subscribers 7").subscribersPath == nil)
        #expect(try parse("f --subscribers ./1e6").subscribersPath == "./1e6")
        #expect { try parse("f --subscribers ios.txt --subscribers android.txt") } throws: {
            "\($0)" == "--subscribers android.txt: subscribers are one file, and ios.txt is named before it"
        }
    }

    @Test func otherAppsHaveTheSameKey() throws {
        let command = try parse(
            "f --transport apns://a:1 --key k --key-id K --team-id T --bundle-id b --app b/development=apns://c:2 "
                + "--app d=apns://a:1")
        #expect(
            command.options.transport
                == .apns(
                    APNsOptions(host: "a", port: 1, keyFile: "k", keyID: "K", teamID: "T", bundleID: "b"),
                    others: [
                        APNsOptions(
                            host: "c", port: 2, keyFile: "k", keyID: "K", teamID: "T", bundleID: "b",
                            environment: .development),
                        APNsOptions(host: "a", port: 1, keyFile: "k", keyID: "K", teamID: "T", bundleID: "d"),
                    ]))
        for wrong in ["b=c:2", "b/staging=apns://c:2", "=apns://c:2", "b"] {
            #expect { try parse("f --app \(wrong)") } throws: { "\($0)".contains("--app") }
        }
        #expect { try parse("f --app b=apns://c:2") } throws: { "\($0)".contains("only means something") }
    }

    /// A smaller state is more pushes a second; what is said of that is a comment, so the rules are still those that a file says.
    @Test func rulesSayWhatStatesCost() throws {
        let rules = Rules.builtIn
        let text = rules.costs(of: .football)
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
        let rows = text.split(separator: "\n").suffix(6).map { $0.split(separator: " ").dropFirst().map(String.init) }
        #expect(rows.map { $0[0] } == ["128", "256", "512", "1,024", "2,048", "3,072"])
        let cost = try #require(PushCost(stateSize: .bytes(256)))
        #expect(
            rows[1] == [
                "256", cost.bodySize.bytes.grouped, cost.wireSize.bytes.grouped, cost.pushesPerSecond().grouped,
                cost.pushesPerSecond(connections: 64).grouped,
            ])
        #expect(rules.costs(of: nil) == text)
        var small = rules
        small.kinds[.football]?.content.attributesReserve = .bytes(2900)
        #expect(small.costs(of: .football).hasSuffix("\n") && small.costs(of: .football).contains("\n#         1,196 "))
    }

    @Test func rulesComeFromAFile() throws {
        let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/Examples/Rules/"
        #expect(try parse("f").options.rules[.football].occasions.count == 12)
        #expect(try parse("f --rules \(folder)queue.toml").options.rules[.queue].lifetime.dismissal == .immediate)
        #expect { try parse("f --rules \(#filePath)") } throws: { "\($0)".contains("CommandLineTests.swift:1:") }
    }

    @Test(arguments: [
        ("", "expected check FILE, or show"), ("check", "file to check is missing"), ("look", "look: expected check"),
        ("show cricket", "expected one of delivery, football"), ("show a b", "b: expected one topic kind"),
        ("show --all", "--all: unknown option"),
    ])
    func theRulesCommandNamesTheArgumentsThatItExpects(line: String, says: String) {
        #expect { try RulesCommand(line.split(separator: " ").map(String.init)) } throws: { "\($0)".contains(says) }
    }

    /// A file with faults was looked at, and one that is not there was not.
    @Test func rulesThatCannotBeReadAreNotFaulty() throws {
        #expect(try RulesCommand(["check", "/nonexistent.toml"]).run() == .usage)
        #expect(try RulesCommand(["check", #filePath]).run() == .incomplete)
        #expect(try RulesCommand(["check", #filePath, "/nonexistent.toml"]).run() == .usage)
    }

    @Test(arguments: ["real madrid", "a,b\tc", "#a", "a,b\nc", String(repeating: "x", count: 513)])
    func subscribersFollowWhatTheirFileCanSay(topics: String) {
        #expect(throws: UsageError.self) { try GenerateCommand(["subscribers", "--topics", topics]) }
    }

    @Test func aBadNetworkHasASeed() throws {
        let options = try parse("f --transport fault:7 --pin").options
        #expect(options.transport == .fault(seed: 7))
        #expect(options.pinsShards)
        #expect(try parse("f").options.transport == .discard)
        #expect(try !parse("f").options.pinsShards)
    }

    @Test func afterTwoDashesEverythingIsAFeed() throws {
        #expect(try parse("-- --json").options.paths == ["--json"])
    }

    /// Typed arguments, and the words that the one line must name.
    @Test(arguments: [
        ("", "feed is missing"),
        ("f --sped 3", "--sped"),
        ("f -x", "-x"),
        ("f --speed", "--speed"),
        ("f --speed --json", "--speed"),
        ("f --speed fast", "--speed fast"),
        ("f --speed 0", "--speed 0"),
        ("f --speed nan", "--speed nan"),
        ("f --speed inf", "--speed inf"),
        ("f --max-gap -1", "--max-gap -1"),
        ("f --format xml", "native, wyscout, dfl, pwhl, dvw, gtfs-rt"),
        ("f --from yesterday", "--from yesterday"),
        ("f --from 1526220000000", "1970 to 2100"),
        ("f --from 1e300", "--from 1e300"),
        ("f --from 20 --until 10", "--until"),
        ("f --subscribers -1", "--subscribers -1"),
        ("f --subscribers 1e6", "--subscribers 1e6"),
        ("f --subscribers 99999999999999999999", "--subscribers"),
        ("f --favourites", "--favourites"),
        ("f --shards 0", "--shards 0"),
        ("f --json=yes", "--json takes no value"),
        ("f --transport http://h:1", "apns://HOST:PORT"),
        ("f --transport fault:", "fault:SEED"),
        ("f --transport fault:x", "fault:SEED"),
        ("f --transport fault:1 --key k", "--key"),
        ("f --transport apns://h", "apns://HOST:PORT"),
        ("f --transport apns://:1", "apns://HOST:PORT"),
        ("f --transport apns://h:0", "apns://HOST:PORT"),
        ("f --transport apns://h:65536", "apns://HOST:PORT"),
        ("f --transport apns://h:1 --key k", "--team-id, --bundle-id"),
        ("f --key k", "--key"),
        ("f - --json", "standard input"),
        ("- --format gtfs-rt", "standard input is read as native lines"),
        ("f --patience", "--patience"),
        ("f --patience -1", "seconds, or never"),
    ])
    func argumentsWithoutMeaningAreNamedInTheError(line: String, named: String) {
        let error = #expect(throws: UsageError.self) { try parse(line) }
        let text = error?.description ?? ""
        #expect(text.contains(named))
        #expect(!text.contains("\n"))
    }

    @Test func patienceIsSecondsOrNever() throws {
        #expect(try parse("f").options.patience == .seconds(120))
        #expect(try parse("f --patience 1.5").options.patience == .milliseconds(1500))
        #expect(try parse("- --patience never").options.patience == nil)
        #expect(throws: Never.self) { try parse("- --format native") }
    }

    @Test func connectionsFollowFromWhatIsWantedUnlessTheyAreCounted() throws {
        let line = "f --transport apns://h:1 --key k --team-id T --bundle-id b"
        func apns(_ more: String) throws -> APNsOptions? {
            guard case .apns(let options, _) = try parse("\(line) \(more)").options.transport else { return nil }
            return options
        }
        #expect(try apns("")?.connectionsPerShard == nil)
        let chosen = try apns("--reach 1.5 --connections-max 16")
        #expect(chosen?.reach == .milliseconds(1500) && chosen?.connectionsMax == 16)
        #expect(try apns("--connections 3")?.connectionsPerShard == 3)
        #expect { try parse("\(line) --connections 3 --reach 1") } throws: {
            "\($0)".contains("mean nothing beside it")
        }
        #expect { try parse("\(line) --reach 0") } throws: { "\($0)".contains("--reach 0") }
        #expect { try parse("f --reach 1") } throws: { "\($0)".contains("only means something") }
    }

    @Test func aBundleIDMayNameItsEnvironment() throws {
        let command = try parse("f --transport apns://h:1 --key k --team-id T --bundle-id com.example/development")
        guard case .apns(let options, _) = command.options.transport else {
            Issue.record("no APNs")
            return
        }
        #expect(options.bundleID == "com.example" && options.environment == .development)
    }

    /// A topic's id, or a file's name, may hold anything.
    @Test func wordsOfFeedsMoveNoCursorAndStayOneLine() {
        #expect(Console.quoted("match/Ümläut 1–0 🎉: fine") == "match/Ümläut 1–0 🎉: fine")
        #expect(Console.quoted("match/\u{1B}[2J\nforged: line\u{202E}") == "match/\\u{1B}[2J\\nforged: line\\u{202E}")
    }

    @Test func generateWantsAKnownFeed() {
        #expect(throws: UsageError.self) { try GenerateCommand([]) }
        #expect(throws: UsageError.self) { try GenerateCommand(["match-week"]) }
        #expect(throws: UsageError.self) { try GenerateCommand(["match-day", "match-day"]) }
        #expect(throws: UsageError.self) { try GenerateCommand(["match-day", "--seed", "-1"]) }
        #expect(throws: Never.self) { try GenerateCommand(["match-day", "--seed", "7"]) }
    }
}
