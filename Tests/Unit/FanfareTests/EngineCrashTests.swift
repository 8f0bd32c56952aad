import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel
import Foundation
import Glibc
import Testing

@testable import Fanfare

/// A program that embeds an engine with a store, killed in the middle of its work and started again.
@Suite struct EngineCrashTests {
    /// Files of the programs' lives, which no kill takes away: what the engine acknowledged, and which alerts left.
    struct Witness: Sendable {
        let folder: String

        /// - Parameter process: the one that runs the test; the programs that it starts find the files by it.
        init(of process: pid_t) { folder = NSTemporaryDirectory() + "fanfare-engine-crash-\(process)" }

        var store: String { folder + "/store" }
        var acknowledged: String { folder + "/acknowledged" }
        var alerts: String { folder + "/alerts" }
        /// Calls for a card, and the engine's acknowledgements: `try CARD STEP`, `did CARD STEP`.
        var people: String { folder + "/people" }
        /// A line for each program so far.
        var rounds: String { folder + "/rounds" }

        static func note(_ line: String, in file: String) {
            let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            _ = Array((line + "\n").utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
        }

        static func lines(of file: String) -> [String] {
            ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    private static let callers = 8
    private static let rounds = 6
    /// Acknowledgements after which the first program dies; the second one dies after twice as many, and so on.
    private static let acknowledgementsPerRound = 37

    static func engine(
        _ witness: Witness, _ observer: Engine.Observer = Engine.Observer(),
        pushed: @escaping @Sendable (Payload.Event, _ token: String) -> Void = { _, _ in }
    ) throws -> Engine {
        var kind = TopicRules(
            alerts: .init(
                requested: AlertRule(.essential, burst: 1000, refill: .seconds(1), freshFor: .seconds(300))))
        kind.pace.minimumInterval = .zero
        var store = StoreChoice.folder(witness.store)
        // Programs die in the middle of checkpoints, and their log is trimmed.
        store.checkpointInterval = 20
        var options = Engine.Options(transport: .discard, store: store)
        options.rules = Rules(kinds: [:], other: kind)
        return try Engine(
            options, observer: observer, apps: [],
            makeTransports: [
                { _, shard, _ in
                    NotingTransport(shard) { payload, token in
                        let phone = String(decoding: token, as: UTF8.self)
                        if case .text(let title)? = payload.alert?.title {
                            Witness.note("\(title) to \(phone)", in: witness.alerts)
                        }
                        pushed(payload.event, phone)
                    }
                }
            ])
    }

    /// Each caller has a topic of its own, whose events have the numbers `round * 1000 + 1` and up.
    static func event(_ number: Int, of caller: Int) -> FeedEvent {
        let id = "\(caller)/\(number)"
        return FeedEvent(
            topic: TopicID("topic/\(caller)"), topicKind: .generic,
            at: FeedTime(milliseconds: Moment.now().wallMilliseconds),
            id: id, kind: "number", change: .patch(["number": .int(Int64(number))]),
            alert: AlertText(title: id, body: ""))
    }

    /// Hands in events from several tasks until so many were acknowledged, and dies at once.
    static func live() async throws {
        let witness = Witness(of: getppid())
        let round = Witness.lines(of: witness.rounds).count
        let engine = try EngineCrashTests.engine(witness)
        let left = Locked(acknowledgementsPerRound * round)
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    let card = ActivityID("card/\(caller)")
                    _ = try? await engine.follow(
                        .topic(TopicID("topic/\(caller)")), activity: card, subscriber: SubscriberID("\(caller)"),
                        token: [UInt8(caller)])
                    for number in 1...1000 {
                        let event = EngineCrashTests.event(round * 1000 + number, of: caller)
                        guard let receipt = try? await engine.ingest(event), receipt.durability == .durable else {
                            return
                        }
                        Witness.note(event.id ?? "", in: witness.acknowledged)
                        if number.isMultiple(of: 2) {
                            await EngineCrashTests.change("\(caller)/\(round)/\(number)", engine, witness)
                        }
                        let isLast = left.withLock { left in
                            left -= 1
                            return left == 0
                        }
                        if isLast { kill(getpid(), SIGKILL) }
                    }
                }
            }
        }
    }

    /// Steps in the life of a card; each begins when the one before it is acknowledged.
    private enum Step: String, CaseIterable {
        case follow, replaceToken, move, unfollow

        /// Token that a push of the card's topic reaches after the step, and that topic's number.
        func reached(_ card: String, of caller: Int) -> (token: String, topic: Int)? {
            switch self {
            case .follow: (card, caller)
            case .replaceToken: (card + "/new", caller)
            case .move: (card + "/new", callers)
            case .unfollow: nil
            }
        }
    }

    /// Takes a card through some of its steps, and notes each one before and after.
    private static func change(_ card: String, _ engine: Engine, _ witness: Witness) async {
        let numbers = card.split(separator: "/").compactMap { Int($0) }
        let (caller, id) = (numbers[0], ActivityID("people/" + card))
        let subscriber = SubscriberID("people \(caller)")
        let (token, new) = (Array(card.utf8), Array((card + "/new").utf8))
        for step in Step.allCases.prefix(1 + numbers[2] / 2 % Step.allCases.count) {
            Witness.note("try \(card) \(step)", in: witness.people)
            let receipt =
                switch step {
                case .follow:
                    try? await engine.follow(
                        .topic(TopicID("topic/\(caller)")), activity: id, subscriber: subscriber, token: token)
                case .replaceToken: try? await engine.replaceToken(activity: id, subscriber: subscriber, with: new)
                case .move:
                    try? await engine.move(
                        activity: id, subscriber: subscriber, to: .topic(TopicID("topic/\(callers)")))
                case .unfollow: try? await engine.unfollow(activity: id, subscriber: subscriber)
                }
            guard receipt?.durability == .durable else { return }
            Witness.note("did \(card) \(step)", in: witness.people)
        }
    }

    /// Checks that a change of each topic reaches each card as its last acknowledged step says, or the one that the kill interrupted.
    private func checkPeople(_ witness: Witness) async throws {
        var lives: [String: (did: Step?, tried: Step?)] = [:]
        for line in Witness.lines(of: witness.people) {
            let words = line.split(separator: " ").map(String.init)
            let step = try #require(Step(rawValue: words[2]))
            if words[0] == "did" { lives[words[1], default: (nil, nil)].did = step }
            if words[0] == "try" { lives[words[1], default: (nil, nil)].tried = step }
        }
        #expect(lives.values.filter { $0.did != nil }.count > 50, "\(lives.count) cards are too few to say anything")
        let reached = Locked<[String: Int]>([:])
        let engine = try Self.engine(
            witness,
            pushed: { event, token in
                if event == .update { reached.withLock { $0[token, default: 0] += 1 } }
            })
        #expect(await engine.settle(within: .seconds(300)))
        for topic in 0...Self.callers {
            reached.withLock { $0 = [:] }
            _ = try await engine.ingest(Self.event(999_999, of: topic))
            #expect(await engine.settle(within: .seconds(300)))
            let found = reached.withLock { $0 }
            for (card, life) in lives {
                let caller = try #require(Int(card.prefix { $0 != "/" }))
                let allowed = [life.did, life.tried].map { $0?.reached(card, of: caller) }
                let got = [card, card + "/new"].filter { found[$0] != nil }
                let isRight = allowed.contains { end in
                    got == (end.flatMap { $0.topic == topic ? [$0.token] : nil } ?? [])
                }
                #expect(isRight, "topic \(topic) reaches \(got) of card \(card): \(life)")
            }
            #expect(found.values.allSatisfy { $0 == 1 })
        }
        #expect(await engine.shutdown().isDrained)
    }

    /// No acknowledged event or change of a card is lost, and no alert leaves twice, however often the program is killed.
    @Test(.timeLimit(.minutes(2))) func aKilledProgramGoesOnWhereItStopped() async throws {
        let witness = Witness(of: getpid())
        try FileManager.default.createDirectory(atPath: witness.folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: witness.folder) }
        for _ in 1...Self.rounds {
            Witness.note("begins", in: witness.rounds)
            await #expect(processExitsWith: .signal(SIGKILL)) { try await EngineCrashTests.live() }
        }
        let acknowledged = Witness.lines(of: witness.acknowledged)
        #expect(acknowledged.count >= Self.acknowledgementsPerRound * (1...Self.rounds).reduce(0, +))

        let outcomes = Locked<[Outcome]>([])
        var observer = Engine.Observer()
        observer.onDecision = { record in if record.origin == .event { outcomes.withLock { $0.append(record.outcome) } }
        }
        let engine = try Self.engine(witness, observer)
        for id in acknowledged {
            let parts = id.split(separator: "/").compactMap { Int($0) }
            _ = try await engine.ingest(Self.event(parts[1], of: parts[0]))
        }
        #expect(await engine.shutdown().isDrained)
        let found = outcomes.withLock { $0 }
        #expect(found.count == acknowledged.count)
        #expect(found.allSatisfy { $0 == .duplicate }, "\(found.filter { $0 != .duplicate }.count) were lost")

        let alerts = Witness.lines(of: witness.alerts)
        try await checkPeople(witness)
        #expect(!alerts.isEmpty && Set(alerts).count == alerts.count, "an alert left twice")
    }
}

/// Answers every push at once, and notes it before.
final class NotingTransport: Transport {
    private unowned let source: any DeliverySource
    private let note: (Payload, ArraySlice<UInt8>) -> Void
    private var batch = DeliveryBatch()

    init(_ source: any DeliverySource, _ note: @escaping (Payload, ArraySlice<UInt8>) -> Void) {
        self.source = source
        self.note = note
    }

    var isReady: Bool { true }

    func workAvailable() {
        while true {
            source.pull(limit: 64, at: .now(), into: &batch)
            if batch.deliveries.isEmpty { return }
            let completions = batch.deliveries.map { delivery in
                note(batch.payload(of: delivery), batch.tokens[delivery.token])
                return DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)
            }
            batch.removeAll()
            source.complete(completions, at: .now())
        }
    }

    func close(_ closed: @escaping () -> Void) { closed() }
}
