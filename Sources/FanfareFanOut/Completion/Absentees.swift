import FanfareModel

/// Activities that follow topics in the store, but not here: for example, a card was moved while its end was in flight. A restart takes them for
/// followers of these topics, so the topics' completions except them.
struct Absentees {
    private struct Stored {
        let topic: TopicID
        /// `keyedHash` of the stored token; `nil` if the activity here has it.
        let token: UInt64?
    }

    private var stored: [ActivityMark: Stored] = [:]
    private var marks: [TopicID: Set<ActivityMark>] = [:]
    /// Is `true` once there were too many. No topic is complete then until the next restart.
    private var isOverfull = false
    /// Maximum number of activities. It exceeds the number of ends in flight, each of whose activities may be moved.
    static let countMax = 1 << 17

    var isEmpty: Bool { stored.isEmpty && !isOverfull }
    var count: Int { stored.count }

    /// Notes the audience that the store has for the activity. An activity of a lineup is no absentee, because no completion names lineups.
    ///
    /// - Parameter token: `keyedHash` of the token that the store has now; `nil` if it has the same as before.
    mutating func note(_ activity: ActivityMark, absentFrom key: AudienceKey, token: UInt64? = nil) {
        let token = token ?? stored[activity]?.token
        remove(activity)
        guard case .topic(let topic) = key else { return }
        guard stored.count < Absentees.countMax else { return isOverfull = true }
        stored[activity] = Stored(topic: topic, token: token)
        marks[topic, default: []].insert(activity)
    }

    func contains(_ activity: ActivityMark) -> Bool { stored[activity] != nil }

    /// Notes that the activity is where the store has it, or is over.
    ///
    /// - Parameter token: `keyedHash` of the token of an activity that is over. A stored card with another token lives on.
    /// - Returns: whether it was absent from a topic.
    @discardableResult mutating func remove(_ activity: ActivityMark, token: UInt64? = nil) -> Bool {
        guard let known = stored[activity] else { return false }
        if let token, let kept = known.token, kept != token { return false }
        stored[activity] = nil
        marks[known.topic]?.remove(activity)
        if marks[known.topic]?.isEmpty == true { marks[known.topic] = nil }
        return true
    }

    /// Returns the activities that a completion of the topic is to except, beside other exceptions; `nil` if they are too many.
    func exceptions(from topic: TopicID, beside others: Int = 0) -> [ActivityMark]? {
        guard !isOverfull else { return nil }
        guard let absent = marks[topic] else { return others <= TopicCompletion.exceptionsMax ? [] : nil }
        return absent.count + others <= TopicCompletion.exceptionsMax ? Array(absent) : nil
    }

    /// Describes an activity that is listed under another topic than its own, or none; `nil` if there is none.
    func violation() -> String? {
        guard stored.count <= Absentees.countMax, stored.count == marks.values.reduce(0, { $0 + $1.count }),
            stored.allSatisfy({ marks[$0.value.topic]?.contains($0.key) == true }),
            marks.values.allSatisfy({ !$0.isEmpty })
        else { return "\(stored.count) absentees are not listed by their topics" }
        return nil
    }

    /// Returns the topic that the activity is absent from; `nil` if there is none.
    func topic(of activity: ActivityMark) -> TopicID? { stored[activity]?.topic }
}
