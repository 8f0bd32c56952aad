import FanfareModel

/// Activities that follow topics as the store has it, and not here: the end of their card was in flight when they were moved, for example. A restart
/// takes them for followers of these topics, so a completion excepts them.
struct Absentees {
    private var topics: [ActivityMark: TopicID] = [:]
    private var marks: [TopicID: [ActivityMark]] = [:]
    /// Is `true` once there were too many. Nothing is complete then until the next restart.
    private var isOverfull = false
    /// Maximum of activities: some more than can be in flight at once.
    static let countMax = 1 << 17

    var isEmpty: Bool { topics.isEmpty && !isOverfull }
    var count: Int { topics.count }

    /// Notes what the store has of the activity. What it has of a lineup says nothing after a restart.
    mutating func note(_ activity: ActivityMark, absentFrom key: AudienceKey) {
        remove(activity)
        guard case .topic(let topic) = key else { return }
        guard topics.count < Absentees.countMax else { return isOverfull = true }
        topics[activity] = topic
        marks[topic, default: []].append(activity)
    }

    /// Notes that the activity is where the store has it, or is over.
    mutating func remove(_ activity: ActivityMark) {
        guard let topic = topics.removeValue(forKey: activity), var others = marks.removeValue(forKey: topic) else {
            return
        }
        if let place = others.firstIndex(of: activity) { others.swapAt(place, others.count - 1) }
        others.removeLast()
        if !others.isEmpty { marks[topic] = others }
    }

    /// Returns the activities that a completion of the topic is to except, which has other exceptions; `nil` if they are too many.
    func exceptions(from topic: TopicID, beside others: Int = 0) -> [ActivityMark]? {
        guard !isOverfull else { return nil }
        let absent = marks[topic] ?? []
        return absent.count + others <= TopicCompletion.exceptionsMax ? absent : nil
    }
}
