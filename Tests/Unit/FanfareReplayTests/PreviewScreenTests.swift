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
}
