import FanfareFanOut
import FanfareFeeds
package import FanfareModel

/// One activity that follows a lineup, and what its phone shows: a shard of its own, in log time, before a network that takes
/// everything at once. For people who want to see what a rotation does.
///
/// Confined to one thread.
package final class LineupPreview {
    /// What a push makes the phone show: `LineupContentState` as it was sent, read back.
    package struct Display: Sendable, Equatable {
        package struct Row: Sendable, Equatable {
            package var topic: String
            package var compactLeading: String
            package var compactTrailing: String
            package var minimal: String
        }

        /// Log time of the push.
        package var at: FeedTime
        package var isEnd: Bool
        /// In the person's own order.
        package var rows: [Row]
        /// Topics that found no room.
        package var more: Int
        /// Index into `rows`; `nil` when the topic's state is too large to be shown beside anything else.
        package var spotlight: Int?
        /// Of the topic in the spotlight.
        package var state: JSONObject
        /// The key of `state` that the layout emphasises.
        package var highlight: String?
        package var link: String?
        package var alert: AlertText?
        package var priority: Priority
        /// Of the content state.
        package var bytes: Int
        /// Of the push; `nil` where APNs would not take it.
        package var cost: PushCost?
        /// Of the lineup's topics: published since the push before, and seen first in this one. None: the push is the rotation's own.
        package var news: [DecisionRecord] = []
        /// Versions of the lineup's topics since the push before in which there was nothing for it to show.
        package var unseen = 0
    }

    package let topics: [TopicID]
    private let shard: Shard
    private let follow: ShardCommand
    /// The moment that time has passed to.
    private var last: FeedTime?
    private var batch = DeliveryBatch()
    private var news: [DecisionRecord] = []
    private var unseen = 0
    /// Something has been said that the phone has not been asked for.
    private var isTold = false
    // What the shard tells of its progress interests nobody here, but has to be taken from it.
    private var feedback: RingProducer<ShardFeedback>
    private var heard: RingConsumer<ShardFeedback>

    /// - Parameter favourite: one of the topics, which has the spotlight whenever nothing happens elsewhere.
    package init(of topics: [TopicID], favourite: TopicID? = nil, rules: LineupRules = LineupRules()) {
        self.topics = topics
        shard = Shard(lineups: rules)
        follow = .follow(ActivityID(1), .lineup(topics, favourite: favourite), token: [1])
        let ring = OneToOneRing<ShardFeedback>(capacity: 64)
        feedback = ring.takeProducer()
        heard = ring.takeConsumer()
    }

    /// Takes what a decision core said, in order. What it said of one moment the phone sees together, as soon as time has passed.
    ///
    /// - Parameter show: called with each push.
    package func take(_ decisions: [Decision], show: (Display) -> Void) {
        decisions.forEachStep { record, commands in
            pass(to: record.now, show: show)
            guard !commands.isEmpty else { return }
            for command in commands { shard.apply(command, at: moment(record.now)) }
            isTold = true
            if let topic = record.topic, topics.contains(topic) { news.append(record) }
        }
    }

    /// Time goes by, and the rotation with it.
    package func pass(to now: FeedTime, show: (Display) -> Void) {
        guard let last else {
            last = now
            shard.apply(follow, at: moment(now))
            return
        }
        guard last < now else { return }
        pull(at: last, show: show)
        while let due, due <= now { pull(at: due, show: show) }
        self.last = now
    }

    /// When the phone may see something although nothing more is said: `pass` to it then.
    package var nextDue: FeedTime? {
        guard let last else { return nil }
        return isTold ? last + .milliseconds(1) : due.map { max($0, last + .milliseconds(1)) }
    }

    /// The feed is over: the phone sees what was said last, also what waits for its interval or for other alerts.
    package func finish(show: (Display) -> Void) {
        guard let last else { return }
        pull(at: last, show: show)
        while !shard.isQuiet, let due { pull(at: due, show: show) }
    }

    /// Clocks here count milliseconds; rounded up, it is due then.
    private var due: FeedTime? { shard.nextDue.map { FeedTime(milliseconds: ($0 + 999_999) / 1_000_000) } }

    private func pull(at now: FeedTime, show: (Display) -> Void) {
        isTold = false
        let moment = moment(now)
        shard.pull(limit: 8, at: moment, into: &batch)
        for delivery in batch.deliveries {
            var display = Display(batch.payload(of: delivery), at: now)
            let lit = display.spotlight.map { display.rows[$0].topic }
            shard.complete(
                [Completion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)], at: moment)
            // What still waits for the lineup's interval is none of what had to be seen at once.
            let stillWaiting = shard.isQuiet ? [] : news.filter { $0.topic?.rawValue != lit }
            (display.news, display.unseen) = (news.filter { !stillWaiting.contains($0) }, unseen)
            (news, unseen) = (stillWaiting, 0)
            show(display)
        }
        batch.removeAll()
        while shard.sendFeedback(to: &feedback) { while heard.pop() != nil {} }
        // Nothing is owed any more: what has not been shown by now is not to be seen.
        if shard.isQuiet {
            unseen += news.count
            news.removeAll(keepingCapacity: true)
        }
    }

    private func moment(_ now: FeedTime) -> Moment {
        Moment(wallMilliseconds: now.milliseconds, monotonicNanoseconds: now.milliseconds * 1_000_000)
    }
}

extension LineupPreview.Display {
    fileprivate init(_ payload: Payload, at now: FeedTime) {
        let content = JSONObject(parsing: payload.state) ?? JSONObject()
        let spotlight = content["spotlight"]?.objectValue
        self.init(
            at: now, isEnd: payload.event == .end,
            rows: (content["topics"]?.arrayValue ?? []).compactMap(\.objectValue).map(Row.init),
            more: content["more"]?.intValue.map(Int.init) ?? 0,
            spotlight: spotlight?["index"]?.intValue.map(Int.init), state: spotlight?["state"]?.objectValue ?? [:],
            highlight: content["highlight"]?.stringValue, link: content["link"]?.stringValue, alert: payload.alert,
            priority: payload.priority, bytes: payload.state.count, cost: PushCost(payload))
    }
}

extension LineupPreview.Display.Row {
    fileprivate init(_ row: JSONObject) {
        func text(_ key: String) -> String { row[key]?.stringValue ?? "" }
        self.init(
            topic: text("id"), compactLeading: text("compactLeading"), compactTrailing: text("compactTrailing"),
            minimal: text("minimal"))
    }
}
