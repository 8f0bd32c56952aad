import FanfareModel

extension Shard {
    func lineupIndex(_ members: [TopicID], favourite: TopicID?, at moment: Moment) -> Int {
        let choice = Lineup.Choice(
            topics: members.map { topics.insert($0) }, pinned: favourite.flatMap { members.firstIndex(of: $0) })
        if let known = lineups.find(choice) {
            bringUpToDate(awake(lineups.audience(of: known)), at: moment)
            return lineups.audience(of: known)
        }
        let lineup = Lineup(rotation: Rotation(lineupRules, pinned: choice.pinned, at: moment.monotonic))
        let audience = Audience(topics: choice.topics, lineup: lineup, openMax: openMax)
        let index = insert(audience)
        lineup.row = lineups.insert(choice, audience: index)
        for topic in choice.topics { topics[topic].lineups += 1 }
        adopt(lineup, index, at: moment)
        return index
    }

    /// When the last member has left, and nobody is expected, nothing is made ready for this audience any more, and what it was to
    /// bring out is complete. Topics that nobody needs any more go with it.
    func freeAudience(_ index: Int, at moment: Moment) {
        let audience = awake(index)
        guard audience !== vacant, audience.order.count == 0, audience.expected == 0 else { return }
        if let lineup = audience.lineup {
            freeLineup(lineup, audience, at: moment)
        } else {
            topics[audience.topics[0]].followers = nil
        }
        if let parked = audience.lane.unpark() { timers.cancel(parked) }
        lanes.abandon(audience)
        audiences[index] = vacant
        freeAudiences.append(index)
        for topic in audience.topics { topics.release(topic) }
    }

    private func freeLineup(_ lineup: Lineup, _ audience: Audience, at moment: Moment) {
        if !lineup.waiting.isEmpty { lineupsWaiting -= 1 }
        for serial in lineup.waiting { complete(serial, at: moment) }
        lineup.waiting = []
        lineups.take(lineup.row)
        completeExhausted(at: moment)
        // Of topics whose last lineup this is nothing is to be brought any more.
        for topic in audience.topics { if let news = lineups[topic], news.order.count == 1 { lanes.abandon(news) } }
        lineups.remove(lineup.row)
        for topic in audience.topics { topics[topic].lineups -= 1 }
        if let wakeUp = lineup.wakeUp { timers.cancel(wakeUp) }
    }

    /// The audience of that index. Of a lineup that rests there is none until somebody asks.
    @inline(__always)
    func awake(_ index: Int) -> Audience {
        let audience = audiences[index]
        return audience === resting ? wake(index) : audience
    }

    private func wake(_ index: Int) -> Audience {
        let audience = lineups.wake(lineups.row(ofAudience: index), lineupRules, openMax: openMax)
        audiences[index] = audience
        return audience
    }

    /// A lineup of one member, to which nothing is owed, rests: most do, nearly always.
    func rest(_ index: Int) {
        let audience = audiences[index]
        guard audience !== resting, let lineup = audience.lineup, lineup.waiting.isEmpty, audience.isResting else {
            return
        }
        let slot = audience.order.members[0]
        guard store[slot].flags.isEmpty, store[slot].alerted >= audience.alerts.newest, !carriedAlerts.contains(slot)
        else {
            return
        }
        lanes.abandon(audience)
        lineups.rest(lineup.row, audience, lineup)
        audiences[index] = resting
    }

    /// What is asked of alerts that came before it rested.
    func completeHistory(of audience: Audience) {
        guard let lineup = audience.lineup, lineup.historyIsShort else { return }
        lineup.historyIsShort = false
        let known = audience.alerts.pending.map(\.issue)
        audience.restoreAlerts(lineups.alertsHeard(lineup.row).filter { heard in !known.contains { $0 === heard } })
    }

    /// Somebody who is not a member needs the audience: a start that waits or has been sent, or a last state that is to be shown.
    func expect(in index: Int) { awake(index).expected += 1 }

    func expectNoMore(in index: Int, at moment: Moment) {
        awake(index).expected -= 1
        freeAudience(index, at: moment)
    }

    /// O(1): a cursor brings it to the lineups of the topic.
    func publishToLineups(_ publication: Publication, _ alert: IssuedAlert?, of topic: Int, at moment: Moment) {
        guard let followed = lineups[topic] else { return }
        publications.addAudience(to: publication.serial)
        if let dropped = lineups.publish(publication, to: followed, alert: alert, at: moment.monotonicNanoseconds) {
            overtake(dropped.publication.serial)
            if dropped.alert != nil { counts.alerts.superseded += dropped.lookers }
        }
        lanes.enqueue(followed)
    }

    /// The cursor goes on to the next lineups of a topic, at most `limit` of them. Each is brought up to date with the news of all its
    /// topics, and gets its push at once, if it has but one member, as most have.
    ///
    /// - Returns: visits made.
    func visit(_ followed: TopicLineups, limit: Int, at moment: Moment, into batch: inout DeliveryBatch) -> Int {
        let (links, onlyLit) = followed.next(limit: limit)
        for link in links where !onlyLit || lineups.isLit(link) {
            let row = lineups.row(of: link)
            guard lineups.hasNews(row) else { continue }
            let audience = awake(lineups.audience(of: row))
            lookAtNews(of: audience, at: moment)
            if audience.isOfOne, audience.hasWork, audience.lane.parked == nil {
                serveNext(of: audience, at: moment, into: &batch)
            } else {
                lanes.enqueue(audience)
            }
            rest(lineups.audience(of: row))
        }
        followed.visited(links.count)
        return links.count
    }

    /// Whatever comes to a lineup brings it up to date with the news of its topics first.
    func bringUpToDate(_ audience: Audience, at moment: Moment) {
        guard let lineup = audience.lineup, lineups.hasNews(lineup.row) else { return }
        lookAtNews(of: audience, at: moment)
        lanes.enqueue(audience)
    }

    /// Whoever calls this sees to it that the audience is served.
    func lookAtNews(of audience: Audience, at moment: Moment) {
        guard let lineup = audience.lineup, lineups.hasNews(lineup.row) else { return }
        lineups.take(lineup.row)
        for (_, news) in lineups.taken { publications.addAudience(to: news.publication.serial) }
        look(at: audience, at: moment)
        noteHappenings(lineup)
        // What came while alerts were gathered leaves with them.
        let mayPass =
            lineup.mayPublish(after: lineupInterval, at: moment.monotonicNanoseconds)
            || lineups.taken.contains { lineup.isGathering(at: $0.news.at) }
        let isUrgent = lineups.taken.contains { $0.news.publication.isUrgent }
        // What begins again does so at once: until then its end would go on to be sent.
        if isUrgent || mayPass || isOver(audience) || audience.event == .end {
            bringOut(lineup, of: audience, withNews: true, at: moment)
        } else {
            for (_, news) in lineups.taken { wait(news.publication.serial, for: lineup) }
        }
        completeExhausted(at: moment)
        arrange(lineup, UInt32(lineups.audience(of: lineup.row)), at: moment)
    }

    private func completeExhausted(at moment: Moment) {
        for serial in lineups.exhausted { complete(serial, at: moment) }
    }

    private func wait(_ serial: UInt64, for lineup: Lineup) {
        if lineup.waiting.isEmpty { lineupsWaiting += 1 }
        // Bounded like what is open: those that have waited longest stay.
        if lineup.waiting.count == openMax { overtake(lineup.waiting.removeLast()) }
        lineup.waiting.append(serial)
    }

    /// The spotlight goes where the news that are taken want it, in the order in which they came, as of when they did.
    ///
    /// `lineups.unheard` are then the alerts that the lineup has not been told of.
    private func noteHappenings(_ lineup: Lineup) {
        lineups.unheard.removeAll(keepingCapacity: true)
        for (position, news) in lineups.taken {
            let publication = news.publication
            // Of alerts that leave together the weightier has the spotlight, whichever came first.
            let isGathering = lineup.isGathering(at: news.at)
            if let weight = publication.prominence.news ?? (publication.alert != nil ? 0 : nil) {
                lineup.rotation.happened(
                    at: position, weight: weight, alerts: publication.alert != nil && !isGathering,
                    lineupRules, now: FeedTime(milliseconds: news.at / 1_000_000))
            }
            guard let issue = news.alert, !lineups.hasHeard(issue, lineup.row) else { continue }
            lineups.unheard.append(issue)
            // Alerts are gathered for a while. Not where no other topic could add to them.
            if !isGathering, lineupGather > 0, isLive(besides: position) { lineup.publishedAt = news.at + lineupGather }
        }
    }

    /// Time has come for a lineup: its interval has passed, the spotlight's dwell is over, or a topic has been dismissed.
    func wakeLineup(_ index: UInt32, at moment: Moment) {
        let audience = awake(Int(index))
        guard let lineup = audience.lineup else { return }
        lineup.wakeUp = nil
        if lineups.hasNews(lineup.row) {
            lookAtNews(of: audience, at: moment)
            if let wakeUp = lineup.wakeUp.take() { timers.cancel(wakeUp) }
        }
        look(at: audience, at: moment)
        if !lineup.waiting.isEmpty {
            if lineup.mayPublish(after: lineupInterval, at: moment.monotonicNanoseconds) {
                bringOut(lineup, of: audience, at: moment)
            }
        } else if audience.event == .update, let wanted = lineup.rotation.wanted(seen, now: moment.monotonic) {
            draw(audience, spotlight: wanted, into: &drawn, at: moment)
            if drawn.hash == audience.ledger.newestDisplay {
                // Nobody would see it: it goes on without a push.
                lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic)
            } else if lineup.rotation.mayPush(seen, now: moment.monotonic) {
                bringOut(lineup, of: audience, at: moment)
            }
        }
        lanes.enqueue(audience)
        arrange(lineup, index, at: moment)
        rest(Int(index))
    }

    /// Makes what the topics show now the lineup's newest version, unless everybody who has the last one sees just that. Its topics
    /// have been looked at.
    ///
    /// - Parameter withNews: `lineups.taken` asks for it, and it brings the alerts in `lineups.unheard`, the oldest first; `false` when only
    ///   time asks for it.
    private func bringOut(_ lineup: Lineup, of audience: Audience, withNews: Bool = false, at moment: Moment) {
        // Read in place: an array of their own would be an allocation for each lineup.
        let alertCount = withNews ? lineups.unheard.count : 0
        // Where all are gone, the end still needs a state: the last one's. One of the two there is, once a topic is published.
        guard let wanted = lineup.rotation.wanted(seen, now: moment.monotonic) ?? lastGone(audience) else { return }
        draw(audience, spotlight: wanted, into: &lineup.display, at: moment)
        if wanted != lineup.rotation.position { lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic) }
        let isOver = isOver(audience)
        let hash = lineup.display.hash
        let isNew = hash != audience.ledger.newestDisplay
        if lineup.lit != wanted {
            lineup.lit = wanted
            lineups.light(wanted, of: lineup.row)
        }
        // What goes on after its end must be a version, however much it looks like the end: until then that goes on to be sent.
        let isSeen = audience.target == 0 || isNew || alertCount > 0 || isOver || audience.event == .end
        if isSeen {
            let now = moment.monotonicNanoseconds
            let isGathering = lineup.isGathering(at: now)
            if !isGathering { lineup.publishedAt = now }
            let version = Audience.Version(
                event: isOver ? .end : .update,
                priority: isGathering
                    ? .immediate
                    : withNews ? lineups.taken.lazy.map(\.news.publication.priority).max() ?? .conserving : .conserving,
                latest: lineup.display.topics[lineup.display.spotlight].publication, display: hash)
            // Each alert has a version of its own, by which it is known; the last of them shows what all do.
            for index in 0..<max(1, alertCount) {
                publish(
                    version, in: audience, alerting: index < alertCount ? lineups.unheard[index] : nil, at: moment)
            }
            if isGathering, audience.lane.parked == nil, let due = lineup.publishedAt {
                park(audience, UInt32(lineups.audience(of: lineup.row)), due: due)
            }
            if isOver { unpark(audience) }
        }
        if !lineup.waiting.isEmpty {
            lineupsWaiting -= 1
            for serial in lineup.waiting { carry(serial, isSeen, in: audience, at: moment) }
            lineup.waiting = []
        }
        if withNews {
            for (_, news) in lineups.taken { carry(news.publication.serial, isSeen, in: audience, at: moment) }
        }
        reportCompleted(audience, at: moment)
    }

    private func publish(
        _ version: Audience.Version, in audience: Audience, alerting alert: IssuedAlert?, at moment: Moment
    ) {
        let came =
            alert.map { $0.freshUntil - $0.alert.freshFor.milliseconds * 1_000_000 } ?? moment.monotonicNanoseconds
        publish(version, in: audience, alerting: alert, freshness: freshness.indexOfLineups(), at: came)
    }

    /// The audience's newest version has what this publication brought; or there was nothing in it that anybody sees here.
    private func carry(_ serial: UInt64, _ isSeen: Bool, in audience: Audience, at moment: Moment) {
        if isSeen { open(serial, in: audience) } else { complete(serial, at: moment) }
    }

    /// Sees to it that the lineup is woken when it may have something to show by itself. Its topics have been looked at.
    private func arrange(_ lineup: Lineup, _ index: UInt32, at moment: Moment) {
        let audience = awake(Int(index))
        if let wakeUp = lineup.wakeUp.take() { timers.cancel(wakeUp) }
        guard audience.event == .update else { return }
        var due = Int64.max
        if !lineup.waiting.isEmpty, let publishedAt = lineup.publishedAt { due = publishedAt + lineupInterval }
        if let again = lineup.rotation.looksAgain(seen, now: moment.monotonic) {
            // Not before the interval has passed: until then a wake-up would find nothing to do, and the same one due again.
            let earliest = lineup.publishedAt.map { $0 + lineupInterval } ?? 0
            due = min(due, max(again.milliseconds * 1_000_000, earliest))
        }
        if seen.contains(where: { $0.life == .ended }), seen.contains(where: { $0.life == .live }) {
            // Without anything live a card that is dismissed elsewhere stays in this one until something else happens.
            for topic in audience.topics {
                if let goneAt = topics[topic].goneAt, goneAt > moment.monotonicNanoseconds { due = min(due, goneAt) }
            }
        }
        guard due != .max else { return }
        lineup.wakeUp = timers.insert(.lineup(index), due: max(due, moment.monotonicNanoseconds + 1))
    }

    /// Fills `seen` with the lineup's topics as the rotation sees them.
    private func look(at audience: Audience, at moment: Moment) {
        seen.removeAll(keepingCapacity: true)
        for index in audience.topics {
            var topic = topics[index].seen
            if topic.life == .ended, isDismissed(index, at: moment) { topic.life = .gone }
            seen.append(topic)
        }
    }

    /// A topic of the lineup other than this one is live. Its topics have been looked at.
    private func isLive(besides position: Int) -> Bool {
        seen.indices.contains { $0 != position && seen[$0].life == .live }
    }

    /// Of a topic that has ended.
    private func isDismissed(_ topic: Int, at moment: Moment) -> Bool {
        topics[topic].goneAt.map { $0 <= moment.monotonicNanoseconds } ?? false
    }

    /// All its topics have ended.
    private func isOver(_ audience: Audience) -> Bool { audience.topics.allSatisfy { topics[$0].seen.life == .ended } }

    private func lastGone(_ audience: Audience) -> Int? {
        let gone = audience.topics.indices.filter { topics[audience.topics[$0]].latest != nil }
        return gone.max { topics[audience.topics[$0]].goneAt ?? 0 < topics[audience.topics[$1]].goneAt ?? 0 }
    }

    /// Draws what the lineup shows now over what is there, of which most stays: counting a reference costs more than comparing
    /// it. The lineup's end is a summary: what was dismissed before is there again.
    private func draw(
        _ audience: Audience, spotlight: Int, into display: inout LineupState.Display, at moment: Moment
    ) {
        let isSummary = isOver(audience)
        var count = 0
        for (position, index) in audience.topics.enumerated() {
            let life = topics[index].seen.life
            if life == .gone { continue }
            if life == .ended, !isSummary, position != spotlight, isDismissed(index, at: moment) { continue }
            if position == spotlight { display.spotlight = count }
            if count == display.topics.count {
                if let topic = topics[index].inLineups() { display.topics.append(topic) }
            } else if display.topics[count] !== topics[index].encoded, let topic = topics[index].inLineups() {
                display.topics[count] = topic
            }
            count += 1
        }
        display.topics.removeLast(display.topics.count - count)
    }

    /// A lineup made after its topics were published starts with what they show.
    private func adopt(_ lineup: Lineup, _ index: Int, at moment: Moment) {
        let audience = awake(index)
        // Of topics that are all over it waits for what comes under their ids.
        guard !audience.topics.allSatisfy({ topics[$0].isOver }) else { return }
        look(at: audience, at: moment)
        guard let spotlight = lineup.rotation.wanted(seen, now: moment.monotonic) ?? lastGone(audience) else { return }
        // As large as it will have to be.
        lineup.display.topics.reserveCapacity(audience.topics.count)
        draw(audience, spotlight: spotlight, into: &lineup.display, at: moment)
        lineup.rotation.move(to: spotlight, lineupRules, now: moment.monotonic)
        lineup.lit = spotlight
        lineups.light(spotlight, of: lineup.row)
        audience.adopt(
            Audience.Version(
                event: isOver(audience) ? .end : .update, priority: .immediate,
                latest: lineup.display.topics[lineup.display.spotlight].publication, display: lineup.display.hash))
        arrange(lineup, UInt32(index), at: moment)
    }

    /// The lineup's newest version as its members get it. The spotlight is the version's: every alert had it when it was new, and
    /// an older one that rides along is told by its text.
    func composeLineup(_ lineup: Lineup, carrying pending: PendingAlert?, into bytes: inout [UInt8]) {
        let highlighted = pending.flatMap {
            $0.topic == lineup.display.topics[lineup.display.spotlight].publication.topicID ? $0.alert.highlight : nil
        }
        LineupState.compose(lineup.display, highlighting: highlighted, into: &bytes)
    }
}

extension Moment {
    /// For policies, whose clock counts milliseconds.
    var monotonic: FeedTime { FeedTime(milliseconds: monotonicNanoseconds / 1_000_000) }
}
