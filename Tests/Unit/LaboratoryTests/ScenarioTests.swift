import FanfareModel
import FanfareTOML
import Foundation
import Testing

@testable import Laboratory

@Suite struct ScenarioTests {
    private func scenario(_ toml: String) throws(TOMLError) -> Scenario {
        try Scenario(toml: Array(("question = \"q\"\ngood = \"g\"\n" + toml).utf8), name: "test", file: "test.toml")
    }

    private func faults(_ toml: String) -> [String] {
        do {
            _ = try scenario(toml)
            return []
        } catch { return error.lines }
    }

    @Test func `The documents' example is a scenario`() throws {
        let path = try #require(ProgramFiles.repositoryFile("docs/load.md"))
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let blocks = page.split(separator: "```toml\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(blocks.count == 1)
        for block in blocks {
            let example = try Scenario(toml: Array(block.utf8), name: "example", file: "docs/load.md")
            #expect(example.feed.bursts.count == 3 && example.subscribers.silencedShare == 0.2)
            #expect(example.subscribers.essentialShare == 0.1 && example.subscribers.quietShare == 0.3)
        }
    }

    @Test func `A scenario has everything that its file says`() throws {
        let scenario = try scenario(
            """
            warmUp = "2 s"
            duration = "90 s"
            shards = 2
            thresholds = ["goal.last.p99 < 2.5 s"]
            [subscribers]
            count = 5_000
            lineups = [3, 8]
            zipf = 1.0
            deadShare = 0.1
            [feed]
            topics = 20
            events = 17.5
            bursts = [{ at = "5 s", occasion = "kick", count = 2, every = "10 s", times = 3 }]
            [follows]
            perSecond = 100
            from = "1 s"
            [clock]
            at = "6 s"
            back = "1 h"
            [transport]
            kind = "simulator"
            options = ["--mode", "fast"]
            distance = ["--round-trip", "80"]
            """)
        #expect(scenario.duration == .seconds(90) && scenario.shards == 2 && scenario.thresholds.count == 1)
        #expect(scenario.subscribers.lineups == 3...8 && scenario.subscribers.count == 5000)
        #expect(scenario.feed.eventsPerSecond == 17.5)
        #expect(scenario.feed.bursts.map(\.at) == [.seconds(5), .seconds(15), .seconds(25)])
        #expect(scenario.churn.follows.from == .seconds(1) && scenario.clockStep?.by == .seconds(-3600))
        #expect(
            scenario.transport
                == .simulator(options: ["--mode", "fast"], distance: ["--round-trip", "80"], connections: nil))
    }

    @Test(arguments: [
        ("wormUp = \"2 s\"", "test.toml:3:1: wormUp: unknown key; did you mean warmUp?"),
        ("duration = \"2 weeks\"", "test.toml:3:12: duration is \"2 weeks\"; expected a duration"),
        ("[subscribers]\ncount = -1", "test.toml:4:9: count is -1; expected a whole number from 0"),
        ("[subscribers]\nlineups = [8, 3]", "test.toml:4:11: lineups is an array; expected two whole numbers"),
        ("[feed]\nkind = \"chess\"", "test.toml:4:8: kind is \"chess\"; expected one of \"football\""),
        ("[feed]\nbursts = [{ at = \"1 s\", cuont = 2 }]", "test.toml:4:25: cuont: unknown key; did you mean count?"),
        (
            "[transport]\nkind = \"host\"\nhost = \"api.push.apple.com\"\nport = 443\nca = \"a\"\nkey = \"b\"",
            "is not this machine"
        ),
        ("[transport]\noptions = [\"--mode\"]", "test.toml:4:1: options: unknown key"),
        ("thresholds = [\"goal.last.p99 2 s\"]", "test.toml:3:15: goal.last.p99 2 s: a threshold is a figure"),
        ("[clock]\nat = \"1 s\"", "a step of the clock has ahead or back"),
        ("duration = \"5 s\"\n[restart]\nat = \"6 s\"", "at is 6 s, and the duration is 5 s"),
        ("[rotations]\nperSecond = 2\n[restart]\nat = \"1 s\"", "it has no follows, unfollows and rotations"),
        ("[feed]\ntopics = 4\n[subscribers]\nlineups = [3, 8]", "lineups of up to 8 topics need as many"),
        ("shards = ", "test.toml:3:"),
        (
            "duration = \"5 s\"\n[feed]\nbursts = [{ at = \"3 s\", every = \"2 s\", times = 2 }]",
            "test.toml:5:11: the last burst is 5 s, and the duration is 5 s"
        ),
        (
            "duration = \"5 s\"\n[feed]\nbursts = [{ at = \"3 s\", within = \"3 s\" }]",
            "test.toml:5:11: the last burst ends after the duration"
        ),
        ("duration = \"5 s\"\n[clock]\nat = \"6 s\"\nahead = \"1 h\"", "at is 6 s, and the duration is 5 s"),
        ("duration = \"5 s\"\n[follows]\nperSecond = 1\nfrom = \"9 s\"", "from is 9 s, and the duration is 5 s"),
        (
            "duration = \"5 s\"\n[transport]\nstalls = [{ at = \"9 s\", length = \"1 s\" }]",
            "at is 9 s, and the duration is 5 s"
        ),
        (
            "[feed]\nrecording = [\"x\"]\nbursts = [{ at = \"1 s\" }]",
            "a recording has its own arrivals: leave events, updates, goals and bursts out"
        ),
        ("[feed]\nrecording = []", "a recording has one file at least"),
        (
            "[feed]\ngenerator = \"macht-day\"",
            "test.toml:4:13: generator is \"macht-day\"; expected one of \"match-day\""
        ),
        ("[feed]\ngenerator = \"match-day\"\ntopics = 3", "topics: a recording or a generator has its own"),
        ("[feed]\nspeed = 3", "test.toml:4:9: speed is of a recording or a generator"),
        (
            "[feed]\nkind = \"delivery\"\nbursts = [{ at = \"1 s\", occasion = \"kick\" }]",
            "test.toml:5:11: a kick is of football, and the feed is of delivery"
        ),
        (
            "[feed]\ntopics = 3\nbursts = [{ at = \"1 s\", firstTopic = 2, topics = 2 }]",
            "test.toml:5:11: topics 2 to 3 are not in a feed of 3 topics"
        ),
        ("[feed]\nbursts = [{ at = \"1 s\", times = 2 }]", "every and times belong together"),
        ("[subscribers]\ncount = 5\nsick = 6", "sick is 6, and there are 5 subscribers"),
        ("[subscribers]\nsick = 6", "sick tokens are answered by a simulator"),
        ("[subscribers]\nfavourites = true", "a favourite is of a lineup"),
        ("duration = \"5 s\"\n[follows]\nperSecond = 1\nuntil = \"9 s\"", "until is 9 s, and the duration is 5 s"),
        (
            "[transport]\nkind = \"simulator\"\noptions = [\"--mode\", \"fats\"]",
            "options: --mode fats: expected faithful or fast"
        ),
        (
            "[transport]\nkind = \"simulator\"\noptions = [\"--mode\", \"fast\"]\ndistance = [\"--jitter\", \"5\"]",
            "distance: --round-trip is missing"
        ),
    ])
    func `A fault in a scenario is told with its line, its column and what was expected`(
        _ toml: String, _ fault: String
    ) {
        let faults = faults(toml)
        #expect(faults.contains { $0.contains(fault) }, "\(faults)")
    }

    /// Builds that differ by an option must be compared.
    @Test func `The fingerprint of a load is that of what differs from the defaults`() throws {
        let load = "seed = 5\n[subscribers]\ncount = 7\n"
        let same = try scenario(load + "zipf = 0.0\n[transport]\nkind = \"discard\"")
        #expect(try scenario(load).definition == same.definition)
        #expect(
            try scenario(load).definition == scenario("[subscribers]\ncount = 7").definition, "seeds are told apart")
        for other in [
            "zipf = 1.0", "[transport]\npushesPerSecond = 9", "[feed]\ntopics = 11",
            "[clock]\nat = \"1 s\"\nback = \"1 s\"",
        ] {
            #expect(try scenario(load + other).definition != same.definition, "\(other)")
        }
        // That of "subscribers.count=7": what a build of tomorrow must tell, too.
        #expect(same.definition == String(".subscribers.count=7".utf8.fnv1a, radix: 16))
    }

    @Test func `A scenario without a question is refused`() {
        #expect(throws: TOMLError.self) { try Scenario(toml: Array("good = \"g\"".utf8), name: "x", file: "x.toml") }
    }

    @Test
    func `Every shipped scenario can be read, and tells its question, a good result, its time and its thresholds`()
        throws
    {
        let scenarios = try ScenarioFiles.all()
        #expect(scenarios.count >= 17)
        for scenario in scenarios {
            #expect(scenario.purpose.question.hasSuffix("?"), "\(scenario.name)")
            #expect(
                !scenario.purpose.good.isEmpty && !scenario.purpose.time.isEmpty && !scenario.thresholds.isEmpty,
                "\(scenario.name)")
            // Any of them runs small.
            #expect(scenario.scaled(by: 0.001).subscribers.count > 0, "\(scenario.name)")
        }
    }

    @Test func `A name that is no scenario is told with the nearest one`() {
        let error = #expect(throws: LaboratoryError.self) { try ScenarioFiles.find("goal-brust") }
        #expect(error?.description == "goal-brust: no such scenario; did you mean goal-burst?")
    }

    @Test func `Twice the rate is twice the visible arrivals of every scenario that is shipped`() throws {
        for shipped in try ScenarioFiles.all() {
            let scenario = shipped.scaled(by: 0.01)
            let name = scenario.name
            guard scenario.feed.source == .rates else { continue }
            func visible(_ scenario: Scenario) -> Int {
                Schedule(scenario).arrivals.count {
                    if case .event(let occasion, _) = $0.action { occasion != .noise } else { true }
                }
            }
            let (once, twice) = (visible(scenario), visible(scenario.rated(by: 2)))
            #expect(Double(twice) > 1.5 * Double(once), "\(name): \(once) and \(twice)")
        }
    }

    @Test func `Bursts of one goal each have the arrivals of the rate together`() {
        var scenario = Scenario(name: "test")
        scenario.feed.bursts = (0..<10).map { LoadFeed.Burst(at: .seconds($0)) }
        for factor in [0.5, 1.1, 1.7, 3] {
            let counts = scenario.rated(by: factor).feed.bursts.map(\.count)
            #expect(abs(Double(counts.reduce(0, +)) - 10 * factor) < 1, "\(factor): \(counts)")
        }
    }

    @Test func `A shorter scenario keeps the arrivals of its bursts`() throws {
        for scenario in try ScenarioFiles.all() {
            let short = scenario.shortened(to: .seconds(2))
            let last = short.feed.bursts.map { $0.at + $0.within }.max() ?? .zero
            #expect(last <= .seconds(2) + .milliseconds(1), "\(scenario.name): a burst until \(last)")
        }
    }

    @Test func `Only a scenario of rates alone becomes longer`() throws {
        let long = try #require(try ScenarioFiles.find("soak").lengthened(to: .seconds(14_400)))
        #expect(long.duration == .seconds(14_400))
        for name in ["goal-burst", "clock-step", "overload", "restart"] {
            #expect(try ScenarioFiles.find(name).lengthened(to: .seconds(14_400)) == nil, "\(name)")
        }
    }

    @Test func `A scenario beyond any machine is refused`() throws {
        for options in [(1_000_000.0, 1.0), (1.0, 1_000_000.0)] {
            let scenario = try ScenarioFiles.find("joiners").scaled(by: options.0).rated(by: options.1)
            #expect(scenario.excess != nil)
        }
        #expect(try ScenarioFiles.find("world-cup-final").excess == nil)
        var restart = try ScenarioFiles.find("restart")
        #expect(restart.excess == nil)
        restart.shards = 2
        #expect(restart.excess == "a restart is of an engine with one shard")
    }

    @Test(arguments: ["--public", "--listen", "--dump=/tmp/x", "--key", "--cert"])
    func `A scenario does not choose where the simulator listens`(option: String) throws {
        let lines = faults(
            """
            duration = "2 s"
            [transport]
            kind = "simulator"
            options = ["\(option)", "x"]
            """)
        #expect(lines.contains { $0.contains("\(option): the laboratory chooses it") }, "\(lines)")
    }
}
