import FanfareLog
import FanfareModel

/// Topics by the durable events of a log: what each shows, and when it began and ended. No topic begins again.
struct LoggedTopics {
    /// Number of the newest event of each topic that has begun.
    private(set) var newest: [TopicID: String] = [:]
    private var begunAt: [TopicID: FeedTime] = [:]
    /// Log times of the ends of topics that had begun.
    private(set) var endedAt: [TopicID: FeedTime] = [:]
    /// Position after the newest entry that was read.
    private var next: LogPosition = 1

    /// Reads the entries that are durable since the last reading.
    mutating func read(_ log: MemoryLog) {
        var entries: [(position: LogPosition, entry: LogEntry)] = []
        // A log in memory is readable.
        try? log.read(from: max(next, log.start)) { position, entry in
            entries.append((position, entry))
            return true
        }
        for (position, entry) in entries {
            next = position + 1
            if case .event(let event, _) = entry.body { note(event, at: entry.now) }
        }
    }

    private mutating func note(_ event: FeedEvent, at now: FeedTime) {
        let isEnd = event.lifecycle == .end
        // An end alone shows nothing of its topic.
        guard let id = event.id, !isEnd || begunAt[event.topic] != nil, endedAt[event.topic] == nil else { return }
        newest[event.topic] = id
        if begunAt[event.topic] == nil { begunAt[event.topic] = now }
        if isEnd { endedAt[event.topic] = now }
    }

    /// Returns the time at which lineups lose the topic's row; `nil` before its end.
    func dismissal(of topic: TopicID, by rule: Dismissal) -> FeedTime? {
        guard let begin = begunAt[topic], let end = endedAt[topic] else { return nil }
        return end + rule.time(ofActivityLasting: end - begin).duration(from: end)
    }
}
