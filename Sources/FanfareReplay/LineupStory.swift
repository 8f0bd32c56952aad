package import FanfareDecisions
package import FanfareFeeds
package import FanfareModel

/// The story of a rotation, as seen on the phone of a person who follows these topics in one activity.
package struct LineupStory: Sendable {
    package private(set) var cards: [LineupPreview.ShownCard] = []
    package private(set) var gaps = FeedGaps()
    /// Rejections of these topics, and of unreadable parts that may have been of them.
    package private(set) var rejections = FeedRejections()

    /// Plays the feed to its end or up to a moment. Topics of which the feed speaks later have no row yet.
    ///
    /// - Throws: `ReplayError` for a file that cannot be read, a topic that is not in the feed, or a moment before all of them.
    package init(
        of topics: [TopicID], favourite: TopicID? = nil, in paths: [String], feed: FeedOptions = FeedOptions(),
        rules: Rules = .builtIn, until: FeedTime? = nil
    ) throws(ReplayError) {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        let preview = LineupPreview(of: topics, favourite: favourite, rules: rules.lineups)
        var cards: [LineupPreview.ShownCard] = []
        var spokenOf: Set<TopicID> = []
        while let (_, decisions) = replay.next() {
            for case .record(let record) in decisions {
                if record.topic.map(topics.contains) ?? true { rejections.note(record) }
                if let topic = record.topic { spokenOf.insert(topic) }
            }
            preview.take(decisions) { cards.append($0) }
        }
        if let until {
            // One millisecond more includes the decisions made at `until` itself.
            preview.pass(to: until + .milliseconds(1)) { cards.append($0) }
        } else {
            preview.finish { cards.append($0) }
        }
        self.cards = cards
        gaps = replay.gaps
        if let until, spokenOf.isDisjoint(with: topics) {
            throw ReplayError(description: "\(topics[0]): the feed does not speak of it until \(until)")
        }
        guard !spokenOf.isSuperset(of: topics) else { return }
        if until != nil {
            var rest = try DecisionReplay(paths: paths, feed: feed, rules: rules)
            while !spokenOf.isSuperset(of: topics), let (item, _) = rest.next() {
                if case .event(let event) = item { spokenOf.insert(event.topic) }
            }
        }
        if let topic = topics.first(where: { !spokenOf.contains($0) }) {
            throw ReplayError(description: "\(topic): the feed does not speak of it")
        }
    }
}
