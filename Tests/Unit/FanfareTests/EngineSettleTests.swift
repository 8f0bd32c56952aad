import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Synchronization
import Testing

@testable import Fanfare

@Suite(.timeLimit(.minutes(5))) struct EngineSettleTests {
    private let topic = TopicID("topic")

    private func counts(_ engine: Engine) throws -> ShardCounts {
        let counted = Locked<ShardCounts?>(nil)
        let answered = DispatchSemaphore(value: 0)
        let asked = engine.counts { counts in
            counted.withLock { $0 = counts }
            answered.signal()
        }
        try #require(asked.isTaken)
        #expect(answered.wait(timeout: .now() + 120) == .success)
        return try #require(counted.withLock { $0 })
    }

    /// Five changes come at one moment: the first leaves at once, the others wait for the topic's interval and leave together.
    @Test func settledMeansThatChangesWhichWaitedForTheirIntervalHaveArrived() throws {
        let flushed = Locked(false)
        let clock = ManualClock()
        let decided = Tally()
        var observer = Engine.Observer()
        observer.onDecision = { record in
            if record.kind == "flush", record.outcome == .published { flushed.withLock { $0 = true } }
            guard record.origin == .event else { return }
            decided.add(1)
            if decided.count == 5 { clock.pass(.seconds(60)) }
        }
        var options = Engine.Options(transport: .discard)
        options.clock = clock.source
        let engine = try Engine(options, observer: observer)
        #expect(engine.offer(.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])).isTaken)
        #expect(engine.offer(.number(1)).isTaken)
        #expect(engine.settle(within: .seconds(120)))
        #expect(try counts(engine).pushes.accepted == 1)
        for number in 2...5 { #expect(engine.offer(.number(number)).isTaken) }
        #expect(engine.settle(within: .seconds(120)))
        #expect(flushed.withLock { $0 })
        #expect(try counts(engine).pushes.accepted == 2)
        engine.stop()
    }

    /// A push is pending at any moment: new states, new people, and an answer that comes only after the next push.
    @Test func aBusyEngineSettlesForEveryCallerWhoAsks() throws {
        let release = Flag()
        let isEnough = Flag()
        let took = DispatchSemaphore(value: 0)
        var rules = TopicRules()
        rules.pace.minimumInterval = .zero
        let engine = try Engine.scripted(
            { .oneBehind(release: release, took: took) }, rules: Rules(kinds: [:], other: rules))
        let producer = Background {
            var number = 0
            while !isEnough.isSet {
                number += 1
                #expect(
                    engine.offer(
                        .follow(
                            .topic(TopicID("topic")), activity: "card \(number)", subscriber: "\(number)", token: [1]
                        )
                    ).isTaken)
                #expect(engine.offer(.number(number)).isTaken)
                if number > 50 {
                    #expect(
                        engine.offer(.unfollow(activity: "card \(number - 50)", subscriber: "\(number - 50)")).isTaken)
                }
                // Publishes no faster than the network takes pushes.
                took.wait()
            }
        }
        #expect(took.wait(timeout: .now() + 120) == .success)
        took.signal()
        let settled = Tally()
        let waiting = (0..<6).map { _ in
            Background {
                if engine.settle(within: .seconds(100)) { settled.add(1) }
            }
        }
        for one in waiting { #expect(one.join()) }
        #expect(settled.count == 6)
        isEnough.set()
        took.signal()
        #expect(producer.join())
        release.set()
        engine.stop()
    }

    /// APNs is silent and no event comes: nothing but the settle's own time brings the core a turn.
    @Test func settleEndsAtItsTimeInAnEngineWithNothingToDo() async throws {
        let release = Flag()
        let took = DispatchSemaphore(value: 0)
        let engine = try Engine.scripted({ .oneBehind(release: release, took: took) })
        _ = try await engine.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])
        _ = try await engine.ingest(.number(1))
        #expect(await !engine.settle(within: .milliseconds(50)))
        release.set()
        _ = await engine.shutdown(within: .zero)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .zero, .seconds(-1), .seconds(Int64.min)])
    func anyTimeCanBeWaitedFor(timeout: Duration) throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        #expect(engine.offer(.number(1)).isTaken)
        let isSettled = engine.settle(within: timeout)
        #expect(isSettled || timeout <= .zero)
        engine.stop(within: timeout)
    }
}
