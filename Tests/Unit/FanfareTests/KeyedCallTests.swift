import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Testing

@testable import Fanfare

/// Calls with idempotency keys, of an engine in one thread.
@Suite struct KeyedCallTests {
    private static let day = Duration.seconds(24 * 3600)

    /// Answers that callers have got.
    private final class Answers: Sendable {
        let given = Locked<[KeyedAnswer]>([])
        var take: KeyedAcknowledgement { { answer in self.given.withLock { $0.append(answer) } } }
        var entries: [LogPosition?] {
            given.withLock { answers in
                answers.map { answer in
                    switch answer {
                    case .taken(let entry): entry
                    case .repeated(let call): call.entry
                    case .differs, .dropped, .stopped: nil
                    }
                }
            }
        }
        var kinds: String {
            given.withLock { answers in
                String(
                    answers.map { answer in
                        switch answer {
                        case .taken: "t"
                        case .repeated: "r"
                        case .differs: "d"
                        case .dropped: "f"
                        case .stopped: "s"
                        }
                    })
            }
        }
    }

    private static func call(
        _ key: String, _ number: Int, _ answer: KeyedAcknowledgement? = nil
    ) throws -> CoreRequest {
        .keyed(CallKey(try IdempotencyKey(key), content: UInt64(number)), .event(.number(number)), answer)
    }

    @Test func withoutAStoreAKeyIsKnownToTheProcess() throws {
        let engine = OneThread()
        let answers = Answers()
        _ = engine.ask(.event(.number(1)))
        for number in [2, 2, 3] { _ = engine.ask(try Self.call("k", number, answers.take)) }
        engine.settle()
        #expect(answers.kinds == "trd")
        #expect(engine.records.count == 2)
        guard case .repeated(let call)? = answers.given.withLock({ $0[1] }) else { return }
        #expect(call.position == 2 && call.entry == nil)
        engine.pass(Self.day)
        _ = engine.ask(try Self.call("k", 3, answers.take))
        engine.settle()
        #expect(answers.kinds == "trdt")
    }

    /// Of calls at the same time, one is carried out, and all are answered when its entry is durable.
    @Test func aRepeatedCallWaitsForTheEntryOfTheFirst() throws {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        let answers = Answers()
        disk.isStuck = true
        _ = engine.ask(.event(.number(1)))
        engine.settle()
        // The first one comes during a sync, and waits for the next one.
        for number in [2, 2, 3] { _ = engine.ask(try Self.call("k", number, answers.take)) }
        engine.settle()
        #expect(answers.kinds == "d")
        disk.isStuck = false
        #expect(disk.sync())
        disk.isStuck = true
        engine.settle()
        _ = engine.ask(try Self.call("k", 2, answers.take))
        engine.settle()
        #expect(answers.kinds == "d")
        disk.isStuck = false
        engine.settle()
        #expect(answers.kinds == "dtrr")
        #expect(answers.entries == [nil, 2, 2, 2])
        #expect(disk.durable.count == 2)
    }

    /// The entry with the key of a card's change is held when the card's row is durable, so a repeated call may come before it.
    @Test func aRepeatedChangeOfACardWaitsForTheEntryOfTheFirst() throws {
        func change(_ name: String) -> CoreRequest {
            let card = Card(
                subscriber: name, activity: name, token: [1, 2, 3], audience: .topic(OneThread.match),
                startedAt: ManualClock.start)
            return .person(.follow(card), .follow(card.subscription(), app: 0), nil)
        }
        func call(_ answers: Answers) throws -> CoreRequest {
            .keyed(CallKey(try IdempotencyKey("k"), content: 1), change("anna"), answers.take)
        }
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        let answers = Answers()
        disk.isStuck = true
        for _ in 0..<2 { _ = engine.ask(try call(answers)) }
        // Its row is written with the first one's, and its way leads past the repeated call.
        _ = engine.ask(change("ben"))
        engine.settle()
        _ = engine.ask(try call(answers))
        engine.settle()
        #expect(answers.kinds.isEmpty)
        disk.isStuck = false
        engine.settle()
        #expect(answers.kinds == "trr")
        #expect(answers.entries == [1, 1, 1])
        #expect(disk.durable.count == 1)
        #expect(engine.core.keys.violation() == nil)
    }

    /// The first call's key is dropped if too many come while the store's cards are loaded. Its entry makes the key known again.
    @Test func aRepeatedCallWhoseKeyIsDroppedGetsTheEntryOfTheFirst() throws {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        engine.core.keys = KnownKeys(callsMax: 1)
        let answers = Answers()
        let card = Card(
            subscriber: "anna", activity: "anna", token: [1, 2, 3], audience: .topic(OneThread.match),
            startedAt: ManualClock.start)
        let change = CoreRequest.person(.follow(card), .follow(card.subscription(), app: 0), nil)
        let key = CallKey(try IdempotencyKey("k"), content: 1)
        disk.isStuck = true
        for _ in 0..<2 { _ = engine.ask(.keyed(key, change, answers.take)) }
        engine.settle()
        _ = engine.ask(try Self.call("other", 2))
        engine.settle()
        #expect(answers.kinds.isEmpty && engine.core.keys.dropped == 1)
        disk.isStuck = false
        engine.settle()
        #expect(answers.kinds == "tr")
        #expect(answers.entries == [2, 2])
        #expect(engine.core.keys.violation() == nil)
    }

    @Test func aRunningEngineDoesNotSayThatItStopsWhenAKeyIsDroppedTwice() throws {
        let engine = OneThread()
        engine.core.keys = KnownKeys(callsMax: 1)
        let calls = KeyedCalls(engine.core, CoreReports(clock: ThreadClock(engine.clock.source)) { _ in })
        let key = CallKey(try IdempotencyKey("k"), content: 1)
        let other = CallKey(try IdempotencyKey("other"), content: 1)
        let now = ManualClock.start
        _ = calls.find(key, nil, at: now, position: 1, isDecided: false)
        guard case .repeated(let first) = calls.find(key, nil, at: now, position: 2, isDecided: false) else {
            Issue.record("the key is not known")
            return
        }
        _ = calls.find(other, nil, at: now, position: 3, isDecided: true)
        let awaited = try #require(calls.awaited(first))
        #expect(calls.awaited(awaited) == nil)
        let answers = Answers()
        calls.answer(repeated: awaited, answers.take, isStopping: false)
        calls.answer(repeated: awaited, answers.take, isStopping: true)
        #expect(answers.kinds == "fs")
    }

    /// A stop without the store: whether the first one was taken is not known.
    @Test func aRepeatedCallEndsWithAStopThatGivesTheFirstUp() throws {
        let disk = ManualDisk()
        let engine = OneThread(disk: disk)
        let answers = Answers()
        disk.isStuck = true
        for _ in 0..<2 { _ = engine.ask(try Self.call("k", 2, answers.take)) }
        engine.settle()
        engine.stop(within: .seconds(1))
        engine.pass(.seconds(10))
        #expect(answers.kinds == "ss")
    }

    @Test func anOfferWithTheKeyOfAnotherCallIsReported() throws {
        let engine = OneThread(disk: ManualDisk())
        for number in [1, 1, 2] { _ = engine.ask(try Self.call("k\n", number)) }
        engine.settle()
        #expect(engine.disk?.durable.count == 1)
        #expect(
            engine.reports == [
                "a call has the idempotency key of another one with another content, so it is not carried out: key \"k\\n\""
            ])
    }

    /// An event that no log takes is an entry all the same, which has the key.
    @Test func theKeyOfAnEventThatIsRejectedIsKnown() throws {
        let engine = OneThread(disk: ManualDisk())
        var value = JSONValue.int(1)
        for _ in 0...LogEntry.depthMax { value = .array([value]) }
        let event = FeedEvent(topic: OneThread.match, at: engine.clock.truth, kind: "x", change: .patch(["x": value]))
        let answers = Answers()
        for _ in 0..<2 {
            _ = engine.ask(.keyed(CallKey(try IdempotencyKey("k"), content: 1), .event(event), answers.take))
        }
        engine.settle()
        #expect(answers.kinds == "tr" && answers.entries == [1, 1])
        #expect(engine.records.map(\.outcome) == [.rejected])
    }

    // MARK: Crashes

    /// Calls at random, and crashes at any moment: a key is carried out once within 24 hours of log time, who repeats it gets the place of
    /// the first one, and what was acknowledged stays acknowledged.
    @Test func aCrashAtAnyMomentLeavesEachKeyedCallCarriedOutOnce() throws {
        var met = KeyWorld.Met()
        for seed in CrashSeeds(100).seeds {
            let world = KeyWorld(seed: seed)
            if let violation = try world.play(steps: 300) { Issue.record("seed \(seed): \(violation)") }
            met += world.met
        }
        #expect(met.repeated > 1000 && met.differing > 100 && met.expired > 100, "\(met)")
        #expect(met.recalled > 100 && met.trimmed > 100 && met.lost > 100, "\(met)")
    }
}

/// An engine in one thread that dies again and again, whose callers have few keys.
private final class KeyWorld {
    struct Met {
        /// Calls that were answered as repeated, or refused; those whose key was known and was so no more.
        var (repeated, differing, expired) = (0, 0, 0)
        /// Repeated calls whose first one was taken by an earlier process, or whose entry was trimmed.
        var (recalled, trimmed) = (0, 0)
        /// Calls that a crash has left without an answer.
        var lost = 0

        static func += (a: inout Met, b: Met) {
            a.repeated += b.repeated
            a.differing += b.differing
            a.expired += b.expired
            a.recalled += b.recalled
            a.trimmed += b.trimmed
            a.lost += b.lost
        }
    }

    private let clock = ManualClock()
    private let disk: ManualDisk
    private var random: SplitMix64
    private let interval: LogPosition
    private var life: OneThread
    private let answers = Locked<[(call: CallKey, answer: KeyedAnswer)]>([])
    /// Calls of this life that have no answer yet.
    private var open = 0
    /// Entries of each key, by position.
    private var taken: [IdempotencyKey: [(position: LogPosition, content: UInt64, at: FeedTime)]] = [:]
    private var read: LogPosition = 1
    private var startOfLife: LogPosition = 1
    private(set) var met = Met()

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        disk = ManualDisk(seed: seed)
        interval = LogPosition.random(in: 2...20, using: &random)
        life = OneThread(disk: disk, checkpoints: interval, clock: clock)
        read = disk.log.end
    }

    func play(steps: Int) throws -> String? {
        for step in 0..<steps {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<60: try call()
            case 60..<70: _ = life.ask(.event(.number(step)))
            case 70..<80: _ = life.turn.run()
            case 80..<85: _ = disk.sync()
            case 85..<92: clock.pass(.seconds(Int.random(in: 0...20_000, using: &random)))
            case 92..<97: life.settle()
            default: crash()
            }
            if let violation = judge() { return "step \(step): \(violation)" }
        }
        life.settle()
        if let violation = judge() { return violation }
        return open == 0 ? nil : "\(open) calls have no answer"
    }

    private func call() throws {
        let key = try IdempotencyKey("k\(Int.random(in: 0..<6, using: &random))")
        let call = CallKey(key, content: random.chance(0.15) ? 1 : 0)
        let took = life.ask(
            .keyed(call, .event(.number(1))) { [answers] answer in answers.withLock { $0.append((call, answer)) } })
        if took { open += 1 }
    }

    private func crash() {
        met.lost += open
        open = 0
        disk.crash()
        life = OneThread(disk: disk, checkpoints: interval, clock: clock)
        startOfLife = disk.log.end
    }

    private func judge() -> String? {
        // The rules' entry is the first one, and no other entry is made beside the disk.
        while read < disk.log.end {
            let entry = disk.durable[Int(read) - 1]
            read += 1
            guard let key = entry.key else { continue }
            if let last = taken[key.key]?.last {
                guard entry.now - last.at >= KnownKeys.lifetime else {
                    return "\(key.key) of entry \(last.position) was taken again as entry \(read)"
                }
                met.expired += 1
            }
            taken[key.key, default: []].append((read, key.content, entry.now))
        }
        let given = answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
        open -= given.count
        for (call, answer) in given {
            if let violation = judge(answer, to: call) { return "\(call.key), content \(call.content): \(violation)" }
        }
        return nil
    }

    private func judge(_ answer: KeyedAnswer, to call: CallKey) -> String? {
        switch answer {
        case .taken(let entry):
            let isThere = taken[call.key]?.contains { $0.position == entry && $0.content == call.content } ?? false
            return isThere ? nil : "entry \(entry ?? 0) was acknowledged and is not in the log"
        case .repeated(let first):
            guard let entry = taken[call.key]?.last(where: { $0.position == first.entry }),
                entry.content == call.content
            else { return "repeats entry \(first.entry ?? 0), which is not of it" }
            met.repeated += 1
            if entry.position <= startOfLife { met.recalled += 1 }
            if entry.position < disk.log.start { met.trimmed += 1 }
            return nil
        case .differs(let first):
            met.differing += 1
            return first.key.content == call.content ? "was refused beside the same content" : nil
        case .dropped: return "was told that its key was dropped"
        case .stopped: return "was told that the engine stops"
        }
    }
}
