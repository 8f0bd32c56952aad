import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareLoop
import FanfareModel

/// Shards of an engine, each on a thread of its own, equally many for each app. Confined to the core's thread.
final class ShardThreads {
    /// Links in the order of the apps.
    let links: [ShardLink]
    /// Queues of the shards for cards that are loaded while they serve, by app; empty without any.
    let loading: [[LoadingQueue]]
    private let threads: [ShardThread]

    /// Limit on reserved activities, because a program's estimate may be arbitrary; memory for more is allocated as they come.
    private static let expectedMax = 20_000_000

    /// The places of an engine's shards.
    struct Placement {
        let apps: [AppID]
        let shardsPerApp: Int
        /// Is `true` if each thread stays on one processor.
        let isPinned: Bool
    }

    /// The activities that shards get from the engine's start on.
    struct Load {
        /// Loaded first, on the shards' threads.
        let activities: (any InitialActivities)?
        /// Read once, on the core's thread, and passed to the shards after `activities`.
        let subscribers: (any SubscriberSource)?
        /// Number of cards that are loaded later; `nil` if none are.
        let storedCount: Int?
        /// Limits of the rules, which subscriptions must keep.
        let topicLimits: Rules.Limits

        var expectedCount: Int {
            max(0, min(storedCount ?? subscribers?.expectedCount ?? 0, ShardThreads.expectedMax))
        }
    }

    /// Starts all shards, which load at the same time, and waits until their transports are opened.
    ///
    /// - Parameters:
    ///   - makeTransports: the transports of the apps; one if the placement names no app.
    ///   - report: receives lines for operators, on this thread.
    ///   - core: signalled when a shard has feedback.
    /// - Throws: the reason why a shard cannot start. All threads have ended then.
    init(
        _ placement: Placement, _ load: Load, _ options: ShardThread.Options, makeTransports: [TransportFactory],
        report: (String) -> Void, core: WakeupSignal
    ) throws {
        let (expected, count) = (load.expectedCount, placement.shardsPerApp)
        let loadsLater = load.storedCount != nil
        var threads: [ShardThread] = []
        var queues: [[LoadingQueue]] = []
        options.clock.proof.isAwaited = !placement.apps.isEmpty
        do {
            for (app, makeTransport) in makeTransports.enumerated() {
                queues.append([])
                var options = options
                // A refusal of one app's key says nothing about the keys of the others. The core uses the proof of the first app.
                if app > 0 { options.clock = options.clock.unproven }
                for index in 0..<count {
                    let place = ShardPlace(app: app, index: index, count: count)
                    let queue = LoadingQueue()
                    queues[app].append(queue)
                    // The number of activities of the other apps is unknown.
                    let share = app == 0 ? expected / count : 0
                    let shardLoad = ShardLoad(
                        place: place, isPinned: placement.isPinned, share: share, activities: load.activities,
                        queue: queue, isLater: loadsLater)
                    threads.append(
                        try ShardThread(shardLoad, options, makeTransport: makeTransport, core: core))
                }
            }
            let now = options.clock.wall()
            if !loadsLater {
                let faults = try load.subscribers?.distribute(
                    to: queues, apps: placement.apps, limits: load.topicLimits, now: now)
                for line in faults?.lines ?? [] { report(line) }
                for queue in queues.joined() { queue.finish() }
            }
            links = try threads.map { try $0.link() }
            loading = loadsLater ? queues : []
        } catch {
            for queue in queues.joined() { queue.abandon() }
            for thread in threads { thread.abandon() }
            throw error
        }
        self.threads = threads
    }

    /// Waits for the threads, which are stopping, and hands over their remaining feedback.
    func join(_ take: (ShardFeedback, _ shard: Int) -> Void) {
        for index in threads.indices {
            let rest = threads[index].join()
            links[index].drainFeedback { take($0, index) }
            for fact in rest { take(fact, index) }
        }
    }
}
