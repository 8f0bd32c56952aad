import FanfareModel
import Testing

@testable import FanfareTOML

@Suite struct TOMLValueTests {
    private func members(_ text: String) throws -> [TOMLValue.Member] {
        try #require(try TOMLValue.document(Array(text.utf8), name: "values").members)
    }

    @Test func membersStandInTheOrderOfTheFile() throws {
        #expect(try members("b = 2\na = 1\nc = 3\n").map(\.key) == ["b", "a", "c"])
    }

    @Test func keysAndValuesHaveTheirLocations() throws {
        let table = try members("\n  first = 5\nsecond = \"x\"\n")
        #expect(table.map(\.keyLocation) == [TOMLLocation(line: 2, column: 3), TOMLLocation(line: 3, column: 1)])
        #expect(table.map(\.value.location) == [TOMLLocation(line: 2, column: 11), TOMLLocation(line: 3, column: 10)])
    }

    @Test(arguments: [
        ("\"text\"", "\"text\""), ("-7", "-7"), ("1.5", "1.5"), ("true", "true"), ("2020-01-01", "a date"),
        ("[1, 2]", "an array"), ("{ a = 1 }", "a table"),
    ])
    func eachKindOfValueHasItsNameInMessages(written: String, name: String) throws {
        #expect(try members("a = \(written)\n").first?.value.name == name)
    }

    @Test func onlyScalarsCanBeComparedWithAField() throws {
        let values = try members("a = \"x\"\nb = 3\nc = 2.5\nd = false\ne = inf\nf = 2020-01-01\ng = []\nh = {}\n")
        #expect(values.map(\.value.scalar) == ["x", 3, 2.5, false, nil, nil, nil, nil] as [JSONValue?])
    }

    @Test func aDocumentIsRefusedBeyondItsMaximumSize() throws {
        let most = [UInt8](repeating: UInt8(ascii: " "), count: TOMLValue.sizeMax.bytes)
        let largest = try TOMLValue.document(most, name: "large")
        #expect(largest.members?.isEmpty == true)
        let error = #expect(throws: TOMLError.self) {
            try TOMLValue.document(most + [UInt8(ascii: " ")], name: "large")
        }
        #expect(error?.lines.first?.hasPrefix("large:1:1: more than 1048576 bytes") == true)
    }

    @Test func aFaultOfTheParserHasItsLocation() {
        let error = #expect(throws: TOMLError.self) {
            try TOMLValue.document(Array("a = 1\nb = 2\na = 3\n".utf8), name: "twice")
        }
        #expect(error?.lines.count == 1)
        #expect(error?.lines.first?.hasPrefix("twice:3:1: no TOML: ") == true)
        #expect(error?.isUnreadable == false)
    }

    @Test func aFileThatCannotBeReadIsAnErrorWithItsReason() {
        let error = #expect(throws: TOMLError.self) { try TOMLValue.contents(ofFile: "/nowhere/a.toml") }
        #expect(error?.isUnreadable == true)
        #expect(error?.lines == ["/nowhere/a.toml: cannot be read: No such file or directory"])
    }

    @Test func anEndlessFileIsReadLittleBeyondTheMaximumSize() throws {
        let count = try TOMLValue.contents(ofFile: "/dev/zero").count
        #expect(count > TOMLValue.sizeMax.bytes && count <= TOMLValue.sizeMax.bytes + 1 << 17)
    }

    @Test func faultsStandInTheOrderOfTheDocument() {
        let places = [(3, 1), (1, 9), (1, 2)].map { TOMLLocation(line: $0.0, column: $0.1) }
        let error = TOMLError(name: "order", faults: places.map { TOMLError.Fault($0, "fault") })
        #expect(error.lines == ["order:1:2: fault", "order:1:9: fault", "order:3:1: fault"])
    }
}
