import FanfareModel
import FanfareQueues

/// Visits lineups of one member, whose state is in rows of `LineupTable`, and settles their pushes.
///
/// A lineup that may not show its news yet does not look at them: it waits in the timing wheel, and its next visit decides on all news in order of
/// arrival, as of their times of arrival. A rare case (an end, a push that fails, a second member) is left to an `Audience`, which `Membership.awake`
/// makes of the row.
@safe final class LineupVisits {
    private let reporter: FeedbackReporter
    private let membership: Membership
    private let lineups: LineupTable
    private let claims: AlertClaims
    private let governor: SubscriberGovernor
    private let publisher: LineupPublisher
    private let missedAlerts: MissedAlerts
    private let sender: PushSender
    /// Index of the lineups' figures, which a shard without lineups does not have.
    private lazy var freshness = reporter.freshness.indexOfLineups()
    // The arrays are kept, so that a visit allocates nothing.
    /// Facts of the news that the lineup has not looked at.
    @safe @exclusivity(unchecked) private var news: [(position: Int, fact: TopicLineups.Fact)] = []
    /// The lineup's topics, as its rotation sees them.
    @safe @exclusivity(unchecked) private var topicStates: [SpotlightCandidate] = []
    /// The lineup's rows.
    @safe @exclusivity(unchecked) private var rows = RowOrder()
    /// The topics that the lineup would show, in the first `shownCount` places. Most lineups show as many topics as the one before, so no element
    /// is appended.
    @safe @exclusivity(unchecked) private var shown: [Unmanaged<LineupTopic>] = unsafe []
    @safe @exclusivity(unchecked) private var shownCount = 0
    /// The alerts of `news` that are new to the lineup.
    @safe @exclusivity(unchecked) private var newAlerts: [IssuedAlert] = []

    init(
        _ reporter: FeedbackReporter, _ membership: Membership, _ publisher: LineupPublisher,
        _ missedAlerts: MissedAlerts, _ sender: PushSender
    ) {
        self.reporter = reporter
        self.membership = membership
        lineups = membership.lineups
        claims = sender.claims
        governor = sender.governor
        self.publisher = publisher
        self.missedAlerts = missedAlerts
        self.sender = sender
    }

    /// A version that a visit would make.
    private struct Draft {
        var rotation: Rotation
        var publishedAt: MonotonicTime
        var isUrgent = false
        /// Is `true` when the push carries gathered alerts.
        var isGathered = false
        var priority = Priority.conserving
        /// Index of the spotlight among the lineup's topics.
        var position = 0
        /// Index of the spotlight among the topics shown.
        var spotlight = 0
        var displayHash: UInt64 = 0
        /// Number of the last news that the version has.
        var last = NewsNumber()
    }

    // MARK: Due lineups

    /// Handles a lineup's timer: queues its visit, unless its alerts wait for a claim first.
    func wake(_ row: Int, at moment: Moment) {
        lineups[lone: row].wakeUp = nil
        if claims.awaitRoom(row, at: moment) { return }
        membership.queue(row, lane: Int(lineups[lone: row].lane))
    }

    /// Makes the lineup's timer due at a time, or earlier if it is already.
    private func wait(_ row: Int, until due: MonotonicTime, lane: Int) {
        let state = lineups[lone: row]
        guard !state.flags.contains(.isDue) else { return }
        if let wakeUp = state.wakeUp {
            let earlier = membership.timers.due(of: wakeUp)
            if earlier <= due {
                lineups[lone: row].lane = UInt8(min(lane, Int(state.lane)))
                return
            }
            membership.timers.cancel(wakeUp)
        }
        lineups[lone: row].lane = UInt8(lane)
        lineups[lone: row].wakeUp = membership.timers.insert(
            .lineup(lineups.audience(of: row)), due: due)
    }

    // MARK: A visit

    /// Brings a lineup up to date: its member gets a push, if it has something to show now.
    ///
    /// - Parameter isDue: whether the lineup's timer is the reason.
    func visit(_ row: Int, isDue: Bool = false, at moment: Moment, into batch: inout DeliveryBatch) {
        guard !lineups[lone: row].flags.contains(.inFlight) else {
            // The push in flight has the news up to `sent`.
            if isDue || lineups.hasNews(row, after: lineups[lone: row].sent) {
                lineups[lone: row].flags.insert(.wasPassed)
            }
            return
        }
        // A cursor that comes before the entry of a due wake-up makes its visit, too.
        membership.abandonDue(row)
        lineups.collect(row, into: &news)
        loadTopicStates(of: row, at: moment)
        // An audience makes the end of a lineup.
        if isOver(row) { return hand(over: row, at: moment) }
        let state = lineups[lone: row]
        guard let resting = state.rotation else { return }
        var draft = Draft(
            rotation: Rotation(resting, membership.lineupRules, pinned: lineups.pinned(of: row)),
            publishedAt: state.publishedAt)
        draft.last = lineups.newest
        if news.isEmpty { return rotate(row, &draft, at: moment, into: &batch) }
        let joinsOthers = lookAtNews(row, &draft)
        let now = moment.monotonic
        if draft.publishedAt > now {
            lineups[lone: row].flags.insert(.isGathering)
            return wait(row, until: draft.publishedAt, lane: 0)
        }
        let freeAt = draft.publishedAt.advanced(byNanoseconds: publisher.lineupInterval)
        guard draft.isUrgent || joinsOthers || freeAt <= now else {
            lineups[lone: row].flags.insert(.isDeferred)
            return wait(row, until: freeAt, lane: 2)
        }
        guard newAlerts.isEmpty || claims.admit(newAlerts, toMemberOf: row, at: moment) else {
            lineups[lone: row].flags.insert(.awaitsClaim)
            return
        }
        if draft.isGathered {
            draft.priority = .immediate
        } else if state.flags.contains(.isDeferred), !draft.isUrgent {
            draft.priority = .conserving
        }
        show(row, &draft, at: moment, into: &batch)
    }

    private func loadTopicStates(of row: Int, at moment: Moment) {
        let links = lineups.links(of: row)
        // Most lineups have as many topics as the one before, so no element is appended, and the array is checked once.
        if topicStates.count > links.count { topicStates.removeLast(topicStates.count - links.count) }
        while topicStates.count < links.count { topicStates.append(SpotlightCandidate(.gone)) }
        var states = topicStates.mutableSpan
        for position in states.indices {
            let topic = lineups.topic(ofLink: links.lowerBound + position)
            states[position] = membership.topics.faces[topic.place].topic(at: moment.monotonic)
        }
        // In the person's own order all times are equal.
        if membership.lineupRules.order == .person {
            rows.stand(topicStates.count)
        } else {
            rows.sort(topicStates.count) { topicStates[$0].scheduledAt }
        }
    }

    /// Returns whether all topics of the lineup have ended, dismissed or not.
    private func isOver(_ row: Int) -> Bool {
        for state in topicStates where state.life == .live || state.life == .upcoming { return false }
        return lineups.links(of: row).allSatisfy {
            membership.topics.faces[lineups.topic(ofLink: $0).place].topic.life == .ended
        }
    }

    /// Moves the draft's spotlight by the news, and collects the alerts that are new to the lineup. The first alert begins a wait for others; news
    /// that come before the member gets the alert join it, however late they are.
    ///
    /// - Returns: whether any of the news joins an alert that waits, or has waited.
    private func lookAtNews(_ row: Int, _ draft: inout Draft) -> Bool {
        if !newAlerts.isEmpty { newAlerts.removeAll(keepingCapacity: true) }
        var joinsOthers = false
        // A wait that has begun goes on, even if other topics have ended since.
        let hasBegunToGather = lineups[lone: row].flags.contains(.isGathering)
        for index in news.indices {
            let (position, fact) = news[index]
            joinsOthers = joinsOthers || draft.isGathered
            // The weightiest of the alerts within the wait has the spotlight, in whatever order they came.
            let isWithin = draft.isGathered && fact.at < draft.publishedAt
            draft.isUrgent = draft.isUrgent || fact.isUrgent
            draft.priority = max(draft.priority, fact.priority)
            if fact.weight >= 0 {
                draft.rotation.happened(
                    at: position, weight: Int(fact.weight), alerts: fact.hasAlert && !isWithin,
                    membership.lineupRules, now: fact.at)
            }
            guard let issue = membership.newAlert(of: fact, row, position: position) else { continue }
            newAlerts.append(issue)
            if !draft.isGathered, publisher.lineupGather > 0,
                hasBegunToGather && newAlerts.count == 1 || isLive(besides: position)
            {
                draft.publishedAt = fact.at.advanced(byNanoseconds: publisher.lineupGather)
                draft.isGathered = true
            }
        }
        return joinsOthers
    }

    private func isLive(besides position: Int) -> Bool {
        for index in topicStates.indices where index != position && topicStates[index].life == .live { return true }
        return false
    }

    /// Moves the spotlight of a lineup without news, if it belongs elsewhere by now.
    private func rotate(_ row: Int, _ draft: inout Draft, at moment: Moment, into batch: inout DeliveryBatch) {
        if !newAlerts.isEmpty { newAlerts.removeAll(keepingCapacity: true) }
        let number = lineups[lone: row].number
        var retriesAt: MonotonicTime?
        if number > 0, let wanted = draft.rotation.wanted(topicStates, now: moment.monotonic) {
            render(row, wanted, &draft, at: moment)
            if draft.displayHash == lineups[lone: row].displayHash {
                // The move is not visible, so it needs no push.
                draft.rotation.move(to: wanted, membership.lineupRules, now: moment.monotonic)
            } else if draft.rotation.mayPush(topicStates, now: moment.monotonic) {
                return show(row, &draft, at: moment, into: &batch)
            } else {
                retriesAt = draft.rotation.mayPushAgain(topicStates, now: moment.monotonic)
            }
        }
        lineups[lone: row].rotation = draft.rotation.resting
        scheduleWakeUp(row, draft.rotation, retryingAt: retriesAt, at: moment)
    }

    /// Sends the present content of the topics as the lineup's newest version, unless it looks like the last one.
    private func show(_ row: Int, _ draft: inout Draft, at moment: Moment, into batch: inout DeliveryBatch) {
        guard let wanted = draft.rotation.wanted(topicStates, now: moment.monotonic) ?? lastGone(row) else {
            return hand(over: row, at: moment)
        }
        render(row, wanted, &draft, at: moment)
        if wanted != draft.rotation.position {
            draft.rotation.move(to: wanted, membership.lineupRules, now: moment.monotonic)
        }
        let state = lineups[lone: row]
        let isNew = state.number == 0 || draft.displayHash != state.displayHash
        if isNew || !newAlerts.isEmpty {
            guard push(row, draft, isNew: isNew, at: moment, into: &batch) else { return hand(over: row, at: moment) }
        } else {
            _ = lineups.settle(row, through: draft.last)
            membership.completeExhausted(at: moment)
        }
        if Int(state.spotlight) != wanted {
            lineups[lone: row].spotlight = UInt8(wanted)
            lineups.setSpotlight(wanted, of: row)
        }
        lineups[lone: row].rotation = draft.rotation.resting
        lineups[lone: row].flags.subtract([.isDeferred, .isGathering, .awaitsClaim])
        scheduleWakeUp(row, draft.rotation, at: moment)
    }

    /// Leaves the visit to an audience.
    private func hand(over row: Int, at moment: Moment) {
        let audience = membership.awake(lineups.audience(of: row))
        publisher.takeNews(of: audience, at: moment)
        membership.lanes.enqueue(audience)
        membership.rest(lineups.audience(of: row))
    }

    /// Sets the lineup's timer for the next time at which it may have something to show without news.
    ///
    /// - Parameter retriesAt: the time at which the rotation may retry a refused push.
    private func scheduleWakeUp(
        _ row: Int, _ rotation: Rotation, retryingAt retriesAt: MonotonicTime? = nil, at moment: Moment
    ) {
        let now = moment.monotonic
        var due = MonotonicTime.never
        var again = rotation.looksAgain(topicStates, now: now)
        if let retriesAt { again = min(again ?? retriesAt, retriesAt) }
        if let again {
            let publishedAt = lineups[lone: row].publishedAt
            due = max(again, publishedAt.advanced(byNanoseconds: publisher.lineupInterval))
        }
        var (hasEnded, hasLive) = (false, false)
        for state in topicStates {
            if state.life == .ended { hasEnded = true }
            if state.life == .live { hasLive = true }
        }
        if hasEnded, hasLive {
            for link in lineups.links(of: row) {
                let goneAt = membership.topics.faces[lineups.topic(ofLink: link).place].goneAt
                if goneAt > now { due = min(due, goneAt) }
            }
        }
        if let wakeUp = lineups[lone: row].wakeUp.take() { membership.timers.cancel(wakeUp) }
        if due < .never { wait(row, until: max(due, now.advanced(byNanoseconds: 1)), lane: 2) }
    }

    // MARK: Content

    private func lastGone(_ row: Int) -> Int? {
        let links = lineups.links(of: row)
        func topic(_ position: Int) -> KnownTopics.Topic {
            membership.topics[lineups.topic(ofLink: links.lowerBound + position)]
        }
        let published = (0..<links.count).filter { topic($0).latest != nil }
        return published.max { topic($0).goneAt ?? .always < topic($1).goneAt ?? .always }
    }

    /// Fills `shown`, and the draft's content, with the display of a lineup that is not over.
    private func render(_ row: Int, _ position: Int, _ draft: inout Draft, at moment: Moment) {
        shownCount = 0
        draft.position = position
        let start = lineups.links(of: row).lowerBound
        for place in rows.positions.indices {
            let other = Int(rows.positions[place])
            let topic = lineups.topic(ofLink: start + other)
            let isInSpotlight = other == position
            if !isInSpotlight, topicStates[other].life == .gone { continue }
            if unsafe membership.topics.faces[topic.place].encoded == nil { membership.topics.encode(topic) }
            guard let encoded = unsafe membership.topics.faces[topic.place].encoded else { continue }
            if isInSpotlight { draft.spotlight = shownCount }
            if unsafe shownCount < shown.count {
                unsafe shown[shownCount] = encoded
            } else {
                unsafe shown.append(encoded)
            }
            shownCount += 1
        }
        draft.displayHash = unsafe withShown(draft) { unsafe $0.hash }
    }

    @inline(__always)
    private func withShown<Result>(_ draft: Draft, _ body: (LineupJSON.Shown) -> Result) -> Result {
        unsafe shown.withUnsafeBufferPointer {
            unsafe body(
                LineupJSON.Shown(
                    topics: UnsafeBufferPointer(rebasing: $0[..<shownCount]), spotlight: draft.spotlight))
        }
    }

    // MARK: A push

    /// Sends a version to the lineup's member, or settles the alerts without a push if none of them may leave and nothing has changed.
    ///
    /// - Returns: `false`, without any effect, if the push has to wait for the clock.
    private func push(
        _ row: Int, _ draft: Draft, isNew: Bool, at moment: Moment, into batch: inout DeliveryBatch
    ) -> Bool {
        let state = lineups[lone: row]
        let slot = state.member
        var activity = membership.store[slot]
        activity.forgetUnusedStamp(at: moment)
        if activity.stamp != membership.store[slot].stamp { membership.store[slot].stamp = activity.stamp }
        let (lastStamp, budgetUse) = (Int64(activity.stamp), activity.budgetUse)
        guard let stamp = Stamp.next(after: lastStamp, at: moment), activity.flags.isEmpty else { return false }
        let number = state.number &+ UInt32(max(1, newAlerts.count))
        let missed = self.missed(through: number, state)
        let selection = missed.selection(at: moment)
        let priority = draft.priority
        let pushRequest = SubscriberGovernor.PushRequest(
            alert: selection.map { missed[$0.lead].alert.class }, priority: priority, isEnd: false)
        let effect = membership.store.effect(of: Int(slot.rawValue), atMinute: moment.minuteOfDay)
        let seconds = UInt32(clamping: stamp) - UInt32(lastStamp)
        let decision = governor.decision(on: pushRequest, for: budgetUse, effect, after: seconds)
        let now = moment.monotonic
        let came = newAlerts.last.map(\.issuedAt) ?? now
        let dueSince = newAlerts.first.map(\.issuedAt) ?? now
        guard isNew || selection != nil && decision.silence == nil else {
            pass(missed, selection: selection, decision.silence, row, through: number, at: moment)
            return true
        }
        let attempt = AlertAttempt(version: selection.map { missed[$0.lead].version } ?? 0, silence: decision.silence)
        let request = PayloadRequest(
            event: .update, stamp: stamp, selection: attempt.isSent ? selection : nil, missed: missed,
            priority: decision.priority)
        let payload = unsafe withShown(draft) {
            unsafe sender.addPayload(request, showing: $0, at: moment, to: &batch)
        }
        let left = governor.charged(pushRequest, decision, budgetUse, effect, after: seconds)
        membership.store.send(
            PushToOne(
                payload: payload, version: number,
                alert: decision.priority == .immediate ? attempt.chargedAtTen : attempt,
                stamp: UInt32(clamping: stamp), budgetUse: left),
            to: slot, into: &batch)
        sender.noteSent(pushRequest, decision)
        claims.noteSent(request.selection, of: newAlerts, to: slot, at: moment)
        if membership.lanes.served < Lane.last {
            reporter.freshness.noteLaneDelay(
                now.nanoseconds(since: dueSince), lane: membership.lanes.served, of: freshness)
        }
        reporter.freshness.noteStateAge(now.nanoseconds(since: came), times: 1, of: freshness)
        lineups.change(lone: row) {
            $0.displayHashBefore = $0.displayHash
            $0.displayHash = draft.displayHash
            $0.number = number
            $0.priority = priority
            $0.publishedAt = now
            $0.sent = draft.last
            $0.flags.insert(.inFlight)
        }
        return true
    }

    /// The alerts in `newAlerts`, in the form of an audience's missed alerts.
    private func missed(through number: UInt32, _ state: LoneLineup) -> ArraySlice<PendingAlert> {
        guard !newAlerts.isEmpty else { return [] }
        return LineupVisits.pending(newAlerts, through: number, after: state.alertCounts)[...]
    }

    private static func pending(
        _ alerts: [IssuedAlert], through number: UInt32, after counts: SIMD2<UInt8>
    ) -> [PendingAlert] {
        var counts = SIMD2<UInt32>(truncatingIfNeeded: counts) &+ 256
        let all = alerts.enumerated().map { index, issue in
            let place = Int(issue.alert.class.rawValue)
            counts[place] &+= 1
            return PendingAlert(
                version: number &- UInt32(alerts.count - 1 - index), number: counts[place] &* 2 &+ UInt32(place),
                issue: issue)
        }
        return Array(all.kept)
    }

    /// Settles the alerts in `newAlerts` without a push.
    private func pass(
        _ missed: ArraySlice<PendingAlert>, selection: AlertSelection?, _ silence: Silence?, _ row: Int,
        through number: UInt32, at moment: Moment
    ) {
        let slot = lineups[lone: row].member
        missedAlerts.settle(
            missed, displaced: newAlerts.count - missed.count, led: selection?.lead,
            outcome: silence.map(AlertOutcome.silenced) ?? .stale, for: slot, at: moment)
        noteAlerts(newAlerts, row)
        lineups[lone: row].number = number
        lineups[lone: row].publishedAt = moment.monotonic
        membership.store[slot].delivered = number
        membership.store[slot].alerted = number
        _ = lineups.settle(row, through: lineups.newest)
        membership.completeExhausted(at: moment)
    }

    private func noteAlerts(_ alerts: [IssuedAlert], _ row: Int) {
        for alert in alerts { lineups[lone: row].alertCounts[Int(alert.alert.class.rawValue)] &+= 1 }
    }

    // MARK: An answer

    /// Settles an accepted push, if its activity is the member of a lineup whose state is in its row.
    ///
    /// - Returns: `false` if it is another activity.
    @inline(__always)
    func settle(_ slot: ActivitySlot, as activity: Activity, at moment: Moment) -> Bool {
        guard activity.flags == .inFlight, activity.sending != 0, activity.audience != .none,
            let row = lineups.loneRow(ofAudience: activity.audience)
        else { return false }
        settle(row, slot, as: activity, at: moment)
        return true
    }

    private func settle(_ row: Int, _ slot: ActivitySlot, as activity: Activity, at moment: Moment) {
        let state = lineups[lone: row]
        settleAlerts(row, state, as: activity, at: moment)
        membership.completeExhausted(at: moment)
        membership.store.settle(slot, at: activity.sending)
        lineups.change(lone: row) {
            $0.displayHashBefore = $0.displayHash
            $0.flags.subtract([.inFlight, .wasPassed])
        }
        guard state.flags.contains(.wasPassed) else { return }
        lineups.collect(row, into: &news)
        let isAlert = news.contains { $0.fact.hasAlert }
        let isImmediate = news.contains { $0.fact.priority == .immediate }
        membership.queue(row, lane: isAlert ? 0 : isImmediate ? 1 : 2)
    }

    /// Counts the alerts of the push, and notes that the lineup has looked at its news.
    private func settleAlerts(_ row: Int, _ state: LoneLineup, as activity: Activity, at moment: Moment) {
        let attempt = activity.sendingAlert
        let outcome = attempt.silence.map(AlertOutcome.silenced) ?? .accepted
        if !membership.store.alertMemory.isKept {
            // `take` leaves the alerts in the table; one of them, as nearly always, needs no list.
            switch lineups.settle(row, through: state.sent) {
            case .none: return
            case .one(let issue):
                if membership.isRepeat(issue, row) { return }
                missedAlerts.count(attempt.isNone ? issue.isRevoked ? .revoked : .stale : outcome)
                lineups[lone: row].alertCounts[Int(issue.alert.class.rawValue)] &+= 1
                return
            case .many(let issues): return count(issues, row, state, as: activity, at: moment)
            }
        }
        lineups.take(row, through: state.sent)
        count(lineups.taken.compactMap(\.news.alert), row, state, as: activity, at: moment)
    }

    private func count(
        _ issues: [IssuedAlert], _ row: Int, _ state: LoneLineup, as activity: Activity, at moment: Moment
    ) {
        let newIssues = issues.filter { !membership.isRepeat($0, row) }
        guard !newIssues.isEmpty else { return }
        let attempt = activity.sendingAlert
        let missed = LineupVisits.pending(newIssues, through: state.number, after: state.alertCounts)[...]
        let lead = attempt.isNone ? nil : missed.firstIndex { $0.version == attempt.version }
        let outcome = attempt.silence.map(AlertOutcome.silenced) ?? .accepted
        missedAlerts.settle(
            missed, displaced: newIssues.count - missed.count, led: lead, outcome: outcome, for: state.member,
            at: moment)
        noteAlerts(newIssues, row)
    }
}
