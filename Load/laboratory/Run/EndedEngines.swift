import FanfareFanOut

/// The engines of a run that have ended, and after which others have gone on.
struct EndedEngines {
    /// Pushes, alerts and connections.
    private(set) var counts = ShardCounts()
    /// Processor seconds of their shards' threads.
    private(set) var threads: [String: Double] = [:]
    /// The newest end: its monotonic moment, and the activities that lacked a publication.
    private(set) var restart: (at: Int64, lacking: Int)?

    /// Notes the end of an engine.
    ///
    /// - Parameters:
    ///   - last: the engine's last counts.
    ///   - seconds: processor seconds of all threads, just before the shards' ended.
    ///   - moment: monotonic nanoseconds.
    mutating func note(_ last: ShardCounts, threads seconds: [String: Double], at moment: Int64) {
        restart = (moment, last.owed)
        let total = last + counts
        (counts.pushes, counts.alerts) = (total.pushes, total.alerts)
        counts.transport.connectionsOpened = total.transport.connectionsOpened
        for (name, time) in seconds where name.hasPrefix(ThreadCost.shardName) { threads[name, default: 0] += time }
    }
}
