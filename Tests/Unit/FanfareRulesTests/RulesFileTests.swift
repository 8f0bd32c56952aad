import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfareTOML
import FanfareThreads
import Foundation
import Testing

@testable import FanfareRules

@Suite struct RulesFileTests {
    static let folder = #filePath.components(separatedBy: "/Tests/")[0] + "/Examples/Rules/"

    private func read(_ toml: String) throws -> Rules { try Rules(toml: Array(toml.utf8), name: "rules.toml") }

    /// The files to copy say what the engine does without them.
    @Test(arguments: [TopicKind.football, .hockey, .volleyball, .transit, .delivery, .ride, .queue])
    func shippedFilesAreTheBuiltInRules(kind: TopicKind) throws {
        let rules = try Rules(file: Self.folder + kind.rawValue + ".toml")
        let builtIn = Rules.builtIn
        #expect(rules[kind].toml(kind: kind) == builtIn[kind].toml(kind: kind))
        #expect(rules[kind].content.fields == builtIn[kind].content.fields)
        #expect(rules[kind].occasions == builtIn[kind].occasions)
        #expect(rules[kind].pace.staleAfter == builtIn[kind].pace.staleAfter)
    }

    @Test func aTaskReadsTheRulesOfAFile() async throws {
        let rules = try await Rules.read(file: Self.folder + "football.toml")
        #expect(rules[.football].toml(kind: .football) == Rules.builtIn[.football].toml(kind: .football))
    }

    @Test func aTaskIsToldThatNoThreadCanReadAFile() async {
        let error = await #expect(throws: TOMLError.self) {
            try await Rules.read(file: "rules.toml") { (_) throws(ThreadError) in throw ThreadError(code: EAGAIN) }
        }
        #expect(error?.isUnreadable == true)
        let told = "rules.toml: cannot be read: no thread can be created: Resource temporarily unavailable"
        #expect(error?.description == told)
    }

    @Test func theShippedFileOfLineupsIsBuiltIn() throws {
        let rules = try Rules(file: Self.folder + "lineups.toml")
        #expect(rules.lineups == LineupRules())
        let shorter = try read("[lineups]\ndwell = \"5 s\"\nround = \"30 s\"\n")
        #expect(shorter.lineups == LineupRules(dwell: .seconds(5), round: .seconds(30)))
        #expect(shorter.kinds.count == Rules.builtIn.kinds.count, "no topic kind is called so")
    }

    /// Written rules are read as the same rules, the rarest things too.
    @Test func shownRulesAreReadAsTheSame() throws {
        var made = TopicRules(
            reducer: CountingReducer(
                counters: [
                    "points": .init(fact: "basket", where: [Condition("side", .oneOf(["home"]))], by: "value"),
                    "odd key": .init(fact: "foul"),
                ], latest: ["last": .init(of: ["foul", "basket"], value: "text")], facts: ["time-out"]))
        made.content.fields = [
            "a": .ignored, "b": .quantised(Quantiser(step: 7, hysteresis: 9)), "c": .quantised(.percent(20)),
            "d": .redacted(Redaction(.removed)),
            "e": .redacted(
                Redaction(
                    .summary("a \"thing\" \\ é"),
                    unless: [
                        Condition("z", .atLeast(1.5)), Condition("y", .atMost(-2)), Condition("x", .present(false)),
                        Condition("w", .oneOf([1, 2.5, true, "no"])),
                    ])),
        ]
        made.content.derived = DerivedFields(
            compactLeading: "{a}", compactTrailing: "{{b}}", minimal: "m", widthMax: 9, deepLink: "app://{topic}")
        made.content.derived.spoken = "{a}, {b}"
        made.content.derived.spokenWords = ["0": "nil", "b c": "d"]
        made.content.derived.spokenSizeMax = .bytes(77)
        made.lifetime.beginsWhen = [Condition("status", .present(true))]
        made.lifetime.endsWhen = [Condition("status", .oneOf(["over"]))]
        made.occasions = [
            "basketCancelled": OccasionRule(essential: true),
            "late": OccasionRule(
                when: [Condition("q", .present(true))],
                shifts: [FieldShift("odd key", by: -2.5), FieldShift("r", by: 10), FieldShift("s", by: 1)],
                essential: false, droppableAfter: .milliseconds(1500),
                highlight: "q", relevance: 7,
                alert: AlertRule(
                    .ordinary, burst: 3, refill: .milliseconds(90_001), freshFor: .seconds(60),
                    words: .init(title: "{fact.x}", body: "\n", sound: "s"))),
        ]
        made.pace.staleAfter = .rhythm(times: 3, .init(atLeast: .seconds(2), atMost: .seconds(3)))
        made.lifetime.dismissal = .after(.seconds(61))
        made.lifetime.renews = true
        made.priority = .immediate
        made.relevance = 99
        made.scheduledAt = "kick \"off"
        made.content.attributesReserve = .bytes(2000)
        let lineups = LineupRules(
            dwell: .seconds(7), round: .seconds(90), minimumInterval: .milliseconds(1500), gather: .milliseconds(700),
            rotationPushes: .init(burst: 9, refill: .seconds(11)), order: .schedule)
        let rules = Rules(
            kinds: [TopicKind("made up"): made, .football: .football], other: TopicRules(), lineups: lineups)
        let again = try read(rules.toml)
        #expect(again[TopicKind("made up")].toml(kind: TopicKind("made up")) == made.toml(kind: TopicKind("made up")))
        #expect(
            again[TopicKind("made up")].lifetime.renews && again[TopicKind("made up")].scheduledAt == made.scheduledAt)
        // As a log reads it: what the text does not name is not there.
        let logged = try Rules(written: rules.toml, like: .builtIn)
        #expect(logged.toml == rules.toml && Set(logged.kinds.keys) == Set(rules.kinds.keys))
        #expect(logged.limits == rules.limits)
        made.lifetime.dismissal = .at(FeedTime(milliseconds: 1_781_388_000_001))
        made.lifetime.renews = false
        let third = try read(made.toml(kind: .queue))
        #expect(third[.queue].lifetime.dismissal == made.lifetime.dismissal)
        #expect(!third[.queue].lifetime.renews)
        #expect(again[TopicKind("made up")].content.fields == made.content.fields)
        #expect(again[TopicKind("made up")].occasions == made.occasions)
        let reducer = again[TopicKind("made up")].reducer as? CountingReducer
        #expect(reducer?.counters == (made.reducer as? CountingReducer)?.counters)
        #expect(reducer?.latest == (made.reducer as? CountingReducer)?.latest)
        #expect(reducer?.facts == ["time-out"])
        #expect(again.lineups == lineups)
        #expect(again.other.toml(kind: .generic) == TopicRules().toml(kind: .generic))
    }

    /// The built-in rules and the files decide a match day alike, byte for byte.
    @Test func aMatchDayIsDecidedAlike() throws {
        var bytes: [UInt8] = []
        MatchDay(seed: 3).write { bytes += $0 }
        var decoder = NativeLineDecoder(name: "day", lineSizeMax: FeedOptions.lineSizeMaxDefault)
        var items: [FeedItem] = []
        decoder.decode(bytes.prefix(400_000).split(separator: 10).joined(separator: [10]) + [10], into: &items)
        let logs = try [.builtIn, Rules(file: Self.folder + "football.toml")].map { rules -> [UInt8] in
            var core = DecisionCore(rules: rules, isLive: false)
            var decisions: [Decision] = []
            for case .event(let event) in items { core.apply(event, now: event.at, into: &decisions) }
            core.finish(into: &decisions)
            var log: [UInt8] = []
            for decision in decisions {
                switch decision {
                case .record(let record): record.write(to: &log)
                case .publish(let publication): log += publication.state.bytes
                case .revokeAlert(_, let cause): log += cause.utf8
                case .forget, .order: break
                }
            }
            return log
        }
        #expect(logs[0].count > 100_000)
        #expect(logs[0] == logs[1])
    }

    /// The core prepares fields and occasions of a file like built-in ones: hidden fields are hidden.
    @Test func fieldsAndOccasionsOfAFileAreObeyed() throws {
        var core = DecisionCore(
            rules: try read(
                """
                [errand]
                fields.courier = { redact = "initial" }
                occasions.near = { when = { minutes = { atMost = 5 } }, essential = true }
                """), isLive: false)
        var decisions: [Decision] = []
        let errand = TopicID("errand/1")
        for (second, patch) in [(0, ["courier": "Greta", "minutes": 9]), (1, ["minutes": 4])] as [(Int64, JSONObject)] {
            let at = FeedTime(seconds: 1_781_359_200 + second)
            let event = FeedEvent(
                topic: errand, topicKind: TopicKind("errand"), at: at, kind: "patch", change: .patch(patch))
            core.apply(event, now: at, into: &decisions)
        }
        let topic = try #require(core.topic(errand))
        #expect(topic.published?["courier"] == "G.")
        #expect(topic.version == 2, "being near does not wait for the interval")
    }

    @Test func kindsThatTheFileDoesNotNameKeepTheirRules() throws {
        let rules = try read("[generic]\nminimumInterval = \"9 s\"\n")
        #expect(rules[TopicKind("anything")].pace.minimumInterval == .seconds(9))
        #expect(rules[.football].occasions == TopicRules.football.occasions)
        #expect(try read("").toml == Rules.builtIn.toml)
    }

    /// Each has one fault; the message has its location and what was expected.
    static let broken: [(String, location: String, says: String)] = [
        ("[football", "1:10", "no TOML"),
        ("[football]\npriority = 5\npriority = 10", "3:1", "no TOML"),
        ("football = 3", "1:1", "expected the table of a topic kind"),
        ("[football]\nreducer = \"soccer\"", "2:11", "expected one of \"football\", \"transit\""),
        ("[lineups]\ndwell = \"0 s\"", "2:9", "expected a duration from 1 s to 1 h"),
        (
            "[lineups]\nspotlight = 3", "2:1",
            "unknown key; expected one of dwell, gather, minimumInterval, order, rotationPushes, round"
        ),
        (
            "[lineups]\ngather = \"1 s\"\norder = \"kickoff\"", "3:9",
            "order is \"kickoff\"; expected one of \"person\", \"schedule\""
        ),
        ("[lineups]\norder = 1", "2:9", "order is 1; expected one of \"person\", \"schedule\""),
        ("[a]\nscheduledAt = 3", "2:15", "expected text in quotes"),
        ("[a]\nminimumIntervall = \"2 s\"", "2:1", "did you mean minimumInterval?"),
        ("[a]\nfoo = 1", "2:1", "unknown key; expected one of atLimit, attributesReserve, beginsWhen, beginsWithin"),
        ("[a]\nminimumInterval = 2", "2:19", "expected a duration from 0 s to 1 h"),
        ("[a]\nminimumInterval = \"2 sec\"", "2:19", "such as \"90 s\""),
        ("[a]\nendsAfterSilence = \"31 s\"", "2:20", "expected a duration from 1 min to 720 h"),
        ("[a]\nbeginsWithin = \"soon\"", "2:16", "expected a duration from 1 min to 2160 h"),
        ("[a]\nforgetAfter = 3", "2:15", "expected a duration from 0 s to 2160 h"),
        ("[a]\nlateAfter = \"2 h\"", "2:13", "expected a duration from 0 s to 1 h"),
        ("[a]\nreopens = \"always\"", "2:11", "expected one of \"never\", \"afresh\", \"resumed\""),
        ("[a]\nmaximumDuration = \"8 h\"", "2:1", "endsAfterSilence ends a topic"),
        ("[a]\natLimit = \"go on\"", "2:11", "expected one of \"end\", \"renew\""),
        ("[a]\nstaleAfter = true", "2:14", "or { rhythm, atLeast, atMost }"),
        ("[a]\nstaleAfter = { rhythm = 4 }", "2:14", "atLeast, atMost missing"),
        ("[a]\nstaleAfter = { rhythm = 4, atLeast = \"5 min\", atMost = \"1 min\" }", "2:14", "longer than atMost"),
        ("[a]\ndismissal = \"5 h\"", "2:13", "expected \"proportional\", \"immediate\", \"at \" and a time"),
        ("[a]\ndismissal = \"at noon\"", "2:13", "or a duration to 4 h"),
        ("[a]\npriority = 7", "2:12", "expected 5 or 10"),
        ("[a]\nrelevance = 101", "2:13", "a whole number from 0 to 100"),
        ("[a]\nrelevance = 2020-01-01", "2:13", "a date; expected a whole number"),
        ("[a]\nattributesReserve = 100", "2:21", "from 1024 to 3072"),
        ("[a]\ndeepLink = \"app://{topic\"", "2:12", "a { without its }"),
        ("[a]\nshort = { minimal = \"x\", compact = \"y\" }", "2:26", "compact: unknown key"),
        ("[a]\nshort.minimal = \"{b:0}\"", "2:17", "{b:0}: expected a field, and after its colon how many letters"),
        ("[a]\nendsWhen = {}", "2:12", "expected a condition"),
        ("[a]\nendsWhen = { status = { like = \"x\" } }", "2:23", "expected a value, an array of values"),
        ("[a]\nfields.eta = \"hidden\"", "2:14", "expected \"ignored\", { step }"),
        ("[a]\nfields.eta = { step = 5, percent = 5 }", "2:8", "exactly one of step, minutes, percent, redact"),
        ("[a]\nfields.eta = { step = 0 }", "2:23", "a whole number from 1"),
        ("[a]\nfields.name = { redact = \"all\" }", "2:26", "expected \"removed\", \"initial\""),
        ("[a]\nbuckets.ordinary = { burst = 3 }", "2:20", "refill missing"),
        (
            "[football.occasions.goall]\nessential = true", "1:21",
            "goall: the reducer football tells of no such occasion"
        ),
        ("[a.occasions.basket]\nessential = true", "1:14", "no counter and no fact has that name"),
        ("[a.occasions.basket]\nwhen = {}", "2:8", "expected a condition, or no when"),
        ("[a.occasions.basket]\nwhen = { n = { atLeast = \"x\" } }", "2:14", "{ atLeast = number }"),
        ("[football.occasions.goal]\nessential = \"yes\"", "2:13", "expected true or false"),
        (
            "[football.occasions.goal]\nalert = { class = \"loud\", burst = 1, refill = \"1 s\", freshFor = \"1 s\" }",
            "2:19",
            "expected one of \"ordinary\", \"essential\""
        ),
        (
            "[a.occasions.near]\nwhen = { n = 1 }\nalert = { class = \"ordinary\", burst = 1, refill = \"1 s\", freshFor = \"1 s\" }",
            "3:9", "title missing"
        ),
        (
            "[football.occasions.goal]\nalert = { class = \"ordinary\", burst = 1, refill = \"1 s\", freshFor = \"1 s\", body = \"x\" }",
            "2:9", "body or sound without title"
        ),
        ("[a]\ncounters.points = { by = \"value\" }", "2:10", "expected the kind of facts that it counts"),
        ("[a]\nfacts = [\"x\", 3]", "2:9", "an array of texts"),
        ("[a]\nlatest.x = { facts = [\"y\"] }", "2:12", "value missing"),
        ("[football]\ncounters.x = { fact = \"goal\" }", "2:1", "counters: unknown key"),
        (String(repeating: "a.", count: 200) + "a = 1", "1:66", "more than 32 tables and arrays"),
        ("[a]\nx = " + String(repeating: "[", count: 400), "2:35", "more than 32 tables and arrays"),
        ("[a]\nx = [[[", "2:", "no TOML"),
        ("[a]\n[.", "2:", "no TOML"),
        ("[a]\n[\u{e9}]", "2:2", "no TOML: \u{e9} (U+00E9) outside of quotation marks and comments"),
        // Each of these fails an assertion of toml++.
        ("[=", "1:", "no TOML"),
        ("a = [}", "1:", "no TOML"),
        ("a = 2020-01-01T:", "1:", "no TOML"),
        ("a = 2020-01-01" + String(repeating: "_", count: 116) + " 12:00:00", "1:", "no TOML"),
    ]

    @Test(arguments: broken.indices) func brokenFilesSayWhere(index: Int) throws {
        let (toml, location, says) = Self.broken[index]
        let error = #expect(throws: TOMLError.self, "\(toml)") { try read(toml) }
        let lines = error?.lines ?? []
        #expect(lines.count == 1, "\(lines)")
        #expect(lines.first?.hasPrefix("rules.toml:\(location)") == true, "\(lines)")
        #expect(lines.first?.contains(says) == true, "\(lines)")
    }

    @Test func brokenRulesFilesAreThirtyAndMore() { #expect(Self.broken.count >= 30) }

    @Test func allFaultsOfAFileAreTold() {
        let error = #expect(throws: TOMLError.self) {
            try read("[a]\nprioritee = 5\nrelevance = -1\n\n[b]\nfields.x = 3\n")
        }
        #expect(
            error?.lines.map { $0.split(separator: " ")[0] } == [
                "rules.toml:2:1:", "rules.toml:3:13:", "rules.toml:6:12:",
            ])
    }

    @Test func aRulesFileThatIsNotThereIsAnError() {
        #expect { try Rules(file: "/nowhere/rules.toml") } throws: {
            "\($0)".hasPrefix("/nowhere/rules.toml: cannot be read")
        }
    }
}
