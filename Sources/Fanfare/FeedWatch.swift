import FanfareDecisions
import FanfareModel

/// What operators are told of a feed: words that no rule knows, and topics that fill the room there is. Confined to the core's thread.
struct FeedWatch {
    private var unknownWords: UnknownWords
    private var topicRoom: TopicRoom

    init(rules: Rules) {
        unknownWords = UnknownWords(rules: rules)
        topicRoom = TopicRoom(topicsMax: rules.limits.topicsMax)
    }

    /// - Parameter runningTopics: topics that have not ended, with the event applied.
    /// - Returns: one line for people each; nearly always none, which allocates nothing.
    mutating func notices(of event: FeedEvent, runningTopics: Int) -> [String] {
        var notices: [String] = []
        if let notice = unknownWords.notice(of: event) { notices.append(notice) }
        if let notice = topicRoom.notice(of: runningTopics) { notices.append(notice) }
        return notices
    }
}

/// Says of words in a feed that no rule knows them, once of each: what is misspelt is taken, and nothing ever comes of it. Confined to
/// the core's thread.
struct UnknownWords {
    private let rules: Rules
    /// Fact kinds and event kinds that were looked at. A feed whose words are all different must not be kept in mind.
    private var seen: Set<String> = []
    private static let seenMax = 256
    /// What may have been meant, as far as the rules know it.
    private static let factKinds = [
        "teams", "period", "goal", "card", "substitution", "shootoutKick", "penalty", "shootoutAttempt", "point", "set",
        "timeout", "position", "absent",
    ]

    init(rules: Rules) { self.rules = rules }

    /// - Returns: one line for people.
    mutating func notice(of event: FeedEvent) -> String? {
        switch event.change {
        case .fact(let fact):
            guard isNew(fact.kind), !isKnown(fact.kind) else { return nil }
            let meant = fact.kind.nearest(of: UnknownWords.factKinds.filter(isKnown))
            return "no rules know facts of the kind `\(fact.kind)`\(UnknownWords.hint(meant)): nothing is made of them"
        case .nothing where event.lifecycle == nil && event.alert == nil:
            guard isNew(event.kind), let meant = event.kind.nearest(of: ["start", "end"]) else { return nil }
            return "events of the kind `\(event.kind)` say nothing\(UnknownWords.hint(meant))"
        default: return nil
        }
    }

    private mutating func isNew(_ word: String) -> Bool {
        seen.count < UnknownWords.seenMax && seen.insert(word).inserted
    }

    private func isKnown(_ factKind: String) -> Bool {
        rules.other.reducer.understands(factKind: factKind)
            || rules.kinds.values.contains { $0.reducer.understands(factKind: factKind) }
    }

    private static func hint(_ meant: String?) -> String { meant.map { " (did you mean `\($0)`?)" } ?? "" }
}

/// Says when the room for topics is nearly used up, and when it is: before people ask why a match is not shown.
struct TopicRoom {
    private let topicsMax: Int
    /// Of the room, in percent, what was said last.
    private var said = 0
    private static let levels = [80, 95, 100]

    init(topicsMax: Int) { self.topicsMax = topicsMax }

    /// - Parameter count: topics that have not ended; the others give way.
    /// - Returns: one line for people.
    mutating func notice(of count: Int) -> String? {
        let level = TopicRoom.levels.last { count >= share($0) } ?? 0
        // What comes and goes around a level is said once; it has to be well below to be news again.
        guard level > said else {
            if count < share(TopicRoom.levels[0]) / 2 { said = 0 }
            return nil
        }
        said = level
        guard level < 100 else {
            return
                "all \(topicsMax) topics are taken (Rules.Limits.topicsMax): events of others are rejected until one ends"
        }
        return
            "\(level) % of the \(topicsMax) topics that can run at a time are taken (Rules.Limits.topicsMax)"
    }

    /// Rounded up, without overflow.
    private func share(_ percent: Int) -> Int {
        topicsMax / 100 * percent + (topicsMax % 100 * percent + 99) / 100
    }
}
