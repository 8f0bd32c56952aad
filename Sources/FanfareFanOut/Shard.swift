package import FanfareModel

/// A slice of the subscribers: their activities, the audiences these belong to, and the sweeps that bring each audience to its
/// newest version.
///
/// A state machine without clock, thread or socket: commands, pulls and completions come in with the moment they happen at. So
/// the same code runs on a loop and in the simulation. Confined to one thread; the core reaches it through a ring.
///
/// What must hold, at any time, for every member that is owed a push: it is unvisited by the cursor, or stands in its audience's
/// `again` list, or is in flight, or waits in the timing wheel.
package final class Shard: DeliverySource {
    // Confined to one thread, and no call of the shard's comes back into it while it works: checking each access of a hot
    // property at run time cost a quarter of a sweep and could never fail.
    @exclusivity(unchecked) var store = ActivityStore()
    @exclusivity(unchecked) var lanes = Lanes()
    @exclusivity(unchecked) var audiences: [Audience] = []
    @exclusivity(unchecked) var counts = ShardCounts()
    /// Pushes handed out whose completion has not come back.
    @exclusivity(unchecked) var inFlight = 0
    /// Unfollowed activities whose private end can go out now: an audience without members, so that they have their turn in the lanes.
    let departures = Audience(topics: [], openMax: 1, priority: .immediate)
    /// The last pull ended with visits left to be made; monotonic nanoseconds.
    @exclusivity(unchecked) var cutShortAt: Int64?
    @exclusivity(unchecked) var service = ServiceSpells()
    var refusedEnds = Milestones()
    /// Ends that were answered with errors until there was no card any more.
    var lostEnds = Milestones()
    /// Activities that are on their way out while their name means another one already.
    var nameless = Nameless()
    @exclusivity(unchecked) var topics: KnownTopics
    @exclusivity(unchecked) var lineups = LineupTable()
    /// Takes the place of audiences that are freed, until the place is reused.
    let vacant = Audience(topics: [], openMax: 1)
    /// Takes the place of lineups that rest: the table has them.
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
    /// Nanoseconds.
    let lineupInterval: Int64
    let lineupGather: Int64
    @exclusivity(unchecked) var settling = Settling()
    /// `Moment.stampEpoch` of the last look at what is due.
    private var stampEpoch: UInt32 = 0

    var starts = StartCoordinator()
    var renewals = RenewalBook()
    /// Activities that end with their audience's state though that goes on, until the end has been taken: the audience's index.
    var lastStates: [ActivitySlot: Int] = [:]
    var ageScanner: AgeScanner

    /// The audience that has most members, as far as is known: one that was the second looks larger with its next change.
    private var largestAudience = 0
    private(set) var membersOfLineups = 0
    /// Members that have left, not yet gone.
    var leaving = 0
    /// Lineups with changes that wait for their interval.
    @exclusivity(unchecked) var lineupsWaiting = 0
    // Of the lineup that is worked on, kept so that none of them asks for memory: its topics as the rotation sees them, and what
    // it would show of them.
    @exclusivity(unchecked) var seen: [Rotation.Topic] = []
    @exclusivity(unchecked) var drawn = LineupState.Display()

    private(set) var feedback: FeedbackQueue

    /// - Parameters:
    ///   - feedbackMax: with so much feedback waiting for the core, the shard `isHeldUp`.
    ///   - openMax: publications per audience, at least 1, whose completion is told apart while they wait for it. A match has
    ///     some 70 versions, so 64 are the better part of an hour without the service.
    ///   - lifetime: of an activity; another one than the system's is for simulations.
    ///   - limits: of each activity.
    ///   - unheardTopicsMax: topics that are followed before anything is published of them.
    ///   - deadTokenAnswers: how many the dead-token guard waits for, and how many it remembers.
    ///   - deadTokenProbes: held activities that are tried at a time while it is shut.
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

    /// Nanoseconds; ten years stand for whatever is longer, so that no sum with a moment overflows.
    private static func wait(_ duration: Duration) -> Int64 {
        min(max(.zero, duration), .seconds(10 * 365 * 86_400)).milliseconds * 1_000_000
    }

    /// Room for this many activities, so that loading them does not copy what is there again and again.
    package func reserve(activities: Int) { store.reserve(activities) }

    package var statistics: ShardCounts {
        var result = counts
        result.activities = store.count
        result.tokenless = starts.count
        return result
    }

    /// How fresh this shard's people are kept, since its start.
    package func freshnessReport(at moment: Moment) -> FreshnessReport {
        freshness.report(oldestArrival: publications.oldestArrival, at: moment.monotonicNanoseconds)
    }

    /// Topics that the core keeps, or that somebody follows.
    package var topicCount: Int { topics.count }

    /// Nothing is to be sent, or on its way: everybody has everything that was published to them, but for what was refused for good.
    package var isQuiet: Bool {
        counts.owed == 0 && inFlight == 0 && leaving == 0 && lineupsWaiting == 0 && lineups.openNews == 0
            && starts.waitingCount == 0
    }

    /// What is owed now, or will be with the next change for the largest audience.
    ///
    /// Of lineups all are counted, for the next change may be of a topic that all of them show; and all starts, which may wait for one
    /// kick-off.
    package var demand: Int {
        max(
            counts.owed, membersOfLineups, starts.count,
            largestAudience < audiences.count ? audiences[largestAudience].order.count : 0)
    }

    /// Whether publications may take long, because lineups show their topics.
    package var hasLineups: Bool { membersOfLineups > 0 }

    private func compare(_ audience: Audience, at index: Int) {
        if audience.order.count > audiences[largestAudience].order.count { largestAudience = index }
    }

    /// When to call `wakeDue`, or `pull`, again although nothing new has arrived; monotonic nanoseconds. `nil` while it is held up:
    /// that ends by the core's making room.
    package var nextDue: Int64? { isHeldUp ? nil : cutShortAt ?? timers.nextDue }

    /// The core does not listen: nothing is pulled, and whoever drives the shard gives it no commands, so that what waits here
    /// stays bounded.
    package var isHeldUp: Bool { feedback.isFull }

    /// Moves what waits for the core into its ring, oldest first, as far as there is room. What finds none stays.
    ///
    /// - Returns: whether anything went.
    package func sendFeedback(to ring: inout RingProducer<ShardFeedback>) -> Bool {
        feedback.drain(into: &ring)
    }

    /// What found no room in a ring that nobody will empty any more.
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
        // Counted down as audiences complete it; the one more keeps it open until all have begun.
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

    /// All members of the audience are owed a new version, also those that were refused the last one.
    func publish(
        _ version: Audience.Version, in audience: Audience, alerting alert: IssuedAlert?, freshness: Int, at now: Int64
    ) {
        let before = (owed: audience.owed, refused: audience.refused)
        audience.publish(version, alerting: alert, freshness: freshness, at: now)
        counts.owed += audience.owed - before.owed
        counts.refused += audience.refused - before.refused
    }

    /// After a clock was put right phones may have dropped, for their stamps, what was accepted before: everybody gets the newest
    /// state once more, silently.
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
        // Of a card that has been renewed it may come late (spec §11, observed): the rest is meant for the one in its place.
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

    /// The activity goes, by an end of its own.
    func depart(_ slot: ActivitySlot, at moment: Moment) {
        carriedAlerts.remove(slot)
        leaveAudience(slot, at: moment)
        store[slot].flags.insert(.leaving)
        leaving += 1
        queueDeparture(slot)
    }

    /// The app has reported the activity's update token: its first one, perhaps.
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

    /// A joiner has missed nothing: it is owed the current state once, silently, and no alert of before.
    ///
    /// - Parameter shown: what its start has shown it, so that it has missed what came since.
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

    /// Takes the activity out of its audience. A push in flight goes on, but its version speaks of an audience that is no longer
    /// this activity's: `sending` is cleared so that nobody compares it.
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

    /// Its last push was refused for good and carried the newest version: until there is a newer one, nothing is sent to it.
    func isRefused(_ activity: Activity, _ audience: Audience) -> Bool {
        activity.sendingAlert == .refused && activity.sending == audience.target
    }

    /// So many members more, or fewer, are owed a push, or were refused it.
    func count(owed: Int = 0, refused: Int = 0, in audience: Audience) {
        audience.owed += owed
        audience.refused += refused
        counts.owed += owed
        counts.refused += refused
    }

    /// So many members more, or fewer, stand like this one.
    func count(_ activity: Activity, _ change: Int, in audience: Audience) {
        if isOwed(activity, audience) {
            count(owed: change, in: audience)
        } else if isRefused(activity, audience) {
            count(refused: change, in: audience)
        }
    }

    // MARK: Names

    /// An audience made after its topics were published starts with their newest state as its first version. One that is made by
    /// this call has no member yet, and is to get one.
    ///
    /// - Parameter key: is not to be refused.
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

    /// Whoever has followed a topic that is over may still lack its end, and sees nothing of what comes under the id after that. Those
    /// to whom nothing has been published have followed since, and wait for it.
    private func part(_ topic: Int) {
        guard topics[topic].isOver, let followers = topics[topic].followers, awake(followers).target > 0 else {
            return
        }
        awake(followers).topics = [topics.part(topic)]
    }

    /// The activity shows what was under this id before, and is to have the end of that.
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

    /// The audience's newest version carries this publication, which some member may lack.
    func open(_ serial: UInt64, in audience: Audience) {
        if let overtaken = audience.open(serial) { overtake(overtaken) }
    }

    func reportCompleted(_ audience: Audience, at moment: Moment) {
        while let serial = audience.takeCompleted() { complete(serial, at: moment) }
    }

    /// One audience less lacks this publication.
    func complete(_ serial: UInt64, at moment: Moment) {
        guard let done = publications.complete(serial, at: moment.monotonicNanoseconds) else { return }
        if done.took > 0 { freshness.noteSweep(done.took, of: done.freshness) }
        feedback.append(.completed(serial: serial, at: done.took > 0 ? moment.monotonicNanoseconds : nil))
    }

    /// Whoever lacks this publication gets a newer one instead, and nobody hears of its completion.
    func overtake(_ serial: UInt64) {
        if publications.overtake(serial) { feedback.append(.overtaken(serial: serial)) }
    }

    /// A publication was left out of the commands for a newer one that waits among them.
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
        feedback.append(.counted(statistics))  // so that whoever hears of it has its figures
        feedback.append(.quiet(answer.question, isComplete: answer.isComplete))
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
