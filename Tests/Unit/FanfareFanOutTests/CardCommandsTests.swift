import FanfareModel
import FanfareTestSupport
import Testing

@testable import FanfareFanOut

/// Commands for cards are carried out, or refused.
@Suite struct CardCommandsTests {
    private let stage = EmbeddedShard()

    @Test func commandsForAnActivityThatNobodyKnowsAreRefused() {
        stage.setPreferences(Preferences(alerts: .none))
        stage.apply(.replaceToken(ActivityID(hashing: "card"), token: [1]))
        stage.move(to: TopicID("another"))
        let fates = stage.fates()
        #expect(fates == Array(repeating: .refused(.unknownActivity), count: 3))
        #expect(stage.shard.statistics.activities == 0 && stage.shard.violatedInvariant() == nil)
    }

    @Test func aNewTokenGetsTheNextPush() {
        stage.follow(token: 1)
        stage.apply(.replaceToken(ActivityID(hashing: "card"), token: [9]))
        stage.publish(1)
        let tokens = stage.settle().map(\.token)
        #expect(tokens == [[9]])
    }

    @Test func newPreferencesCountForTheNextPush() {
        stage.follow()
        stage.setPreferences(Preferences(alerts: .none))
        stage.publish(1, alert: "goal")
        let pushes = stage.settle()
        #expect(pushes.count == 1 && pushes.allSatisfy { $0.payload.alert == nil })
    }
}
