import FanfareJSON
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct ShownContentTests {
    private func content(_ json: String) throws -> ShownContent {
        let object = try #require(JSONObject(parsing: Array(json.utf8)))
        return ShownContent(object)
    }

    @Test func contentHasTheRowsAndTheStateInTheSpotlight() throws {
        let shown = try content(
            #"{"topics":[{"id":"a","compactLeading":"1","compactTrailing":"2","minimal":"3"},{"id":"b"}],"#
                + #""more":4,"spotlight":{"index":1,"state":{"home":2}},"highlight":"home","link":"app://b"}"#)
        #expect(shown.rows.map(\.topic) == ["a", "b"] && shown.more == 4)
        #expect(shown.rows[0].compactLeading == "1" && shown.rows[0].minimal == "3" && shown.rows[1].minimal.isEmpty)
        #expect(shown.spotlightRow?.topic == "b" && shown.state["home"]?.intValue == 2)
        #expect(shown.highlight == "home" && shown.link == "app://b")
    }

    @Test func contentWithoutASpotlightHasNoRowForIt() throws {
        let shown = try content(#"{"topics":[{"id":"a"}]}"#)
        #expect(shown.spotlight == nil && shown.spotlightRow == nil && shown.more == 0)
        #expect(shown.state == JSONObject())
    }
}
