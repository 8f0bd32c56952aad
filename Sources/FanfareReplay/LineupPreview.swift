import FanfareFanOut
import FanfareJSON
package import FanfareModel

/// One activity that follows a lineup, and its phone's display: a shard of its own, in log time, in front of a transport that accepts everything at
/// once. Lets people see the effects of a rotation.
///
/// Confined to one thread.
package final class LineupPreview {
    /// Card on the phone after a push.
    package struct ShownCard: Sendable, Equatable {
        /// Log time of the push.
        package var at: FeedTime
        package var isEnd: Bool
        package var content: ShownContent
        package var alert: AlertText?
        package var priority: Priority
        /// Size of the content state.
        package var size: ByteCount
        /// Cost of the push; `nil` if APNs would refuse it.
        package var cost: PushCost?
        /// Records of the lineup's topics that were published since the push before and are first seen in this push.
        /// Empty for a push that the rotation made by itself.
        package var news: [DecisionRecord] = []
        /// Versions of the lineup's topics since the push before that changed nothing in the lineup.
        package var unseen = 0
        /// Time for which the card stays; `nil` unless the push ends the activity.
        package var dismissAfter: Duration?
        /// Time from which the phone shows the card as stale.
        package var staleAt: FeedTime?
    }

    package let topics: [TopicID]
    private let shard: Shard
    private let follow: ShardCommand
    /// Log time of the preview.
    private var last: FeedTime?
    private var batch = DeliveryBatch()
    private var news: [DecisionRecord] = []
    private var unseen = 0
    /// Is `true` when commands were applied since the last pull.
    private var hasNewCommands = false

    /// - Parameter favourite: one of the topics; it has the spotlight while nothing happens in the others.
    package init(of topics: [TopicID], favourite: TopicID? = nil, rules: LineupRules = LineupRules()) {
        self.topics = topics
        shard = Shard(lineups: rules)
        follow = .follow(ActivityID(1), .lineup(topics, favourite: favourite), token: [1])
    }

    /// Applies the decisions of a decision core, in order. The phone sees the decisions of one moment together, as soon as time has passed.
    ///
    /// - Parameter show: called with the card after each push.
    package func take(_ decisions: [Decision], show: (ShownCard) -> Void) {
        decisions.forEachStep { record, commands in
            pass(to: record.now, show: show)
            guard !commands.isEmpty else { return }
            if let topic = record.topic, topics.contains(topic) { begin(at: record.now) }
            for command in commands { shard.apply(command, at: moment(record.now)) }
            hasNewCommands = true
            if let topic = record.topic, topics.contains(topic) { news.append(record) }
        }
    }

    /// Begins the activity with the first news of one of its topics. The feed of other topics may begin months before.
    private func begin(at now: FeedTime) {
        guard last == nil else { return }
        last = now
        shard.apply(follow, at: moment(now))
    }

    /// Advances log time to `now`, and the rotation with it.
    package func pass(to now: FeedTime, show: (ShownCard) -> Void) {
        guard let last, last < now else { return }
        pull(at: last, show: show)
        while let due, due <= now { pull(at: due, show: show) }
        self.last = now
    }

    /// Next time at which the phone may show something else without further decisions; `pass` is due then.
    package var nextDue: FeedTime? {
        guard let last else { return nil }
        return hasNewCommands ? last + .milliseconds(1) : due.map { max($0, last + .milliseconds(1)) }
    }

    /// Ends the feed: the phone shows the last state, including changes that wait for their interval or for other alerts.
    package func finish(show: (ShownCard) -> Void) {
        guard let last else { return }
        pull(at: last, show: show)
        while !shard.isQuiet, let due { pull(at: due, show: show) }
    }

    /// Time of the shard's next timer. The preview's clock counts milliseconds, so the time is rounded up.
    private var due: FeedTime? {
        shard.nextDue.map { FeedTime(milliseconds: (max(0, $0.nanoseconds) + 999_999) / 1_000_000) }
    }

    private func pull(at now: FeedTime, show: (ShownCard) -> Void) {
        hasNewCommands = false
        let moment = moment(now)
        shard.pull(limit: 8, at: moment, into: &batch)
        for delivery in batch.deliveries {
            var card = ShownCard(batch.payload(of: delivery), at: now)
            let spotlight = card.content.spotlightRow?.topic
            shard.complete(
                [DeliveryCompletion(slot: delivery.slot, generation: delivery.generation, outcome: .accepted)],
                at: moment)
            // A record that still waits for the lineup's interval is not part of this push, which sends what had to be seen at once.
            let stillWaiting = shard.isQuiet ? [] : news.filter { $0.topic?.rawValue != spotlight }
            (card.news, card.unseen) = (news.filter { !stillWaiting.contains($0) }, unseen)
            (news, unseen) = (stillWaiting, 0)
            show(card)
        }
        batch.removeAll()
        // A shard pulls nothing while too much of its feedback waits.
        shard.drainFeedback { _ in }
        // No push is pending, so records that were not shown by now will not be.
        if shard.isQuiet {
            unseen += news.count
            news.removeAll(keepingCapacity: true)
        }
    }

    private func moment(_ now: FeedTime) -> Moment {
        Moment(wallMilliseconds: now.milliseconds, monotonicNanoseconds: now.milliseconds * 1_000_000)
    }
}

extension LineupPreview.ShownCard {
    fileprivate init(_ payload: Payload, at now: FeedTime) {
        self.init(
            at: now, isEnd: payload.event == .end,
            content: ShownContent(JSONObject(parsing: payload.state) ?? JSONObject()),
            alert: payload.alert, priority: payload.priority, size: .bytes(payload.state.count), cost: PushCost(payload)
        )
        staleAt = isEnd ? nil : payload.staleDate.map { FeedTime(seconds: $0) }
        guard isEnd else { return }
        // A dismissal date in the past removes the card at once.
        dismissAfter = payload.dismissalDate.map { max(.zero, FeedTime(seconds: $0) - now) }
    }
}
