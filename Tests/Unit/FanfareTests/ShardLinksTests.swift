import FanfareFanOut
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

@Suite struct ShardLinksTests {
    /// The shards of two apps, two for each, and their commands.
    private struct Stage {
        private let consumers: [ShardRings]
        let links: ShardLinks

        init() {
            let rings = (0..<4).map { _ in ShardRings(commandsMax: 8, feedbackMax: 8) }
            consumers = rings
            links = ShardLinks(rings.map { ShardLink($0) {} }, perApp: 2)
        }

        /// Returns the shards that have commands.
        func told() -> [Int] {
            consumers.indices.filter { index in
                var commands = consumers[index].commands.takeConsumer()
                return commands.pop() != nil
            }
        }
    }

    @Test func commandGoesToAllShards() {
        let stage = Stage()
        stage.links.send(.confirmDeadTokens)
        #expect(stage.links.appCount == 2 && stage.told() == [0, 1, 2, 3])
    }

    @Test func commandForAnAppGoesToItsShards() {
        let stage = Stage()
        stage.links.send(.republish, toApp: 1)
        #expect(stage.told() == [2, 3])
    }

    @Test func commandForASubscriberGoesToOneShardOfTheApp() {
        for subscriber in UInt64(0)..<8 {
            let stage = Stage()
            stage.links.send(.unfollow(ActivityID(1)), forSubscriber: subscriber, app: 1)
            #expect(stage.told() == [2 + ShardPlace.index(ofSubscriber: subscriber, of: 2)])
        }
    }

    /// Each app of several has room for 262,144 commands beyond its rings; an app alone has none.
    @Test func oneAppAloneIsCongestedAsSoonAsItsRingIsFull() {
        let links = ShardLinks([ShardLink(ShardRings(commandsMax: 8, feedbackMax: 8)) {}], perApp: 1)
        for _ in 0..<8 { links.send(.unfollow(ActivityID(1))) }
        #expect(!links.isCongested)
        links.send(.unfollow(ActivityID(1)))
        #expect(links.isCongested)
        #expect(links.depth == 9, "eight wait in the ring, and one for room there")
        let stage = Stage()
        for _ in 0..<9 { stage.links.send(.unfollow(ActivityID(1))) }
        #expect(!stage.links.isCongested)
    }
}
