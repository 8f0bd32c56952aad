import FanfareDecisions
import FanfareModel

/// Notices for operators about a feed: words that no rule knows, and topics that nearly fill their table. Confined to the core's thread.
struct FeedWatch {
    private var unknownWords: UnknownWords
    private var topicRoom: TopicRoom

    init(rules: Rules) {
        unknownWords = UnknownWords(rules: rules)
        topicRoom = TopicRoom(topicsMax: rules.limits.topicsMax)
    }

    /// - Parameter runningTopics: topics that have not ended, with the event applied.
    /// - Returns: one line for people per notice; nearly always none, which allocates nothing.
    mutating func notices(of event: FeedEvent, runningTopics: Int) -> [String] {
        var notices: [String] = []
        if let notice = unknownWords.notice(of: event) { notices.append(notice) }
        if let notice = topicRoom.notice(of: runningTopics) { notices.append(notice) }
        return notices
    }
}

/// Notices, once each, words in a feed that no rule knows. A misspelt word is accepted but has no effect. Confined to the core's thread.
struct UnknownWords {
    private let rules: Rules
    /// Fact kinds and event kinds seen so far. It is bounded, because the words of a feed may all be different.
    private var seen: Set<String> = []
    private static let seenMax = 256
    private static let wordSizeMax = ByteCount.bytes(128)
    /// Candidates for a misspelt fact kind, as far as the rules know them.
    private static let factKinds = [
        "teams", "period", "goal", "card", "substitution", "shootoutKick", "penalty", "shootoutAttempt", "point", "set",
        "timeout", "position", "absent",
    ]

    init(rules: Rules) { self.rules = rules }

    /// - Returns: one line for people; `nil` if there is nothing to say.
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
        // The core rejects longer ones, which would be kept for good here.
        word.utf8.count <= UnknownWords.wordSizeMax.bytes && seen.count < UnknownWords.seenMax
            && seen.insert(word).inserted
    }

    private func isKnown(_ factKind: String) -> Bool {
        rules.other.reducer.understands(factKind: factKind)
            || rules.kinds.values.contains { $0.reducer.understands(factKind: factKind) }
    }

    private static func hint(_ meant: String?) -> String { meant.map { " (did you mean `\($0)`?)" } ?? "" }
}

/// Notices that the table of topics is nearly or entirely full, before people ask why a match is not shown.
struct TopicRoom {
    private let topicsMax: Int
    /// Level noticed last, in percent of the table.
    private var percentageNoticed = 0
    private static let percentages = [80, 95, 100]

    init(topicsMax: Int) { self.topicsMax = topicsMax }

    /// - Parameter count: topics that have not ended; ended ones are evicted.
    /// - Returns: one line for people; `nil` if there is nothing to say.
    mutating func notice(of count: Int) -> String? {
        let percentage = TopicRoom.percentages.last { count >= share($0) } ?? 0
        // A count that varies around a percentage is noticed once, and again only after it has fallen to less than half of the lowest one.
        guard percentage > percentageNoticed else {
            if count < share(TopicRoom.percentages[0]) - count { percentageNoticed = 0 }
            return nil
        }
        percentageNoticed = percentage
        guard percentage < 100 else {
            return
                "all \(topicsMax) topics are taken (Rules.Limits.topicsMax): events of others are rejected until one ends"
        }
        return
            "\(percentage) % of the \(topicsMax) topics that can run at a time are taken (Rules.Limits.topicsMax)"
    }

    /// Returns a share of the table, rounded up, without overflow.
    private func share(_ percent: Int) -> Int {
        topicsMax / 100 * percent + (topicsMax % 100 * percent + 99) / 100
    }
}
