public import FanfareModel

/// Decides what people see: feed events in, decisions out. Pure and deterministic: the same calls give the same decisions,
/// byte for byte, on every machine. Without clock, I/O, threads or randomness; a value, confined to whoever owns it.
///
///     var core = DecisionCore()
///     var decisions: [Decision] = []
///     core.apply(event, now: event.at, into: &decisions)
///
/// `now` is log time. It never goes back: an earlier one counts as the latest so far. Whatever is due until `now` happens
/// first, each deadline at its own time; so `advance` between two events changes nothing but *when* the decisions come.
@usableFromInline package struct DecisionCore: Sendable {
    private let kinds: [TopicKind: KindRules]
    private let other: KindRules
    private var table = TopicTable()
    private var ends = EndedTopics()
    private var timers = Timers()
    private var serial: UInt64 = 0
    private var clock = FeedTime.plausible.lowerBound
    /// For all topics, or for all of a kind.
    private var orders: StandingOrders
    /// The topics that the last call has forgotten, as they stood then, in the order of their `forget`.
    package private(set) var forgotten: [TopicView] = []

    package init(rules: Rules = .builtIn) {
        kinds = rules.kinds.mapValues { KindRules($0, rules.limits) }
        other = KindRules(rules.other, rules.limits)
        orders = StandingOrders(rules.limits)
    }

    /// Takes one event. Appends exactly one `event` record (last), and before it the records of the timers that were due and
    /// what the fan-out is to do. An event that is refused changes nothing; its record says why.
    ///
    /// - Parameter wall: the wall clock, where log time may be behind it: what is not ahead of the later of the two is not early.
    package mutating func apply(
        _ event: FeedEvent, now: FeedTime, wall: FeedTime? = nil, into decisions: inout [Decision]
    ) {
        advance(to: now, into: &decisions)
        guard isSound(event, into: &decisions) else { return }
        let latest = max(clock, wall.flatMap { $0.isPlausible ? $0 : nil } ?? clock)
        guard event.at.milliseconds - latest.milliseconds <= DecisionCore.aheadMilliseconds else {
            return take(early: event, latest: latest, into: &decisions)
        }
        take(event, latest: latest, into: &decisions)
    }

    private static let aheadMilliseconds = FeedEvent.aheadMax.milliseconds

    private mutating func take(_ event: FeedEvent, latest: FeedTime, into decisions: inout [Decision]) {
        guard event.topic != .every else { return order(event, into: &decisions) }
        let known = table.count
        guard let place = admit(event, into: &decisions) else { return }
        let decided = decisions.count
        let before = end(at: place)
        var context = DecisionContext(
            now: clock, latest: latest, place: place, serial: serial, reason: "nothing people can see")
        table[place].apply(event, in: &context, into: &decisions)
        serial = context.serial
        // What is refused changes nothing, and begins nothing; nor does what comes too late for anybody to have seen it.
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

    /// Takes an event whose time is too far ahead of log time, and of the wall, as if it came when it happened. What comes after it is
    /// dated by the wall, where log time is behind that: so is it.
    private mutating func take(early event: FeedEvent, latest: FeedTime, into decisions: inout [Decision]) {
        var dated = event
        dated.at = latest
        take(dated, latest: latest, into: &decisions)
        guard case .record(var record)? = decisions.popLast() else { return }
        record.at = event.at
        record.reason += "; its time is \((event.at - latest).inSeconds) ahead, so it counts as now"
        decisions.append(.record(record))
    }

    /// Records that a piece of the feed could not be read.
    package mutating func reject(_ rejection: FeedRejection, now: FeedTime, into decisions: inout [Decision]) {
        advance(to: now, into: &decisions)
        decisions.append(
            .record(
                DecisionRecord(
                    origin: .event, topic: rejection.topic, at: rejection.at.flatMap { $0.isPlausible ? $0 : nil },
                    now: clock, kind: "unreadable", outcome: .rejected,
                    reason: "\(rejection.place): \(rejection.reason)")))
    }

    /// A tick: log time has come to `now`, and whatever is due until then happens.
    package mutating func advance(to now: FeedTime, into decisions: inout [Decision]) {
        if !forgotten.isEmpty { forgotten.removeAll() }
        // One implausible moment must not put the clock where no event comes after it.
        guard now.isPlausible else { return }
        while let timer = timers.first, timer.deadline <= now {
            _ = timers.removeFirst()
            fire(timer, into: &decisions)
        }
        clock = max(clock, now)
    }

    /// The feed is at its end: changes that wait for their topic's interval go out, each at its own deadline. Topics that
    /// still run are not ended by that.
    package mutating func finish(into decisions: inout [Decision]) {
        forgotten.removeAll()
        var kept: [Timers.Entry] = []
        while let timer = timers.removeFirst() {
            if timer.kind == .flush { fire(timer, into: &decisions) } else { kept.append(timer) }
        }
        for timer in kept { timers.insert(timer) }
        dropStaleTimers()
    }

    /// Nothing happens before that without an event; `nil` when nothing will. Where a topic's feed has spoken since, its silence is
    /// counted anew then, and this goes on to the next moment.
    @usableFromInline package var nextDeadline: FeedTime? { timers.first?.deadline }

    /// Until when changes wait for their topic's minimum interval; `nil` when none do. What a pause holds back does not count.
    @usableFromInline package var flushesUntil: FeedTime? {
        // A timer may be set for an earlier moment than the one for which its topic wants it by now.
        timers.entries.lazy.filter { $0.kind == .flush && table.isAlive($0.birth, at: Int($0.place)) }
            .compactMap { table[Int($0.place)].orders.isPaused ? nil : table[Int($0.place)].agenda.flushAt }.max()
    }

    // MARK: - Topics

    /// A topic as it stands.
    package struct TopicView: Sendable {
        package let id: TopicID
        /// Counts up over all topics as they begin to be remembered; an id that comes again has another one.
        package let birth: UInt64
        package let kind: TopicKind
        /// Of the last publication; 0 before the first.
        package let version: UInt32
        package let ended: Bool
        /// All facts and patches, also those that came after the end, as phones would get them.
        package let state: JSONObject
        /// The state of the last publication.
        package let published: JSONObject?
        /// The same in short.
        package let short: ShortForms?

        init(_ topic: Topic) {
            id = topic.id
            birth = topic.birth
            kind = topic.kind
            version = topic.shown.version
            ended = topic.shown.ended
            state = topic.fold.withShortForms(topic.fold.state)
            published = topic.shown.state.map(topic.fold.withShortForms)
            short = topic.shown.state.map(topic.fold.shortForms)
        }
    }

    /// Of topics that are remembered.
    @usableFromInline package var topicCount: Int { table.count }

    /// Of those that have not ended.
    @usableFromInline package var runningTopicCount: Int { table.count - ends.remembered }

    /// All topics that are remembered, in the order in which they began to be.
    package var topics: [TopicView] { table.inBirthOrder.map(TopicView.init) }

    package func topic(_ id: TopicID) -> TopicView? { table.place(of: id).map { TopicView(table[$0]) } }

    /// The alert buckets of a topic that were drawn on, as they stand now.
    package func alertBuckets(of topic: TopicID) -> [AlertBucket] {
        table.place(of: topic).map { table[$0].governor.buckets(at: clock) } ?? []
    }

    /// When the changes go out that wait for the topic's minimum interval; `nil` when none wait.
    package func waitsUntil(_ topic: TopicID) -> FeedTime? {
        table.place(of: topic).flatMap { table[$0].agenda.flushAt }
    }

    /// Whether an event's time and names can be taken; when not, its record is written.
    private func isSound(_ event: FeedEvent, into decisions: inout [Decision]) -> Bool {
        let limits = other.limits
        let bytes = event.topic.rawValue.utf8.count
        guard bytes > 0, bytes <= limits.topicIDBytesMax else {
            refuse(
                event, "a topic's id has 1 to \(limits.topicIDBytesMax) bytes, not \(bytes)", topic: nil,
                into: &decisions)
            return false
        }
        guard event.at.isPlausible else {
            refuse(event, implausible(event.at), into: &decisions)
            return false
        }
        if let id = event.id, id.utf8.count > limits.idBytesMax {
            refuse(
                event, "an event's id has at most \(limits.idBytesMax) bytes, not \(id.utf8.count)", into: &decisions)
            return false
        }
        let kindBytes = max(event.kind.utf8.count, event.topicKind?.rawValue.utf8.count ?? 0)
        guard kindBytes <= limits.idBytesMax else {
            refuse(event, "a kind has at most \(limits.idBytesMax) bytes, not \(kindBytes)", into: &decisions)
            return false
        }
        guard event.isNested(within: DecisionCore.depthMax) else {
            refuse(event, "its values are nested more than \(DecisionCore.depthMax) deep", into: &decisions)
            return false
        }
        return true
    }

    /// Of arrays and objects in each other; as deep as feeds are read.
    private static let depthMax = 64

    private func refuse(_ event: FeedEvent, _ reason: String, into decisions: inout [Decision]) {
        refuse(event, reason, topic: event.topic, into: &decisions)
    }

    private func refuse(_ event: FeedEvent, _ reason: String, topic: TopicID?, into decisions: inout [Decision]) {
        let limits = other.limits
        // Names that are too long do not get into the log either.
        let id = event.id.flatMap { $0.utf8.count <= limits.idBytesMax ? $0 : nil }
        let kind = event.kind.utf8.count <= limits.idBytesMax ? event.kind : "unreadable"
        decisions.append(
            .record(
                DecisionRecord(
                    origin: .event, topic: topic, at: event.at.isPlausible ? event.at : nil, now: clock, id: id,
                    seq: event.seq, kind: kind, outcome: .rejected, reason: reason)))
    }

    /// Finds the event's topic or begins it; `nil` when the event is refused, with the record written.
    private mutating func admit(_ event: FeedEvent, into decisions: inout [Decision]) -> Int? {
        if let place = table.place(of: event.topic) {
            let isKindKnown = table[place].fold.isKindKnown
            guard let kind = event.topicKind, !isKindKnown || kind != table[place].kind else { return place }
            guard !isKindKnown else {
                refuse(event, "the topic is \(table[place].kind), not \(kind)", into: &decisions)
                return nil
            }
            table[place].adopt(kind, rules: kinds[kind] ?? other)
            orders.reach(&table[place])
            return place
        }
        // What is remembered of topics that have ended gives way to one that begins.
        guard table.count < topicsMax || ends.remembered > 0 else {
            refuse(event, "the engine follows \(table.count) topics, and no more", into: &decisions)
            return nil
        }
        var topic = Topic(
            event.topic, birth: table.nextBirth, kind: event.topicKind,
            rules: event.topicKind.flatMap { kinds[$0] } ?? other)
        orders.reach(&topic)
        return table.insert(topic)
    }

    /// An operator's order for all topics, for all of a kind, or for one app. What it lets out goes with the topics' own flushes,
    /// now.
    private mutating func order(_ event: FeedEvent, into decisions: inout [Decision]) {
        guard case .operation(let operation) = event.change else {
            return refuse(event, "only an operator's order is for every topic, \(event.topic)", into: &decisions)
        }
        var record = DecisionRecord(
            origin: .event, topic: event.topic, at: event.at, now: clock, id: event.id, seq: event.seq,
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
            case .standing: decisions.append(.order(operation, app))
            }
            return decisions.append(.record(record))
        }
        switch orders.take(operation, for: event.topicKind, id: event.id) {
        case .refused(let outcome, let reason):
            record.outcome = outcome
            record.reason = reason
        case .standing:
            var count = 0
            let scope: OrderScope = event.topicKind == nil ? .all : .kind
            for place in table.living {
                guard event.topicKind == nil || table[place].kind == event.topicKind else { continue }
                // One that has ended may begin again, and is held then.
                let isRunning = !table[place].shown.ended
                guard isRunning || operation.holds else { continue }
                _ = table[place].obey(operation, for: scope, now: clock)
                schedule(place)
                // What is paused, or was never shown, cannot be shown again.
                if isRunning, operation != .republish || table[place].agenda.republishes { count += 1 }
            }
            dropStaleTimers()
            let whose = event.topicKind.map { "running \($0)" } ?? "running"
            let topics = count == 0 ? "no \(whose) topic" : "\(count) \(whose) \(count == 1 ? "topic" : "topics")"
            record.reason = "\(operation) by an operator: \(topics)"
            if operation.stands { record.reason += ", and all to come" }
        }
        decisions.append(.record(record))
    }

    // MARK: - Timers

    private mutating func fire(_ timer: Timers.Entry, into decisions: inout [Decision]) {
        defer { dropStaleTimers() }
        guard disarm(timer) else { return }
        let place = Int(timer.place)
        if table[place].agenda.deadlines[timer.kind] == timer.deadline {
            clock = max(clock, timer.deadline)
            if timer.kind == .lapse, table[place].isForgottenAtLapse {
                return forget(place, now: timer.deadline, into: &decisions)
            }
            let before = end(at: place)
            let now = timer.deadline
            var context = DecisionContext(now: now, latest: now, place: place, serial: serial, reason: "")
            table[place].fire(timer.kind, in: &context, into: &decisions)
            serial = context.serial
            note(end(at: place), after: before, at: place)
        }
        schedule(place)
    }

    /// - Parameter reason: `nil`: its time is over.
    private mutating func forget(
        _ place: Int, now: FeedTime, reason: String? = nil, into decisions: inout [Decision]
    ) {
        let view = TopicView(table[place])
        // Of one that was never shown the fan-out has heard nothing.
        if view.version > 0 { decisions.append(.forget(view.id)) }
        decisions.append(.record(table[place].obituary(now: now, reason: reason)))
        forgotten.append(view)
        if view.ended { ends.remembered -= 1 }
        table.remove(place)
        // Topics are mostly forgotten in the order of their ends.
        while let first = ends.first, !table.isOver(first) { _ = ends.popFirst() }
    }

    // MARK: - Room

    /// Places are 32 bits wide, and one more topic than may be remembered is there until another has given way to it.
    private var topicsMax: Int { min(other.limits.topicsMax, Int(UInt32.max) - 1) }

    /// Whether and how a topic has ended; a later end is another version.
    private struct End: Equatable {
        let version: UInt32?

        // A topic as an argument would be copied, with all that it refers to, for every event.
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
            return forget(Int(end.place), now: clock, reason: "it ended, and its room is another's", into: &decisions)
        }
    }

    /// Sets the timers that the topic wants and does not have.
    private mutating func schedule(_ place: Int) {
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

    /// A timer has come off the top.
    ///
    /// - Returns: whether its topic lives.
    private mutating func disarm(_ timer: Timers.Entry) -> Bool {
        let place = Int(timer.place)
        guard table.isAlive(timer.birth, at: place) else { return false }
        if table[place].agenda.deadlines.armed(timer.kind) == timer.deadline {
            table[place].agenda.arm(timer.kind, nil)
        }
        return true
    }

    /// Takes deadlines off the top that their topics no longer have, so that nobody is called for them. A lapse that was put off stays
    /// until its first moment: each event puts off one.
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

    /// What was armed for a later moment stays behind when an earlier one is armed, or its topic goes. Never more of that than of what
    /// topics wait for: each has one timer of each kind.
    private mutating func tidyTimers() {
        guard timers.count > 64 + 4 * table.count else { return }
        timers.keep { timer in
            table.isAlive(timer.birth, at: Int(timer.place))
                && table[Int(timer.place)].agenda.deadlines.armed(timer.kind) == timer.deadline
        }
    }
}

extension FeedEvent {
    fileprivate func isNested(within depth: Int) -> Bool {
        switch change {
        case .nothing, .retraction, .operation: true
        case .patch(let object), .contentState(let object): object.isNested(within: depth)
        case .fact(let fact): fact.values.isNested(within: depth)
        }
    }
}
