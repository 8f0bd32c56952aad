/// Decides what people see: feed events in, decisions out. Pure and deterministic: the same calls give the same decisions,
/// byte for byte, on every machine. Without clock, I/O, threads or randomness; a value, confined to whoever owns it.
///
///     var core = DecisionCore()
///     var decisions: [Decision] = []
///     core.apply(event, now: event.at, into: &decisions)
///
/// `now` is log time. It never goes back: an earlier one counts as the latest so far. Whatever is due until `now` happens
/// first, each deadline at its own time; so `advance` between two events changes nothing but *when* the decisions come.
public struct DecisionCore: Sendable {
    private let kinds: [TopicKind: KindRules]
    private let other: KindRules
    private var members: [Topic] = []
    private var indexes: [TopicID: Int] = [:]
    /// Of topics that were asked for lately, by a cheap hash: an event seldom has to look in `indexes`. Four places for each topic,
    /// and no more than a processor's nearest caches hold.
    private var recent = [UInt32](repeating: 0, count: 64)
    private static let recentMax = 1 << 14
    private var timers = Timers()
    private var serial: UInt64 = 0
    private var clock = FeedTime.plausible.lowerBound
    /// For all topics, or for all of a kind.
    private var orders: StandingOrders

    public init(rules: Rules = .builtIn) {
        kinds = rules.kinds.mapValues { KindRules($0, rules.limits) }
        other = KindRules(rules.other, rules.limits)
        orders = StandingOrders(rules.limits)
    }

    /// Takes one event. Appends exactly one `event` record (last), and before it the records of the timers that were due and
    /// what the fan-out is to do. An event that is refused changes nothing; its record says why.
    public mutating func apply(_ event: FeedEvent, now: FeedTime, into decisions: inout [Decision]) {
        advance(to: now, into: &decisions)
        guard isSound(event, into: &decisions) else { return }
        guard event.topic != .every else { return order(event, into: &decisions) }
        guard let index = admit(event, into: &decisions) else { return }
        members[index].apply(event, now: clock, serial: &serial, into: &decisions)
        schedule(index)
        dropStaleTimers()
    }

    /// Records that a piece of the feed could not be read.
    public mutating func reject(_ rejection: FeedRejection, now: FeedTime, into decisions: inout [Decision]) {
        advance(to: now, into: &decisions)
        decisions.append(
            .record(
                DecisionRecord(
                    origin: .event, topic: rejection.topic, at: rejection.at.flatMap { $0.isPlausible ? $0 : nil },
                    now: clock, kind: "unreadable", outcome: .rejected,
                    reason: "\(rejection.place): \(rejection.reason)")))
    }

    /// A tick: log time has come to `now`, and whatever is due until then happens.
    public mutating func advance(to now: FeedTime, into decisions: inout [Decision]) {
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
    public mutating func finish(into decisions: inout [Decision]) {
        var kept: [Timers.Entry] = []
        while let timer = timers.removeFirst() {
            if timer.kind == .flush { fire(timer, into: &decisions) } else { kept.append(timer) }
        }
        for timer in kept { timers.insert(timer) }
        dropStaleTimers()
    }

    /// The earliest moment at which something happens without an event; `nil` when nothing will.
    public var nextDeadline: FeedTime? { timers.first?.deadline }

    // MARK: - Topics

    /// A topic as it stands.
    public struct TopicView: Sendable {
        public let id: TopicID
        public let kind: TopicKind
        /// Of the last publication; 0 before the first.
        public let version: UInt32
        public let ended: Bool
        /// All facts and patches, also those that came after the end, as phones would get them.
        public let state: JSONObject
        /// The state of the last publication.
        public let published: JSONObject?
        /// The same in short.
        public let short: ShortForms?

        init(_ topic: Topic) {
            id = topic.id
            kind = topic.kind
            version = topic.version
            ended = topic.ended
            state = topic.withShortForms(topic.state)
            published = topic.published.map(topic.withShortForms)
            short = topic.published.map(topic.shortForms)
        }
    }

    public var topicCount: Int { members.count }

    /// All topics, in the order of their indexes.
    public var topics: [TopicView] { members.map(TopicView.init) }

    public func topic(_ index: TopicIndex) -> TopicView? {
        let position = Int(index.rawValue)
        return position < members.count ? TopicView(members[position]) : nil
    }

    /// The alert buckets of a topic that were drawn on, as they stand now.
    public func alertBuckets(of topic: TopicIndex) -> [AlertBucket] {
        let position = Int(topic.rawValue)
        return position < members.count ? members[position].governor.buckets(at: clock) : []
    }

    /// When the changes go out that wait for the topic's minimum interval; `nil` when none wait.
    public func waitsUntil(_ topic: TopicIndex) -> FeedTime? {
        let position = Int(topic.rawValue)
        return position < members.count ? members[position].flushAt : nil
    }

    public func index(of topic: TopicID) -> TopicIndex? { indexes[topic].map { TopicIndex(UInt32($0)) } }

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
        return true
    }

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
        if let index = find(event.topic) {
            guard let kind = event.topicKind, kind != members[index].kind || !members[index].isKindKnown else {
                return index
            }
            guard !members[index].isKindKnown else {
                refuse(event, "the topic is \(members[index].kind), not \(kind)", into: &decisions)
                return nil
            }
            members[index].adopt(kind, rules: kinds[kind] ?? other)
            orders.reach(&members[index])
            return index
        }
        // Indexes are 32 bits wide.
        guard members.count < min(other.limits.topicsMax, Int(UInt32.max)) else {
            refuse(event, "the engine follows \(members.count) topics, and no more", into: &decisions)
            return nil
        }
        let index = members.count
        members.append(Topic(event.topic, kind: event.topicKind, rules: event.topicKind.flatMap { kinds[$0] } ?? other))
        if 4 * members.count > recent.count, recent.count < DecisionCore.recentMax {
            recent = [UInt32](repeating: 0, count: 2 * recent.count)
        }
        orders.reach(&members[index])
        indexes[event.topic] = index
        return index
    }

    private mutating func find(_ topic: TopicID) -> Int? {
        let place = Int(truncatingIfNeeded: topic.rawValue.hashedCheaply) & (recent.count - 1)
        let guess = Int(recent[place])
        if guess < members.count, members[guess].id == topic { return guess }
        guard let index = indexes[topic] else { return nil }
        recent[place] = UInt32(index)
        return index
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
            for index in members.indices where !members[index].ended {
                guard event.topicKind == nil || members[index].kind == event.topicKind else { continue }
                _ = members[index].obey(operation, for: scope, now: clock)
                schedule(index)
                // What is paused, or was never shown, cannot be shown again.
                if operation != .republish || members[index].republishes { count += 1 }
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
        let index = Int(timer.topic)
        disarm(timer)
        if members[index].deadlines[timer.kind] == timer.deadline {
            clock = max(clock, timer.deadline)
            members[index].fire(timer.kind, now: timer.deadline, serial: &serial, into: &decisions)
        }
        schedule(index)
        dropStaleTimers()
    }

    /// Sets the timers that the topic wants and does not have.
    private mutating func schedule(_ index: Int) {
        let deadlines = members[index].deadlines
        for kind in [Timers.Kind.flush, .limit] {
            guard let deadline = deadlines[kind] else { continue }
            if let armed = deadlines.armed(kind), armed <= deadline { continue }
            timers.insert(Timers.Entry(deadline: deadline, topic: UInt32(index), kind: kind))
            members[index].deadlines.arm(kind, deadline)
        }
    }

    /// A timer has come off the top.
    private mutating func disarm(_ timer: Timers.Entry) {
        let index = Int(timer.topic)
        guard members[index].deadlines.armed(timer.kind) == timer.deadline else { return }
        members[index].deadlines.arm(timer.kind, nil)
    }

    /// Takes deadlines off the top that their topics no longer have, so that `nextDeadline` is always a real one.
    private mutating func dropStaleTimers() {
        while let timer = timers.first, members[Int(timer.topic)].deadlines[timer.kind] != timer.deadline {
            _ = timers.removeFirst()
            disarm(timer)
            schedule(Int(timer.topic))
        }
    }
}
