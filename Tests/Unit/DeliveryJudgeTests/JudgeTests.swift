import LoadJSON
import Testing

@testable import DeliveryJudge

/// A small dump that keeps every promise; each test breaks one of them and the judge has to notice just that.
struct DumpSketch {
    struct Push {
        var at: Int
        var state: String?
        var stamp: Int
        var event = "u"
        var priority = 5
        var alert: String?
        var unanswered = false
    }

    var states: [String: JSON] = [:]
    var alerts: [String: JSON] = [:]
    var tokens: [String: (dead: Bool, pushes: [Push])] = [:]
    var unrecorded = 0
    var hasCounters = true

    func verdict(topics: [TopicRecord], _ expectations: Judge.Expectations = .init()) throws -> Verdict {
        var judge = try Judge(topics: topics, expectations: expectations)
        for line in lines { try judge.read(JSON(parsing: Array(line.utf8))) }
        return judge.finish()
    }

    /// As the simulator writes them.
    var lines: [String] {
        var lines = states.sorted { $0.key < $1.key }.map {
            "{\"type\":\"state\",\"hash\":\"\($0.key)\",\"state\":\($0.value.canonicalText)}"
        }
        lines += alerts.sorted { $0.key < $1.key }.map {
            "{\"type\":\"alert\",\"hash\":\"\($0.key)\",\"title\":\($0.value.canonicalText),\"body\":\"\"}"
        }
        for (name, token) in tokens.sorted(by: { $0.key < $1.key }) {
            func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }
            let pushes = token.pushes.map {
                "[\($0.at),\(quoted($0.state)),\($0.stamp),\"\($0.event)\",\($0.priority),\(quoted($0.alert))"
                    + ($0.unanswered ? ",\"unanswered\"]" : "]")
            }
            lines.append(
                "{\"type\":\"token\",\"token\":\"\(name)\",\"dead\":\(token.dead),\"accepted\":[\(pushes.joined(separator: ","))]}"
            )
        }
        if hasCounters { lines.append("{\"type\":\"counters\",\"unrecorded\":\(unrecorded)}") }
        return lines
    }
}

private func match(_ home: String, _ score: Int, highlight: String = "homeScore") -> JSON {
    ["home": .string(home), "away": "Guests", "homeScore": .int(Int64(score)), "highlight": .string(highlight)]
}

@Suite struct TopicJudgeTests {
    let topics = [
        TopicRecord(id: "match/1", ended: true, state: match("Reds", 2), published: match("Reds", 2)),
        TopicRecord(id: "match/2", ended: false, state: match("Blues", 1), published: match("Blues", 1)),
    ]

    var good: DumpSketch {
        var dump = DumpSketch()
        dump.states = [
            "r0": match("Reds", 0), "r1": match("Reds", 1), "r2": match("Reds", 2), "b0": match("Blues", 0),
            "b1": match("Blues", 1), "b1h": match("Blues", 1, highlight: "awayRed"),
        ]
        dump.alerts = ["a1": "1-0 Smith", "a2": "2-0 Jones"]
        dump.tokens = [
            "t1": (
                false,
                [
                    .init(at: 1, state: "r0", stamp: 100), .init(at: 2, state: "r1", stamp: 101, alert: "a1"),
                    .init(at: 3, state: "r2", stamp: 102, alert: "a2"),
                    .init(at: 4, state: "r2", stamp: 102, event: "e"),
                ]
            ),
            "t2": (false, [.init(at: 1, state: "b0", stamp: 100), .init(at: 5, state: "b1", stamp: 105)]),
            "t3": (true, []),
        ]
        return dump
    }

    @Test func keptPromisesAreFound() throws {
        let verdict = try good.verdict(topics: topics, .init(tokens: 3, distinctStates: 2))
        #expect(verdict.isGood, "\(verdict.examples)")
        #expect(verdict.liveTokens == 2 && verdict.deadTokens == 1 && verdict.accepted == 6 && verdict.alerts == 2)
        #expect(verdict.distinctStates == (2, 2, 3))
        #expect(verdict.json["good"] == true)
    }

    @Test(arguments: Violation.allCases) func eachBrokenPromiseIsFound(_ violation: Violation) throws {
        var dump = good
        var expectations = Judge.Expectations(tokens: 3, distinctStates: 2)
        switch violation {
        case .stale: dump.tokens["t2"]?.pushes.removeLast()
        case .neverReached: dump.tokens["t2"]?.pushes = []
        case .repeated: dump.tokens["t2"]?.pushes.append(.init(at: 9, state: "b1", stamp: 106))
        case .stampBack: dump.tokens["t2"]?.pushes[1].stamp = 99
        case .stampNotRaised: dump.tokens["t2"]?.pushes[1].stamp = 100
        case .alertTwice: dump.tokens["t1"]?.pushes[2].alert = "a1"
        case .afterEnd:
            dump.tokens["t1"]?.pushes.insert(.init(at: 3, state: "r1", stamp: 101, event: "e"), at: 2)
        case .endMissing: dump.tokens["t1"]?.pushes.removeLast()
        case .mixedTopics: dump.tokens["t2"]?.pushes[0].state = "r0"
        case .unknownState: dump.states["x"] = match("Nobody", 0)
        case .startTwice, .startMixed:
            dump.tokens["t4"] = (false, [.init(at: 1, state: "b0", stamp: 100, event: "s", alert: "a1")])
            let second = DumpSketch.Push(at: 2, state: "b1", stamp: 101, event: violation == .startTwice ? "s" : "u")
            dump.tokens["t4"]?.pushes.append(second)
            expectations.tokens = 4
        case .tokenCount: expectations.tokens = 4
        case .fewStates: expectations.distinctStates = 3
        case .incompleteDump: dump.unrecorded = 1
        }
        if violation == .stale || violation == .neverReached { expectations.distinctStates = nil }
        let verdict = try dump.verdict(topics: topics, expectations)
        #expect(Set(verdict.violations.keys) == [violation], "\(verdict.examples)")
        #expect(!verdict.isGood && verdict.json["good"] == false)
        #expect(verdict.json["violations"]?[violation.rawValue] == 1)
        #expect(verdict.examples.map(\.violation) == [violation])
    }

    /// Sent again without its alert, a version has its own highlight and its old stamp. Another version must raise it.
    @Test func aVersionSentAgainMayHighlightSomethingElse() throws {
        var dump = good
        dump.tokens["t2"]?.pushes[1].unanswered = true
        dump.tokens["t2"]?.pushes.insert(
            .init(at: 4, state: "b1h", stamp: 105, alert: "a1", unanswered: true), at: 1)
        #expect(try dump.verdict(topics: topics).isGood)
        dump.tokens["t2"]?.pushes[1].state = "b0"
        #expect(try dump.verdict(topics: topics).violations[.stampNotRaised] == 1)
        dump.tokens["t2"]?.pushes[1].state = "b1h"
        dump.tokens["t2"]?.pushes[1].unanswered = false
        #expect(try dump.verdict(topics: topics).violations[.stampNotRaised] == 1)
    }

    @Test func aRepeatIsAllowedWhenTheFirstWasNeverAnswered() throws {
        var dump = good
        dump.tokens["t2"]?.pushes[1].unanswered = true
        dump.tokens["t2"]?.pushes.append(.init(at: 9, state: "b1", stamp: 105))
        let verdict = try dump.verdict(topics: topics)
        #expect(verdict.isGood, "\(verdict.examples)")
        #expect(verdict.allowedRepeats == 1 && verdict.unanswered == 1)
        dump.tokens["t2"]?.pushes.append(.init(at: 10, state: "b1", stamp: 105))
        #expect(try dump.verdict(topics: topics).violations == [.repeated: 1])
    }

    /// Of three states, the third like the first, the second may have been lost before the server read it.
    @Test func aRepeatIsAllowedWhereTheStateHadGoneAndComeBack() throws {
        var dump = good
        dump.tokens["t2"]?.pushes.append(.init(at: 900, state: "b1", stamp: 107))
        #expect(try dump.verdict(topics: topics).violations == [.repeated: 1])
        let pushes: [DumpSketch.Push] = [
            .init(at: 5, state: "b1", stamp: 105), .init(at: 500, state: "b0", stamp: 106),
            .init(at: 899, state: "b1", stamp: 107),
        ]
        dump.tokens["t4"] = (false, pushes)
        var verdict = try dump.verdict(topics: topics)
        #expect(verdict.isGood, "\(verdict.examples)")
        #expect(verdict.repeatsOfReturned == 1 && verdict.allowedRepeats == 0)
        // It came back long after.
        dump.tokens["t4"]?.pushes[2].at = 2000
        verdict = try dump.verdict(topics: topics)
        #expect(verdict.violations == [.repeated: 1] && verdict.repeatsOfReturned == 0)
    }

    @Test func anAlertIsNotSentAgainAfterAnUnknownOutcome() throws {
        var dump = good
        dump.tokens["t1"]?.pushes[1].unanswered = true
        dump.tokens["t1"]?.pushes.insert(.init(at: 2, state: "r1", stamp: 101, alert: "a1"), at: 2)
        #expect(try dump.verdict(topics: topics).violations == [.alertTwice: 1])
    }

    @Test func anEndMayBeSentAgainAfterAnUnknownOutcome() throws {
        var dump = good
        dump.tokens["t1"]?.pushes[3].unanswered = true
        dump.tokens["t1"]?.pushes.append(.init(at: 9, state: "r2", stamp: 102, event: "e"))
        #expect(try dump.verdict(topics: topics).isGood)
    }

    @Test func highlightFollowsTheAlertThatIsCarriedAndNothingElse() throws {
        var dump = good
        dump.tokens["t2"]?.pushes[1] = .init(at: 5, state: "b1h", stamp: 105, alert: "a1")
        #expect(try dump.verdict(topics: topics).isGood)
        dump.tokens["t2"]?.pushes[1].alert = nil
        #expect(try dump.verdict(topics: topics).violations == [.stale: 1])
    }

    @Test func anEndWithoutAStateKeepsTheLastOne() throws {
        var dump = good
        dump.tokens["t1"]?.pushes[3].state = nil
        #expect(try dump.verdict(topics: topics).isGood)
    }

    @Test func statesWithoutAPairOfTeamsAreKnownByWhatWasPublished() throws {
        let train: JSON = ["line": "A", "nextStop": "High St"]
        let topics = [TopicRecord(id: "trip/1", ended: false, state: train, published: train)]
        var dump = DumpSketch()
        dump.states = ["old": ["line": "A", "nextStop": "Low St"], "new": train]
        dump.tokens = ["t": (false, [.init(at: 1, state: "old", stamp: 1), .init(at: 2, state: "new", stamp: 2)])]
        #expect(try dump.verdict(topics: topics).isGood)
        dump.tokens["t"]?.pushes.removeLast()
        #expect(try dump.verdict(topics: topics).violations == [.stale: 1])
    }

    @Test func aDumpThatIsCutOffIsRefused() throws {
        var dump = good
        dump.hasCounters = false
        #expect(try dump.verdict(topics: topics).violations == [.incompleteDump: 1])
    }

    @Test func linesThatAreNoDumpAreErrors() throws {
        for line in [
            "{}", "{\"type\":\"state\"}", "{\"type\":\"token\",\"token\":\"t\",\"dead\":false,\"accepted\":[[1]]}",
            "{\"type\":\"token\",\"token\":\"t\",\"dead\":false,\"accepted\":[[1,\"unknown\",2,\"u\",5,null]]}",
        ] {
            var judge = try Judge(topics: topics)
            let json = try JSON(parsing: Array(line.utf8))
            #expect(throws: InputError.self) { try judge.read(json) }
        }
        #expect(throws: InputError.self) { try Judge(topics: topics + topics) }
        #expect(throws: InputError.self) { try TopicRecord(line: ["topic": "x"]) }
    }

    @Test func aVerdictKeepsAFewExamples() throws {
        var dump = good
        for index in 0..<20 { dump.tokens["s\(index)"] = (false, [.init(at: 1, state: "b0", stamp: 1)]) }
        let verdict = try dump.verdict(topics: topics)
        #expect(verdict.violations[.stale] == 20 && verdict.examples.count == Verdict.examplesMax)
    }
}

@Suite struct LineupJudgeTests {
    let topics = ["Reds", "Blues", "Greens"].enumerated().map { index, home in
        TopicRecord(
            id: "match/\(index)", ended: false, state: match(home, 1), published: match(home, 1), short: short(1))
    }

    private static func short(_ score: Int) -> JSON {
        ["compactLeading": .string("H \(score)"), "compactTrailing": "0 G", "minimal": .string("\(score)–0")]
    }

    private func lineup(_ scores: [(Int, String, Int)], spotlight: Int = 0, highlight: String = "homeScore") -> JSON {
        let spotlightScore = scores[min(spotlight, scores.count - 1)]
        return [
            "topics": .array(
                scores.map { index, _, score in
                    let short = Self.short(score)
                    return [
                        "id": .string("match/\(index)"), "kind": "football",
                        "compactLeading": short["compactLeading"] ?? .null,
                        "compactTrailing": short["compactTrailing"] ?? .null, "minimal": short["minimal"] ?? .null,
                    ]
                }), "highlight": .string(highlight), "more": 0,
            "spotlight": [
                "index": .int(Int64(spotlight)), "kind": "football",
                "state": match(spotlightScore.1, spotlightScore.2, highlight: highlight),
            ],
        ]
    }

    private var good: DumpSketch {
        var dump = DumpSketch()
        dump.states = [
            "old": lineup([(0, "Reds", 0), (1, "Blues", 1)]), "new": lineup([(1, "Blues", 1), (0, "Reds", 1)]),
        ]
        dump.tokens = ["t": (false, [.init(at: 1, state: "old", stamp: 1), .init(at: 2, state: "new", stamp: 2)])]
        return dump
    }

    @Test func everyTopicOfALineupMustBeTheNewest() throws {
        #expect(try good.verdict(topics: topics, .init(lineups: 2)).isGood)
        var dump = good
        dump.tokens["t"]?.pushes.removeLast()
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).violations == [.stale: 1])
    }

    @Test func aLineupHasSoManyTopicsAndNoOthers() throws {
        #expect(try good.verdict(topics: topics, .init(lineups: 3)).violations == [.mixedTopics: 1])
        var dump = good
        dump.states["old"] = lineup([(0, "Reds", 0), (2, "Greens", 1)])
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).violations == [.mixedTopics: 1])
    }

    @Test func aSpotlightOnNothingIsFound() throws {
        var dump = good
        dump.states["new"] = lineup([(1, "Blues", 1), (0, "Reds", 1)], spotlight: 2)
        let verdict = try dump.verdict(topics: topics, .init(lineups: 2))
        #expect(verdict.violations[.unknownState] == 1)
    }

    @Test func theSpotlightOfALineupMustBeTheNewest() throws {
        var dump = good
        dump.states["new"] = lineup([(1, "Blues", 1), (0, "Reds", 1)])
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).isGood)
        dump.states["new"] = lineup([(1, "Blues", 1), (0, "Others", 1)], spotlight: 1)
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).violations == [.stale: 1])
    }

    /// A topic that is over goes with its dismissal; one that is not must stay.
    @Test func aTopicMayLeaveALineupOnlyWhenItIsOver() throws {
        var dump = good
        dump.states["new"] = lineup([(1, "Blues", 1)])
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).violations == [.mixedTopics: 1])
        var over = topics
        over[0] = TopicRecord(
            id: "match/0", ended: true, state: match("Reds", 1), published: match("Reds", 1), short: topics[0].short)
        #expect(try dump.verdict(topics: over, .init(lineups: 2)).isGood)
    }

    @Test func highlightIsLeftToTheAlert() throws {
        var dump = good
        dump.states["new"] = lineup([(1, "Blues", 1), (0, "Reds", 1)], highlight: "awayRed")
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).violations == [.stale: 1])
        dump.alerts["a"] = "1-0"
        dump.tokens["t"]?.pushes[1].alert = "a"
        #expect(try dump.verdict(topics: topics, .init(lineups: 2)).isGood)
    }
}
