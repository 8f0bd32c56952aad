import FanfareDecisions
import FanfareFanOut
import FanfareFeeds
import FanfareJSON
import FanfareModel
import FanfarePresentation
import FanfareReplay

/// One push of an activity, and its circumstances.
struct PreviewMoment {
    var content: CardContent
    let title: String
    var cause: String
    var alert: AlertText?
    /// Unsent changes since the push before, with reason and count.
    var unsent: [String]
    /// Time for which the card stays; `nil` unless the push ends the activity.
    var dismissAfter: Duration?
    /// Is `false` for a moment without a push: the feed's end, the system's limit, the card's dismissal.
    var isPush = true
    /// Is `true` once the system has removed the card.
    var isGone = false
    /// Time from which the card is stale; `nil` without a stale date (rule L6).
    var staleAt: FeedTime?
    /// Time of the push, and the card's changes since, if people look later; `nil` at the push itself.
    private(set) var since: (push: FeedTime, note: String)?
    /// End at almost eight hours, unless the activity is renewed then; `nil` if the pushes contain the end.
    var limit: Limit?

    /// End of an activity by its age (rule L1).
    struct Limit {
        let at: FeedTime
        let dismissAfter: Duration
    }

    /// Time for which the system shows an alert's banner. Estimate: Apple publishes no figure.
    private static let bannerLasts = Duration.seconds(6)

    /// Returns `true` while the alert's banner is shown.
    func showsBanner(at time: FeedTime) -> Bool {
        alert != nil && time < content.at + PreviewMoment.bannerLasts
    }

    /// The card as people see it at a moment after the push: timers have run on, and stale content says so.
    func seen(at now: FeedTime) -> PreviewMoment {
        var moment = self
        var notes: [String] = []
        moment.content.at = now
        if let ending = ending(by: now) {
            moment.content.isOver = true
            moment.staleAt = nil
            if dismissAfter == nil { notes.append("almost eight hours are over") }
            if now > ending.at { notes.append("ended at \(ending.at)") }
        } else if let staleAt, now >= staleAt {
            moment.content.isStale = true
            notes.append("stale since \(staleAt)")
        }
        moment.since = now == content.at ? nil : (content.at, notes.joined(separator: ", "))
        return moment
    }

    /// The moment at which the card becomes stale; `nil` if it ends before, or if `next` comes first.
    func turnedStale(before next: FeedTime) -> PreviewMoment? {
        guard let staleAt, staleAt < next, !isGone, ending(by: staleAt) == nil else { return nil }
        var moment = seen(at: staleAt)
        (moment.cause, moment.alert, moment.unsent) = ("the card is stale: no update has come", nil, [])
        (moment.isPush, moment.staleAt) = (false, nil)
        return moment
    }

    /// End of the activity, if it has ended at that time, and of its card.
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
            content: content, title: title, cause: "almost eight hours are over", alert: nil, unsent: [],
            dismissAfter: limit.dismissAfter, isPush: false)
    }

    /// The moment at which the feed ends, with the unsent changes after the last push.
    func rest(_ unsent: [String], at end: FeedTime) -> PreviewMoment {
        var content = content
        content.at = end
        return PreviewMoment(
            content: content, title: title, cause: "the feed ends", alert: nil, unsent: unsent, isPush: false,
            isGone: ending(by: end).map { $0.goneAt <= end } ?? false)
    }

    /// The moment at which the system removes the ended card; `nil` for a card that goes with its end.
    var dismissal: PreviewMoment? {
        guard let dismissAfter, dismissAfter > .zero else { return nil }
        var content = content
        content.at = content.at + dismissAfter
        return PreviewMoment(
            content: content, title: title, cause: "the system removes the card", alert: nil, unsent: [],
            isPush: false, isGone: true)
    }

    /// Returns the contents to check: as the moment begins, and as it is once it is stale.
    ///
    /// - Parameter until: time at which people look; a later stale date has no effect. `nil`: the card may become stale.
    func looks(until: FeedTime?) -> [CardContent] {
        [content] + (turnedStale(before: until.map { $0 + .milliseconds(1) } ?? .end).map { [$0.content] } ?? [])
    }

    /// The push, with its cause and its alert, and the time at which people look, if that is another.
    var times: [(name: String, text: String)] {
        var push = "\(since?.push ?? content.at) · \(cause)"
        if let alert {
            let lines = [alert.title.description, alert.body.description].filter { !$0.isEmpty }
            push += " · alert: " + lines.joined(separator: " – ").replacing("\n", with: " – ")
        }
        guard let since else { return [("push", Console.quoted(push))] }
        return [
            ("push", Console.quoted(push)), ("seen", "\(content.at)" + (since.note.isEmpty ? "" : " · \(since.note)")),
        ]
    }

    /// - Parameter checked: result of the checks; `nil` if the text lists only the findings in the scenes.
    func text(_ scenes: [Scene], _ findings: [Finding], checked: String?) -> String {
        var lines = [title] + times.map { "\($0.name)     \($0.text)" }
        lines.append(scenes.first.map { "says     “\($0.spoken)”" } ?? "the card has gone")
        for scene in scenes {
            lines.append("\(scene.surface.device.name), \(scene.surface.name): \(scene.size)")
        }
        if checked == nil, !findings.isEmpty {
            lines.append("")
            lines += findings.map { "\($0)" }
            lines.append("\(findings.count) found")
        }
        return lines.map { Console.quoted($0) }.joined(separator: "\n") + "\n" + (checked.map { "\n\($0)\n" } ?? "")
    }
}

extension FeedTime {
    fileprivate static let end = FeedTime(milliseconds: .max)
}

/// The pushes of a feed to one activity.
struct PreviewSource {
    let paths: [String]
    let feed: FeedOptions
    let rules: Rules
    let until: FeedTime?
    /// Events of the topics asked for last that are in no push.
    let unseen = UnseenEvents()

    /// Returns the pushes to an activity of one topic.
    ///
    /// - Parameter all: every push; otherwise the last one only.
    func moments(of topic: TopicID, all: Bool) throws(ReplayError) -> [PreviewMoment] {
        var moments: [PreviewMoment] = []
        // The activity begins with the topic's first push.
        var start: FeedTime?
        var isExpired = false
        let rest = try forEachPush(to: topic) { moment in
            var moment = moment
            let begun = start ?? moment.content.at
            start = begun
            if let limit = moments.last?.limit, moment.content.at >= limit.at {
                if !isExpired, all { moments.append(moments[moments.count - 1].expired(at: limit)) }
                isExpired = true
            }
            // A topic that begins again after its end has another activity.
            defer { if moment.content.isOver { (start, isExpired) = (nil, false) } }
            guard !isExpired else { return }
            moment.limit = moment.limit.map { .init(at: begun + ActivityAge.end, dismissAfter: $0.dismissAfter) }
            if !all { moments.removeAll(keepingCapacity: true) }
            moments.append(moment)
        }
        guard let rest else { throw try unknown(topic) }
        guard all, let last = moments.last else { return moments }
        // The feed may go on after the last push to this activity.
        if let limit = last.limit, rest.at >= limit.at {
            moments.append(last.expired(at: limit))
        } else if !rest.unsent.isEmpty, !isExpired {
            moments.append(last.rest(rest.unsent, at: rest.at))
        }
        return moments
    }

    /// Maximum of topics that an error names.
    private static let namedMax = 10

    /// Returns an error that helps to find the topic that was meant.
    private func unknown(_ topic: TopicID) throws(ReplayError) -> ReplayError {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules)
        var known: [TopicID] = []
        while let (item, _) = replay.next(), known.count <= PreviewSource.namedMax {
            guard case .event(let event) = item else { continue }
            if event.topic == topic {
                return ReplayError(description: "\(topic): the feed first speaks of it at \(event.at)")
            }
            if !known.contains(event.topic) { known.append(event.topic) }
        }
        let names = known.prefix(PreviewSource.namedMax).map(\.rawValue).joined(separator: ", ")
        let hint =
            known.isEmpty
            ? "it has no topics" : "its topics are \(names)\(known.count > PreviewSource.namedMax ? " and others" : "")"
        return ReplayError(description: "\(topic): the feed does not speak of it; \(hint)")
    }

    /// Calls `body` with each push to the followers of one topic, or of every topic of the feed.
    ///
    /// - Returns: the unsent changes after the last push, and the time of the feed's last decision; `nil` if the feed does not have the topic.
    @discardableResult func forEachPush(
        to topic: TopicID?, _ body: (PreviewMoment) -> Void
    ) throws(ReplayError) -> (unsent: [String], at: FeedTime)? {
        var replay = try DecisionReplay(paths: paths, feed: feed, rules: rules, until: until)
        var unsent = UnsentTally()
        var isKnown = false
        var end: FeedTime?
        defer { unseen.notices = replay.gaps.notices }
        while let (item, decisions) = replay.next() {
            if case .event = item { unseen.events += 1 }
            decisions.forEachRecord { record, publication in
                end = max(end ?? record.now, record.now)
                if topic == nil || record.topic == nil || record.topic == topic { unseen.rejections.note(record) }
                guard let id = record.topic, topic == nil || id == topic else { return }
                isKnown = true
                guard let publication, let view = replay.core.topic(id) else {
                    if topic != nil { unsent.add(record) }
                    return
                }
                let state = JSONObject(parsing: publication.state.bytes) ?? JSONObject()
                let content = CardContent(
                    topic: id, kind: view.kind, state: state, at: record.now,
                    isOver: publication.event == .end)
                body(
                    PreviewMoment(
                        content: content, title: "\(view.kind) \(id)", cause: record.name,
                        alert: publication.alert?.text, unsent: unsent.take(),
                        dismissAfter: content.isOver ? publication.dismissal?.duration(from: record.now) : nil,
                        staleAt: content.isOver ? nil : publication.staleAfter.map { record.now + $0 },
                        limit: content.isOver || publication.expiry.renews
                            ? nil
                            : .init(
                                at: record.now + ActivityAge.end,
                                dismissAfter: publication.expiry.dismissal.duration(from: record.now))))
            }
        }
        return isKnown ? end.map { (unsent.take(), $0) } : nil
    }

    /// Returns the pushes to an activity of a lineup.
    func moments(of topics: [TopicID], favourite: TopicID?, all: Bool) throws(ReplayError) -> [PreviewMoment] {
        let story = try LineupStory(of: topics, favourite: favourite, in: paths, feed: feed, rules: rules, until: until)
        unseen.rejections = story.rejections
        unseen.notices = story.gaps.notices
        let kinds = try kinds(of: topics)
        return (all ? story.cards : Array(story.cards.suffix(1))).map { card in
            let (shown, spotlight) = (card.content, card.content.spotlightRow)
            let others = shown.rows.enumerated().filter { $0.offset != shown.spotlight }.map(\.element.fields)
            var state = shown.state
            state["highlight"] = shown.highlight.map(JSONValue.string) ?? state["highlight"]
            let topic = TopicID(spotlight?.topic ?? topics[0].rawValue)
            let content = CardContent(
                topic: topic, kind: kinds[topic] ?? .generic, state: state, short: spotlight?.short, others: others,
                more: shown.more, at: card.at, isOver: card.isEnd)
            let causes = card.news.map { "\($0.topic?.rawValue ?? "") \($0.name)" }
            return PreviewMoment(
                content: content, title: "lineup of \(topics.count)",
                cause: causes.isEmpty ? "rotation" : causes.joined(separator: ", "), alert: card.alert,
                unsent: card.unseen > 0 ? ["nothing to see in the lineup \(card.unseen)"] : [],
                dismissAfter: card.dismissAfter, staleAt: card.staleAt)
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
    /// The event, in a word or two.
    fileprivate var name: String { occasion?.rawValue ?? (origin == .timer ? "what waited" : kind) }
}

extension ShownContent.Row {
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
