import FanfareModel

/// Activities that follow topics or show lineups in the store, but not here: for example, a card was moved while its end was in flight. A restart
/// takes them for members of those audiences, so the topics' completions except them.
struct Absentees {
    private struct Stored {
        let audience: AudienceKey
        /// `keyedHash` of the stored token; `nil` if the activity here has it.
        let token: UInt64?
    }

    private struct Place: Hashable {
        let topic: TopicID
        let scope: CompletionScope
    }

    private var stored: [ActivityMark: Stored] = [:]
    /// Activities by each topic of their audience.
    private var marks: [Place: Set<ActivityMark>] = [:]
    /// Is `true` once there were too many. No topic is complete then until the next restart.
    private var isOverfull = false
    /// Maximum number of activities. It exceeds the number of ends in flight, each of whose activities may be moved.
    static let countMax = 1 << 17

    var isEmpty: Bool { stored.isEmpty && !isOverfull }
    var count: Int { stored.count }

    /// Notes the audience that the store has for the activity.
    ///
    /// - Parameter token: `keyedHash` of the token that the store has now; `nil` if it has the same as before.
    mutating func note(_ activity: ActivityMark, absentFrom key: AudienceKey, token: UInt64? = nil) {
        let token = token ?? stored[activity]?.token
        remove(activity)
        guard stored.count < Absentees.countMax else { return isOverfull = true }
        stored[activity] = Stored(audience: key, token: token)
        for place in Absentees.places(of: key) { marks[place, default: []].insert(activity) }
    }

    private static func places(of key: AudienceKey) -> [Place] {
        switch key {
        case .topic(let topic): [Place(topic: topic, scope: .followers)]
        case .lineup(let topics, _): topics.map { Place(topic: $0, scope: .lineups) }
        }
    }

    func contains(_ activity: ActivityMark) -> Bool { stored[activity] != nil }

    /// Notes that the activity is where the store has it, or is over.
    ///
    /// - Parameter token: `keyedHash` of the token of an activity that is over. A stored card with another token lives on.
    /// - Returns: whether it was absent from an audience.
    @discardableResult mutating func remove(_ activity: ActivityMark, token: UInt64? = nil) -> Bool {
        guard let known = stored[activity] else { return false }
        if let token, let kept = known.token, kept != token { return false }
        stored[activity] = nil
        for place in Absentees.places(of: known.audience) {
            marks[place]?.remove(activity)
            if marks[place]?.isEmpty == true { marks[place] = nil }
        }
        return true
    }

    /// Returns the activities that a completion of the topic is to except, beside other exceptions; `nil` if they are too many.
    func exceptions(
        from topic: TopicID, in scope: CompletionScope = .followers, beside others: Int = 0
    ) -> [ActivityMark]? {
        guard !isOverfull else { return nil }
        guard let absent = marks[Place(topic: topic, scope: scope)] else {
            return others <= TopicCompletion.exceptionsMax ? [] : nil
        }
        return absent.count + others <= TopicCompletion.exceptionsMax ? Array(absent) : nil
    }

    /// Describes an activity that is listed under another topic than its own, or none; `nil` if there is none.
    func violation() -> String? {
        let places = stored.map { (activity: $0.key, places: Absentees.places(of: $0.value.audience)) }
        guard stored.count <= Absentees.countMax,
            places.reduce(0, { $0 + $1.places.count }) == marks.values.reduce(0, { $0 + $1.count }),
            places.allSatisfy({ known in known.places.allSatisfy { marks[$0]?.contains(known.activity) == true } }),
            marks.values.allSatisfy({ !$0.isEmpty })
        else { return "\(stored.count) absentees are not listed by their topics" }
        return nil
    }

    /// Returns the audience that the activity is absent from; `nil` if there is none.
    func audience(of activity: ActivityMark) -> AudienceKey? { stored[activity]?.audience }
}
