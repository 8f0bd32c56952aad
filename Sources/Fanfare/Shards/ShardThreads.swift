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

    /// Starts all shards, which load at the same time, and waits until their transports are opened.
    ///
    /// - Parameters:
    ///   - count: shards per app.
    ///   - pinned: `true` pins each thread to one processor.
    ///   - activities: loaded first, on the shards' threads.
    ///   - subscribers: read once, on this thread, and passed to the shards after `activities`.
    ///   - storedCount: number of cards that are loaded later; `nil` if none are.
    ///   - topicLimits: limits of the rules, which subscriptions must keep.
    ///   - report: receives lines for operators, on this thread.
    ///   - core: signalled when a shard has feedback.
    /// - Throws: the reason why a shard cannot start. All threads have ended then.
    init(
        _ count: Int, _ options: ShardThread.Options, pinned: Bool, makeTransports: [TransportFactory], apps: [AppID],
        activities: (any InitialActivities)?, subscribers: (any SubscriberSource)?, storedCount: Int? = nil,
        topicLimits: Rules.Limits, report: (String) -> Void, core: WakeupSignal
    ) throws {
        let expected = max(0, min(storedCount ?? subscribers?.expectedCount ?? 0, ShardThreads.expectedMax))
        let loadsLater = storedCount != nil
        var threads: [ShardThread] = []
        var queues: [[LoadingQueue]] = []
        options.clock.proof.isAwaited = !apps.isEmpty
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
                    let load = ShardLoad(
                        place: place, isPinned: pinned, share: share, activities: activities, queue: queue,
                        isLater: loadsLater)
                    threads.append(
                        try ShardThread(load, options, makeTransport: makeTransport, core: core))
                }
            }
            let now = options.clock.wall()
            if !loadsLater {
                let faults = try subscribers?.distribute(to: queues, apps: apps, limits: topicLimits, now: now)
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
