import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// The end of an engine. Each test has a time limit, because a fault here hangs.
@Suite(.timeLimit(.minutes(5))) struct EngineStopTests {
    private let topic = TopicID("topic")

    @Test func everyCallAfterAStopIsAnsweredWithStopped() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        engine.stop()
        #expect(engine.offer(.number(1)) == .stopped)
        #expect(engine.offer(.order(.mute, for: .topic(topic))) == .stopped)
        #expect(engine.offer(.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])) == .stopped)
        #expect(engine.offer(.setPreferences(Preferences(), activity: "card", subscriber: "anna")) == .stopped)
        #expect(engine.offer(.unfollow(activity: "card", subscriber: "anna")) == .stopped)
        #expect(engine.offer(.confirmDeadTokens) == .stopped)
        #expect(engine.counts { _ in Issue.record("nothing was taken") } == .stopped)
        #expect(!engine.settle(within: .seconds(Int64.max)), "at once, not after the time is over")
    }

    @Test func anEngineCanBeStoppedTwiceAndByManyAtOnce() throws {
        let engine = try Engine(Engine.Options(transport: .discard))
        let stops = (0..<8).map { _ in Background { engine.stop() } }
        for stop in stops { #expect(stop.join()) }
        engine.stop()
    }

    /// An observer is called on the thread that a stop waits for.
    @Test func anObserverMayStopTheEngine() throws {
        let stopping = Locked<Engine?>(nil)
        let returned = DispatchSemaphore(value: 0)
        var observer = Engine.Observer()
        observer.onDecision = { _ in
            stopping.withLock { $0 }?.stop()
            returned.signal()
        }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        stopping.withLock { $0 = engine }
        #expect(engine.offer(.number(1)).isTaken)
        #expect(returned.wait(timeout: .now() + 120) == .success, "it did not return within the callback")
        engine.stop()
        stopping.withLock { $0 = nil }
    }

    /// A wait would never end, because the observer's own thread gives the answer.
    @Test func anObserverThatWaitsForEverybodyIsToldNo() throws {
        let waiting = Locked<Engine?>(nil)
        let answers = Locked<[Bool]>([])
        var observer = Engine.Observer()
        observer.onDecision = { _ in
            let answer = waiting.withLock { $0 }?.settle(within: .seconds(600))
            answers.withLock { if let answer { $0.append(answer) } }
        }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        waiting.withLock { $0 = engine }
        #expect(engine.offer(.number(1)).isTaken)
        engine.stop()
        waiting.withLock { $0 = nil }
        #expect(answers.withLock { $0 } == [false])
    }

    /// Producers that never pause neither keep the engine from stopping nor lose an event that was taken.
    @Test func eventsTakenWhileTheEngineStopsAreDecidedAndNoOthers() throws {
        let decided = Tally()
        let taken = Tally()
        let running = Tally(enough: 3000)
        var observer = Engine.Observer()
        observer.onDecision = { record in if record.origin == .event { decided.add(1) } }
        var options = Engine.Options(transport: .discard)
        options.mailboxCapacity = 64
        let engine = try Engine(options, observer: observer)
        let producers = (0..<3).map { producer in
            Background {
                var number = 0
                while true {
                    switch engine.offer(.number(number, of: "topic \(producer)")) {
                    case .taken:
                        taken.add(1)
                        running.add(1)
                        number += 1
                    case .full: sched_yield()
                    case .stopped: return
                    case .refused(let reason):
                        Issue.record("refused: \(reason)")
                        return
                    }
                }
            }
        }
        #expect(running.waitForEnough())
        engine.stop()
        let decidedWhenStopped = decided.count
        for producer in producers { #expect(producer.join()) }
        #expect(decidedWhenStopped == taken.count)
        #expect(decided.count == decidedWhenStopped, "after the stop nothing is decided")
    }

    /// A stop sends a state that its topic's interval has held back; a deploy would otherwise leave the old one on phones for hours.
    @Test func aStateDecidedBeforeAStopIsSent() throws {
        // Set on the shard's thread; read here after that has ended.
        nonisolated(unsafe) var source: RecordingSource?
        let engine = try Engine(
            Engine.Options(transport: .discard), observer: Engine.Observer(), apps: [],
            makeTransports: [
                { loop, shard, _ in
                    let recording = RecordingSource(shard)
                    source = recording
                    return try DiscardTransport(loop: loop, source: recording)
                }
            ])
        #expect(engine.offer(.follow(.topic(topic), activity: "card", subscriber: "anna", token: [1])).isTaken)
        for number in 1...5 { #expect(engine.offer(.number(number)).isTaken) }
        engine.stop(within: .seconds(120))
        #expect(source?.accepted[[1]]?.last?.state == Array(#"{"number":5}"#.utf8))
    }

    /// The service accepts all requests and answers none: the stop and every wait end nevertheless.
    @Test func aStopEndsInItsTimeAlthoughTheServiceIsSilent() throws {
        let engine = try Engine.scripted({ .silent })
        for person in 0..<10 {
            #expect(
                engine.offer(.follow(.topic(topic), activity: "card \(person)", subscriber: "\(person)", token: [1]))
                    .isTaken)
        }
        #expect(engine.offer(.number(1)).isTaken)
        let verdict = Locked<Bool?>(nil)
        let answered = Tally()
        let waiting = Background {
            let isSettled = engine.settle(within: .seconds(600))
            verdict.withLock { $0 = isSettled }
        }
        #expect(engine.counts { _ in answered.add(1) }.isTaken)
        #expect(engine.freshness { _ in answered.add(1) }.isTaken)
        #expect(
            engine.alertDisposition(of: "x", in: topic, activity: "card 1", subscriber: "1") { _ in answered.add(1) }
                .isTaken)
        engine.stop(within: .milliseconds(100))
        #expect(waiting.join())
        #expect(verdict.withLock { $0 } == false)
        #expect(answered.count == 3, "questions that were open when the engine stopped")
    }

    /// A stop with no time at all still decides and answers every event that was taken.
    @Test func aStopWithoutTimeDecidesWhatWasTaken() throws {
        let decided = Tally()
        let answered = Tally()
        var observer = Engine.Observer()
        observer.onDecision = { record in if record.origin == .event { decided.add(1) } }
        let engine = try Engine.scripted({ .silent }, observer)
        for number in 1...5000 { #expect(engine.offer(.number(number)).isTaken) }
        #expect(
            engine.alertDisposition(of: "x", in: topic, activity: "nobody", subscriber: "1") { _ in answered.add(1) }
                .isTaken)
        engine.stop(within: .zero)
        #expect(decided.count == 5000)
        #expect(answered.count == 1)
    }

    /// The dead tokens outnumber the places in the ring to the core, the core does not read it, and then no time is left.
    @Test func deadTokensAreReportedAlthoughTheEngineStops() throws {
        let people = 90_000
        // The ring's 16,384, plus the facts that a shard holds before it stops pulling.
        let tally = Tally(enough: 16_384 + 4096)
        let reported = Tally()
        let isHeldUp = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        var observer = Engine.Observer()
        observer.onDeadToken = { _ in reported.add(1) }
        observer.onDecision = { record in
            guard record.seq == 1 else { return }
            isHeldUp.signal()
            goOn.wait()
        }
        let everybody = (0..<people).map { number in
            Subscription(
                audience: .topic(TopicID("topic")), activity: ActivityID(hashing: "activity \(number)"),
                subscriber: UInt64(number), token: [1])
        }
        let engine = try Engine.scripted(
            { .everyThirdIsDead(tally) }, observer,
            subscribers: SubscriberSequence(everybody, expectedCount: people))
        // The publication is on its way to the shard when the core decides the next event, and blocks.
        #expect(engine.offer(.number(0)).isTaken)
        #expect(engine.offer(.number(1)).isTaken)
        #expect(isHeldUp.wait(timeout: .now() + 120) == .success)
        #expect(tally.waitForEnough(), "\(tally.count)")
        let stop = Background { engine.stop(within: .zero) }
        while engine.counts({ _ in }) != .stopped { sched_yield() }
        goOn.signal()
        #expect(stop.join())
        #expect(reported.count == tally.count)
    }
}
