import Foundation
import Testing

@testable import FanfareTOML

@Suite struct TOMLScanTests {
    private func fault(_ text: String) -> TOMLError.Fault? {
        var scan = TOMLScan(Array(text.utf8))
        return scan.fault()
    }

    /// Returns the location of the first table or array that is too deep.
    private func excess(_ text: String) -> TOMLLocation? {
        guard let fault = fault(text), fault.text.hasPrefix("more than 32") else { return nil }
        return fault.location
    }

    @Test func bracketsAndDotsOfKeysAreLevels() {
        #expect(excess("a = " + String(repeating: "[", count: 32)) == nil)
        #expect(excess("a = " + String(repeating: "[", count: 33)) == TOMLLocation(line: 1, column: 37))
        #expect(excess(String(repeating: "a.", count: 32) + "a = 1") == nil)
        #expect(excess(String(repeating: "a.", count: 33) + "a = 1") == TOMLLocation(line: 1, column: 66))
        let levels = String(repeating: "{'é'.c=", count: 16)
        #expect(excess("'é' = 1\n'é'.b = [\n" + levels) == TOMLLocation(line: 3, column: 106))
    }

    /// A name in a header may be that of an array of tables.
    @Test func namesOfHeadersAreTwoLevels() {
        let header = "[" + String(repeating: "a.", count: 15) + "a] # of 32 levels\n"
        #expect(excess(header + "x = 1\n") == nil)
        #expect(excess("\u{FEFF}" + header + "x = [") == TOMLLocation(line: 2, column: 5))
        #expect(excess(header + "[b]\nx = [[[[]]]]\n") == nil)
        #expect(excess("[" + header) == nil)
        #expect(excess("[" + String(repeating: "a.", count: 16) + "a]") == TOMLLocation(line: 1, column: 33))
    }

    @Test func neighboursAreNotWithinOneAnother() {
        let lines = (0..<100).map { "[a.\($0)]\nb.c = { d.e = [1.5, 2.5, [\n1.5,\n2.5]] }\n" }
        #expect(excess(lines.joined()) == nil)
    }

    @Test(arguments: ["\"", "'", "\"\"\"", "'''"]) func textsAndCommentsHaveNoLevels(quote: String) {
        let many = String(repeating: "[.", count: 50)
        #expect(excess("a = \(quote)\(many)\(quote)\n\(quote)b\(quote) = 1.5 # \(many)\n") == nil)
        #expect(excess("a = \(quote)b\(quote)\(many)") != nil)
        #expect(excess("a = \(quote)\(quote)\(many)") != nil)
    }

    /// Each text ends where toml++ ends it, so nothing hides in it.
    @Test func textsEndWhereTheyEndInTOML() {
        let many = String(repeating: "[.", count: 50)
        #expect(excess("a = \"\\\"\(many)") == nil)
        #expect(excess("a = \"\\\\\"\(many)") != nil)
        #expect(excess("a = '\\'\(many)") != nil)
        #expect(excess("a = \"\n\(many)") != nil)
        #expect(excess("a = \"\"\"\"\"b\"\"\(many)") == nil)
        #expect(excess("a = \"\"\"b\"\"\"\"\"\(many)") != nil)
        #expect(excess("a = \"\"\"\n\\\"\"\"\(many)") == nil)
        #expect(excess("a = '''b''''\(many)") != nil)
        #expect(excess("a = \"b\\") == nil)
    }

    @Test func charactersBeyondASCIIAreFaultsOutsideOfTextsAndComments() {
        let rows: [(text: String, line: Int, column: Int)] = [
            ("é = 1", 1, 1), ("a = 1\nbé = 1", 2, 2), ("[é]", 1, 2), ("a = é", 1, 5), ("a = 2020-01-01é", 1, 15),
            ("a\u{A0}= 1", 1, 2), ("a = 'é'é", 1, 8), ("'é'.é = 1", 1, 5), ("a = \"\"\"é\n\"\"\"é", 2, 4),
            ("# é\n\u{2028}", 2, 1), ("a = 1 \u{FEFF}", 1, 7),
        ]
        for row in rows {
            let fault = fault(row.text)
            #expect(fault?.location == TOMLLocation(line: row.line, column: row.column), "\(row.text)")
            #expect(fault?.text.hasPrefix("no TOML: ") == true, "\(row.text)")
        }
    }

    @Test func textsAndCommentsMayHaveAnyCharacters() {
        for text in ["\"é\"", "'é'", "\"\"\"\né\n\"\"\"", "'''\né\n'''"] {
            #expect(fault("\u{FEFF}a = \(text) # é\n'é' = 1\n") == nil, "\(text)")
        }
    }

    @Test func aLineBehindABackslashMayBeginWithAnyCharacter() throws {
        let document = try TOMLValue.document(Array("a = \"\"\"\\\n  é\\\n\n 🏐\"\"\"\n".utf8), name: "lines")
        guard case .table(let members) = document.content, case .string(let text) = members.first?.value.content else {
            Issue.record("no text")
            return
        }
        #expect(text == "é🏐")
    }

    @Test func noCharacterBeyondASCIICanBeEscaped() {
        let error = #expect(throws: TOMLError.self) {
            try TOMLValue.document(Array("a = \"\"\"\\é\"\"\"".utf8), name: "escape")
        }
        #expect(error?.lines.first?.hasPrefix("escape:1:") == true)
    }

    @Test func aFaultNamesTheCharacterAndItsNumber() {
        let end = "outside of quotation marks and comments; expected ASCII there"
        #expect(fault("é = 1")?.text == "no TOML: é (U+00E9) \(end)")
        #expect(fault("a = 🏐")?.text == "no TOML: 🏐 (U+1F3D0) \(end)")
        for bytes in [[0xFF], [0xC3], [0xC3, 0xA9, 0xA9], [0x80]] as [[UInt8]] {
            var scan = TOMLScan(bytes)
            let fault = scan.fault()
            #expect(fault?.text == "no TOML: a byte that is no UTF-8 \(end)", "\(bytes)")
        }
    }

    /// The levels of 26 KB of keys and brackets are thousands. In a process of its own, which a stack that is too small would end.
    @Test func aDeepDocumentIsAFaultOnASmallStack() async {
        await #expect(processExitsWith: .success) { TOMLScanTests.readDeepDocument() }
    }

    static func readDeepDocument() -> Never {
        let level = "{" + String(repeating: "a.", count: 100) + "a=[\n"
        let document = "x = " + String(repeating: level, count: 128) + String(repeating: "]}", count: 128)
        let thread = Thread {
            do throws(TOMLError) {
                _ = try TOMLValue.document(Array(document.utf8), name: "deep")
                exit(1)
            } catch {
                exit(error.faults.first?.text.hasPrefix("more than 32 tables and arrays") == true ? 0 : 2)
            }
        }
        thread.stackSize = 512 << 10
        thread.start()
        while true { pause() }
    }
}
