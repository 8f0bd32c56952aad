import FanfareJSON
import FanfareModel
import Testing

@Suite struct JSONParserTests {
    private func reason(_ text: String) -> String? {
        do throws(JSONParser.Failure) {
            try JSONParser().parse(Array(text.utf8)) { _ in }
            return nil
        } catch { return error.reason }
    }

    private func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    @Test func oneParserReadsDocumentAfterDocument() throws {
        let parser = JSONParser()
        for number in 0..<3 {
            let text = #"{"number":\#(number),"long":"\#(String(repeating: "x", count: 10_000 * number))"}"#
            let length = try parser.parse(Array(text.utf8)) { $0["long"]?.byteCount }
            #expect(length == 10_000 * number)
        }
    }

    @Test func aParserReadsOnAfterADocumentThatIsNoJSON() throws {
        let parser = JSONParser()
        #expect(throws: JSONParser.Failure.self) { try parser.parse(Array("{".utf8)) { _ in } }
        let value = try parser.parse(Array("[1]".utf8)) { $0.value }
        #expect(value == [1])
    }

    @Test(arguments: [
        ("", "nothing but white space"), (" \n", "nothing but white space"), ("\"a", "a string is not closed"),
        ("\"\u{1}\"", "a control character stands unescaped in a string"),
        ("tru", "an unquoted word is none of true, false, null"), ("[1,]", "malformed JSON"),
    ])
    func textThatIsNoJSONHasAReasonForPeople(text: String, expected: String) {
        #expect(reason(text) == expected)
    }

    @Test func bytesThatAreNoUTF8AreNoJSON() {
        let error = #expect(throws: JSONParser.Failure.self) {
            try JSONParser().parse([UInt8(ascii: "\""), 0xFF, UInt8(ascii: "\"")]) { _ in }
        }
        #expect(error?.reason == "invalid UTF-8")
    }

    @Test func documentsAreRefusedBeyondTheMaximumDepth() {
        #expect(reason(nested(JSONParser.depthMax - 4)) == nil)
        #expect(reason(nested(JSONParser.depthMax + 1)) == "nested too deep (more than 64 levels)")
    }
}
