import FanfareModel

extension Shard {
    func lineupIndex(_ members: [TopicID], favourite: TopicID?, at moment: Moment) -> Int {
        let choice = Lineup.Choice(
            topics: members.map { topics.insert($0) }, pinned: favourite.flatMap { members.firstIndex(of: $0) })
        if let known = lineupIndices[choice] { return known }
        let lineup = Lineup(rotation: Rotation(lineupRules, pinned: choice.pinned, at: moment.monotonic))
        let audience = Audience(topics: choice.topics, lineup: lineup, openMax: openMax)
        let index = insert(audience)
        lineupIndices[choice] = index
        for (position, topic) in choice.topics.enumerated() {
            lineup.places.append(UInt32(topics[topic].lineups.count))
            topics[topic].lineups.append((UInt32(index), UInt32(position)))
        }
        adopt(lineup, index, at: moment)
        return index
    }

    /// When the last member has left, and nobody is expected, nothing is made ready for this audience any more, and what it was to
    /// bring out is complete. Topics that nobody needs any more go with it.
    func freeAudience(_ index: Int, at moment: Moment) {
        let audience = audiences[index]
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
        for (topic, place) in zip(audience.topics, lineup.places) {
            // The last one of the topic's list fills the gap.
            let last = topics[topic].lineups.removeLast()
            guard Int(place) < topics[topic].lineups.count else { continue }
            topics[topic].lineups[Int(place)] = last
            audiences[Int(last.audience)].lineup?.places[Int(last.position)] = place
        }
        lineupIndices[Lineup.Choice(topics: audience.topics, pinned: lineup.rotation.pinned)] = nil
        if let wakeUp = lineup.wakeUp { timers.cancel(wakeUp) }
    }

    /// Somebody who is not a member needs the audience: a start that waits or has been sent, or a last state that is to be shown.
    func expect(in index: Int) { audiences[index].expected += 1 }

    func expectNoMore(in index: Int, at moment: Moment) {
        audiences[index].expected -= 1
        freeAudience(index, at: moment)
    }

    /// What must be seen at once goes first to those whose card has just this topic whole: it is the one that is most wrong. In
    /// each part the lineups stand as the topic lists them, so the same commands give the same order.
    func publishToLineups(_ publication: Publication, of topic: Int, at moment: Moment) {
        var others: [(audience: UInt32, position: UInt32)] = []
        for place in topics[topic].lineups {
            if publication.isUrgent, audiences[Int(place.audience)].lineup?.lit != Int(place.position) {
                others.append(place)
            } else {
                publish(publication, to: place, at: moment)
            }
        }
        for place in others { publish(publication, to: place, at: moment) }
    }

    /// A topic of the lineup has a new version. What must be seen at once becomes a version of the lineup's now; the rest when
    /// its interval has passed, together with whatever else has come by then.
    private func publish(
        _ publication: Publication, to place: (audience: UInt32, position: UInt32), at moment: Moment
    ) {
        let audience = audiences[Int(place.audience)]
        guard let lineup = audience.lineup else { return }
        if let weight = publication.prominence.news ?? (publication.alert != nil ? 0 : nil) {
            // Of alerts that leave together the weightier has the spotlight, whichever came first.
            let hasPushOfItsOwn = !lineup.isGathering(at: moment.monotonicNanoseconds)
            lineup.rotation.happened(
                at: Int(place.position), weight: weight, alerts: publication.alert != nil && hasPushOfItsOwn,
                lineupRules, now: moment.monotonic)
        }
        look(at: audience, at: moment)
        let mayPass = lineup.mayPublish(after: lineupInterval, at: moment.monotonicNanoseconds)
        // What begins again does so at once: until then its end would go on to be sent.
        if publication.isUrgent || mayPass || isOver(audience) || audience.event == .end {
            bringOut(lineup, of: audience, place.audience, with: publication, at: moment)
        } else {
            if lineup.waiting.isEmpty { lineupsWaiting += 1 }
            // Bounded like what is open: those that have waited longest stay.
            if lineup.waiting.count == openMax { overtake(lineup.waiting.removeLast()) }
            lineup.waiting.append(publication.serial)
        }
        arrange(lineup, place.audience, at: moment)
    }

    /// Time has come for a lineup: its interval has passed, the spotlight's dwell is over, or a topic has been dismissed.
    func wakeLineup(_ index: UInt32, at moment: Moment) {
        let audience = audiences[Int(index)]
        guard let lineup = audience.lineup else { return }
        lineup.wakeUp = nil
        look(at: audience, at: moment)
        if !lineup.waiting.isEmpty {
            if lineup.mayPublish(after: lineupInterval, at: moment.monotonicNanoseconds) {
                bringOut(lineup, of: audience, index, with: nil, at: moment)
            }
        } else if audience.event == .update, let wanted = lineup.rotation.wanted(seen, now: moment.monotonic) {
            draw(audience, spotlight: wanted, into: &drawn, at: moment)
            if drawn.hash == audience.ledger.newestDisplay {
                // Nobody would see it: it goes on without a push.
                lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic)
            } else if lineup.rotation.mayPush(seen, now: moment.monotonic) {
                bringOut(lineup, of: audience, index, with: nil, at: moment)
            }
        }
        arrange(lineup, index, at: moment)
    }

    /// Makes what the topics show now the lineup's newest version, unless everybody who has the last one sees just that. Its topics
    /// have been looked at.
    ///
    /// - Parameter publication: what asks for it; `nil` when only time does.
    private func bringOut(
        _ lineup: Lineup, of audience: Audience, _ index: UInt32, with publication: Publication?, at moment: Moment
    ) {
        // Where all are gone, the end still needs a state: the last one's. One of the two there is, once a topic is published.
        guard let wanted = lineup.rotation.wanted(seen, now: moment.monotonic) ?? lastGone(audience) else { return }
        draw(audience, spotlight: wanted, into: &lineup.display, at: moment)
        let alerting = publication?.alert.map { !audience.alerts.contains($0) } == true ? publication : nil
        if wanted != lineup.rotation.position { lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic) }
        let isOver = isOver(audience)
        let hash = lineup.display.hash
        let isNew = hash != audience.ledger.newestDisplay
        lineup.lit = wanted
        // What goes on after its end must be a version, however much it looks like the end: until then that goes on to be sent.
        let isSeen = audience.target == 0 || isNew || alerting != nil || isOver || audience.event == .end
        if isSeen {
            let now = moment.monotonicNanoseconds
            let isGathering = lineup.isGathering(at: now)
            if !isGathering { lineup.publishedAt = now }
            publish(
                Audience.Version(
                    event: isOver ? .end : .update,
                    priority: isGathering ? .immediate : publication?.priority ?? .conserving,
                    latest: lineup.display.topics[lineup.display.spotlight].publication, display: hash), in: audience,
                alerting: alerting, freshness: freshness.indexOfLineups(), at: moment)
            // Alerts are gathered for a while: the version stands, and its sweep begins later, or goes on. Not where no other
            // topic could add to them.
            if alerting != nil, lineupGather > 0, audience.lane.parked == nil, isLive(besides: wanted) {
                lineup.publishedAt = now + lineupGather
                park(audience, index, due: now + lineupGather)
            }
            if isOver { unpark(audience) } else { lanes.enqueue(audience) }
        }
        if !lineup.waiting.isEmpty {
            lineupsWaiting -= 1
            for serial in lineup.waiting { carry(serial, isSeen, in: audience, at: moment) }
            lineup.waiting = []
        }
        if let publication { carry(publication.serial, isSeen, in: audience, at: moment) }
        reportCompleted(audience, at: moment)
    }

    /// The audience's newest version has what this publication brought; or there was nothing in it that anybody sees here.
    private func carry(_ serial: UInt64, _ isSeen: Bool, in audience: Audience, at moment: Moment) {
        if isSeen { open(serial, in: audience) } else { complete(serial, at: moment) }
    }

    /// Sees to it that the lineup is woken when it may have something to show by itself. Its topics have been looked at.
    private func arrange(_ lineup: Lineup, _ index: UInt32, at moment: Moment) {
        let audience = audiences[Int(index)]
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
        let audience = audiences[index]
        // Of topics that are all over it waits for what comes under their ids.
        guard !audience.topics.allSatisfy({ topics[$0].isOver }) else { return }
        look(at: audience, at: moment)
        guard let spotlight = lineup.rotation.wanted(seen, now: moment.monotonic) ?? lastGone(audience) else { return }
        // As large as it will have to be.
        lineup.display.topics.reserveCapacity(audience.topics.count)
        draw(audience, spotlight: spotlight, into: &lineup.display, at: moment)
        lineup.rotation.move(to: spotlight, lineupRules, now: moment.monotonic)
        lineup.lit = spotlight
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

extension Publication {
    /// Comes out in its lineups at once, and takes along what waits there.
    fileprivate var isUrgent: Bool { alert != nil || event == .update && priority == .immediate }
}

extension Moment {
    /// For policies, whose clock counts milliseconds.
    var monotonic: FeedTime { FeedTime(milliseconds: monotonicNanoseconds / 1_000_000) }
}
