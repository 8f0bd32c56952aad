package import FanfareDecisions
package import FanfareFanOut
package import FanfareFeeds
package import FanfareModel

/// Decides a recorded feed without a fan-out, to answer questions about its decisions.
package struct DecisionReplay {
    private let feed: Feed
    private let until: FeedTime?
    package private(set) var core: DecisionCore
    /// The feed's unreadable parts without a topic, and the decoders' notices.
    package private(set) var gaps = FeedGaps()
    private var decisions: [Decision] = []
    private var isFinished = false

    /// - Throws: `ReplayError` for a file that cannot be read or recognised.
    package init(
        paths: [String], feed options: FeedOptions = FeedOptions(), rules: Rules = .builtIn, until: FeedTime? = nil
    ) throws(ReplayError) {
        do { feed = try Feed(paths: paths, options: options) } catch { throw ReplayError(description: "\(error)") }
        self.until = until
        core = DecisionCore(rules: rules, isLive: false)
    }

    /// Takes the next item or, at the end of the feed, releases the changes that wait for their minimum interval. A feed with an `until` has
    /// not ended by then: timers due by then fire, and later ones keep waiting.
    ///
    /// - Returns: the item (`nil` at the end of the feed) and its decisions; `nil` when nothing is left.
    package mutating func next() -> (item: FeedItem?, decisions: [Decision])? {
        guard !isFinished else { return nil }
        decisions.removeAll(keepingCapacity: true)
        guard let (now, item) = feed.next() else {
            isFinished = true
            if let until { core.advance(to: until, into: &decisions) } else { core.finish(into: &decisions) }
            return (nil, decisions)
        }
        if let until, now > until {
            isFinished = true
            core.advance(to: until, into: &decisions)
            return (nil, decisions)
        }
        switch item {
        case .event(let event): core.apply(event, now: now, into: &decisions)
        case .rejected(let rejection):
            gaps.note(rejection)
            core.reject(rejection, now: now, into: &decisions)
        case .noticed(let notice): gaps.note(notice)
        }
        return (item, decisions)
    }
}

extension [Decision] {
    /// Calls `body` with each record and the publication that it describes.
    package func forEachRecord(_ body: (DecisionRecord, Publication?) -> Void) {
        forEachStep { record, commands in
            var publication: Publication?
            for case .publish(let new) in commands { publication = new }
            body(record, publication)
        }
    }

    /// Calls `body` with each record and the shard commands of its step. In the array, the commands stand before the
    /// record that describes them and carries their time.
    package func forEachStep(_ body: (DecisionRecord, [ShardCommand]) -> Void) {
        var commands: [ShardCommand] = []
        for decision in self {
            switch decision {
            case .publish(let publication): commands.append(.publish(publication))
            case .revokeAlert(let topic, let cause): commands.append(.revokeAlert(topic: topic, cause: cause))
            case .forget(let topic): commands.append(.forget(topic))
            case .order: break  // stories and previews assume that the app's orders let everything pass
            case .record(let record):
                body(record, commands)
                commands.removeAll(keepingCapacity: true)
            }
        }
    }
}
