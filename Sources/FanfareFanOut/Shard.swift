package import FanfareModel

/// A slice of the subscribers: their activities, the audiences these belong to, and the sweeps that bring each audience to its
/// newest version.
///
/// The shard is a state machine without clock, thread or socket: commands, pulls and completions are passed in with the moment at which
/// they happen, so the same code runs on a loop and in the simulation. Confined to one thread; the core sends commands through a ring.
///
/// Invariant, for every member with a pending push, at any time: the cursor has not visited it, or it is queued in its audience's
/// `revisits`, or its push is in flight, or it waits in the timing wheel.
package final class Shard: DeliverySource {
    // The shard is confined to one thread and never re-entered, so exclusivity checks of hot properties at run time could never fail.
    // They cost a quarter of a sweep.
    @exclusivity(unchecked) var store = ActivityStore()
    @exclusivity(unchecked) var lanes = Lanes()
    @exclusivity(unchecked) var audiences: [Audience] = []
    @exclusivity(unchecked) var counts = ShardCounts()
    /// Number of pushes whose completion has not arrived.
    @exclusivity(unchecked) var inFlight = 0
    /// Leaving activities whose private end is due: an audience without members, so that the lanes serve them.
    let departures = Audience(topics: [], openMax: 1, priority: .immediate)
    /// The time of the last pull, if it ended with visits left to be made; monotonic nanoseconds.
    @exclusivity(unchecked) var cutShortAt: Int64?
    @exclusivity(unchecked) var service = ServiceSpells()
    var refusedEnds = Milestones()
    /// Ends that were not accepted before the system ended the card.
    var lostEnds = Milestones()
    /// Leaving activities whose name already means another activity.
    var nameless = Nameless()
    @exclusivity(unchecked) var topics: KnownTopics
    @exclusivity(unchecked) var lineups = LineupTable()
    /// Placeholder in `audiences` for a freed audience, until its index is reused.
    let vacant = Audience(topics: [], openMax: 1)
    /// Placeholder in `audiences` for a lineup at rest, whose state is in `lineups`.
    let resting: Audience
    /// Indices of audiences whose last member has left.
    var freeAudiences: [Int] = []
    @exclusivity(unchecked) var carriedAlerts = CarriedAlerts()
    @exclusivity(unchecked) var timers = TimingWheel()
    @exclusivity(unchecked) var quarantine: DeadTokenQuarantine
    @exclusivity(unchecked) var publications = PublicationTracker()
    @exclusivity(unchecked) var freshness = FreshnessTable()
    let openMax: Int
    let governor: SubscriberGovernor
    let lineupRules: LineupRules
    /// Minimum interval between versions of a lineup that are not urgent, nanoseconds.
    let lineupInterval: Int64
    /// The time for which a lineup gathers alerts, nanoseconds.
    let lineupGather: Int64
    @exclusivity(unchecked) var settling = Settling()
    /// `Moment.stampEpoch` of the last `wakeDue`.
    private var stampEpoch: UInt32 = 0

    var starts = StartCoordinator()
    var renewals = RenewalBook()
    /// Index of the audience whose newest state ends an activity for its age, by activity. It is kept until the end is accepted.
    var lastStates: [ActivitySlot: Int] = [:]
    var ageScanner: AgeScanner

    /// Index of the audience with the most members. It may be stale after that one shrinks, until another audience changes.
    private var largestAudience = 0
    private(set) var membersOfLineups = 0
    /// Number of activities that have left their audience and await the outcome of their private end.
    var leaving = 0
    /// Number of lineups with changes that wait for their minimum interval.
    @exclusivity(unchecked) var lineupsWaiting = 0
    /// Topics of the lineup being processed, as its rotation sees them. The array is kept, so that processing a lineup allocates nothing.
    @exclusivity(unchecked) var seen: [Rotation.Topic] = []
    /// Content that the lineup being processed would show, kept like `seen`.
    @exclusivity(unchecked) var drawn = LineupState.Display()

    private(set) var feedback: FeedbackQueue

    /// - Parameters:
    ///   - feedbackMax: number of facts waiting for the core from which on the shard `isHeldUp`.
    ///   - openMax: maximum of publications per audience, at least 1, whose completion is tracked at a time. A match has some 70 versions,
    ///     so 64 cover the better part of an hour without the service.
    ///   - lifetime: lifetime of an activity; a value other than the system's is for simulations.
    ///   - limits: limits of each activity.
    ///   - unheardTopicsMax: maximum of topics that are followed before anything is published of them.
    ///   - deadTokenAnswers: number of answers that the dead-token guard waits for, and number that it remembers.
    ///   - deadTokenProbes: number of held activities that are tried at a time while the guard is shut.
    package init(
        lineups: LineupRules = LineupRules(), feedbackMax: Int = 4096, openMax: Int = 64,
        lifetime: Duration = .seconds(8 * 3600),
        limits: ActivityLimits = ActivityLimits(), unheardTopicsMax: Int = 1_000_000,
        deadTokenAnswers: ClosedRange<Int> = 100...1000, deadTokenProbes: Int = 100
    ) {
        lineupRules = lineups
        lineupInterval = Shard.wait(lineups.minimumInterval)
        lineupGather = Shard.wait(lineups.gather)
        resting = Audience(
            topics: [], lineup: Lineup(rotation: Rotation(lineups, at: FeedTime(milliseconds: 0))), openMax: 1)
        topics = KnownTopics(unheardMax: unheardTopicsMax)
        quarantine = DeadTokenQuarantine(answers: deadTokenAnswers, probes: deadTokenProbes)
        feedback = FeedbackQueue(limit: feedbackMax)
        self.openMax = openMax
        ageScanner = AgeScanner(lifetime: Shard.wait(lifetime))
        governor = SubscriberGovernor(limits)
    }

    /// Converts a duration to nanoseconds, at most ten years, so that no sum with a moment overflows.
    private static func wait(_ duration: Duration) -> Int64 {
        min(max(.zero, duration), .seconds(10 * 365 * 86_400)).milliseconds * 1_000_000
    }

    /// Reserves room for this many activities, so that loading them does not copy the arrays repeatedly.
    package func reserve(activities: Int) { store.reserve(activities) }

    package var statistics: ShardCounts {
        var result = counts
        result.activities = store.count
        result.tokenless = starts.count
        return result
    }

    /// Returns the freshness figures of this shard since its start.
    package func freshnessReport(at moment: Moment) -> FreshnessReport {
        freshness.report(oldestArrival: publications.oldestArrival, at: moment.monotonicNanoseconds)
    }

    /// Number of topics that the core keeps or that activities follow.
    package var topicCount: Int { topics.count }

    /// Is `true` when nothing is pending or in flight: each activity has all content published to it, except content refused for good.
    package var isQuiet: Bool {
        counts.owed == 0 && inFlight == 0 && leaving == 0 && lineupsWaiting == 0 && lineups.openNews == 0
            && starts.waitingCount == 0
    }

    /// Number of pushes that are pending now, or will be after the next change for the largest audience.
    ///
    /// Members of lineups and starts are all counted: the next change may be of a topic that all lineups show, and the starts may all wait for
    /// one kick-off.
    package var demand: Int {
        max(
            counts.owed, membersOfLineups, starts.count,
            largestAudience < audiences.count ? audiences[largestAudience].order.count : 0)
    }

    /// Is `true` when lineups have members, so that publications may take long.
    package var hasLineups: Bool { membersOfLineups > 0 }

    private func compare(_ audience: Audience, at index: Int) {
        if audience.order.count > audiences[largestAudience].order.count { largestAudience = index }
    }

    /// The time at which to call `wakeDue` or `pull` again although nothing new has arrived, monotonic nanoseconds. It is `nil` while the
    /// shard `isHeldUp`, which ends when the core makes room.
    package var nextDue: Int64? { isHeldUp ? nil : cutShortAt ?? timers.nextDue }

    /// Is `true` while the core does not take feedback. Nothing is pulled then, and the caller must not apply commands, so that the waiting
    /// feedback stays bounded.
    package var isHeldUp: Bool { feedback.isFull }

    /// Moves waiting feedback into the core's ring, oldest first, as far as there is room. The rest stays.
    ///
    /// - Returns: whether any feedback was moved.
    package func sendFeedback(to ring: inout RingProducer<ShardFeedback>) -> Bool {
        feedback.drain(into: &ring)
    }

    /// Removes and returns the feedback that is left when the ring is no longer emptied.
    package func takeFeedback() -> [ShardFeedback] { feedback.takeAll() }

    // MARK: Commands

    package func apply(_ command: ShardCommand, at moment: Moment) {
        switch command {
        case .publish(let publication): publish(publication, at: moment)
        case .revokeAlert(let topic, let cause):
            guard let index = topics.index(of: topic) else { return }
            if let followers = topics[index].followers { awake(followers).revokeAlert(cause: cause, topic: topic) }
            lineups[index]?.revoke(cause: cause)
            carriedAlerts.revoke(cause: cause, topic: topic)
        case .forget(let topic): topics.forget(topic)
        case .republish: republish(at: moment)
        case .follow(let id, let key, let token, let preferences, let age):
            follow(id, key, token: token, preferences, age: age, at: moment)
        case .start(let request, let key): start(request, key, at: moment)
        case .prefer(let id, let preferences):
            if let slot = slot(of: id) { prefer(preferences, for: slot) } else { refuse(id, .unknownActivity) }
        case .move(let id, let key):
            if let refusal = refusal(of: key) { return refuse(id, refusal) }
            if let slot = slot(of: id) { move(slot, to: key, at: moment) } else { refuse(id, .unknownActivity) }
        case .unfollow(let id): unfollow(id, at: moment)
        case .replaceToken(let id, let token):
            if let refusal = refusal(of: token) { return refuse(id, refusal) }
            if let slot = store.slot(of: id) {
                take(token, of: slot, at: moment)
            } else {
                refuse(id, .unknownActivity)
            }
        case .tellDisposition(let number, let id, let topic, let cause):
            tell(disposition(of: cause, in: topic, for: id, at: moment), number)
        case .trustDeadAnswers: report(quarantine.overrule())
        case .reportQuiet(let request):
            settling.ask(request)
            reportIfQuiet()
        }
    }

    private func publish(_ publication: Publication, at moment: Moment) {
        let topic = topics.insert(topicOf: publication)
        part(topic)
        let isChange = publication.alert != nil || publication.isRepublished || !topics.shows(publication, topic)
        topics.take(publication, of: topic, at: moment)
        // The count falls as audiences complete the publication; its first unit keeps it open until all audiences are added.
        let freshness = freshness.index(of: publication.topicKind)
        publications.open(
            publication.serial, audiences: 1, freshness: freshness, at: moment.monotonicNanoseconds)
        let alert = publication.alert.map {
            IssuedAlert($0, of: publication.topicID, at: moment.monotonicNanoseconds)
        }
        if isChange || publication.event == .end, let index = topics[topic].followers {
            let audience = awake(index)
            compare(audience, at: index)
            publications.addAudience(to: publication.serial)
            publish(
                Audience.Version(publication), in: audience, alerting: alert, freshness: freshness,
                at: moment.monotonicNanoseconds)
            open(publication.serial, in: audience)
            lanes.enqueue(audience)
            reportCompleted(audience, at: moment)
        }
        publishToLineups(publication, alert, of: topic, at: moment)
        complete(publication.serial, at: moment)
    }

    /// Publishes a new version to all members of the audience, including those whose last version was refused.
    func publish(
        _ version: Audience.Version, in audience: Audience, alerting alert: IssuedAlert?, freshness: Int, at now: Int64
    ) {
        let before = (owed: audience.owed, refused: audience.refused)
        audience.publish(version, alerting: alert, freshness: freshness, at: now)
        counts.owed += audience.owed - before.owed
        counts.refused += audience.refused - before.refused
    }

    /// Sends the newest state of all audiences once more, silently, after a clock was put right: phones may have dropped accepted pushes
    /// because of their stamps.
    func showAgainAfterClockStep(at moment: Moment) {
        guard moment.stampEpoch != stampEpoch else { return }
        stampEpoch = moment.stampEpoch
        for index in audiences.indices {
            let audience = awake(index)
            guard let version = audience.versionAgain() else { continue }
            publish(
                version, in: audience, alerting: nil, freshness: audience.times.freshness,
                at: moment.monotonicNanoseconds)
            if audience.lane.parked == nil { lanes.enqueue(audience) }
        }
    }

    private func republish(at moment: Moment) {
        for latest in topics.published where latest.event == .update {
            publish(latest.republished(as: publications.nextOwnSerial()), at: moment)
        }
    }

    private func follow(
        _ id: ActivityID, _ key: AudienceKey, token: [UInt8], _ preferences: Preferences?, age: Duration,
        at moment: Moment
    ) {
        if let refusal = refusal(of: token) ?? refusal(of: key) { return refuse(id, refusal) }
        guard !returns(id, key, token: token, preferences, at: moment) else { return }
        // The token of a renewed card may come late (spec §11, observed): it belongs to the old card, the rest of the command to its successor.
        if let card = store.slot(of: id) { take(token, of: card, at: moment) }
        if let slot = slot(of: id) {
            if let preferences { prefer(preferences, for: slot) }
            move(slot, to: key, at: moment)
        } else {
            let index = audienceIndex(key, at: moment)
            let slot = insert(id, token: token, age: age, at: moment)
            if let preferences { store.setPreferences(of: slot, to: preferences) }
            join(slot, index)
        }
    }

    func prefer(_ preferences: Preferences, for slot: ActivitySlot) {
        store.setPreferences(of: slot, to: preferences)
        if let successor = successor(of: slot) { store.setPreferences(of: successor, to: preferences) }
    }

    private func unfollow(_ id: ActivityID, at moment: Moment) {
        guard let slot = slot(of: id) else { return }
        guard !store[slot].flags.contains(.leaving) else { return endSilently(slot, at: moment) }
        if let successor = successor(of: slot) { unfollowStart(successor, at: moment) }
        if store[slot].flags.contains(.tokenless) { unfollowStart(slot, at: moment) } else { depart(slot, at: moment) }
    }

    /// Takes the activity out of its audience and queues its private end, after which it is removed.
    func depart(_ slot: ActivitySlot, at moment: Moment) {
        carriedAlerts.remove(slot)
        leaveAudience(slot, at: moment)
        store[slot].flags.insert(.leaving)
        leaving += 1
        queueDeparture(slot)
    }

    /// Takes an update token that the app has reported; it may be the activity's first one.
    private func take(_ token: [UInt8], of slot: ActivitySlot, at moment: Moment) {
        if store[slot].flags.contains(.tokenless) {
            register(slot, token: token, at: moment)
        } else if !hasToken(token, slot) {
            replaceToken(of: slot, with: token)
        }
    }

    func hasToken(_ token: [UInt8], _ slot: ActivitySlot) -> Bool {
        store.tokens[store[slot].token].elementsEqual(token)
    }

    func replaceToken(of slot: ActivitySlot, with token: [UInt8]) {
        store.replaceToken(of: slot, with: token)
        if store[slot].flags.contains(.inFlight) { store[slot].flags.insert(.rotated) }
        release(slot)
    }

    // MARK: Membership

    /// Adds an activity to an audience. A joiner has missed nothing: it gets the current state once, silently, and no earlier alerts.
    ///
    /// - Parameter shown: the content that its start has shown, if it has; the activity has missed later versions and alerts.
    func join(_ slot: ActivitySlot, _ index: Int, having shown: PendingStart.Shown? = nil) {
        let audience = awake(index)
        store[slot].audience = UInt32(index)
        store[slot].alerted = shown?.alerted ?? audience.target
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
        compare(audience, at: index)
        if audience.lineup != nil { membersOfLineups += 1 }
        count(store[slot], 1, in: audience)
        lanes.enqueue(audience)
    }

    /// Takes the activity out of its audience. A push in flight goes on, but its version belongs to the audience that was left: `sending` is
    /// cleared so that it is not compared with the next audience's versions.
    func leaveAudience(_ slot: ActivitySlot, at moment: Moment) {
        let activity = store[slot]
        guard activity.audience != ActivityStore.noAudience else { return }
        let audience = awake(Int(activity.audience))
        count(activity, -1, in: audience)
        if audience.lineup != nil { membersOfLineups -= 1 }
        audience.order.leave(at: Int(store.positions[Int(slot.rawValue)]), positions: &store.positions)
        if activity.flags.contains(.inFlight), activity.sending != 0 { audience.ledger.land(1, activity.sending) }
        audience.ledger.remove(activity.delivered)
        store[slot].audience = ActivityStore.noAudience
        if activity.flags.contains(.queued) {
            audience.abandonVisit {
                store[$0].flags.contains(.queued) && store[$0].audience == activity.audience
            }
        }
        store[slot].flags.subtract([.owedFirst, .queued])
        store[slot].sending = 0
        store[slot].sendingAlert = activity.flags.contains(.inFlight) ? activity.sendingAlert.withoutAlert : .none
        reportCompleted(audience, at: moment)
        freeAudience(Int(activity.audience), at: moment)
    }

    func isOwed(_ activity: Activity, _ audience: Audience) -> Bool {
        guard activity.delivered != audience.target || activity.flags.contains(.owedFirst) else { return false }
        return !isRefused(activity, audience)
    }

    /// Returns whether the activity's last push carried the newest version and was refused for good: nothing is sent before a newer version.
    func isRefused(_ activity: Activity, _ audience: Audience) -> Bool {
        activity.sendingAlert == .refused && activity.sending == audience.target
    }

    /// Changes the audience's and the shard's numbers of members that have a pending push, or were refused it.
    func count(owed: Int = 0, refused: Int = 0, in audience: Audience) {
        audience.owed += owed
        audience.refused += refused
        counts.owed += owed
        counts.refused += refused
    }

    /// Changes the numbers of members by members in the state of this one.
    func count(_ activity: Activity, _ change: Int, in audience: Audience) {
        if isOwed(activity, audience) {
            count(owed: change, in: audience)
        } else if isRefused(activity, audience) {
            count(refused: change, in: audience)
        }
    }

    // MARK: Names

    /// Returns the index of an audience, which is made if there is none. The first version of an audience made after its topics were published
    /// is their newest state. The caller adds a member to a new audience, or removes it.
    ///
    /// - Parameter key: a key that `refusal(of:)` does not refuse.
    func audienceIndex(_ key: AudienceKey, at moment: Moment) -> Int {
        switch key {
        case .topic(let id):
            let topic = topics.insert(id)
            part(topic)
            if let known = topics[topic].followers { return known }
            let audience = Audience(topics: [topic], openMax: openMax)
            let index = insert(audience)
            topics[topic].followers = index
            if let latest = topics[topic].latest, !topics[topic].isOver { audience.adopt(Audience.Version(latest)) }
            return index
        case .lineup(let members, let favourite):
            return lineupIndex(members, favourite: favourite, at: moment)
        }
    }

    /// Separates the followers of a topic that is over from its id: they may still lack its end, and do not get the next topic with that id.
    /// Followers to which nothing has been published followed after the end, and wait for the next topic.
    private func part(_ topic: Int) {
        guard topics[topic].isOver, let followers = topics[topic].followers, awake(followers).target > 0 else {
            return
        }
        awake(followers).topics = [topics.part(topic)]
    }

    /// Returns whether the activity shows the former topic with this id, and is to get that topic's end.
    func awaitsEnd(_ slot: ActivitySlot, of key: AudienceKey) -> Bool {
        guard case .topic(let id) = key else { return false }
        let index = starts[slot]?.audience ?? Int(store[slot].audience)
        guard index != Int(ActivityStore.noAudience), awake(index).lineup == nil, awake(index).target > 0 else {
            return false
        }
        let topic = topics[awake(index).topics[0]]
        return topic.id == id && topic.isOver
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

    /// Tracks a publication that the audience's newest version carries.
    func open(_ serial: UInt64, in audience: Audience) {
        if let overtaken = audience.open(serial) { overtake(overtaken) }
    }

    func reportCompleted(_ audience: Audience, at moment: Moment) {
        while let serial = audience.takeCompleted() { complete(serial, at: moment) }
    }

    /// Notes that one audience has this publication, and reports the completion if it was the last.
    func complete(_ serial: UInt64, at moment: Moment) {
        guard let done = publications.complete(serial, at: moment.monotonicNanoseconds) else { return }
        if done.took > 0 { freshness.noteSweep(done.took, of: done.freshness) }
        feedback.append(.completed(serial: serial, at: done.took > 0 ? moment.monotonicNanoseconds : nil))
    }

    /// Ends the tracking of a publication: activities that lack it get a newer one, and its completion is not reported.
    func overtake(_ serial: UInt64) {
        if publications.overtake(serial) { feedback.append(.overtaken(serial: serial)) }
    }

    /// Reports a publication that the command queue dropped for a newer one.
    package func reportOvertaken(_ serial: UInt64) { feedback.append(.overtaken(serial: serial)) }

    func reportDead(_ id: ActivityID) { if !nameless.contains(id) { feedback.append(.deadToken(id)) } }

    func report(_ fate: ActivityFate, of id: ActivityID) {
        if !nameless.contains(id) { feedback.append(.fate(id, fate)) }
    }

    private func tell(_ disposition: AlertDisposition, _ number: UInt64) {
        feedback.append(.disposition(number, disposition))
    }

    func report(_ line: String) { feedback.append(.report(line)) }

    func report(_ answer: Settling.Answer) {
        feedback.append(.counted(statistics))  // before the answer, so that the core has the figures by then
        feedback.append(.quiet(answer.question, isComplete: answer.isComplete))
    }
}

extension Audience.Version {
    /// Creates a version for the topic's own followers.
    fileprivate init(_ publication: Publication) {
        self.init(
            event: publication.event, priority: publication.priority, latest: publication,
            display: publication.display)
    }
}
