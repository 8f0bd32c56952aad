import FanfareDecisions
import FanfareModel
import FanfareTOML
import Testing

@testable import FanfareRules

/// Text that `Rules.toml` writes is read as the same rules.
@Suite struct RulesWritingTests {
    private static let kind = TopicKind("made up")
    private static let chess = TopicKind("chess")

    private func readBack(_ rules: Rules) throws -> Rules {
        try Rules(toml: Array(rules.toml.utf8), name: "rules.toml")
    }

    private func readBack(_ made: TopicRules) throws -> TopicRules {
        try readBack(Rules(kinds: [Self.kind: made], other: TopicRules()))[Self.kind]
    }

    /// TOML takes no key twice.
    @Test func severalTestsOfAFieldReadBackAsTheSame() throws {
        var made = TopicRules()
        made.lifetime.endsWhen = [
            Condition("n", .atLeast(1)), Condition("n", .atMost(5)), Condition("m", .present(true)),
        ]
        made.lifetime.beginsWhen = [
            Condition("n", .atLeast(1)), Condition("n", .atLeast(3)), Condition("n", .atMost(9)),
        ]
        let unless = [
            Condition("s", .oneOf(["a", "b"])), Condition("s", .present(true)), Condition("t", .oneOf([])),
            Condition("u", .oneOf(["a"])), Condition("u", .oneOf(["b", 1])),
        ]
        made.content.fields["x"] = .redacted(Redaction(.removed, unless: unless))
        let text = made.toml(kind: Self.kind)
        #expect(text.contains("endsWhen = { n = { atLeast = 1, atMost = 5 }, m = { present = true } }\n"))
        #expect(text.contains("beginsWhen = { n = [{ atLeast = 1 }, { atLeast = 3 }, { atMost = 9 }] }\n"))
        let again = try readBack(made)
        #expect(again.lifetime.endsWhen == made.lifetime.endsWhen)
        #expect(again.lifetime.beginsWhen == made.lifetime.beginsWhen)
        #expect(again.content.fields == made.content.fields)
        #expect(again.toml(kind: Self.kind) == text)
    }

    @Test func testsOfAFieldStandWhereItsFirstOneDoes() throws {
        var made = TopicRules()
        made.lifetime.endsWhen = [Condition("n", .atLeast(1)), Condition("m", .atLeast(2)), Condition("n", .atMost(5))]
        let again = try readBack(made)
        #expect(
            again.lifetime.endsWhen == [
                Condition("n", .atLeast(1)), Condition("n", .atMost(5)), Condition("m", .atLeast(2)),
            ])
    }

    @Test func severalShiftsOfAFieldReadBackAsTheGreatest() throws {
        var made = TopicRules()
        let shifts = [FieldShift("a", by: -2), FieldShift("a", by: -5), FieldShift("a", by: 3), FieldShift("b", by: 1)]
        made.occasions = ["far": OccasionRule(shifts: shifts, essential: true)]
        let again = try readBack(made)
        #expect(
            again.occasions["far"]?.shifts == [
                FieldShift("a", by: -5), FieldShift("a", by: 3), FieldShift("b", by: 1),
            ])
    }

    @Test func theFirstShiftOfAnOccasionStaysItsHighlight() throws {
        var made = TopicRules()
        made.occasions = [
            "far": OccasionRule(shifts: [FieldShift("b", by: 5), FieldShift("a", by: -3)], essential: true)
        ]
        #expect(try readBack(made).occasions["far"]?.highlight == "b")
    }

    @Test func theDeleteCharacterReadsBack() throws {
        var made = TopicRules()
        made.scheduledAt = "a\u{7F}b"
        made.lifetime.endsWhen = [Condition("\u{7F}", .oneOf(["\u{7F}"]))]
        made.content.fields["c\u{7F}"] = .ignored
        let again = try readBack(made)
        #expect(again.scheduledAt == made.scheduledAt)
        #expect(again.lifetime.endsWhen == made.lifetime.endsWhen)
        #expect(again.content.fields == made.content.fields)
    }

    /// The documentation of `Rules.toml` names these.
    @Test func partsThatNoFileHasAreReadOtherwise() throws {
        let again = try readBack(Rules(kinds: [Self.kind: TopicRules()], other: TopicRules()))
        #expect(again.kinds[.football] != nil)
        var made = TopicRules()
        made.pace.lateAfter = .microseconds(1500)
        #expect(try readBack(made).pace.lateAfter == .milliseconds(1))
    }

    @Test func valuesThatNoFileHasAreRefused() {
        var long = TopicRules()
        long.pace.minimumInterval = .seconds(7200)
        var infinite = TopicRules()
        infinite.lifetime.endsWhen = [Condition("n", .atLeast(.infinity))]
        var motionless = TopicRules()
        motionless.occasions = ["far": OccasionRule(shifts: [FieldShift("a", by: 0)], essential: true)]
        for made in [long, infinite, motionless] {
            let error = #expect(throws: TOMLError.self) { try readBack(made) }
            #expect(error?.faults.count == 1, "\(made.toml(kind: Self.kind))")
        }
    }

    private struct ChessReducer: Reducer {
        var state: JSONObject { [:] }
        var isPresentable: Bool { false }
        var ending: String? { nil }
        func understands(factKind: String) -> Bool { false }
        func fault(in fact: Fact) -> String? { nil }
        mutating func fold(_ entry: LedgerEntry) {}
        func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
    }

    /// A log's rules name the reducer that decided: the present program's own one stands for itself alone.
    @Test func aProgramsOwnReducerStandsForItself() throws {
        var own = Rules.builtIn
        own.kinds[Self.chess] = TopicRules(reducer: ChessReducer())
        var other = own
        other.kinds[Self.chess]?.pace.minimumInterval = .seconds(9)
        let again = try Rules(written: own.toml, like: other)
        #expect(again[Self.chess].reducer is ChessReducer && again.toml == own.toml)
        // The program's reducer does not decide topics of a named reducer.
        var football = own
        football.kinds[.football]?.reducer = ChessReducer()
        #expect(try Rules(written: own.toml, like: football)[.football].reducer is FootballReducer)
        // And what only the former program can decide is not decided by another.
        let fault = #expect(throws: UnreadableRules.self) { try Rules(written: own.toml, like: .builtIn) }
        #expect(fault?.description.contains("ChessReducer") == true)
    }

    /// A file knows neither the occasions of such a reducer nor its words.
    @Test func occasionsOfAProgramsOwnReducerReadBack() throws {
        let alert = AlertRule(.essential, burst: 1, refill: .seconds(60), freshFor: .seconds(60))
        let occasions: [OccasionKind: OccasionRule] = [
            "mate": OccasionRule(essential: true, alert: alert),
            "hurry": OccasionRule(when: [Condition("seconds", .atMost(30))], essential: false, alert: alert),
        ]
        var rules = Rules(kinds: [:], other: TopicRules(reducer: ChessReducer(), occasions: occasions))
        rules.kinds[Self.chess] = TopicRules(reducer: ChessReducer(), occasions: occasions)
        let again = try readBack(rules)
        #expect(again[Self.chess].occasions == occasions && again.other.occasions == occasions)
        let ofAnEditor = rules.toml.replacing("\n", with: "\r\n")
        let reread = try Rules(toml: Array(ofAnEditor.utf8), name: "rules.toml")
        #expect(reread.toml == again.toml)
        let logged = try Rules(written: rules.toml, like: rules)
        #expect(logged.toml == rules.toml)
        #expect(logged[Self.chess].reducer is ChessReducer && logged.other.reducer is ChessReducer)
        // Without its comment the table is one of the reducer `counting`, which has neither.
        let lines = rules.kinds[Self.chess].map { $0.toml(kind: Self.chess) }?.split(separator: "\n") ?? []
        let unmarked = lines.filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        let error = #expect(throws: TOMLError.self) { try Rules(toml: Array(unmarked.utf8), name: "rules.toml") }
        #expect(error?.faults.count == 3, "\(unmarked)")
    }

    @Test func aReducersNameMayHaveAComma() throws {
        let rules = Rules(kinds: [Self.chess: TopicRules(reducer: PairReducer<Int, Bool>())], other: TopicRules())
        let again = try Rules(written: rules.toml, like: rules)
        #expect(again[Self.chess].reducer is PairReducer<Int, Bool>)
    }

    private struct PairReducer<First: Sendable, Second: Sendable>: Reducer {
        var state: JSONObject { [:] }
        var isPresentable: Bool { false }
        var ending: String? { nil }
        func understands(factKind: String) -> Bool { false }
        func fault(in fact: Fact) -> String? { nil }
        mutating func fold(_ entry: LedgerEntry) {}
        func occasion(of entry: LedgerEntry, before: JSONObject, shown: JSONObject) -> Occasion? { nil }
    }
}
