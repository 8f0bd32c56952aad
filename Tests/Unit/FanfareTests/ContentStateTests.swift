import FanfareLoop
import FanfareTestSupport
import Foundation
import Synchronization
import Testing

@testable import Fanfare

/// The app's structs: a default `JSONDecoder`, which ActivityKit uses, decodes them to the values that were encoded.
@Suite struct ContentStateTests {
    struct Ride: Codable, Hashable, Sendable {
        enum Phase: String, Codable { case waiting, driving }
        struct Driver: Codable, Hashable { var name: String, stars: Double }

        var phase = Phase.waiting
        var driver = Driver(name: "Zoë \"Z\" 🚕", stars: 4.9)
        var arrival = Date(timeIntervalSince1970: 1_790_000_000.125)
        var seen: Date?
        var map = Data([0, 255, 62])
        var link = URL(string: "https://example.com/ride?id=17&a=b")
        var id = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")
        var waitSeconds = 0...90
        var fare = Decimal(string: "12.34")
        var stops = ["A", "B"]
        var counts = ["x": 1, "y": -2]
        var whole = 3.0
        var small = Float(0.1)
        var largest = Int64.max
    }

    private func bytes(_ state: some Codable & Hashable) throws -> [UInt8] {
        EncodedState(try JSONObject(contentState: state)).bytes
    }

    @Test func everyDefaultStrategyRoundTrips() throws {
        var ride = Ride()
        for seen in [nil, Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSince1970: -1.5)] {
            ride.seen = seen
            #expect(try JSONDecoder().decode(Ride.self, from: Data(bytes(ride))) == ride)
        }
    }

    private final class TickingClock: Sendable {
        private let ticks = Atomic<Int64>(0)
        func tick() -> Int64 { ticks.add(1, ordering: .relaxed).newValue }
    }

    /// Two threads of a backend publish states of one topic: each state gets the time at which the core takes it, so none is older than
    /// the one before.
    @Test(.timeLimit(.minutes(5))) func statesOfTwoThreadsAreAllPublishedInOrder() throws {
        struct Count: Codable, Hashable, Sendable { var thread, number: Int }
        let records = Locked<[DecisionRecord]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in records.withLock { $0.append(record) } }
        var rules = TopicRules()
        rules.pace.minimumInterval = .zero
        rules.pace.lateAfter = .zero
        var options = Engine.Options(transport: .discard)
        options.rules = Rules(kinds: [:], other: rules)
        // Each reading of the clock adds a millisecond, so that no two moments are equal.
        let clock = TickingClock()
        options.clock = ClockSource(
            wall: { FeedTime(milliseconds: 1_790_000_000_000 + clock.tick()) },
            monotonic: { MonotonicTime(nanoseconds: clock.tick() * 1_000_000) })
        let hasBegun = Flag()
        let engine = try Engine(options, observer: observer)
        let threads = (0..<2).map { thread in
            Background {
                while !hasBegun.isSet {}
                for number in 0..<1000 {
                    let state = Count(thread: thread, number: number)
                    // A refusal means that the mailbox is full.
                    while (try? engine.offer(.publish(state, for: TopicID("ride/1"))))?.isTaken == false {
                        sched_yield()
                    }
                }
            }
        }
        hasBegun.set()
        for thread in threads { #expect(thread.join()) }
        engine.stop(within: .seconds(3600))
        let decided = records.withLock { $0 }.filter { $0.origin == .event }
        #expect(decided.count == 2000)
        #expect(decided.allSatisfy { $0.outcome == .published })
        #expect(decided.map(\.version) == (1...2000).map { UInt32($0) })
    }

    /// A caller that does not know whether its call was taken before a crash repeats it.
    @Test(.timeLimit(.minutes(2))) func aRepeatedCallWithTheSameIDIsTakenOnce() async throws {
        struct Count: Codable, Hashable, Sendable { var number: Int }
        let records = Locked<[DecisionRecord]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in records.withLock { $0.append(record) } }
        let engine = try await Engine.launch(Engine.Options(transport: .discard), observer: observer)
        let topic = TopicID("order/1")
        for number in 1...2 {
            _ = try await engine.publish(
                Count(number: number), for: topic, id: "same", alert: AlertText(title: "On its way", body: ""))
            _ = try await engine.correct(topic, .patch(["number": .int(Int64(10 + number))]), id: "correction")
            _ = try await engine.order(.pause, for: .topic(topic), id: "pause")
            _ = try await engine.order(.resume, for: .topic(topic), id: "resume")
        }
        _ = try await engine.topicState(topic)
        _ = await engine.shutdown(within: .seconds(10))
        let outcomes = records.withLock { $0.map { "\($0.kind) \($0.outcome)" } }
        #expect(outcomes.suffix(4) == ["state duplicate", "correct duplicate", "pause duplicate", "resume duplicate"])
        #expect(outcomes.prefix(4).allSatisfy { !$0.hasSuffix("duplicate") }, "\(outcomes)")
    }

    /// A caller may repeat a call with a key in either form, so both must have the same content.
    @Test func aStateEventThatSaysTheSameMakesTheSameCommand() throws {
        let (topic, alert) = (TopicID("order/1"), AlertText(title: "On its way", body: ""))
        let at = FeedTime(seconds: 1_790_000_000)
        let short = try Engine.Command.publish(["n": 1], for: topic, at: at, id: "a", alert: alert)
        let long = try Engine.Command.publish(["n": 1], for: topic, as: StateEvent(at: at, id: "a", alert: alert))
        #expect(short.content == long.content)
        let last = try Engine.Command.publish(["n": 1], for: topic, as: StateEvent(topicKind: .ride, lifecycle: .end))
        guard case .happening(let make) = last.body else {
            Issue.record("\(last.body)")
            return
        }
        let event = make(at)
        #expect(event.topicKind == .ride && event.lifecycle == .end && event.at == at)
    }

    @Test func datesCountFrom2001() throws {
        struct Clock: Codable, Hashable { var end: Date }
        let state = Clock(end: Date(timeIntervalSince1970: 1_790_000_000))
        #expect(try String(decoding: bytes(state), as: UTF8.self) == #"{"end":811692800}"#)
    }

    @Test func equalStatesHaveEqualBytes() throws {
        var a = Ride()
        var b = Ride()
        a.counts = ["one": 1, "two": 2, "three": 3]
        b.counts = ["three": 3, "two": 2, "one": 1]
        #expect(try bytes(a) == bytes(b))
    }

    @Test func statesThatPhonesCannotReadAreRefusedWithTheReason() throws {
        struct Number: Codable, Hashable { var value: Double }
        struct Large: Codable, Hashable { var value: UInt64 }
        struct Exact: Codable, Hashable { var value: Decimal }
        /// A type whose decoder does not match its encoder.
        struct Shifting: Codable, Hashable {
            var value: Int
            init(value: Int) { self.value = value }
            init(from decoder: any Decoder) throws {
                value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value) + 1
            }
        }
        func problem(_ state: some Codable & Hashable & Sendable) throws -> String {
            let engine = try Engine(Engine.Options(transport: .discard))
            defer { engine.stop() }
            let fault = #expect(throws: ContentStateFault.self) {
                try engine.offer(.publish(state, for: TopicID("ride/1")))
            }
            return fault?.description ?? ""
        }
        #expect(try problem(Number(value: .infinity)).hasPrefix("ride/1: the content state cannot be encoded: "))
        #expect(try problem([1, 2]) == "ride/1: the content state is not encoded as a JSON object")
        let differs = "ride/1: a phone would not read this content state as it is meant: "
        #expect(try problem(Large(value: .max)).hasPrefix(differs))
        #expect(try problem(Exact(value: Decimal(string: "0.12345678901234567890123")!)).hasPrefix(differs))
        #expect(try problem(Shifting(value: 1)) == differs + "it decodes to another value")
    }

    /// A state that counts how often it is encoded.
    struct Counted: Codable, Hashable, Sendable {
        static let encodings = Atomic(0)
        var score: Int
        func encode(to encoder: any Encoder) throws {
            Counted.encodings.add(1, ordering: .relaxed)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(score, forKey: .score)
        }
        enum CodingKeys: CodingKey { case score }
    }

    @Test func aStateIsEncodedOncePerUpdateHoweverManyFollow() throws {
        let records = Locked<[DecisionRecord]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in records.withLock { $0.append(record) } }
        let engine = try Engine(Engine.Options(transport: .discard), observer: observer)
        let match = TopicID("match/1")
        for subscriber in 0..<1000 {
            #expect(
                engine.offer(
                    .follow(
                        .topic(match), activity: "card \(subscriber)", subscriber: "\(subscriber)",
                        token: Array("token \(subscriber)".utf8)
                    )
                ).isTaken)
        }
        let at = FeedTime(seconds: 1_790_000_000)
        #expect(try engine.offer(.publish(Counted(score: 1), for: match, at: at)).isTaken)
        #expect(try engine.offer(.publish(Counted(score: 1), for: match, at: at + .seconds(5))).isTaken)
        #expect(
            try engine.offer(
                .publish(
                    Counted(score: 2), for: match, at: at + .seconds(10), alert: AlertText(title: "Goal", body: "2–0")
                )
            )
            .isTaken)
        #expect(
            try engine.offer(
                .publish(
                    Counted(score: 2), for: match, as: StateEvent(at: at + .seconds(20), lifecycle: .end))
            )
            .isTaken)
        #expect(engine.settle(within: .seconds(300)))
        let counted = Locked<ShardCounts?>(nil)
        #expect(engine.counts { counts in counted.withLock { $0 = counts } }.isTaken)
        engine.stop()
        #expect(Counted.encodings.load(ordering: .relaxed) == 4)
        #expect(records.withLock { $0.map(\.outcome) } == [.published, .unchanged, .published, .published])
        #expect(records.withLock { $0.map(\.alert) } == [nil, nil, .granted, nil])
        // All 1000 phones have had the end; other pushes depend on timing.
        #expect(counted.withLock { $0?.pushes.accepted ?? 0 } >= 1000)
        #expect(counted.withLock { $0?.activities } == 0)
    }
}
