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

    static func engine(_ witness: Witness, _ observer: Engine.Observer = Engine.Observer()) throws -> Engine {
        var kind = TopicRules(
            requestedAlerts: AlertRule(.essential, burst: 1000, refill: .seconds(1), freshFor: .seconds(300)))
        kind.minimumInterval = .zero
        var options = Engine.Options(transport: .discard, store: .folder(witness.store))
        options.rules = Rules(kinds: [:], other: kind)
        return try Engine(
            options, observer: observer, apps: [],
            makeTransports: [
                { _, shard, _ in
                    NotingTransport(shard) { alert in Witness.note(alert, in: witness.alerts) }
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

    /// No acknowledged event is lost, and no alert leaves twice, however often the program is killed.
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
        observer.decided = { record in if record.origin == .event { outcomes.withLock { $0.append(record.outcome) } } }
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
        #expect(!alerts.isEmpty && Set(alerts).count == alerts.count, "an alert left twice")
    }
}

/// Answers every push at once, and notes the alerts before.
private final class NotingTransport: Transport {
    private unowned let source: any DeliverySource
    private let note: (String) -> Void
    private var batch = DeliveryBatch()

    init(_ source: any DeliverySource, _ note: @escaping (String) -> Void) {
        self.source = source
        self.note = note
    }

    var isReady: Bool { true }

    func workAvailable() {
        while true {
            source.pull(limit: 64, at: .now(), into: &batch)
            if batch.deliveries.isEmpty { return }
            let completions = batch.deliveries.map { delivery in
                if case .text(let title)? = batch.payload(of: delivery).alert?.title { note(title) }
                return Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)
            }
            batch.removeAll()
            source.complete(completions, at: .now())
        }
    }

    func close(_ closed: @escaping () -> Void) { closed() }
}
