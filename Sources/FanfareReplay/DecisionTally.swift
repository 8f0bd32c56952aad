package import FanfareDecisions
package import FanfareModel

/// Counts decisions by topic kind: what a feed said, what people see of it, how often their phones are woken, and how long
/// anything waited.
package struct DecisionTally: Sendable {
    /// Of all topics of one kind together.
    package struct Figures: Sendable, Equatable {
        package var topics = 0
        package var events = 0
        /// Events that changed something people see, whether sent at once or not.
        package var visibleChanges = 0
        package var updates = 0
        package var alertsGranted = 0
        package var alertsDemoted = 0
        /// From each topic's first update to its last, in log time.
        package var activityTime = Duration.zero
        /// How long visible changes waited: of each that was sent, from its arrival until then.
        package var waits = WaitTally()
        /// Essential events that waited. There is no good reason for any.
        package var essentialDelayed = 0

        /// What one activity that follows one topic gets in an hour; `nil` where nothing lasted.
        package var pushesPerActivityAndHour: Double? {
            let hours = Double(activityTime.milliseconds) / 3_600_000
            return hours > 0 ? Double(updates) / hours : nil
        }

        /// 0–1, against a push for every event; `nil` without events.
        package var shareSaved: Double? { events > 0 ? 1 - Double(updates) / Double(events) : nil }

        package var medianWait: Duration? { waits.median }
        package var worstWait: Duration? { waits.worst }

        package init() {}
    }

    fileprivate struct Story {
        var kind: TopicKind?
        var figures = Figures()
        var firstUpdate: FeedTime?
        var waiting: [(since: FeedTime, isEssential: Bool)] = []
    }

    private let isEssential: @Sendable (TopicKind, OccasionKind) -> Bool
    private var topics: [TopicID: Story] = [:]
    /// Of topics that were forgotten: an id that comes again tells another story.
    private var closed: [TopicKind: Figures] = [:]

    /// - Parameter rules: what is essential in any of them counts as that.
    package init(essentialIn rules: [Rules]) {
        isEssential = { kind, occasion in rules.contains { $0[kind].occasions[occasion]?.essential == true } }
    }

    /// - Parameter publication: what the record tells of, where it does.
    package mutating func note(_ record: DecisionRecord, _ publication: Publication?) {
        guard let topic = record.topic else { return }
        guard !record.forgets else {
            if let story = topics.removeValue(forKey: topic) {
                closed[story.kind ?? .generic, default: Figures()].add(story.figures)
            }
            return
        }
        // What the core refused under an id that it does not know, it will not forget either.
        if record.outcome == .rejected, topics[topic] == nil {
            closed[.generic, default: Figures()].events += record.origin == .event ? 1 : 0
            return
        }
        topics[topic, default: Story()].note(record, publication, isEssential)
    }

    var topicsRemembered: Int { topics.count }

    /// By kind. Topics of which nothing was shown count as `generic`.
    package var figures: [TopicKind: Figures] {
        var all = closed
        for story in topics.values { all[story.kind ?? .generic, default: Figures()].add(story.figures) }
        return all
    }

    /// Of all kinds together.
    package var total: Figures {
        var total = Figures()
        for figures in figures.values { total.add(figures) }
        return total
    }
}

extension DecisionTally.Story {
    fileprivate mutating func note(
        _ record: DecisionRecord, _ publication: Publication?, _ isEssential: (TopicKind, OccasionKind) -> Bool
    ) {
        figures.topics = 1
        if record.origin == .event { figures.events += 1 }
        switch record.alert {
        case .granted: figures.alertsGranted += 1
        case .demoted: figures.alertsDemoted += 1
        case nil: break
        }
        if let publication {
            kind = publication.topicKind
            figures.updates += 1
            let first = firstUpdate ?? record.now
            firstUpdate = first
            figures.activityTime = record.now - first
            if record.origin == .event {
                figures.visibleChanges += 1
                figures.waits.note(.zero)
            }
            for change in waiting {
                figures.waits.note(record.now - change.since)
                if change.isEssential, record.now > change.since { figures.essentialDelayed += 1 }
            }
            waiting.removeAll(keepingCapacity: true)
        } else if record.outcome == .conflated {
            figures.visibleChanges += 1
            let isEssential = record.occasion.flatMap { occasion in kind.map { isEssential($0, occasion) } } ?? false
            waiting.append((record.now, isEssential))
        } else if record.origin == .timer {
            // Back to what is shown: what waited is nothing any more.
            waiting.removeAll(keepingCapacity: true)
        }
    }
}

extension DecisionTally.Figures {
    fileprivate mutating func add(_ other: Self) {
        topics += other.topics
        events += other.events
        visibleChanges += other.visibleChanges
        updates += other.updates
        alertsGranted += other.alertsGranted
        alertsDemoted += other.alertsDemoted
        activityTime += other.activityTime
        waits.add(other.waits)
        essentialDelayed += other.essentialDelayed
    }
}
