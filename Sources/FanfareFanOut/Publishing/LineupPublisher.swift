import FanfareModel
import FanfareQueues

/// Publishes versions of lineups: from the news of their topics, and when a lineup's timer is due.
final class LineupPublisher {
    private let reporter: FeedbackReporter
    private let membership: Membership
    /// Minimum interval between versions of a lineup that are not urgent, nanoseconds.
    let lineupInterval: Int64
    /// The time for which a lineup gathers alerts, nanoseconds.
    let lineupGather: Int64
    /// Alerts that newer ones displaced before the lineups had looked at them, counted for each lineup.
    @safe @exclusivity(unchecked) private(set) var superseded = 0
    /// Topics of the lineup being processed, as its rotation sees them. The array is kept, so that processing a lineup allocates nothing.
    @safe @exclusivity(unchecked) var topicStates: [SpotlightCandidate] = []
    /// Content that the lineup being processed would show, kept like `topicStates`.
    @safe @exclusivity(unchecked) var draft = LineupJSON.Display()
    /// Rows of the lineup being rendered.
    @safe @exclusivity(unchecked) private var rows = RowOrder()

    init(_ reporter: FeedbackReporter, _ membership: Membership) {
        self.reporter = reporter
        self.membership = membership
        lineupInterval = membership.lineupRules.minimumInterval.boundedNanoseconds
        lineupGather = membership.lineupRules.gather.boundedNanoseconds
    }

    /// Returns the index of a lineup's audience, which is made if there is none. By the schedule, equal selections share one audience, whatever the
    /// order of the picks: the audience's selection has the topics in the order of their ids, and the rows are sorted in each visit (`RowOrder`).
    ///
    /// - Parameters:
    ///   - isLoaded: whether the member joined before a restart. Such a member gets the end of a lineup whose topics are over.
    ///   - missed: alerts for the spotlight of a lineup that is made, the oldest first.
    func lineupIndex(
        _ picks: [TopicID], favourite: TopicID?, isLoaded: Bool = false, missing missed: [PendingAlert] = [],
        at moment: Moment
    ) -> AudienceIndex {
        let members = membership.lineupRules.order == .schedule ? picks.sorted(by: TopicID.precedes) : picks
        let selection = LineupSelection(
            topics: members.map { membership.topics.insert($0) },
            pinned: favourite.flatMap { members.firstIndex(of: $0) })
        if let known = membership.lineups.find(selection) {
            bringUpToDate(membership.awake(membership.lineups.audience(of: known)), forNewcomer: true, at: moment)
            return membership.lineups.audience(of: known)
        }
        let lineup = Lineup(rotation: Rotation(membership.lineupRules, pinned: selection.pinned, at: moment.monotonic))
        let audience = Audience(topics: selection.topics, lineup: lineup, trackedMax: membership.trackedMax)
        let index = membership.audiences.insert(audience)
        lineup.row = membership.lineups.insert(selection, audience: index)
        membership.timers.reserve(membership.lineups.count)
        for topic in selection.topics { membership.topics[topic].lineups += 1 }
        for alert in missed {
            guard let position = selection.topics.firstIndex(where: { membership.topics[$0].id == alert.topic }) else {
                continue
            }
            lineup.rotation.happened(
                at: position, weight: alert.issue.weight, alerts: true, membership.lineupRules,
                now: alert.issue.issuedAt)
        }
        adopt(lineup, index, isLoaded: isLoaded, at: moment)
        return index
    }

    /// Adds a publication to the news of the topic's lineups, to which a cursor brings it. O(1).
    func publishToLineups(_ publication: Publication, _ alert: IssuedAlert?, of topic: TopicIndex, at moment: Moment) {
        guard let followed = membership.lineups[topic] else { return }
        reporter.completions.noteNews(ofLineupsWith: topic)
        reporter.publications.addAudience(to: publication.serial)
        if let dropped = membership.lineups.publish(
            publication, of: topic, to: followed, alert: alert, at: moment.monotonic)
        {
            reporter.overtake(dropped.publication.serial)
            if dropped.alert != nil { superseded += dropped.lookers }
        }
        membership.lanes.enqueue(followed)
    }

    /// Makes a lineup look at the news of its topics. Called before any other change to the lineup.
    ///
    /// - Parameter forNewcomer: whether the newest version will be sent to an activity that lacks it.
    func bringUpToDate(_ audience: Audience, forNewcomer: Bool = false, at moment: Moment) {
        guard let lineup = audience.lineup, lineup.displayIsOld || membership.lineups.hasNews(lineup.row) else {
            return
        }
        takeNews(of: audience, forNewcomer: forNewcomer, at: moment)
        membership.lanes.enqueue(audience)
    }

    /// Makes a lineup look at the news of its topics. The caller enqueues or serves the audience.
    func takeNews(of audience: Audience, forNewcomer: Bool = false, at moment: Moment) {
        guard let lineup = audience.lineup else { return }
        lineup.awaitsNews = false
        // The display of a lineup that was in its row is made anew. If the content has changed since, no member can be sent the newest version.
        let isOutdated = lineup.displayIsOld && !restoreDisplay(of: audience, lineup, at: moment)
        guard membership.lineups.hasNews(lineup.row) else {
            guard isOutdated else { return }
            // If all members have the newest version, a topic's dismissal waits for the rotation's next push, which is within its budget.
            if forNewcomer || audience.owed > 0 {
                publishAnew(lineup, of: audience, at: moment)
            } else {
                lineup.displayIsOld = true
            }
            return
        }
        membership.lineups.take(lineup.row)
        for (_, news) in membership.lineups.taken { reporter.publications.addAudience(to: news.publication.serial) }
        loadTopicStates(of: audience, at: moment)
        // No alert waits for others once an alert has waited for them and no member has it yet. The sweep does not know of members that another visit
        // has served.
        let hasWaited =
            lineupGather > 0 && audience.alerts.unreached > 0 && audience.alerts.unreached == audience.order.count
            && !audience.versions.hasReached(audience.alerts.newest)
        moveSpotlight(lineup, hasWaited: hasWaited)
        // News that arrived while alerts were gathered leave with these alerts.
        let mayPass =
            hasWaited || lineup.mayPublish(after: lineupInterval, at: moment.monotonic)
            || membership.lineups.taken.contains { lineup.isGathering(at: $0.news.at) }
        let isUrgent = membership.lineups.taken.contains { $0.news.alert != nil || $0.news.publication.isUrgent }
        // A version that can no longer be made is replaced only if a member is to get it.
        let isNeeded = isOutdated && (forNewcomer || audience.owed > 0)
        // A lineup that goes on after its end gets a version at once: until then the end would still be sent.
        if isUrgent || mayPass || isNeeded || isOver(audience) || audience.event == .end {
            publishState(lineup, of: audience, withNews: true, at: moment)
        } else {
            lineup.displayIsOld = isOutdated
            for (_, news) in membership.lineups.taken {
                membership.deferPublication(news.publication.serial, for: lineup)
            }
        }
        membership.completeExhausted(at: moment)
        scheduleWakeUp(lineup, membership.lineups.audience(of: lineup.row), at: moment)
    }

    /// Makes the content of the newest version of a lineup whose state was in its row: the topics' states at the version's time, or present ones if
    /// the lineup has been made with it.
    ///
    /// - Returns: `false` if the topics show something else now.
    private func restoreDisplay(of audience: Audience, _ lineup: Lineup, at moment: Moment) -> Bool {
        lineup.displayIsOld = false
        guard audience.target > 0, let spotlight = lineup.publishedSpotlight else { return true }
        var then = moment
        if lineup.publishedAt > .always { then.monotonic = min(lineup.publishedAt, then.monotonic) }
        render(audience, spotlight: spotlight, into: &lineup.display, at: then)
        return lineup.display.spotlight < lineup.display.topics.count
            && lineup.display.hash == audience.versions.newestDisplayHash
    }

    private func publishAnew(_ lineup: Lineup, of audience: Audience, at moment: Moment) {
        loadTopicStates(of: audience, at: moment)
        // A member with the newest version gets a push for the sake of others: the rotation pays for it if it can.
        if audience.owed == 0 { _ = lineup.rotation.mayPush(topicStates, now: moment.monotonic) }
        publishState(lineup, of: audience, at: moment)
        scheduleWakeUp(lineup, membership.lineups.audience(of: lineup.row), at: moment)
    }

    /// Moves the spotlight by the news in `lineups.taken`, in order of arrival and as of their times of arrival.
    ///
    /// Fills `lineups.newAlerts` with the alerts that are new to the lineup.
    ///
    /// - Parameter hasWaited: whether the news join an alert whose wait is over.
    private func moveSpotlight(_ lineup: Lineup, hasWaited: Bool) {
        membership.lineups.newAlerts.removeAll(keepingCapacity: true)
        var hasBegunToWait = hasWaited
        for (position, news) in membership.lineups.taken {
            let publication = news.publication
            // The weightiest of the alerts that leave together has the spotlight, in whatever order they came.
            let isGathering = lineup.isGathering(at: news.at)
            if let weight = publication.prominence.occasionWeight ?? (news.alert != nil ? 0 : nil) {
                lineup.rotation.happened(
                    at: position, weight: weight, alerts: news.alert != nil && !isGathering,
                    membership.lineupRules, now: news.at)
            }
            guard let issue = news.alert, !membership.isRepeat(issue, lineup.row) else { continue }
            membership.lineups.newAlerts.append(issue)
            // Alerts are gathered for a while, unless no other topic could add to them.
            if !isGathering, !hasBegunToWait, lineupGather > 0, isLive(besides: position) {
                lineup.publishedAt = news.at.advanced(byNanoseconds: lineupGather)
                hasBegunToWait = true
            }
        }
    }

    /// Handles a lineup's timer: its minimum interval has passed, the spotlight's dwell time is over, or a topic has been dismissed.
    func wakeLineup(_ index: AudienceIndex, at moment: Moment) {
        let audience = membership.awake(index)
        guard let lineup = audience.lineup else { return }
        lineup.wakeUp = nil
        lineup.awaitsNews = false
        if membership.lineups.hasNews(lineup.row) {
            takeNews(of: audience, at: moment)
            if let wakeUp = lineup.wakeUp.take() { membership.timers.cancel(wakeUp) }
        }
        loadTopicStates(of: audience, at: moment)
        var retriesAt: MonotonicTime?
        if !lineup.deferred.isEmpty {
            if lineup.mayPublish(after: lineupInterval, at: moment.monotonic) {
                publishState(lineup, of: audience, at: moment)
            }
        } else if audience.event == .update, let wanted = lineup.rotation.wanted(topicStates, now: moment.monotonic) {
            render(audience, spotlight: wanted, into: &draft, at: moment)
            if draft.hash == audience.versions.newestDisplayHash {
                // The move is not visible, so it needs no push.
                lineup.rotation.move(to: wanted, membership.lineupRules, now: moment.monotonic)
            } else if lineup.rotation.mayPush(topicStates, now: moment.monotonic) {
                publishState(lineup, of: audience, at: moment)
            } else {
                retriesAt = lineup.rotation.mayPushAgain(topicStates, now: moment.monotonic)
            }
        }
        membership.lanes.enqueue(audience)
        scheduleWakeUp(lineup, index, retryingAt: retriesAt, at: moment)
        membership.rest(index)
    }

    /// Publishes the present content of the topics as the lineup's newest version, unless it looks like the last one. The caller has filled
    /// `topicStates`.
    ///
    /// - Parameter withNews: whether `lineups.taken` is the reason, so that the version carries the alerts in `lineups.newAlerts`, the oldest
    ///   first; `false` for a timer.
    private func publishState(_ lineup: Lineup, of audience: Audience, withNews: Bool = false, at moment: Moment) {
        // The alerts are read in place: an array of their own would be an allocation for each lineup.
        let alertCount = withNews ? membership.lineups.newAlerts.count : 0
        // If all topics are gone, the end still needs a state: that of the last one. After a publication one of the two exists.
        guard let wanted = lineup.rotation.wanted(topicStates, now: moment.monotonic) ?? lastGone(audience) else {
            return
        }
        render(audience, spotlight: wanted, into: &lineup.display, at: moment)
        lineup.displayIsOld = false
        if wanted != lineup.rotation.position {
            lineup.rotation.move(to: wanted, membership.lineupRules, now: moment.monotonic)
        }
        let isOver = isOver(audience)
        let hash = lineup.display.hash
        let isNew = hash != audience.versions.newestDisplayHash
        if lineup.publishedSpotlight != wanted {
            lineup.publishedSpotlight = wanted
            membership.lineups.setSpotlight(wanted, of: lineup.row)
        }
        // A lineup that goes on after its end needs a version even if it looks like the end: until then the end is still sent.
        let isSeen = audience.target == 0 || isNew || alertCount > 0 || isOver || audience.event == .end
        if isSeen {
            let now = moment.monotonic
            let isGathering = lineup.isGathering(at: now)
            if !isGathering { lineup.publishedAt = now }
            let version = AudienceVersion(
                event: isOver ? .end : .update,
                priority: isGathering || alertCount > 0
                    ? .immediate
                    : withNews
                        ? membership.lineups.taken.lazy.map(\.news.publication.priority).max() ?? .conserving
                        : .conserving,
                latest: lineup.display.topics[lineup.display.spotlight].publication, displayHash: hash)
            // Each alert has a version of its own, which identifies it; all these versions show the same content.
            for index in 0..<max(1, alertCount) {
                let alert = index < alertCount ? membership.lineups.newAlerts[index] : nil
                publishVersion(version, in: audience, alerting: alert, at: moment)
            }
            if isGathering, audience.lane.parked == nil {
                membership.park(audience, membership.lineups.audience(of: lineup.row), due: lineup.publishedAt)
            }
            if isOver { membership.unpark(audience) }
        }
        for serial in membership.takeDeferred(of: lineup) { track(serial, isSeen, in: audience, at: moment) }
        if withNews {
            for (_, news) in membership.lineups.taken {
                track(news.publication.serial, isSeen, in: audience, at: moment)
            }
        }
        membership.reportCompleted(audience, at: moment)
    }

    private func publishVersion(
        _ version: AudienceVersion, in audience: Audience, alerting alert: IssuedAlert?, at moment: Moment
    ) {
        let came = alert?.issuedAt ?? moment.monotonic
        membership.publish(
            version, in: audience, alerting: alert, freshness: reporter.freshness.indexOfLineups(), at: came)
    }

    /// Tracks a publication that the audience's newest version carries, or completes it if its change is not visible here.
    private func track(_ serial: UInt64, _ isSeen: Bool, in audience: Audience, at moment: Moment) {
        if isSeen { membership.track(serial, in: audience) } else { reporter.complete(serial, at: moment) }
    }

    /// Sets the lineup's timer for the next time at which it may have something to show without news. The caller has filled `topicStates`.
    ///
    /// - Parameter retriesAt: the time at which the rotation may retry a refused push.
    private func scheduleWakeUp(
        _ lineup: Lineup, _ index: AudienceIndex, retryingAt retriesAt: MonotonicTime? = nil, at moment: Moment
    ) {
        let audience = membership.awake(index)
        if let wakeUp = lineup.wakeUp.take() { membership.timers.cancel(wakeUp) }
        guard audience.event == .update else { return }
        let free = lineup.publishedAt.advanced(byNanoseconds: lineupInterval)
        var due = lineup.deferred.isEmpty ? MonotonicTime.never : free
        var again = lineup.rotation.looksAgain(topicStates, now: moment.monotonic)
        if let retriesAt { again = min(again ?? retriesAt, retriesAt) }
        // A wake-up before the interval has passed would find nothing to do, and would be due again at once.
        if let again { due = min(due, max(again, free)) }
        if topicStates.contains(where: { $0.life == .ended }), topicStates.contains(where: { $0.life == .live }) {
            // While no topic is live, a topic that is dismissed elsewhere stays in this card until the next news.
            for topic in audience.topics {
                if let goneAt = membership.topics[topic].goneAt, goneAt > moment.monotonic { due = min(due, goneAt) }
            }
        }
        guard due < .never else { return }
        let next = moment.monotonic.advanced(byNanoseconds: 1)
        lineup.wakeUp = membership.timers.insert(.lineup(index), due: max(due, next))
    }

    /// Fills `topicStates` with the lineup's topics as the rotation sees them.
    private func loadTopicStates(of audience: Audience, at moment: Moment) {
        topicStates.removeAll(keepingCapacity: true)
        for index in audience.topics {
            var topic = membership.topics[index].rotationTopic
            if topic.life == .ended, isDismissed(index, at: moment) { topic.life = .gone }
            topicStates.append(topic)
        }
    }

    /// Returns whether a topic of the lineup other than this one is live. The caller has filled `topicStates`.
    private func isLive(besides position: Int) -> Bool {
        topicStates.indices.contains { $0 != position && topicStates[$0].life == .live }
    }

    /// Returns whether a topic that has ended is dismissed by now.
    private func isDismissed(_ topic: TopicIndex, at moment: Moment) -> Bool {
        membership.topics[topic].goneAt.map { $0 <= moment.monotonic } ?? false
    }

    /// Returns whether all topics of the lineup have ended.
    private func isOver(_ audience: Audience) -> Bool {
        audience.topics.allSatisfy { membership.topics[$0].rotationTopic.life == .ended }
    }

    private func lastGone(_ audience: Audience) -> Int? {
        let gone = audience.topics.indices.filter { membership.topics[audience.topics[$0]].latest != nil }
        func goneAt(_ position: Int) -> MonotonicTime { membership.topics[audience.topics[position]].goneAt ?? .always }
        return gone.max { goneAt($0) < goneAt($1) }
    }

    /// Updates `display` to the lineup's present content. Most rows stay, so each is compared before it is assigned: a reference costs more to count
    /// than to compare. The lineup's end is a summary, which shows topics that were dismissed before, too.
    private func render(
        _ audience: Audience, spotlight: Int, into display: inout LineupJSON.Display, at moment: Moment
    ) {
        let isSummary = isOver(audience)
        var count = 0
        rows.sort(audience.topics.count) { membership.topics.faces[audience.topics[$0].place].topic.scheduledAt }
        for position in rows.positions.lazy.map(Int.init) {
            let index = audience.topics[position]
            let life = membership.topics[index].rotationTopic.life
            if life == .gone { continue }
            if life == .ended, !isSummary, position != spotlight, isDismissed(index, at: moment) { continue }
            if position == spotlight { display.spotlight = count }
            if count == display.topics.count {
                if let topic = membership.topics[index].inLineups() { display.topics.append(topic) }
            } else if display.topics[count] !== membership.topics[index].encoded,
                let topic = membership.topics[index].inLineups()
            {
                display.topics[count] = topic
            }
            count += 1
        }
        display.topics.removeLast(display.topics.count - count)
    }

    /// Gives a lineup that was made after its topics were published their content as its first version.
    private func adopt(_ lineup: Lineup, _ index: AudienceIndex, isLoaded: Bool, at moment: Moment) {
        let audience = membership.awake(index)
        // If all topics are over, the lineup waits for the next topics with their ids.
        guard isLoaded || !audience.topics.allSatisfy({ membership.topics[$0].isOver }) else { return }
        loadTopicStates(of: audience, at: moment)
        // The spotlight of a lineup that is over is the topic that goes last. Its row stays, while others may go at once.
        let isOver = isOver(audience)
        let wanted = isOver ? nil : lineup.rotation.wanted(topicStates, now: moment.monotonic)
        guard let spotlight = wanted ?? lastGone(audience) else { return }
        // Reserves the final size at once.
        lineup.display.topics.reserveCapacity(audience.topics.count)
        render(audience, spotlight: spotlight, into: &lineup.display, at: moment)
        lineup.rotation.move(to: spotlight, membership.lineupRules, now: moment.monotonic)
        lineup.publishedSpotlight = spotlight
        membership.lineups.setSpotlight(spotlight, of: lineup.row)
        audience.adopt(
            AudienceVersion(
                event: isOver ? .end : .update, priority: .immediate,
                latest: lineup.display.topics[lineup.display.spotlight].publication, displayHash: lineup.display.hash))
        scheduleWakeUp(lineup, index, at: moment)
    }
}
