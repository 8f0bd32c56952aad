import FanfareModel

/// State of one topic in independent parts: folded facts, shown versions, and pending work.
///
/// A state machine without a clock: `apply` and `fire` take the log time. It states in `agenda.deadlines` when it is to be called
/// again; the core's timers make the calls.
struct Topic: Sendable {
    /// Birth number, which counts up over all topics.
    let birth: UInt64
    var fold: Fold
    var arrivals: Arrivals
    var shown: Shown
    var agenda = Agenda()
    var orders = TopicOrders()
    var governor = AlertGovernor()
    /// Newest publication under the topic's id; `nil` before the first. A topic that begins afresh keeps it: people who have not got the end
    /// of the tenure before still get it. It may have an alert, which a restart does not send, and which a checkpoint does not keep.
    var newest: Publication?
    /// Is `true` if a restart is not to send `newest`, because phones may have a later version that is not known any more.
    var isNewestWithheld = false

    var id: TopicID { fold.topic }
    var kind: TopicKind { fold.kind }
    var kindRules: KindRules { fold.kindRules }
    var rules: TopicRules { kindRules.rules }
    var limits: Rules.Limits { kindRules.limits }

    init(_ id: TopicID, birth: UInt64, kind: TopicKind?, rules kindRules: KindRules, version: UInt32 = 0) {
        self.birth = birth
        fold = Fold(id, kind: kind, rules: kindRules)
        arrivals = Arrivals(idsMax: kindRules.limits.eventIDsMax)
        shown = Shown(version: version)
    }

    /// Adopts the kind, which has become known.
    mutating func adopt(_ kind: TopicKind, rules kindRules: KindRules) {
        governor = AlertGovernor()
        fold.adopt(kind, rules: kindRules)
    }

    /// Cause of a version that other rules, or another build, ask for.
    private static let rulesCause = "other rules"

    /// Publishes the shown state at once, because people see that of another build.
    mutating func showOtherwise(now: FeedTime) {
        guard !shown.ended, !orders.isPaused else { return }
        agenda.add(Topic.rulesCause, max: limits.causesMax)
        agenda.republish(now: now)
    }

    /// Adopts other rules of the topic's kind. A state that looks different under them is flushed at once; waiting changes come by their interval.
    mutating func adopt(_ kindRules: KindRules, now: FeedTime) {
        let (before, former) = (fold.state, self.kindRules)
        fold.adopt(kindRules)
        defer { scheduleNewest() }
        governor.adopt(rules, at: now)
        if !shown.ended { adoptSilence(of: former, now: now) }
        guard let published = shown.state else { return }
        guard !shown.ended, !orders.isPaused else {
            // Nothing new is shown, and hidden values are not shown again.
            let redacted = kindRules.presented(published, topic: id)
            if !kindRules.looksAlike(redacted, published) { shown.redact(redacted) }
            return
        }
        let isVisible = former.looksAlike(before, published) || !kindRules.looksAlike(fold.state, before)
        if isVisible, !kindRules.looksAlike(fold.state, published) {
            agenda.add(Topic.rulesCause, max: limits.causesMax)
            agenda.flushAt = now
        } else if agenda.flushAt != nil, former.rules.pace.minimumInterval != rules.pace.minimumInterval {
            agenda.flushAt = max(now, shown.nextUpdate(after: rules.pace.minimumInterval, now: now))
        }
    }

    /// Schedules the newest publication, which a restart sends to the shards, by the shown state and the present rules. The end of an earlier tenure
    /// has no scheduled time: a checkpoint does not keep its state as an object.
    mutating func scheduleNewest() {
        let time = shown.state.flatMap { rules.schedule(of: $0, shownSince: shown.startedAt) }
        newest = newest?.scheduled(at: time)
    }

    /// Returns the newest publication with what is left of its dismissal at a log time. Called before the topic begins again: it then shows nothing, and
    /// the time of the publication is forgotten.
    func newestLater(at now: FeedTime) -> Publication? {
        guard let publishedAt = shown.publishedAt else { return newest }
        return newest?.later(by: now - publishedAt)
    }

    /// Counts the silence so far by the present rules.
    private mutating func adoptSilence(of former: KindRules, now: FeedTime) {
        guard let lapse = agenda.lapseAt else { return }
        let difference =
            shown.hasBegun
            ? kindRules.silenceMilliseconds - former.silenceMilliseconds
            : kindRules.awaitedMilliseconds - former.awaitedMilliseconds
        guard difference != 0 else { return }
        agenda.lapseAt = max(now, FeedTime(milliseconds: lapse.milliseconds + difference))
    }

    /// Resets the topic, except for its version, which keeps counting, and operators' orders.
    mutating func beginAfresh(now: FeedTime) {
        var fresh = Topic(
            id, birth: birth, kind: fold.isKindKnown ? kind : nil, rules: kindRules, version: shown.version)
        fresh.orders = orders
        fresh.agenda = agenda
        fresh.agenda.clear()
        fresh.newest = newestLater(at: now)
        fresh.isNewestWithheld = isNewestWithheld
        self = fresh
        scheduleNewest()
    }

    /// Restarts the count of silence, because the feed sent an event or the topic was shown.
    mutating func countSilence(from now: FeedTime) {
        agenda.lapseAt = FeedTime(
            milliseconds: now.milliseconds
                + (shown.hasBegun ? kindRules.silenceMilliseconds : kindRules.awaitedMilliseconds))
    }
}
