import FanfareJSON
import FanfareModel
import Testing

@Suite struct JSONObjectReadingTests {
    @Test func anObjectIsRead() throws {
        let object = try JSONObject(reading: Array(#" {"b":[1],"a":null} "#.utf8))
        #expect(object == ["a": .null, "b": [1]])
        #expect(JSONObject(parsing: Array("{}".utf8))?.isEmpty == true)
    }

    @Test(arguments: ["[1]", "3", "null", "\"a\""]) func jsonThatIsNoObjectIsRefusedWithAReason(text: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONObject(reading: Array(text.utf8)) }
        #expect(fault?.description == "JSON, but no object: it does not begin with {")
        #expect(JSONObject(parsing: Array(text.utf8)) == nil)
    }

    @Test(arguments: ["", "{", "{\"a\":}", "{} {}"]) func textThatIsNoJSONIsRefusedWithAReason(text: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONObject(reading: Array(text.utf8)) }
        #expect(fault?.description.hasPrefix("no JSON: ") == true)
        #expect(JSONObject(parsing: Array(text.utf8)) == nil)
    }
}
