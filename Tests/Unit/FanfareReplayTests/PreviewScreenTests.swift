import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct PreviewScreenTests {
    @Test func screenNeedsTopicsAndSomebodyWhoLooks() {
        let topics = [TopicID("match/1")]
        #expect(PreviewScreen(of: topics, rules: LineupRules(), show: { _ in }) != nil)
        #expect(PreviewScreen(of: topics, rules: LineupRules(), show: nil) == nil)
        #expect(PreviewScreen(of: [], rules: LineupRules(), show: { _ in }) == nil)
    }

    @Test func aCardWithoutASpotlightHasNoRowInIt() {
        let rows = ["match/1", "match/2"].map { topic in
            ShownContent.Row(topic: topic, compactLeading: "", compactTrailing: "", minimal: "")
        }
        var content = ShownContent(
            rows: rows, more: 0, spotlight: 1, state: [:], highlight: nil, link: nil)
        #expect(content.spotlightRow == rows[1])
        content.spotlight = nil
        #expect(content.spotlightRow == nil)
    }
}
