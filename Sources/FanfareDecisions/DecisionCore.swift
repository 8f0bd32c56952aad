public import FanfareModel

/// Decides the visible changes: feed events in, decisions out. Pure and deterministic: the same calls give the same decisions, byte
/// for byte, on every machine. A value type without clock, I/O, threads or randomness, confined to its owner.
///
///     var core = DecisionCore(isLive: false)
///     var decisions: [Decision] = []
///     core.apply(event, now: event.at, into: &decisions)
///
/// `now` is log time. It never goes back: an earlier one counts as the latest so far. Timers that are due by `now` fire first, each
/// at its own deadline; so `advance` between two events changes only *when* the decisions come.
@usableFromInline package struct DecisionCore: Sendable {
    /// Counts up with each release that decides anything otherwise, also because of another Swift. A log is decided again byte for byte under one
    /// version; another version decides it in its own way, and people get their topics' new states once, silently.
    package static let version: UInt32 = 1

    var kinds: [TopicKind: KindRules]
    var other: KindRules
    var table = TopicTable()
    var ends = EndedTopics()
    private var timers = Timers()
    var serial: UInt64 = 0
    /// Log time of the last call. Stored, because a computed property of another module's value is read from a copy of the whole core.
    package internal(set) var now = FeedTime.plausible.lowerBound
    /// Operators' orders for all topics or for all of a kind.
    var orders: StandingOrders
    /// Topics of a restored checkpoint that the build before has shown otherwise, with their versions, until the end of the recall.
    var shownOtherwise: [(id: TopicID, birth: UInt64, version: UInt32)] = []
    /// Topics that the last call forgot, with their final content, in the order of their `forget` decisions.
    package private(set) var forgotten: [TopicView] = []
    private var replaced = ReplacedPublications()

    /// Is `true` if log time follows the wall clock, so that a date in the rules is one of the wall clock's. Log time of a recorded feed is
    /// the feed's own, which may be years ago.
    private let isLive: Bool

    package init(rules: Rules = .builtIn, isLive: Bool) {
        self.isLive = isLive
        kinds = rules.kinds.mapValues { KindRules($0, rules.limits) }
        other = KindRules(rules.other, rules.limits)
        orders = StandingOrders(rules.limits)
    }

    /// Takes one event. Appends the records of timers that were due, then the event's decisions for the fan-out, then exactly one
    /// `event` record. A refused event changes nothing; its record states the reason.
    ///
    /// - Parameter wall: the wall clock, for when log time may be behind it. An event counts as early only if it is ahead of both.
    package mutating func apply(
        _ event: FeedEvent, now: FeedTime, wall: FeedTime? = nil, into decisions: inout [Decision]
    ) {
        advance(to: now, into: &decisions)
        guard isSound(event, into: &decisions) else { return }
        let wall = wall.flatMap { $0.isPlausible ? $0 : nil }
        let latest = max(self.now, wall ?? self.now)
        guard event.at.milliseconds - latest.milliseconds <= DecisionCore.aheadMilliseconds else {
            return take(early: event, wall: wall, into: &decisions)
        }
        take(event, wall: wall, into: &decisions)
    }

    private static let aheadMilliseconds = FeedEvent.aheadMax.milliseconds

    private mutating func take(_ event: FeedEvent, wall: FeedTime?, into decisions: inout [Decision]) {
        guard event.topic != .every else { return order(event, into: &decisions) }
        let known = table.count
        guard let place = admit(event, into: &decisions) else { return }
        let decided = decisions.count
        let before = end(at: place)
        var context = DecisionContext(
            now: self.now, wall: wall, isLive: isLive, place: place, serial: serial, reason: "nothing people can see")
        table[place].apply(event, in: &context, into: &decisions)
        serial = context.serial
        if let publication = context.replaced { replaced.append(publication) }
        // A refused event begins no topic; nor does one that came too late to be shown.
        if table.count > known, case .record(let record)? = decisions.last, [.rejected, .late].contains(record.outcome)
        {
            return table.remove(place)
        }
        note(end(at: place), after: before, at: place)
        if table.count > topicsMax {
            var forgetting: [Decision] = []
            forgetLongestEnded(into: &forgetting)
            decisions.insert(contentsOf: forgetting, at: decided)
        }
        schedule(place)
        dropStaleTimers()
    }

    /// Takes an event whose time is too far ahead of both log time and the wall clock, dated to the later of the two. Later events
    /// are dated by the wall clock if log time is behind it, so this one is, too.
    private mutating func take(early event: FeedEvent, wall: FeedTime?, into decisions: inout [Decision]) {
        let latest = max(self.now, wall ?? self.now)
        var dated = event
        dated.at = latest
        take(dated, wall: wall, into: &decisions)
        guard case .record(var record)? = decisions.popLast() else { return }
        record.at = event.at
        record.reason += "; its time is \((event.at - latest).inSeconds) ahead, so it counts as now"
        decisions.append(.record(record))
    }

    /// Adopts other rules for later decisions, also of topics that are remembered. Nothing is decided again: states that look otherwise under these
    /// rules are shown at once by a flush, which is silent. A topic that has facts keeps its reducer.
    package mutating func adopt(_ rules: Rules, now: FeedTime, into decisions: inout [Decision]) {
        advance(to: now, into: &decisions)
        kinds = rules.kinds.mapValues { KindRules($0, rules.limits) }
        other = KindRules(rules.other, rules.limits)
        table.giveUpCheckpoint()
        for place in table.living {
            let kind = table[place].fold.isKindKnown ? table[place].kind : nil
            table[place].adopt(kind.flatMap { kinds[$0] } ?? other, now: self.now)
            schedule(place)
        }
        dropStaleTimers()
        fireTimers(until: self.now, into: &decisions)
    }

    /// Newest publication of each remembered topic, without its alert, in the order in which they were decided.
    package var newestPublications: [Publication] {
        table.living.compactMap { table[$0].isNewestWithheld ? nil : table[$0].newest?.silent }
            .sorted { $0.serial < $1.serial }
    }

    /// `newestPublications` as the topics are shown now: newer rules may hide a part.
    package var newestPublicationsAsShown: [Publication] { newestPublications.map(current) }

    private func current(_ publication: Publication) -> Publication {
        guard let place = table.place(of: publication.topicID), table[place].shown.version == publication.version,
            let state = table[place].shown.state
        else { return publication }
        let visible = table[place].fold.present(state)
        guard visible.encoded.bytes != publication.state.bytes else { return publication }
        return publication.showing(visible.encoded, visible.short)
    }

    /// Returns newest publications as they are handed over at a log time, by a restart: with what is left of their dismissals. The end of an earlier
    /// tenure has what was left when the topic began again. The log time of a recorded feed says nothing of the time that has passed for people.
    package func later(_ publications: [Publication], at time: FeedTime) -> [Publication] {
        guard isLive else { return publications }
        return publications.map { publication in
            guard publication.event == .end, let place = table.place(of: publication.topicID),
                table[place].shown.version == publication.version, let publishedAt = table[place].shown.publishedAt
            else { return publication }
            return publication.later(by: time - publishedAt)
        }
    }

    /// Returns the log time at which the relative dismissal of a topic's newest version is over, as it was decided; `nil` without one, or if log time says
    /// nothing of it.
    package func dismissalEnd(of publication: Publication) -> FeedTime? {
        guard isLive, publication.event == .end, let place = table.place(of: publication.topicID),
            table[place].shown.version == publication.version, let publishedAt = table[place].shown.publishedAt,
            case .after(let duration)? = table[place].newest?.dismissal
        else { return nil }
        return publishedAt + duration
    }

    /// Forgets the topic's shown state, so that no activity gets it anew.
    package mutating func forgetPublication(of topic: TopicID) {
        if let place = table.place(of: topic) { table[place].isNewestWithheld = true }
    }

    /// Appends the record of a piece of the feed that could not be read.
    package mutating func reject(_ rejection: FeedRejection, now: FeedTime, into decisions: inout [Decision]) {
        advance(to: now, into: &decisions)
        decisions.append(
            .record(
                DecisionRecord(
                    origin: .event, topic: rejection.topic, at: rejection.at.flatMap { $0.isPlausible ? $0 : nil },
                    now: self.now, kind: "unreadable", outcome: .rejected,
                    reason: "\(rejection.location): \(rejection.reason)")))
    }

    /// Advances log time to `now` (a tick) and fires the timers that are due by then.
    package mutating func advance(to now: FeedTime, into decisions: inout [Decision]) {
        if !forgotten.isEmpty { forgotten.removeAll() }
        // One implausible time must not move the clock beyond all later events.
        guard now.isPlausible else { return }
        fireTimers(until: now, into: &decisions)
        self.now = max(self.now, now)
    }

    /// Ends the feed: publishes changes that wait for their topic's interval, each at its own deadline. Does not end running topics.
    package mutating func finish(into decisions: inout [Decision]) {
        forgotten.removeAll()
        var kept: [Timers.Entry] = []
        while let timer = timers.removeFirst() {
            if timer.kind == .flush { fire(timer, into: &decisions) } else { kept.append(timer) }
        }
        for timer in kept { timers.insert(timer) }
        dropStaleTimers()
    }

    /// Deadline of the earliest timer; `nil` without timers. Nothing happens before it without an event. A silence timer is set
    /// again at its deadline if its feed has sent an event since; then nothing else happens at that deadline.
    @usableFromInline package var nextDeadline: FeedTime? { timers.first?.deadline }

    /// Latest deadline of changes that wait for their topic's minimum interval; `nil` when none wait. Leaves out paused topics.
    @usableFromInline package var flushesUntil: FeedTime? {
        // A timer may be set for an earlier time than its topic's present deadline.
        timers.entries.lazy.filter { $0.kind == .flush && table.isAlive($0.birth, at: Int($0.place)) }
            .compactMap { table[Int($0.place)].orders.isPaused ? nil : table[Int($0.place)].agenda.flushAt }.max()
    }

    // MARK: - Topics

    /// Number of topics that are remembered.
    @usableFromInline package var topicCount: Int { table.count }

    /// Number of topics that have not ended.
    @usableFromInline package var runningTopicCount: Int { table.count - ends.remembered }

    /// All remembered topics, in birth order.
    package var topics: [TopicView] { table.inBirthOrder.map(TopicView.init) }
    /// Returns a view of the topic; `nil` if it is not remembered.
    package func topic(_ id: TopicID) -> TopicView? { table.place(of: id).map { TopicView(table[$0]) } }

    /// Returns whether the topic of the publication is remembered and shows that version.
    package func isNewest(_ publication: Publication) -> Bool {
        let (birth, place) = (publication.topic.birth, Int(publication.topic.place))
        return birth > 0 && table.isAlive(birth, at: place) && table[place].shown.version == publication.version
    }

    /// Returns the alert buckets that a topic has drawn on, as of now.
    package func alertBuckets(of topic: TopicID) -> [AlertBucket] {
        table.place(of: topic).map { table[$0].governor.buckets(at: now) } ?? []
    }

    /// Returns the deadline of changes that wait for the topic's minimum interval, or `nil` if none wait.
    package func waitsUntil(_ topic: TopicID) -> FeedTime? {
        table.place(of: topic).flatMap { table[$0].agenda.flushAt }
    }

    /// Returns `true` if the event's time, names and nesting are acceptable; otherwise appends the record of its refusal.
    private func isSound(_ event: FeedEvent, into decisions: inout [Decision]) -> Bool {
        let bounds = EventBounds(other.limits)
        guard let fault = bounds.fault(of: event) else { return true }
        decisions.append(.record(bounds.refusal(of: event, fault.reason, topic: fault.topic, now: self.now)))
        return false
    }

    private func refuse(_ event: FeedEvent, _ reason: String, into decisions: inout [Decision]) {
        let record = EventBounds(other.limits).refusal(of: event, reason, topic: event.topic, now: self.now)
        decisions.append(.record(record))
    }

    /// Returns the place of the event's topic, which it inserts if missing. If it refuses the event, it appends the record and
    /// returns `nil`.
    private mutating func admit(_ event: FeedEvent, into decisions: inout [Decision]) -> Int? {
        if let place = table.place(of: event.topic) {
            let isKindKnown = table[place].fold.isKindKnown
            guard let kind = event.topicKind, !isKindKnown || kind != table[place].kind else { return place }
            guard !isKindKnown else {
                refuse(event, "the topic is \(table[place].kind), not \(kind)", into: &decisions)
                return nil
            }
            table[place].adopt(kind, rules: kinds[kind] ?? other)
            table[place].orders.replaceStanding(orders.scopes(of: table[place].kind))
            return place
        }
        // A topic that begins may take the place of one that has ended.
        guard table.count < topicsMax || ends.remembered > 0 else {
            refuse(event, "the engine follows \(table.count) topics, and no more", into: &decisions)
            return nil
        }
        var topic = Topic(
            event.topic, birth: table.nextBirth, kind: event.topicKind,
            rules: event.topicKind.flatMap { kinds[$0] } ?? other)
        topic.orders.replaceStanding(orders.scopes(of: topic.kind))
        return table.insert(topic)
    }

    /// Applies an operator's order for all topics, for all of a kind, or for one app. Changes that it releases go out with the
    /// topics' own flushes, due now.
    private mutating func order(_ event: FeedEvent, into decisions: inout [Decision]) {
        guard case .operation(let operation) = event.change else {
            return refuse(event, "only an operator's order is for every topic, \(event.topic)", into: &decisions)
        }
        var record = DecisionRecord(
            origin: .event, topic: event.topic, at: event.at, now: self.now, id: event.id, seq: event.seq,
            kind: event.kind, outcome: .unchanged, reason: "")
        if let app = event.app {
            guard event.topicKind == nil else {
                return refuse(event, "an order is for a kind or for an app", into: &decisions)
            }
            guard operation != .reset else {
                return refuse(event, "a reset is of a feed, which knows nothing of apps", into: &decisions)
            }
            record.reason = "\(operation) by an operator: app \(app)"
            switch orders.take(id: event.id) {
            case .refused(let outcome, let reason):
                record.outcome = outcome
                record.reason = reason
            case .taken: decisions.append(.order(operation, app))
            }
            return decisions.append(.record(record))
        }
        switch orders.take(operation, for: event.topicKind, id: event.id) {
        case .refused(let outcome, let reason):
            record.outcome = outcome
            record.reason = reason
        case .taken:
            table.giveUpCheckpoint()
            var count = 0
            let scope: OrderScope = event.topicKind == nil ? .all : .kind
            for place in table.living {
                guard event.topicKind == nil || table[place].kind == event.topicKind else { continue }
                // An ended topic may begin again, so orders that hold apply to it, too.
                let isRunning = !table[place].shown.ended
                guard isRunning || operation.isLasting else { continue }
                _ = table[place].carryOut(operation, for: scope, now: self.now)
                schedule(place)
                // A paused topic, or one that was never shown, cannot be shown again.
                if isRunning, operation != .republish || table[place].agenda.republishes { count += 1 }
            }
            dropStaleTimers()
            let whose = event.topicKind.map { "running \($0)" } ?? "running"
            let topics = count == 0 ? "no \(whose) topic" : "\(count) \(whose) \(count == 1 ? "topic" : "topics")"
            record.reason = "\(operation) by an operator: \(topics)"
            if operation.appliesToNewTopics { record.reason += ", and all to come" }
        }
        decisions.append(.record(record))
    }

    // MARK: - Timers

    mutating func fireTimers(until now: FeedTime, into decisions: inout [Decision]) {
        while let timer = timers.first, timer.deadline <= now {
            _ = timers.removeFirst()
            fire(timer, into: &decisions)
        }
    }

    private mutating func fire(_ timer: Timers.Entry, into decisions: inout [Decision]) {
        defer { dropStaleTimers() }
        guard disarm(timer) else { return }
        let place = Int(timer.place)
        if table[place].agenda.deadlines[timer.kind] == timer.deadline {
            self.now = max(self.now, timer.deadline)
            if timer.kind == .lapse, table[place].isForgottenAtLapse {
                return forget(place, now: timer.deadline, into: &decisions)
            }
            let before = end(at: place)
            let now = timer.deadline
            var context = DecisionContext(now: now, isLive: isLive, place: place, serial: serial, reason: "")
            table[place].fire(timer.kind, in: &context, into: &decisions)
            serial = context.serial
            if let publication = context.replaced { replaced.append(publication) }
            note(end(at: place), after: before, at: place)
        }
        schedule(place)
    }

    /// - Parameter reason: text of the record; `nil` if the topic's lapse has come.
    private mutating func forget(
        _ place: Int, now: FeedTime, reason: String? = nil, into decisions: inout [Decision]
    ) {
        let view = TopicView(table[place])
        // The fan-out does not know a topic that was never shown.
        if view.version > 0 { decisions.append(.forget(view.id)) }
        decisions.append(.record(table[place].obituary(now: now, reason: reason)))
        forgotten.append(view)
        if let newest = table[place].newest { replaced.append(newest) }
        if view.ended { ends.remembered -= 1 }
        table.remove(place)
        // Topics are mostly forgotten in the order of their ends.
        while let first = ends.first, !table.isOver(first) { _ = ends.popFirst() }
    }

    // MARK: - Room

    /// Maximum number of topics: a place is 32 bits wide, and a new topic is inserted before an older one gives way to it.
    private var topicsMax: Int { min(other.limits.topicsMax, Int(UInt32.max) - 1) }

    /// End of a topic, if it has ended; a later end has another version.
    private struct End: Equatable {
        let version: UInt32?

        // Takes two scalars, because a topic as an argument would be copied, with everything that it refers to, for every event.
        init(ended: Bool, version: UInt32) { self.version = ended ? version : nil }
    }

    private func end(at place: Int) -> End { End(ended: table[place].shown.ended, version: table[place].shown.version) }

    private mutating func note(_ end: End, after before: End, at place: Int) {
        guard end != before else { return }
        if before.version != nil { ends.remembered -= 1 }
        guard let version = end.version else { return }
        ends.remembered += 1
        ends.append(EndedTopics.Entry(birth: table[place].birth, place: UInt32(place), version: version))
        guard ends.count > 64 + 2 * table.count else { return }
        let table = table
        ends.keep { table.isOver($0) }
    }

    private mutating func forgetLongestEnded(into decisions: inout [Decision]) {
        while let end = ends.popFirst() {
            guard table.isOver(end) else { continue }
            return forget(
                Int(end.place), now: self.now, reason: "it ended, and its room is another's", into: &decisions)
        }
    }

    /// Sets the timers whose deadlines the topic has and the heap lacks.
    mutating func schedule(_ place: Int) {
        let deadlines = table[place].agenda.deadlines
        for kind in [Timers.Kind.flush, .lapse] {
            guard let deadline = deadlines[kind] else { continue }
            if let armed = deadlines.armed(kind), armed <= deadline { continue }
            timers.insert(
                Timers.Entry(deadline: deadline, birth: table[place].birth, place: UInt32(place), kind: kind))
            table[place].agenda.arm(kind, deadline)
        }
        tidyTimers()
    }

    /// Notes in its topic that a timer has been removed from the heap.
    ///
    /// - Returns: `true` if the topic is alive.
    private mutating func disarm(_ timer: Timers.Entry) -> Bool {
        let place = Int(timer.place)
        guard table.isAlive(timer.birth, at: place) else { return false }
        if table[place].agenda.deadlines.armed(timer.kind) == timer.deadline {
            table[place].agenda.arm(timer.kind, nil)
        }
        return true
    }

    /// Removes timers from the top that their topics no longer need, so that `nextDeadline` causes no useless calls. A lapse timer
    /// that was put off stays until its original deadline, because each event puts off one.
    private mutating func dropStaleTimers() {
        while let timer = timers.first, !isWanted(timer) {
            _ = timers.removeFirst()
            if disarm(timer) { schedule(Int(timer.place)) }
        }
    }

    private func isWanted(_ timer: Timers.Entry) -> Bool {
        let place = Int(timer.place)
        guard table.isAlive(timer.birth, at: place) else { return false }
        switch timer.kind {
        case .flush: return table[place].agenda.deadlines[.flush] == timer.deadline
        case .lapse: return table[place].agenda.deadlines.armed(.lapse) == timer.deadline
        }
    }

    /// Describes a violated invariant of a topic's parts, of the timers, or of the checkpoint, between two calls; `nil` if all hold. For tests, because
    /// it folds all topics anew.
    package func violation() -> String? {
        var armed: [Timers.Entry] = []
        for place in table.living {
            let topic = table[place]
            if let violation = topic.fold.violation() ?? topic.arrivals.violation() ?? topic.agenda.violation() {
                return "topic \(topic.id): \(violation)"
            }
            for kind in [Timers.Kind.flush, .lapse] {
                guard let deadline = topic.agenda.deadlines.armed(kind) else { continue }
                armed.append(
                    Timers.Entry(deadline: deadline, birth: topic.birth, place: UInt32(place), kind: kind))
            }
        }
        return timers.violation(armed: armed) ?? table.checkpoint?.violation()
    }

    /// Removes stale timers once they outnumber those in use, of which a topic has at most one per kind. A timer goes stale when an
    /// earlier one is set or its topic is forgotten.
    private mutating func tidyTimers() {
        guard timers.count > 64 + 4 * table.count else { return }
        timers.keep { timer in
            table.isAlive(timer.birth, at: Int(timer.place))
                && table[Int(timer.place)].agenda.deadlines.armed(timer.kind) == timer.deadline
        }
    }
}
