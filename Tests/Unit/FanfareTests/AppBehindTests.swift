import FanfareFanOut
import FanfareModel
import FanfareQueues
import FanfareTestSupport
import Testing

@testable import Fanfare

/// Two apps on one core, in one thread. The first app's shard takes no commands for a while, because its thread hangs or is
/// overloaded. The other app must not notice.
@Suite struct AppBehindTests {
    /// A core and the shards of two apps; they run only when a test tells them to.
    private final class TwoApps {
        let clock = ManualClock()
        let links: [ShardLink]
        let core: EngineCore
        private let inbox = Inbox(capacity: 1 << 14, topicIDSizeMax: .bytes(256))
        private let turn: CoreTurn
        private let shards: [ShardTurn]
        let transports: [WillingTransport]
        private let wakeups = Wakeups()
        let recorder: CoreRecorder

        /// Threads that were woken and have not run since.
        private final class Wakeups {
            var core = false
            var shards = [false, false]
        }

        init() {
            let source = clock.source
            let wakeups = wakeups
            let rings = [ShardRings(), ShardRings()]
            let shardClock = ThreadClock(source)
            shards = rings.indices.map { app in
                ShardTurn(
                    rings[app], shard: Shard(), clock: shardClock, wake: { wakeups.shards[app] = true },
                    wakeCore: { wakeups.core = true })
            }
            transports = shards.map { WillingTransport($0.shard) { shardClock.now() } }
            for (shard, transport) in zip(shards, transports) { shard.attach(transport) }
            links = rings.indices.map { app in ShardLink(rings[app]) { wakeups.shards[app] = true } }
            core = EngineCore(
                shards: links, perApp: 1, apps: [AppID(bundleID: "behind"), AppID(bundleID: "well")], isLive: true)
            turn = CoreTurn(core, inbox, clock: ThreadClock(source)) { _ in }
            recorder = CoreRecorder(core)
        }

        /// Runs the woken threads until none is woken.
        ///
        /// - Parameter app: the app whose shards run; `nil` for both.
        func run(shardsOf app: Int? = nil) {
            let running = app.map { [$0] } ?? [0, 1]
            while turn.run() == .again {}
            while wakeups.core || running.contains(where: { wakeups.shards[$0] }) {
                for app in running where wakeups.shards[app] {
                    wakeups.shards[app] = false
                    shards[app].takeCommands()
                    _ = shards[app].end()
                }
                if wakeups.core {
                    wakeups.core = false
                    core.takeFeedback()
                    while turn.run() == .again {}
                }
            }
        }

        func event(_ kind: String, _ change: FeedEvent.Change) {
            #expect(
                inbox.requests.tryPush(
                    .event(
                        FeedEvent(
                            topic: OneThread.match, topicKind: .football, at: clock.truth, kind: kind, change: change)))
            )
        }

        func begin() {
            for app in 0..<2 {
                core.send(
                    .follow(ActivityID(1), .topic(OneThread.match), token: [UInt8(app)]), forSubscriber: 1, app: app)
            }
            event("teams", .fact(Fact(id: "t", kind: "teams", at: clock.truth, values: ["home": "A", "away": "B"])))
            event("period", .fact(Fact(id: "k", kind: "period", at: clock.truth, values: ["period": "1H"])))
            run()
            clock.pass(.seconds(10))
            run()
        }

        /// Publishes a visible, silent change that may be overtaken by a newer one.
        func attendance(_ count: Int64) { event("attendance", .patch(["attendance": .int(count)])) }

        func goal(_ number: Int) {
            event(
                "goal",
                .fact(Fact(id: "goal-\(number)", kind: "goal", at: clock.truth, values: ["side": "home"])))
        }

        /// Sends unfollows of activities that do not exist, as a backend might.
        func sendToFirstApp(_ count: Int) {
            for _ in 0..<count { core.send(.unfollow(ActivityID(9)), forSubscriber: 9, app: 0) }
        }

        /// Alerts that an app's phones got after the one at the match's beginning.
        func alerts(_ app: Int) -> Int { transports[app].accepted.count { $0.alert != nil } - 1 }
    }

    @Test func anAppWhoseShardTakesNothingHoldsBackNoGoalOfAnother() {
        let apps = TwoApps()
        apps.begin()
        apps.sendToFirstApp(ShardRings.commandsMax + 1000)
        #expect(apps.links[0].unsent >= 1000, "there is no room")
        apps.goal(1)
        apps.run(shardsOf: 1)
        #expect(apps.alerts(1) == 1, "the other app's people have the goal")
        // The match goes on for hours: its alerts wait, and of all other changes the newest.
        let unsent = apps.links[0].unsent
        for count: Int64 in 1...1000 {
            apps.clock.pass(.seconds(10))
            apps.attendance(count)
            apps.run(shardsOf: 1)
        }
        #expect(apps.transports[1].accepted.last?.state.contains(#""attendance":1000"#) == true)
        #expect(apps.links[0].unsent <= unsent + 2, "\(apps.links[0].unsent)")
        // The shard finally takes the waiting commands in order, and nothing stays pending.
        var settled: Settlement?
        apps.core.settle { settled = $0 }
        apps.goal(2)
        apps.run(shardsOf: 1)
        #expect(settled == nil && apps.alerts(1) == 2)
        apps.run()
        #expect(settled == .complete)
        #expect(apps.links.allSatisfy { $0.unsent == 0 })
        #expect(apps.transports[0].accepted.last?.state == apps.transports[1].accepted.last?.state)
    }

    /// A health check asks every second whether all is settled, and times out soon.
    @Test func questionsToAShardThatTakesNothingKeepNothingWaiting() {
        let apps = TwoApps()
        apps.begin()
        apps.sendToFirstApp(ShardRings.commandsMax + 1000)
        let unsent = apps.links[0].unsent
        var answers = 0
        for count: Int64 in 1...1000 {
            apps.clock.pass(.seconds(10))
            apps.attendance(count)
            apps.core.settle { _ in answers += 1 }
            apps.run(shardsOf: 1)
        }
        #expect(apps.links[0].unsent <= unsent + 4, "\(apps.links[0].unsent)")
        #expect(answers == 0)
        apps.run()
        #expect(answers == 1000)
        #expect(apps.links.allSatisfy { $0.unsent == 0 })
    }

    /// The engine refuses commands nevertheless when an app is so far behind that memory is at risk; the refusals end.
    @Test func commandsThatWaitForAShardAreBounded() {
        let apps = TwoApps()
        apps.begin()
        apps.sendToFirstApp(ShardRings.commandsMax + ShardLink.unsentBesideOthersMax)
        #expect(!apps.core.isCongested)
        apps.sendToFirstApp(1)
        #expect(apps.core.isCongested)
        apps.goal(1)
        apps.run(shardsOf: 1)
        #expect(apps.alerts(1) == 0)
        #expect(apps.recorder.reliefs == 0)
        apps.run()
        #expect(apps.recorder.reliefs == 1 && apps.alerts(1) == 1)
    }
}
