import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel
import FanfareTestSupport
import Foundation
import Synchronization

@testable import Fanfare

/// A network that takes all deliveries of the shard, and answers by a script.
final class ScriptedTransport: Transport {
    enum Script {
        /// Pushes are answered when the next ones have been taken, so some are always in flight until `release`. `took` is
        /// signalled each time pushes are taken.
        case oneBehind(release: Flag, took: DispatchSemaphore)
        /// No push is ever answered, and the connections do not close.
        case silent
        /// Each push is answered at once; every third answer is that the token is dead.
        case everyThirdIsDead(Tally)
    }

    private unowned let source: any DeliverySource
    private let script: Script
    private var next: Wakeup?
    private var batch = DeliveryBatch()
    private var unanswered: [DeliveryCompletion] = []
    private var taken = 0

    init(_ loop: Loop, _ source: any DeliverySource, _ script: Script) throws {
        self.source = source
        self.script = script
        next = try Wakeup(loop: loop) { [unowned self] in workAvailable() }
    }

    var isReady: Bool { true }

    func workAvailable() {
        source.pull(limit: 1024, at: .now(), into: &batch)
        let new = batch.deliveries.map { delivery -> DeliveryCompletion in
            taken += 1
            var outcome = DeliveryOutcome.accepted
            if case .everyThirdIsDead = script, taken % 3 == 0 { outcome = .deadToken }
            return DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: outcome)
        }
        batch.removeAll()
        switch script {
        case .silent: return
        case .oneBehind(let release, let took):
            if !new.isEmpty {
                answer(unanswered.take())
                unanswered = new
                took.signal()
            }
            if release.isSet { answer(unanswered.take()) }
        case .everyThirdIsDead(let tally):
            answer(new)
            tally.add(new.count { $0.outcome == .deadToken })
        }
        // A completed activity may be due again at once.
        if !new.isEmpty { next?.signal.signal() }
    }

    private func answer(_ completions: [DeliveryCompletion]) {
        if !completions.isEmpty { source.complete(completions, at: .now()) }
    }

    func close(_ closed: @escaping () -> Void) {
        if case .silent = script { return }
        answer(unanswered.take())
        closed()
    }
}

extension Array {
    fileprivate mutating func take() -> Self {
        defer { self = [] }
        return self
    }
}

/// A counter that signals a waiting thread when it is high enough.
final class Tally: Sendable {
    private let value = Atomic(0)
    private let enough: Int
    private let reached = DispatchSemaphore(value: 0)

    init(enough: Int = .max) { self.enough = enough }

    var count: Int { value.load(ordering: .acquiring) }
    func add(_ more: Int) {
        let (before, after) = value.add(more, ordering: .acquiringAndReleasing)
        if before < enough, after >= enough { reached.signal() }
    }
    func waitForEnough() -> Bool { reached.wait(timeout: .now() + 120) == .success }
}

/// A thread whose end a test can wait for.
final class Background: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    init(_ body: @escaping @Sendable () -> Void) {
        let ended = ended
        Thread {
            body()
            ended.signal()
        }.start()
    }
    /// - Returns: whether it has ended within two minutes.
    func join() -> Bool { ended.wait(timeout: .now() + 120) == .success }
}

extension Engine {
    /// Creates an engine with one app whose network follows the script.
    static func scripted(
        _ script: @escaping @Sendable () -> ScriptedTransport.Script, _ observer: Observer = Observer(),
        rules: Rules = .builtIn, subscribers: (any SubscriberSource)? = nil
    ) throws -> Engine {
        var options = Options(transport: .discard)
        options.rules = rules
        options.subscribers = subscribers
        return try Engine(
            options, observer: observer, apps: [],
            makeTransports: [{ loop, shard, _ in try ScriptedTransport(loop, shard, script()) }])
    }
}

extension FeedEvent {
    /// Returns the next state of a topic without rules of its own; it shows a number.
    static func number(_ number: Int, of topic: String = "topic") -> FeedEvent {
        FeedEvent(
            topic: TopicID(topic), topicKind: .generic, at: FeedTime(seconds: 1_790_000_000 + Int64(number)),
            seq: UInt64(number), kind: "number", change: .patch(["number": .int(Int64(number))]))
    }
}
