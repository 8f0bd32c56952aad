import FanfareModel

/// Activities that follow topics as the store has it, and not here: the end of their card was in flight when they were moved, for example. A restart
/// takes them for followers of these topics, so completions of these except them.
struct Absentees {
    private var topics: [ActivityMark: TopicID] = [:]
    private var marks: [TopicID: Set<ActivityMark>] = [:]
    /// Is `true` once there were too many. Nothing is complete then until the next restart.
    private var isOverfull = false
    /// Maximum of activities: more than are in flight at once, of which each may be moved.
    static let countMax = 1 << 17

    var isEmpty: Bool { topics.isEmpty && !isOverfull }
    var count: Int { topics.count }

    /// Notes what the store has of the activity. What it has of a lineup says nothing after a restart.
    mutating func note(_ activity: ActivityMark, absentFrom key: AudienceKey) {
        remove(activity)
        guard case .topic(let topic) = key else { return }
        guard topics.count < Absentees.countMax else { return isOverfull = true }
        topics[activity] = topic
        marks[topic, default: []].insert(activity)
    }

    func contains(_ activity: ActivityMark) -> Bool { topics[activity] != nil }

    /// Notes that the activity is where the store has it, or is over.
    ///
    /// - Returns: whether it was absent from a topic.
    @discardableResult mutating func remove(_ activity: ActivityMark) -> Bool {
        guard let topic = topics.removeValue(forKey: activity) else { return false }
        marks[topic]?.remove(activity)
        if marks[topic]?.isEmpty == true { marks[topic] = nil }
        return true
    }

    /// Returns the activities that a completion of the topic is to except, which has other exceptions; `nil` if they are too many.
    func exceptions(from topic: TopicID, beside others: Int = 0) -> [ActivityMark]? {
        guard !isOverfull else { return nil }
        guard let absent = marks[topic] else { return others <= TopicCompletion.exceptionsMax ? [] : nil }
        return absent.count + others <= TopicCompletion.exceptionsMax ? Array(absent) : nil
    }

    /// Returns the topic that the activity is absent from; `nil` if there is none.
    func topic(of activity: ActivityMark) -> TopicID? { topics[activity] }
}
