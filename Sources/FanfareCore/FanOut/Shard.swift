/// A slice of the subscribers: their activities, the audiences these belong to, and the sweeps that bring each audience to its
/// newest version.
///
/// A state machine without clock, thread or socket: commands, pulls and completions come in with the moment they happen at. So
/// the same code runs on a loop and in the simulation. Confined to one thread; the core reaches it through a ring.
///
/// What must hold, at any time, for every member that is owed a push: it is unvisited by the cursor, or stands in its audience's
/// `again` list, or is in flight, or waits in the timing wheel.
public final class Shard: DeliverySource {
    struct Topic {
        let id: TopicID
        private(set) var latest: Publication?
        /// The same as lineups show it; `nil` until one does.
        private(set) var encoded: LineupTopic?
        /// The same as a lineup's rotation sees it, which asks again and again. Where it has ended, before it is dismissed.
        private(set) var seen = Rotation.Topic(.gone)
        /// When a topic that has ended is dismissed, and no lineup shows it any more; monotonic nanoseconds.
        var goneAt: Int64?
        /// Index of its followers' audience; `nil` while it has had none.
        var followers: Int?
        /// Lineups that show it: the audience's index, and which of its topics this one is.
        var lineups: [(audience: UInt32, position: UInt32)] = []

        init(id: TopicID) { self.id = id }

        mutating func take(_ publication: Publication) {
            latest = publication
            encoded = nil
            let life: Rotation.Topic.Life =
                publication.event == .end ? .ended : publication.prominence.hasBegun ? .live : .waiting
            seen = Rotation.Topic(life, importance: publication.prominence.importance)
        }

        /// Encoded when the first lineup shows it.
        mutating func inLineups() -> LineupTopic? {
            if encoded == nil { encoded = latest.map(LineupTopic.init) }
            return encoded
        }
    }

    struct OpenPublication {
        /// Audiences that lack it.
        var audiencesLeft: Int
        /// Monotonic nanoseconds.
        let arrivedAt: Int64
        /// Where the figures of its kind are kept.
        let freshness: Int
    }

    // Confined to one thread, and no call of the shard's comes back into it while it works: checking each access of a hot
    // property at run time cost a quarter of a sweep and could never fail.
    @exclusivity(unchecked) var store = ActivityStore()
    @exclusivity(unchecked) var lanes = Lanes()
    @exclusivity(unchecked) var audiences: [Audience] = []
    @exclusivity(unchecked) var counts = ShardCounts()
    /// Pushes handed out whose completion has not come back.
    @exclusivity(unchecked) var inFlight = 0
    /// Unfollowed activities whose private end can go out now.
    @exclusivity(unchecked) var departing: [ActivitySlot] = []
    @exclusivity(unchecked) var topics: [Topic] = []
    private var topicIndices: [TopicID: Int] = [:]
    var lineupIndices: [Lineup.Choice: Int] = [:]
    /// Takes the place of audiences that are freed, until the place is reused.
    let vacant = Audience(topics: [], openMax: 1)
    /// Indices of audiences whose last member has left.
    var freeAudiences: [Int] = []
    /// Alerts that activities have brought along from the audience they were in before.
    @exclusivity(unchecked) var brought: [ActivitySlot: Brought] = [:]
    @exclusivity(unchecked) var timers = TimingWheel()
    @exclusivity(unchecked) var deadTokens: DeadTokenGuard
    /// Activities whose token was answered as dead while the guard was shut.
    var held = Queue<(ActivitySlot, generation: UInt32)>()
    /// Publications that somebody in this shard still lacks, by serial.
    @exclusivity(unchecked) private(set) var openPublications: [UInt64: OpenPublication] = [:]
    @exclusivity(unchecked) var freshness: [(kind: TopicKind, figures: Freshness)] = []
    let openMax: Int
    let governor: SubscriberGovernor
    let lineupRules: LineupRules
    /// Nanoseconds.
    let lineupInterval: Int64
    let lineupGather: Int64
    private var quietRequests: [UInt64] = []
    /// Publications of the shard's own, whose completion the core does not wait for: far above the core's serials.
    private static let ownSerials: UInt64 = 1 << 63
    private var republished: UInt64 = 0

    /// Activities without an update token, and how far their starts have come. Those that wait for a moment are counted.
    var starting: [ActivitySlot: Starting] = [:]
    var startsWaiting = 0
    var startBudget = StartBudget()
    /// Activities that can be started once more.
    var renewals: [ActivitySlot: Renewal] = [:]
    /// Ids of cards that mean the one which has taken, or is to take, their place; and whose place each of those takes.
    var successors: [ActivityID: ActivityID] = [:]
    var predecessors: [ActivitySlot: [ActivityID]] = [:]
    /// Activities that end with their audience's state though that goes on, until the end has been taken: the audience's index.
    var lastStates: [ActivitySlot: Int] = [:]
    /// How long an activity may last, nanoseconds.
    let lifetime: Int64
    // Where the hand stands that looks for old activities, when it goes on, and when the next one of this lap's wants it.
    var hand = 0
    var handTimer: (due: Int64, entry: TimingWheel.Entry)?
    var lapDue: Int64 = 0

    /// Members that have left, not yet gone.
    var leaving = 0
    /// Lineups with changes that wait for their interval.
    @exclusivity(unchecked) var lineupsWaiting = 0
    // Of the lineup that is worked on, kept so that none of them asks for memory: its topics as the rotation sees them, and what
    // it would show of them.
    @exclusivity(unchecked) var seen: [Rotation.Topic] = []
    @exclusivity(unchecked) var drawn = LineupState.Display()
    /// Where the figures of lineups are kept.
    private(set) lazy var lineupFreshness = freshnessIndex(of: .lineup)

    /// For the core: waits for room in its ring.
    private var feedback: [ShardFeedback] = []
    private let feedbackMax: Int

    /// - Parameters:
    ///   - feedbackMax: with so much feedback waiting for the core, the shard `isHeldUp`.
    ///   - openMax: publications per audience, at least 1, whose completion is told apart while they wait for it. A match has
    ///     some 70 versions, so 64 are the better part of an hour without the service.
    ///   - lifetime: of an activity; another one than the system's is for simulations.
    ///   - limits: of each activity.
    ///   - deadTokenAnswers: how many the dead-token guard waits for, and how many it remembers.
    public init(
        lineups: LineupRules = LineupRules(), feedbackMax: Int = 4096, openMax: Int = 64,
        lifetime: Duration = .seconds(8 * 3600),
        limits: ActivityLimits = ActivityLimits(),
        deadTokenAnswers: ClosedRange<Int> = 100...1000
    ) {
        lineupRules = lineups
        lineupInterval = lineups.minimumInterval.milliseconds * 1_000_000
        lineupGather = lineups.gather.milliseconds * 1_000_000
        deadTokens = DeadTokenGuard(answers: deadTokenAnswers)
        self.feedbackMax = feedbackMax
        self.openMax = openMax
        self.lifetime = lifetime.milliseconds * 1_000_000
        governor = SubscriberGovernor(limits)
    }

    /// Room for this many activities, so that loading them does not copy what is there again and again.
    public func reserve(activities: Int) { store.reserve(activities) }

    public var statistics: ShardCounts {
        var result = counts
        result.activities = store.count
        result.tokenless = starting.count
        return result
    }

    /// Everybody has everything that was published to them.
    public var isQuiet: Bool {
        counts.owed == 0 && inFlight == 0 && leaving == 0 && lineupsWaiting == 0 && startsWaiting == 0
    }

    /// When to call `pull` again although nothing new has arrived; monotonic nanoseconds.
    public var nextDue: Int64? { timers.nextDue }

    /// The core does not listen: nothing is pulled, and whoever drives the shard gives it no commands, so that what waits here
    /// stays bounded.
    public var isHeldUp: Bool { feedback.count >= feedbackMax }

    /// Moves what waits for the core into its ring, oldest first, as far as there is room. What finds none stays.
    ///
    /// - Returns: whether anything went.
    public func sendFeedback(to ring: inout RingProducer<ShardFeedback>) -> Bool {
        let sent = feedback.isEmpty ? 0 : ring.push(feedback.span)
        feedback.removeFirst(sent)
        return sent > 0
    }

    // MARK: Commands

    public func apply(_ command: ShardCommand, at moment: Moment) {
        switch command {
        case .publish(let publication): publish(publication, at: moment)
        case .revokeAlert(let topic, let cause):
            guard let index = topicIndices[topic] else { return }
            if let followers = topics[index].followers { audiences[followers].revokeAlert(cause: cause, topic: topic) }
            for lineup in topics[index].lineups {
                audiences[Int(lineup.audience)].revokeAlert(cause: cause, topic: topic)
            }
            revokeBrought(cause: cause, topic: topic)
        case .republish: republish(at: moment)
        case .follow(let id, let key, let token, let preferences, let age):
            follow(id, key, token: token, preferences, age: age, at: moment)
        case .start(let request, let key): start(request, key, at: moment)
        case .prefer(let id, let preferences):
            if let slot = slot(of: id) { prefer(preferences, for: slot) }
        case .move(let id, let key):
            if let slot = slot(of: id) { move(slot, to: key, at: moment) }
        case .unfollow(let id): unfollow(id, at: moment)
        case .replaceToken(let id, let token):
            guard let slot = store.slot(of: id), isToken(token) else { return }
            take(token, of: slot, at: moment)
        case .tellDisposition(let number, let id, let topic, let cause):
            tell(disposition(of: cause, in: topic, for: id, at: moment), number)
        case .trustDeadAnswers: trustDeadAnswers()
        case .reportQuiet(let request):
            quietRequests.append(request)
            reportIfQuiet()
        }
    }

    private func publish(_ publication: Publication, at moment: Moment) {
        let topic = topicIndex(publication.topicID)
        let isChange =
            publication.alert != nil || publication.isRepublished
            || topics[topic].latest?.state.bytes != publication.state.bytes
        topics[topic].take(publication)
        if publication.event == .end {
            let shown = (publication.dismissAfter ?? Dismissal.longest).milliseconds * 1_000_000
            topics[topic].goneAt = moment.monotonicNanoseconds + shown
        }
        // Counted down as audiences complete it; the one more keeps it open until all have begun.
        let freshness = freshnessIndex(of: publication.topicKind)
        openPublications[publication.serial] = OpenPublication(
            audiencesLeft: 1 + topics[topic].lineups.count, arrivedAt: moment.monotonicNanoseconds, freshness: freshness
        )
        if isChange || publication.event == .end, let index = topics[topic].followers {
            let audience = audiences[index]
            openPublications[publication.serial]?.audiencesLeft += 1
            let before = audience.owed
            audience.publish(
                Audience.Version(publication), alerting: publication, freshness: freshness, at: moment)
            open(publication.serial, in: audience)
            counts.owed += audience.owed - before
            lanes.enqueue(audience)
            reportCompleted(audience, at: moment)
        }
        publishToLineups(publication, of: topic, at: moment)
        complete(publication.serial, at: moment)
    }

    private func republish(at moment: Moment) {
        for latest in topics.compactMap(\.latest) where latest.event == .update {
            republished += 1
            publish(latest.republished(as: Shard.ownSerials + republished), at: moment)
        }
    }

    private func follow(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, age: Duration,
        at moment: Moment
    ) {
        guard isToken(token) else { return }
        // Of a card that has been renewed it may come late (spec §11, observed): the rest is meant for the one in its place.
        if let card = store.slot(of: id) { take(token, of: card, at: moment) }
        if let slot = slot(of: id) {
            if let preferences { prefer(preferences, for: slot) }
            move(slot, to: key, at: moment)
        } else if let index = audienceIndex(key, at: moment) {
            let slot = insert(id, token: token, age: age, at: moment)
            if let preferences { store.setPreferences(of: slot, to: preferences) }
            join(slot, index)
        }
    }

    private func prefer(_ preferences: Preferences, for slot: ActivitySlot) {
        store.setPreferences(of: slot, to: preferences)
        if let successor = successor(of: slot) { store.setPreferences(of: successor, to: preferences) }
    }

    private func unfollow(_ id: ActivityID, at moment: Moment) {
        guard let slot = slot(of: id), store[slot].flags.isDisjoint(with: [.leaving, .ending]) else { return }
        if let successor = successor(of: slot) { unfollowStart(successor, at: moment) }
        if store[slot].flags.contains(.tokenless) { unfollowStart(slot, at: moment) } else { depart(slot, at: moment) }
    }

    /// The activity goes, by an end of its own.
    func depart(_ slot: ActivitySlot, at moment: Moment) {
        forgetBrought(slot)
        leaveAudience(slot, at: moment)
        store[slot].flags.insert(.leaving)
        leaving += 1
        if store[slot].flags.isDisjoint(with: [.inFlight, .waiting]) { departing.append(slot) }
    }

    func isToken(_ token: [UInt8]) -> Bool { (1...TokenStore.tokenBytesMax).contains(token.count) }

    /// The app has reported the activity's update token: its first one, perhaps.
    private func take(_ token: [UInt8], of slot: ActivitySlot, at moment: Moment) {
        if store[slot].flags.contains(.tokenless) {
            register(slot, token: token, at: moment)
        } else if !store.tokens[store[slot].token].elementsEqual(token) {
            replaceToken(of: slot, with: token)
        }
    }

    func replaceToken(of slot: ActivitySlot, with token: [UInt8]) {
        store.replaceToken(of: slot, with: token)
        if store[slot].flags.contains(.inFlight) { store[slot].flags.insert(.rotated) }
    }

    // MARK: Membership

    /// A joiner has missed nothing: it is owed the current state once, silently, and no alert of before.
    ///
    /// - Parameter shown: what its start has shown it, so that it has missed what came since.
    func join(_ slot: ActivitySlot, _ index: Int, having shown: Starting.Shown? = nil) {
        let audience = audiences[index]
        store[slot].audience = UInt32(index)
        store[slot].alerted = shown?.version ?? audience.target
        store.alertMemory.forget(slot)
        if let shown, let display = shown.display {
            store[slot].delivered = shown.version
            audience.ledger.join(having: shown.version, display: display)
        } else {
            store[slot].delivered = audience.target
            audience.ledger.join()
            if audience.target > 0 { store[slot].flags.insert(.owedFirst) }
        }
        audience.order.join(slot, positions: &store.positions)
        if isOwed(store[slot], audience) {
            audience.owed += 1
            counts.owed += 1
        }
        lanes.enqueue(audience)
    }

    /// Takes the activity out of its audience. A push in flight goes on, but its version speaks of an audience that is no longer
    /// this activity's: `sending` is cleared so that nobody compares it.
    func leaveAudience(_ slot: ActivitySlot, at moment: Moment) {
        let activity = store[slot]
        guard activity.audience != ActivityStore.noAudience else { return }
        let audience = audiences[Int(activity.audience)]
        if isOwed(activity, audience) {
            audience.owed -= 1
            counts.owed -= 1
        }
        audience.order.leave(at: Int(store.positions[Int(slot.rawValue)]), positions: &store.positions)
        if activity.flags.contains(.inFlight), activity.sending != 0 { audience.ledger.land(1, activity.sending) }
        audience.ledger.remove(activity.delivered)
        store[slot].audience = ActivityStore.noAudience
        store[slot].flags.subtract([.owedFirst, .queued])
        store[slot].sending = 0
        store[slot].sendingAlert = .none
        reportCompleted(audience, at: moment)
        freeLineup(Int(activity.audience), at: moment)
    }

    func isOwed(_ activity: Activity, _ audience: Audience) -> Bool {
        activity.delivered != audience.target || activity.flags.contains(.owedFirst)
    }

    // MARK: Names

    func topicIndex(_ id: TopicID) -> Int {
        if let known = topicIndices[id] { return known }
        topics.append(Topic(id: id))
        topicIndices[id] = topics.count - 1
        return topics.count - 1
    }

    /// An audience made after its topics were published starts with their newest state as its first version.
    ///
    /// - Returns: `nil` for what is no lineup. One that is made by this call has no member yet, and is to get one.
    func audienceIndex(_ key: AudienceKey, at moment: Moment) -> Int? {
        switch key {
        case .topic(let id):
            let topic = topicIndex(id)
            if let known = topics[topic].followers { return known }
            let audience = Audience(topics: [topic], openMax: openMax)
            let index = insert(audience)
            topics[topic].followers = index
            if let latest = topics[topic].latest { audience.adopt(Audience.Version(latest)) }
            return index
        case .lineup(let members, let favourite):
            return lineupIndex(members, favourite: favourite, at: moment)
        }
    }

    func insert(_ audience: Audience) -> Int {
        if let reused = freeAudiences.popLast() {
            audiences[reused] = audience
            return reused
        }
        audiences.append(audience)
        return audiences.count - 1
    }

    // MARK: Feedback

    /// The audience's newest version carries this publication, which some member may lack.
    func open(_ serial: UInt64, in audience: Audience) {
        if let overtaken = audience.open(serial) { overtake(overtaken) }
    }

    func reportCompleted(_ audience: Audience, at moment: Moment) {
        while let serial = audience.takeCompleted() { complete(serial, at: moment) }
    }

    /// One audience less lacks this publication.
    func complete(_ serial: UInt64, at moment: Moment) {
        guard let index = openPublications.index(forKey: serial) else { return }
        openPublications.values[index].audiencesLeft -= 1
        let publication = openPublications.values[index]
        guard publication.audiencesLeft == 0 else { return }
        openPublications.remove(at: index)
        let took = moment.monotonicNanoseconds - publication.arrivedAt
        if took > 0 { freshness[publication.freshness].figures.sweep.record(took) }  // else nobody lacked it
        feedback.append(.completed(serial: serial, at: moment.monotonicNanoseconds))
    }

    /// Whoever lacks this publication gets a newer one instead, and nobody hears of its completion.
    func overtake(_ serial: UInt64) {
        if openPublications.removeValue(forKey: serial) != nil { feedback.append(.overtaken(serial: serial)) }
    }

    func reportDead(_ id: ActivityID) { feedback.append(.deadToken(id)) }

    func report(_ fate: ActivityFate, of id: ActivityID) { feedback.append(.fate(id, fate)) }

    private func tell(_ disposition: AlertDisposition, _ number: UInt64) {
        feedback.append(.disposition(number, disposition))
    }

    func report(_ line: String) { feedback.append(.report(line)) }

    func reportIfQuiet() {
        guard !quietRequests.isEmpty, isQuiet else { return }
        feedback.append(.counted(statistics))  // so that whoever hears of the quiet has its figures
        feedback.append(contentsOf: quietRequests.map(ShardFeedback.quiet))
        quietRequests.removeAll()
    }
}

extension Audience.Version {
    /// Of a topic's own followers.
    fileprivate init(_ publication: Publication) {
        self.init(
            event: publication.event, priority: publication.priority, latest: publication,
            display: publication.display)
    }
}
