import FanfareFanOut
import FanfareModel
import Testing

@testable import FanfareReplay

@Suite struct LiveAudienceTests {
    @Test func everybodyFollowsATopicOnceUntilItIsForgotten() {
        var audience = LiveAudience(SyntheticSubscribers(count: 3, lineups: nil, seed: 1, topics: []))
        func follows(_ topic: TopicID) -> Int {
            var sent = 0
            audience.welcome(topic) { _, command in if case .follow = command { sent += 1 } }
            return sent
        }
        let match = TopicID("match/1")
        let counts = [follows(match), follows(match), follows(TopicID("match/2"))]
        audience.forget(match)
        let again = follows(match)
        #expect(counts == [3, 0, 3] && again == 3)
    }
}
