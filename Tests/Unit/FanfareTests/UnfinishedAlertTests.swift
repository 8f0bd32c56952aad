import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import CrashSimulation
@testable import Fanfare

/// A crash in the middle of a goal's sweep: nobody hears of the goal twice, and those whom it has not reached still do.
@Suite struct UnfinishedAlertTests {
    @Test func aCrashAtAnyMomentAlertsNobodyTwiceAndForgetsNobody() {
        let worlds = CrashSeeds(60)
        var met = CrashTally()
        for seed in worlds.seeds {
            let world = CrashWorld(seed: seed)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 3) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.late > 100 && met.uncertain > 3 && met.alerts > met.late, "\(met)")
        #expect(met.spared > 100 && met.superfluous > 100 && met.ahead > 100, "\(met)")
        #expect(met.ofLineups > 100 && met.lateOfLineups > 10 && met.restorable > 10 && met.rows > 100, "\(met)")
        #expect(met.sparedLineups > 10, "\(met)")
        #expect(met.whileLoading > 10 && met.unloaded > 5, "\(met)")
        #expect(met.upgrades > 10 && met.quietUpgrades > 2, "\(met)")
        #expect(met.lost > 0, "no death met a claimed phone without its alert")
        #expect(met.conserved > 0, "no budget that began half spent held anything back")
    }

    /// Alerts wait two seconds for a disk that stalls, then leave without claims, and another life may not know that they have left.
    @Test func onlyAlertsThatLeftWithoutClaimsWhileADiskStalledComeAgain() {
        let worlds = CrashSeeds(60)
        var met = CrashTally()
        for seed in worlds.seeds {
            let world = CrashWorld(seed: seed, hasStalls: true)
            world.onHappening = worlds.tell
            if let violation = world.play(lives: 3) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.unclaimed > 10 && met.repeated > 0, "\(met)")
    }

    // MARK: Engines

    private final class Stores: Sendable {
        let log = MemoryLog()
        let people = MemoryPeopleStore()
        let claims = MemoryClaims()
        let alerts = Locked<[String: Int]>([:])
        let lines = Locked<[String]>([])
        /// Pushes that the transport takes before it takes no more.
        let room = Locked(Int.max)

        func engine() throws -> Engine {
            var observer = Engine.Observer()
            observer.onReport = { line in self.lines.withLock { $0.append(line) } }
            return try Engine(
                Engine.Options(transport: .discard, store: StoreChoice(place: .log(log, people, claims))),
                observer: observer, apps: [],
                makeTransports: [{ _, shard, _ in LimitedTransport(shard, self.room) { self.note($0) } }])
        }

        private func note(_ payload: Payload) {
            guard case .text(let title)? = payload.alert?.title else { return }
            alerts.withLock { $0[title, default: 0] += 1 }
        }
    }

    private static func goal(_ number: Int) -> FeedEvent {
        FeedEvent(
            topic: TopicID("match/1"), topicKind: .generic, at: FeedTime(milliseconds: Moment.now().wallMilliseconds),
            id: "e\(number)", kind: "goal", change: .patch(["goals": .int(Int64(number))]),
            alert: AlertText(title: "goal \(number)", body: ""))
    }

    /// An engine is stopped in the middle of a goal's sweep. The next one alerts the rest, and the one behind it nobody.
    @Test(.timeLimit(.minutes(10))) func theNextEngineAlertsThoseWhomTheGoalHasNotReached() async throws {
        let stores = Stores()
        let people = 3000
        var engine = try stores.engine()
        for person in 0..<people {
            _ = engine.offer(
                .follow(
                    .topic(TopicID("match/1")), activity: ActivityID("card \(person)"),
                    subscriber: SubscriberID("\(person)"), token: [UInt8(person >> 8), UInt8(person & 255)]))
        }
        // An event overtakes rows that are not durable yet.
        #expect(await engine.settle(within: .seconds(300)))
        _ = try await engine.ingest(Self.goal(1))
        #expect(await engine.settle(within: .seconds(300)))
        #expect(stores.alerts.withLock(\.["goal 1"]) == people)

        stores.room.withLock { $0 = 100 }
        _ = try await engine.ingest(Self.goal(2))
        while stores.room.withLock({ $0 > 0 }) { await Task.yield() }
        _ = await engine.shutdown(within: .zero)
        #expect(stores.alerts.withLock(\.["goal 2"]) == 100)

        stores.room.withLock { $0 = .max }
        for _ in 0..<2 {
            engine = try stores.engine()
            #expect(await engine.settle(within: .seconds(300)))
            _ = await engine.shutdown()
        }
        // A claimed activity that was not reached gets the state alone: at most two blocks.
        let told = stores.alerts.withLock(\.["goal 2"]) ?? 0
        #expect((people - 2048 + 100...people).contains(told), "\(told)")
        #expect(stores.alerts.withLock(\.["goal 1"]) == people)
        let lines = stores.lines.withLock { $0 }.filter {
            $0.contains("go on to those whom they had not reached: 2 of 1")
        }
        #expect(lines.count == 2, "\(stores.lines.withLock { $0 })")
    }
}

/// Answers each push at once, as long as there is room for another.
private final class LimitedTransport: Transport {
    private unowned let source: any DeliverySource
    private let room: Locked<Int>
    private let note: (Payload) -> Void
    private var batch = DeliveryBatch()

    init(_ source: any DeliverySource, _ room: Locked<Int>, _ note: @escaping (Payload) -> Void) {
        self.source = source
        self.room = room
        self.note = note
    }

    var isReady: Bool { true }

    func workAvailable() {
        while room.withLock({ $0 > 0 }) {
            source.pull(limit: min(64, room.withLock { $0 }), at: .now(), into: &batch)
            if batch.deliveries.isEmpty { return }
            room.withLock { $0 -= batch.deliveries.count }
            for delivery in batch.deliveries { note(batch.payload(of: delivery)) }
            let completions = batch.deliveries.map {
                DeliveryCompletion(slot: $0.slot, generation: $0.generation, outcome: .accepted)
            }
            batch.removeAll()
            source.complete(completions, at: .now())
        }
    }

    func close(_ closed: @escaping () -> Void) { closed() }
}
