import FanfareDecisions
import FanfareFanOut
import FanfareLoop
import FanfareModel

/// The shards of an engine, each on a thread of its own, as many for each app. Confined to the core's thread.
final class ShardThreads {
    /// In the order of the apps.
    let links: [ShardLink]
    private let threads: [ShardThread]

    /// A program that does not know how many there are may say anything: more than these find room as they come.
    private static let expectedMax = 20_000_000

    /// Starts all of them, which then load at the same time, and waits until their transports are opened.
    ///
    /// - Parameters:
    ///   - count: of each app.
    ///   - pinned: each thread stays on one processor.
    ///   - load: fills a shard, on its thread.
    ///   - subscribers: handed to the shards, too, read once, on this thread.
    ///   - topicLimits: of the rules, for them.
    ///   - report: takes lines for operators, on this thread.
    ///   - core: signalled when a shard has something to tell.
    /// - Throws: why it cannot be. No thread is left then.
    init(
        _ count: Int, _ options: ShardThread.Options, pinned: Bool, makeTransports: [TransportFactory], apps: [AppID],
        load: (@Sendable (Shard, ShardPlace, Moment) throws -> Void)?, subscribers: (any SubscriberSource)?,
        topicLimits: Rules.Limits, report: (String) -> Void, core: WakeupSignal
    ) throws {
        let expected = max(0, min(subscribers?.expectedCount ?? 0, ShardThreads.expectedMax))
        var threads: [ShardThread] = []
        var queues: [[LoadingQueue]] = []
        do {
            for (app, makeTransport) in makeTransports.enumerated() {
                queues.append([])
                var options = options
                // What APNs refuses one app's key for says nothing to the others. The core goes by the first one's proof.
                if app > 0 { options.clock = options.clock.unproven }
                for index in 0..<count {
                    let place = ShardPlace(app: app, index: index, count: count)
                    let queue = LoadingQueue()
                    queues[app].append(queue)
                    // Of the other apps nobody knows how many activities theirs are.
                    let share = app == 0 ? expected / count : 0
                    threads.append(
                        try ShardThread(
                            place, options, makeTransport: makeTransport,
                            load: { shard, moment in
                                defer { queue.close() }
                                if pinned { try LoopThread.pinToProcessor(index) }
                                // Room for a sixteenth more than its share.
                                if share > 0 { shard.reserve(activities: share + share / 16 + 16) }
                                try load?(shard, place, moment)
                                while let commands = queue.take() {
                                    for command in commands { shard.apply(command, at: moment) }
                                }
                                if queue.isAbandoned { throw LoadingQueue.Abandoned() }
                            }, core: core))
                }
            }
            let now = FeedTime(milliseconds: options.clock.wallMilliseconds())
            let faults = try subscribers?.distribute(to: queues, apps: apps, limits: topicLimits, now: now)
            for line in faults?.lines ?? [] { report(line) }
            for queue in queues.joined() { queue.finish() }
            links = try threads.map { try $0.opened() }
        } catch {
            for queue in queues.joined() { queue.abandon() }
            for thread in threads { thread.abandon() }
            throw error
        }
        self.threads = threads
    }

    /// Waits for the threads, which have been told to stop, and hands over what they had still to tell.
    func join(_ take: (ShardFeedback, _ shard: Int) -> Void) {
        for index in threads.indices {
            let rest = threads[index].join()
            links[index].hear { take($0, index) }
            for fact in rest { take(fact, index) }
        }
    }
}
