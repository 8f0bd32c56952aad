import FanfareLog
import FanfareModel

/// Topics by the durable events of a log: what each shows, and when it began and ended. No topic begins again.
struct LoggedTopics {
    /// Number of the newest event of each topic that has begun.
    private(set) var newest: [TopicID: String] = [:]
    private var begunAt: [TopicID: FeedTime] = [:]
    /// Log times of the ends of topics.
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
        // The end of a topic whose beginning was lost begins it as well.
        guard let id = event.id, endedAt[event.topic] == nil else { return }
        newest[event.topic] = id
        if begunAt[event.topic] == nil { begunAt[event.topic] = now }
        if event.lifecycle == .end { endedAt[event.topic] = now }
    }

    /// Returns the time at which the topic is dismissed; `nil` before its end. It is log time, but a date is one of the wall clock.
    func dismissal(of topic: TopicID, by rule: Dismissal) -> FeedTime? {
        guard let begin = begunAt[topic], let end = endedAt[topic] else { return nil }
        return end + rule.time(ofActivityLasting: end - begin).duration(from: end)
    }

    /// Returns whether the topic was dismissed some seconds before a recall was over. Log time does not count the outage before the recall.
    func isDismissed(_ topic: TopicID, by rule: Dismissal, before recall: RecallTimes) -> Bool {
        guard let end = endedAt[topic], end <= recall.log, let time = dismissal(of: topic, by: rule) else {
            return false
        }
        return time + .seconds(5) < (rule.isDate ? recall.truth : recall.log)
    }

    /// Returns the latest time of the true clock at which lineups lose the topic's row, in the life that begins with a recall; `nil` before its end.
    /// From the recall on, what log time has left of a dismissal passes by the monotonic clock. Log time runs no slower than the true clock.
    func latestDismissal(of topic: TopicID, by rule: Dismissal, since recall: RecallTimes) -> FeedTime? {
        guard let end = endedAt[topic], let time = dismissal(of: topic, by: rule) else { return nil }
        guard rule.isDate else { return recall.truth + max(time - recall.log, .zero) }
        return max(time, recall.truth + max(end - recall.log, .zero))
    }
}

extension Dismissal {
    /// Is `true` if the wall clock tells the time of the dismissal.
    fileprivate var isDate: Bool {
        if case .at = self { return true }
        return false
    }
}
