import FanfareDecisions
import FanfareFeeds
import FanfareModel
import FanfarePresentation
import FanfareReplay

/// One push of an activity, and what came with it.
struct PreviewMoment {
    var content: CardContent
    let title: String
    let cause: String
    let alert: AlertText?
    /// What was not sent since the push before, with reason and count.
    let unsent: [String]
    /// Time for which the card stays; `nil` unless the push ends the activity.
    var dismissAfter: Duration?
    /// End at eight hours, unless the activity is renewed then; `nil` where the pushes tell of it themselves.
    var limit: Limit?

    /// The system's limit for an activity (rule L1).
    struct Limit {
        let at: FeedTime
        let dismissAfter: Duration
    }

    /// End of the activity, if it has ended by then, and of its card.
    func ending(by time: FeedTime) -> (at: FeedTime, goneAt: FeedTime)? {
        if let dismissAfter { return (content.at, content.at + dismissAfter) }
        guard let limit, time >= limit.at else { return nil }
        return (limit.at, limit.at + limit.dismissAfter)
    }

    /// The moment at which the activity ends by its limit, with the newest state.
    func expired(at limit: Limit) -> PreviewMoment {
        var content = content
        (content.at, content.isOver) = (limit.at, true)
        return PreviewMoment(
            content: content, title: title, cause: "eight hours are over", alert: nil, unsent: [],
            dismissAfter: limit.dismissAfter)
    }

    var subtitle: String {
        var text = "\(content.at) · \(cause)"
        if let alert {
            let lines = [alert.title.description, alert.body.description].filter { !$0.isEmpty }
            text += " · alert: " + lines.joined(separator: " – ")
        }
        return Console.quoted(text)
    }

    func text(_ scenes: [Scene], _ findings: [Finding], wasChecked: Bool) -> String {
        var lines = [title, subtitle, "says     “\(scenes[0].spoken)”"]
        for scene in scenes {
            lines.append("\(scene.place.device.name), \(scene.place.name): \(scene.size)")
        }
        if !findings.isEmpty || wasChecked {
            lines.append("")
            lines += findings.map { "\($0)" }
            lines.append(findings.isEmpty ? "checked: nothing is wrong" : "\(findings.count) found")
        }
        return lines.map { Console.quoted($0) }.joined(separator: "\n") + "\n"
    }
}

/// Time after which the system ends an activity.
private let lifetime = Duration.seconds(8 * 3600)

/// The pushes of a feed to one activity.
struct PreviewSource {
    let paths: [String]
    let feed: FeedOptions
    let rules: Rules
    let until: FeedTime?

    /// Returns the pushes to an activity of one topic.
    ///
    /// - Parameter all: every push; otherwise the last one only.
    func moments(of topic: TopicID, all: Bool) throws(ReplayError) -> [PreviewMoment] {
        var moments: [PreviewMoment] = []
        // The activity begins with the topic's first push.
        var start: FeedTime?
        var isExpired = false
        let isKnown = try forEachPush(to: topic) { moment in
            var moment = moment
            let begun = start ?? moment.content.at
            start = begun
            if let limit = moments.last?.limit, moment.content.at >= limit.at {
                if !isExpired, all { moments.append(moments[moments.count - 1].expired(at: limit)) }
                isExpired = true
            }
            guard !isExpired else { return }
            moment.limit = moment.limit.map { .init(at: begun + lifetime, dismissAfter: $0.dismissAfter) }
            if !all { moments.removeAll(keepingCapacity: true) }
            moments.append(moment)
        }
        guard isKnown else { throw ReplayError(description: "\(topic): the feed does not speak of it") }
        return moments
    }

    /// Calls `body` with each push to the followers of one topic, or of every topic of the feed.
    ///
    /// - Returns: `true` if the feed speaks of the topic.
    @discardableResult func forEachPush(
        to topic: TopicID?, _ body: (PreviewMoment) -> Void
    ) throws(ReplayError) -> Bool {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var unsent = UnsentTally()
        var isKnown = false
        while let (_, decisions) = replay.next() {
            decisions.forEachRecord { record, publication in
                guard let id = record.topic, topic == nil || id == topic else { return }
                isKnown = true
                guard let publication, let view = replay.core.topic(id) else {
                    if topic != nil { unsent.add(record) }
                    return
                }
                let state = JSONObject(parsing: publication.state.bytes) ?? JSONObject()
                let content = CardContent(
                    topic: id, kind: view.kind, state: state, short: view.short, at: record.now,
                    isOver: publication.event == .end)
                body(
                    PreviewMoment(
                        content: content, title: "\(view.kind) \(id)", cause: record.name,
                        alert: publication.alert?.text, unsent: unsent.take(),
                        dismissAfter: content.isOver ? publication.dismissAfter : nil,
                        limit: content.isOver || publication.expiry.renews
                            ? nil
                            : .init(at: record.now + lifetime, dismissAfter: publication.expiry.dismissAfter)))
            }
        }
        return isKnown
    }

    /// Returns the pushes to an activity of a lineup.
    func moments(of topics: [TopicID], favourite: TopicID?, all: Bool) throws(ReplayError) -> [PreviewMoment] {
        let story = try LineupStory(of: topics, favourite: favourite, in: paths, feed: feed, rules: rules, until: until)
        let kinds = try kinds(of: topics)
        return (all ? story.displays : Array(story.displays.suffix(1))).map { display in
            let lit = display.spotlight.map { display.rows[$0] }
            let others = display.rows.enumerated().filter { $0.offset != display.spotlight }.map(\.element.fields)
            var state = display.state
            state["highlight"] = display.highlight.map(JSONValue.string) ?? state["highlight"]
            let topic = TopicID(lit?.topic ?? topics[0].rawValue)
            let content = CardContent(
                topic: topic, kind: kinds[topic] ?? .generic, state: state, short: lit?.short, others: others,
                more: display.more, at: display.at, isOver: display.isEnd)
            let causes = display.news.map { "\($0.topic?.rawValue ?? "") \($0.name)" }
            return PreviewMoment(
                content: content, title: "lineup of \(topics.count)",
                cause: causes.isEmpty ? "rotation" : causes.joined(separator: ", "), alert: display.alert,
                unsent: display.unseen > 0 ? ["nothing to see in the lineup \(display.unseen)"] : [],
                dismissAfter: display.dismissAfter)
        }
    }

    private func kinds(of topics: [TopicID]) throws(ReplayError) -> [TopicID: TopicKind] {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var kinds: [TopicID: TopicKind] = [:]
        while let (item, _) = replay.next(), kinds.count < topics.count {
            if case .event(let event) = item, let kind = event.topicKind, topics.contains(event.topic) {
                kinds[event.topic] = kind
            }
        }
        return kinds
    }
}

/// Decisions without a push, counted by their outcome.
private struct UnsentTally {
    private var counts: [(name: String, count: Int)] = []

    mutating func add(_ record: DecisionRecord) {
        let name = record.outcome.rawValue
        if let index = counts.firstIndex(where: { $0.name == name }) {
            counts[index].count += 1
        } else {
            counts.append((name, 1))
        }
    }

    mutating func take() -> [String] {
        defer { counts = [] }
        return counts.map { "\($0.name) \($0.count)" }
    }
}

extension DecisionRecord {
    /// What happened, in a word or two.
    fileprivate var name: String { occasion?.rawValue ?? (origin == .timer ? "what waited" : kind) }
}

extension LineupPreview.Display.Row {
    fileprivate var fields: JSONObject {
        [
            "id": .string(topic), "compactLeading": .string(compactLeading),
            "compactTrailing": .string(compactTrailing), "minimal": .string(minimal),
        ]
    }

    fileprivate var short: ShortForms {
        ShortForms(compactLeading: compactLeading, compactTrailing: compactTrailing, minimal: minimal)
    }
}
