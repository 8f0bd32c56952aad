import FanfareModel
import FanfareTOML
import Testing

@Suite struct TableReaderTests {
    private let faults = TableReader.Faults()
    private var lines: [String] { TOMLError(name: "t", faults: faults.all).lines }

    private func reader(_ text: String) throws -> TableReader {
        let document = try TOMLValue.document(Array(text.utf8), name: "t")
        return TableReader(try #require(document.members), at: document.location, faults)
    }

    @Test func valuesOfTheExpectedKindsAreReadWithoutAFault() throws {
        let table = try reader(
            "name = \"x\"\nisOn = true\ncount = 3\nwait = \"90 s\"\nsize = \"large\"\nkinds = [\"a\", \"b\", \"a\"]\n")
        #expect(table.text("name") == "x")
        #expect(table.flag("isOn") == true)
        #expect(table.whole("count", 1...3) == 3)
        #expect(table.duration("wait", Duration.seconds(1)...Duration.seconds(90)) == .seconds(90))
        #expect(table.choice("size", of: [("small", 1), ("large", 2)]) == 2)
        #expect(table.texts("kinds") == Set(["a", "b"]))
        #expect(table.text("absent") == nil)
        table.finish()
        #expect(lines.isEmpty)
    }

    @Test func aValueOfAnotherKindIsAFaultAtItsPlace() throws {
        let table = try reader("name = 3\ncount = 4\nwait = \"91 s\"\nsize = \"huge\"\nkinds = [\"a\", 1]\n")
        let read: [Any?] = [
            table.text("name"), table.whole("count", 1...3),
            table.duration("wait", Duration.seconds(1)...Duration.seconds(90)),
            table.choice("size", of: [("small", 1), ("large", 2)]), table.texts("kinds"),
        ]
        #expect(read.allSatisfy { $0 == nil })
        #expect(
            lines == [
                "t:1:8: name is 3; expected text in quotes",
                "t:2:9: count is 4; expected a whole number from 1 to 3",
                "t:3:8: wait is \"91 s\"; expected a duration from 1 s to 90 s, such as \"90 s\" or \"5 min\"",
                "t:4:8: size is \"huge\"; expected one of \"small\", \"large\"",
                "t:5:9: kinds is an array; expected an array of texts",
            ])
    }

    @Test func everyKeyThatNobodyReadIsAFault() throws {
        let table = try reader("prioritee = 5\nrelevance = 1\nzzz = 2\n")
        _ = table.whole("priority", 1...9)
        _ = table.whole("relevance", 1...9)
        table.finish()
        #expect(
            lines == [
                "t:1:1: prioritee: unknown key; did you mean priority?",
                "t:3:1: zzz: unknown key; expected one of priority, relevance",
            ])
    }

    @Test func aRefusedKeyIsOneFaultWithItsAdvice() throws {
        let table = try reader("old = 1\n")
        table.refuse("old", "new says it")
        table.refuse("absent", "new says it")
        table.finish()
        #expect(lines == ["t:1:1: old: new says it"])
    }

    @Test func requiredKeysThatAreMissingAreOneFaultOfTheTable() throws {
        let table = try reader("b = 1\n")
        let (some, all) = (table.has("a", "b", "c"), table.has("b"))
        #expect(!some && all)
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix(": a, c missing; expected a, b, c") == true)
    }

    @Test func conditionsStandInTheOrderOfTheFile() throws {
        let table = try reader(
            "when = { status = \"over\", stops = { atLeast = 1, atMost = 3 }, gate = [1, \"b\"], seat = { present = false } }\n"
        )
        #expect(
            table.conditions("when") == [
                Condition("status", .oneOf(["over"])), Condition("stops", .atLeast(1)), Condition("stops", .atMost(3)),
                Condition("gate", .oneOf([1, "b"])), Condition("seat", .present(false)),
            ])
        #expect(lines.isEmpty)
    }

    @Test func noConditionAndNoTestAreFaults() throws {
        let table = try reader("a = {}\nb = { x = { like = 1 } }\nc = { x = [] }\n")
        let read = table.conditions("a") + table.conditions("b") + table.conditions("c")
        #expect(read.isEmpty)
        #expect(lines.map { $0.prefix(6) } == ["t:1:5:", "t:2:11", "t:3:11"])
    }

    @Test(
        arguments: [
            ("90 s", .seconds(90)), ("5min", .seconds(300)), ("0 s", .zero), ("1500 ms", .milliseconds(1500)),
            ("2160 h", .seconds(7_776_000)), ("5", nil), ("-5 s", nil), ("5 sec", nil), ("1.5 h", nil), ("", nil),
            ("12345678901 ms", nil),
        ] as [(String, Duration?)])
    func aDurationIsAWholeNumberAndAUnit(written: String, expected: Duration?) {
        #expect(Duration(inRules: written) == expected)
    }

    @Test(arguments: [0, 1, 999, 1000, 59_000, 60_000, 90_000, 3_600_000, 5_400_000])
    func aDurationIsWrittenAsItIsRead(milliseconds: Int) {
        let duration = Duration.milliseconds(milliseconds)
        #expect(Duration(inRules: duration.inRules) == duration)
    }
}
