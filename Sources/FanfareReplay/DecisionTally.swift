package import FanfareDecisions
package import FanfareModel

/// Counts decisions by topic kind: events of the feed, visible changes, pushes to a phone, and the time that changes waited.
package struct DecisionTally: Sendable {
    /// Figures of all topics of one kind together.
    package struct Figures: Sendable, Equatable {
        package var topics = 0
        package var events = 0
        /// Events that changed something people see, sent at once or not.
        package var visibleChanges = 0
        package var updates = 0
        package var alertsGranted = 0
        package var alertsDemoted = 0
        /// Log time from each topic's first update to its last, summed over the topics.
        package var activityTime = Duration.zero
        /// Time from the arrival of each visible change until it was sent, for the changes that were sent.
        package var waits = WaitTally()
        /// Essential events that waited. No essential event should wait.
        package var essentialDelayed = 0

        /// Pushes per hour to one activity that follows one topic; `nil` if no topic lasted.
        package var pushesPerActivityAndHour: Double? {
            let hours = Double(activityTime.milliseconds) / 3_600_000
            return hours > 0 ? Double(updates) / hours : nil
        }

        /// Share of pushes saved, 0–1, compared with a push for every event; `nil` without events.
        package var shareSaved: Double? { events > 0 ? 1 - Double(updates) / Double(events) : nil }

        package var medianWait: Duration? { waits.median }
        package var worstWait: Duration? { waits.worst }

        package init() {}
    }

    fileprivate struct Story {
        var kind: TopicKind?
        var figures = Figures()
        var firstUpdate: FeedTime?
        var conflated: [(since: FeedTime, isEssential: Bool)] = []
    }

    private let isEssential: @Sendable (TopicKind, OccasionKind) -> Bool
    private var topics: [TopicID: Story] = [:]
    /// Figures of forgotten topics. A topic that later gets the same id has a story of its own.
    private var closed: [TopicKind: Figures] = [:]

    /// - Parameter rules: an event is essential if any of these rules makes it so.
    package init(essentialIn rules: [Rules]) {
        isEssential = { kind, occasion in rules.contains { $0[kind].occasions[occasion]?.essential == true } }
    }

    /// - Parameter publication: publication that the record describes, if any.
    package mutating func note(_ record: DecisionRecord, _ publication: Publication?) {
        guard let topic = record.topic else { return }
        guard !record.forgets else {
            if let story = topics.removeValue(forKey: topic) {
                closed[story.kind ?? .generic, default: Figures()].add(story.figures)
            }
            return
        }
        // The core never forgets an id that it refused as unknown, so the id must not get a story here.
        if record.outcome == .rejected, topics[topic] == nil {
            closed[.generic, default: Figures()].events += record.origin == .event ? 1 : 0
            return
        }
        topics[topic, default: Story()].note(record, publication, isEssential)
    }

    var topicsRemembered: Int { topics.count }

    /// Figures by kind. Topics that published nothing count as `generic`.
    package var figures: [TopicKind: Figures] {
        var all = closed
        for story in topics.values { all[story.kind ?? .generic, default: Figures()].add(story.figures) }
        return all
    }

    /// Figures of all kinds together.
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
            for change in conflated {
                figures.waits.note(record.now - change.since)
                if change.isEssential, record.now > change.since { figures.essentialDelayed += 1 }
            }
            conflated.removeAll(keepingCapacity: true)
        } else if record.outcome == .conflated {
            figures.visibleChanges += 1
            let isEssential = record.occasion.flatMap { occasion in kind.map { isEssential($0, occasion) } } ?? false
            conflated.append((record.now, isEssential))
        } else if record.origin == .timer {
            // The state is again the one that is shown, so the conflated changes are void.
            conflated.removeAll(keepingCapacity: true)
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
