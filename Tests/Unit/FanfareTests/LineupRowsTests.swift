import FanfareModel
import Testing

@testable import CrashSimulation

@Suite struct LineupRowsTests {
    private static let state = #"""
        {"spotlight":{"index":1,"kind":"generic","state":{"edition":0,"minimal":"7","number":7}},"topics":[
        {"compactLeading":"","compactTrailing":"","id":"topic/0","kind":"generic","minimal":"5"},
        {"compactLeading":"","compactTrailing":"","id":"topic/1","kind":"generic","minimal":"7"}]}
        """#

    @Test func rowsAreReadInTheirOrderWithTheSpotlight() {
        let rows = LineupRows(Array(Self.state.utf8))
        let topics = (0..<3).map { TopicID("topic/\($0)") }
        #expect(rows.topics == Array(topics[..<2]) && rows.spotlight == topics[1])
        #expect(rows[topics[0]] == "5" && rows[topics[1]] == "7" && rows[topics[2]] == nil)
    }

    @Test func aStateThatIsNoLineupHasNoRows() {
        let rows = LineupRows(Array(#"{"number":7}"#.utf8))
        #expect(rows.topics.isEmpty && rows.spotlight == nil)
    }
}
