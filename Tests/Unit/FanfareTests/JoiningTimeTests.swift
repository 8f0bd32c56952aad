import FanfareFanOut
import FanfareModel
import FanfareQueues
import Testing

@testable import Fanfare

/// Times of joiners that the core tells its shards, with a store.
@Suite struct JoiningTimeTests {
    private static func event(at second: Int64) -> FeedEvent {
        FeedEvent(
            topic: TopicID("order"), topicKind: .generic, at: FeedTime(seconds: second), id: "\(second)", kind: "patch",
            change: .patch(["number": .int(second)]))
    }

    /// A shard without followers of the topic notes a version at once for all who have joined by then: those of the entry before, too, even if
    /// nothing else has been decided since.
    @Test func shardsKnowTheJoinersBeforeAVersionWhenTheVersionComes() {
        for joining in [nil, FeedTime(seconds: 1_790_000_000)] {
            let rings = [ShardRings(), ShardRings()]
            let core = EngineCore(shards: rings.map { ShardLink($0) {} }, perApp: 2, isLive: true)
            let recorder = CoreRecorder(core)
            core.keepCompletions(EarlierCompletions())
            core.apply(Self.event(at: 1_790_000_000), now: FeedTime(seconds: 1_790_000_000))
            core.send(.follow(ActivityID(1), .topic(TopicID("order")), token: [1]), forSubscriber: 1)
            core.turnIsOver()
            core.pendingJoin = joining
            core.apply(Self.event(at: 1_790_000_060), now: FeedTime(seconds: 1_790_000_060))
            core.turnIsOver()
            for ring in rings {
                var commands = ring.commands.takeConsumer()
                var told: [FeedTime] = []
                var toldWithVersions: [FeedTime?] = []
                while let command = commands.pop() {
                    if case .followed(let before, _) = command { told.append(before) }
                    if case .publish = command { toldWithVersions.append(told.last) }
                }
                // Somebody who joined at the first entry's time is still on his way otherwise.
                let newest = FeedTime(seconds: joining == nil ? 1_790_000_060 : 1_790_000_000)
                #expect(toldWithVersions == [nil, newest] && told.last == newest)
            }
            withExtendedLifetime(recorder) {}
        }
    }

    /// Whose preferences change, who is asked about and who leaves joins nothing, and tells no shard of it.
    @Test func onlyJoinersAreToldOf() {
        let commands: [(ShardCommand, Int)] = [
            (.follow(ActivityID(1), .topic(TopicID("order")), token: [1]), 1),
            (.move(ActivityID(1), .topic(TopicID("order"))), 1), (.replaceToken(ActivityID(1), token: [1]), 1),
            (.setPreferences(ActivityID(1), Preferences()), 0), (.unfollow(ActivityID(1)), 0),
            (.reportDisposition(1, ActivityID(1), TopicID("order"), cause: "goal"), 0),
        ]
        for (command, count) in commands {
            let rings = ShardRings()
            let core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
            let recorder = CoreRecorder(core)
            core.keepCompletions(EarlierCompletions())
            core.apply(Self.event(at: 1_790_000_000), now: FeedTime(seconds: 1_790_000_000))
            core.send(command, forSubscriber: 1)
            core.apply(Self.event(at: 1_790_000_060), now: FeedTime(seconds: 1_790_000_060))
            var sent = rings.commands.takeConsumer()
            var told = 0
            while let command = sent.pop() { if case .followed = command { told += 1 } }
            #expect(told == count, "\(command)")
            withExtendedLifetime(recorder) {}
        }
    }

    /// Until all cards are loaded, nobody knows that none lacks a version. Then those that joined at the log time at which the engine before died have
    /// joined before the next one.
    @Test func shardsKnowLoadedCardsOnceAllCardsAreLoaded() {
        let rings = ShardRings()
        let core = EngineCore(shards: [ShardLink(rings) {}], perApp: 1, isLive: true)
        let recorder = CoreRecorder(core)
        core.keepCompletions(EarlierCompletions())
        core.beginRecall()
        core.apply(Self.event(at: 1_790_000_000), now: FeedTime(seconds: 1_790_000_000))
        core.endRecall()
        core.turnIsOver()
        var commands = rings.commands.takeConsumer()
        var feedback = rings.feedback.takeProducer()
        var told: [String] = []
        func take() {
            while let command = commands.pop() {
                switch command {
                case .load: told.append("load")
                case .endLoading: told.append("all")
                case .followed(let before, _): told.append("\(before.milliseconds / 1000 - 1_790_000_000)")
                case .publish(let publication): told.append("version \(publication.version)")
                default: break
                }
            }
        }
        core.apply(Self.event(at: 1_790_000_060), now: FeedTime(seconds: 1_790_000_060))
        core.turnIsOver()
        take()
        #expect(told == ["version 1", "load", "version 2"])
        let isTold = feedback.tryPush(.loaded)
        #expect(isTold)
        core.takeFeedback()
        core.apply(Self.event(at: 1_790_000_120), now: FeedTime(seconds: 1_790_000_120))
        core.turnIsOver()
        take()
        #expect(told.dropFirst(3) == ["60", "all", "120", "version 3"])
        withExtendedLifetime(recorder) {}
    }
}
