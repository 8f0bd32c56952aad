extension Shard {
    func lineupIndex(_ members: [TopicID], favourite: TopicID?, at moment: Moment) -> Int? {
        guard (1...Lineup.topicsMax).contains(members.count), Set(members).count == members.count else { return nil }
        let choice = Lineup.Choice(
            topics: members.map(topicIndex), pinned: favourite.flatMap { members.firstIndex(of: $0) })
        if let known = lineupIndices[choice] { return known }
        let lineup = Lineup(rotation: Rotation(lineupRules, pinned: choice.pinned, at: moment.monotonic))
        let audience = Audience(topics: choice.topics, lineup: lineup, openMax: openMax)
        let index = insert(audience)
        lineupIndices[choice] = index
        for (position, topic) in choice.topics.enumerated() {
            lineup.places.append(UInt32(topics[topic].lineups.count))
            topics[topic].lineups.append((UInt32(index), UInt32(position)))
        }
        adopt(lineup, audience, at: moment)
        return index
    }

    /// When the last member has left, and nobody is expected, nothing is made ready for this lineup any more, and what it was to
    /// bring out is complete. A topic's followers stay: there are no more of these audiences than topics.
    func freeLineup(_ index: Int, at moment: Moment) {
        let audience = audiences[index]
        guard let lineup = audience.lineup, audience.order.count == 0, audience.expected == 0 else { return }
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
        audiences[index] = vacant
        freeAudiences.append(index)
        guard lineup.wakesAt != nil else { return }
        lineup.wakesAt = nil
        retries.forget { subject in
            if case .lineup(let audience) = subject { audience.lineup?.wakesAt == nil } else { false }
        }
    }

    /// Somebody who is not a member needs the audience: a start that waits or has been sent, or a last state that is to be shown.
    func expect(in index: Int) { audiences[index].expected += 1 }

    func expectNoMore(in index: Int, at moment: Moment) {
        audiences[index].expected -= 1
        freeLineup(index, at: moment)
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
        if let weight = publication.prominence.news ?? (publication.alert == nil ? nil : 0) {
            lineup.rotation.happened(
                at: Int(place.position), weight: weight, alerts: publication.alert != nil, lineupRules,
                now: moment.monotonic)
        }
        if lineup.waiting.isEmpty { lineupsWaiting += 1 }
        // Bounded like what is open: those that have waited longest stay.
        if lineup.waiting.count == openMax { overtake(lineup.waiting.removeLast()) }
        lineup.waiting.append(publication.serial)
        let isOver = isOver(audience)
        let mayPass = lineup.publishedAt.map { $0 + lineupInterval <= moment.monotonicNanoseconds } ?? true
        if publication.isUrgent || isOver || mayPass {
            bringOut(lineup, of: audience, with: publication, at: moment)
        }
        arrange(lineup, of: audience, at: moment)
    }

    /// Time has come for a lineup: its interval has passed, the spotlight's dwell is over, or a topic has been dismissed.
    func wake(_ lineup: Lineup, of audience: Audience, at moment: Moment) {
        // An earlier wake-up may have been arranged meanwhile, and have taken place; or all members have left.
        guard let due = lineup.wakesAt, due <= moment.monotonicNanoseconds else { return }
        lineup.wakesAt = nil
        if !lineup.waiting.isEmpty {
            if lineup.publishedAt.map({ $0 + lineupInterval <= moment.monotonicNanoseconds }) ?? true {
                bringOut(lineup, of: audience, with: nil, at: moment)
            }
        } else if audience.event == .update {
            let seen = rotating(audience, at: moment)
            let wanted = lineup.rotation.wanted(seen, now: moment.monotonic)
            if let display = display(of: audience, spotlight: wanted, at: moment) {
                if display.hash == lineup.display.hash {
                    // Nobody would see it: it goes on without a push.
                    lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic)
                } else if lineup.rotation.mayPush(seen, now: moment.monotonic) {
                    bringOut(lineup, of: audience, with: nil, at: moment)
                }
            }
        }
        arrange(lineup, of: audience, at: moment)
    }

    /// Makes what the topics show now the lineup's newest version, unless everybody who has the last one sees just that.
    ///
    /// - Parameter publication: what asks for it; `nil` when only time does.
    private func bringOut(
        _ lineup: Lineup, of audience: Audience, with publication: Publication?, at moment: Moment
    ) {
        // Where all are gone, the end still needs a state: the last one's.
        let wanted = lineup.rotation.wanted(rotating(audience, at: moment), now: moment.monotonic) ?? lastGone(audience)
        guard let display = display(of: audience, spotlight: wanted, at: moment) else { return }
        let alerting = publication.flatMap { audience.hasAlert(of: $0) ? nil : $0 }
        if wanted != lineup.rotation.position { lineup.rotation.move(to: wanted, lineupRules, now: moment.monotonic) }
        let isOver = isOver(audience)
        let serials = lineup.waiting
        lineup.waiting = []
        if !serials.isEmpty { lineupsWaiting -= 1 }
        let hash = display.hash
        let isNew = hash != lineup.display.hash
        lineup.display = display
        lineup.lit = wanted
        guard audience.target == 0 || isNew || alerting?.alert != nil || isOver else {
            for serial in serials { complete(serial, at: moment) }
            return
        }
        lineup.publishedAt = moment.monotonicNanoseconds
        let before = audience.owed
        let overtaken = audience.publish(
            Audience.Version(
                event: isOver ? .end : .update, priority: publication?.priority ?? .conserving,
                latest: display.topics[display.spotlight], display: hash),
            alerting: alerting, completing: serials, freshness: freshnessIndex(of: .lineup),
            at: moment)
        overtaken.forEach(overtake)
        counts.owed += audience.owed - before
        lanes.enqueue(audience)
        reportCompleted(audience, at: moment)
    }

    /// Sees to it that the lineup is woken when it may have something to show by itself.
    private func arrange(_ lineup: Lineup, of audience: Audience, at moment: Moment) {
        guard audience.event == .update else { return }
        var due = Int64.max
        if !lineup.waiting.isEmpty, let publishedAt = lineup.publishedAt { due = publishedAt + lineupInterval }
        let seen = rotating(audience, at: moment)
        if let again = lineup.rotation.looksAgain(seen, now: moment.monotonic) {
            // Not before the interval has passed: until then a wake-up would find nothing to do, and the same one due again.
            let earliest = lineup.publishedAt.map { $0 + lineupInterval } ?? 0
            due = min(due, max(again.milliseconds * 1_000_000, earliest))
        }
        if seen.contains(where: { $0.life == .live }) {
            // Without anything live a card that is dismissed elsewhere stays in this one until something else happens.
            for topic in audience.topics {
                if let goneAt = topics[topic].goneAt, goneAt > moment.monotonicNanoseconds { due = min(due, goneAt) }
            }
        }
        due = max(due, moment.monotonicNanoseconds + 1)
        guard due != .max, lineup.wakesAt.map({ due < $0 }) ?? true else { return }
        lineup.wakesAt = due
        retries.insert(.lineup(audience), due: due)
    }

    /// The lineup's topics as the rotation sees them.
    private func rotating(_ audience: Audience, at moment: Moment) -> [Rotation.Topic] {
        audience.topics.map { index in
            guard let latest = topics[index].latest else { return Rotation.Topic(.gone) }
            let importance = latest.prominence.importance
            if latest.event == .end {
                let isGone = topics[index].goneAt.map { $0 <= moment.monotonicNanoseconds } ?? false
                return Rotation.Topic(isGone ? .gone : .ended, importance: importance)
            }
            return Rotation.Topic(latest.prominence.hasBegun ? .live : .waiting, importance: importance)
        }
    }

    /// All its topics have ended.
    private func isOver(_ audience: Audience) -> Bool {
        audience.topics.allSatisfy { topics[$0].latest?.event == .end }
    }

    private func lastGone(_ audience: Audience) -> Int? {
        let gone = audience.topics.indices.filter { topics[audience.topics[$0]].latest != nil }
        return gone.max { topics[audience.topics[$0]].goneAt ?? 0 < topics[audience.topics[$1]].goneAt ?? 0 }
    }

    /// What the lineup shows now; `nil` when nothing was published or everything is gone. Its end is a summary: what was dismissed
    /// before is there again.
    private func display(of audience: Audience, spotlight: Int?, at moment: Moment) -> LineupState.Display? {
        guard let spotlight else { return nil }
        let isSummary = isOver(audience)
        var display = LineupState.Display()
        display.topics.reserveCapacity(audience.topics.count)
        for (position, index) in audience.topics.enumerated() {
            guard let latest = topics[index].latest else { continue }
            if latest.event == .end, !isSummary, position != spotlight, let goneAt = topics[index].goneAt,
                goneAt <= moment.monotonicNanoseconds
            {
                continue
            }
            if position == spotlight { display.spotlight = display.topics.count }
            display.topics.append(latest)
        }
        return display
    }

    /// A lineup made after its topics were published starts with what they show.
    func adopt(_ lineup: Lineup, _ audience: Audience, at moment: Moment) {
        let seen = rotating(audience, at: moment)
        let spotlight = lineup.rotation.wanted(seen, now: moment.monotonic) ?? lastGone(audience)
        guard let display = display(of: audience, spotlight: spotlight, at: moment) else { return }
        lineup.rotation.move(to: spotlight, lineupRules, now: moment.monotonic)
        lineup.display = display
        lineup.lit = spotlight
        let isOver = isOver(audience)
        audience.adopt(
            Audience.Version(
                event: isOver ? .end : .update, priority: .immediate, latest: display.topics[display.spotlight],
                display: display.hash))
        arrange(lineup, of: audience, at: moment)
    }

    /// The lineup's newest version as its members get it. The spotlight is the version's: every alert had it when it was new, and
    /// an older one that rides along is told by its text.
    func composeLineup(_ lineup: Lineup, carrying pending: PendingAlert?) -> [UInt8] {
        let lit = lineup.display.topics[lineup.display.spotlight]
        return LineupState.compose(
            lineup.display, highlighting: pending?.topic == lit.topicID ? pending?.alert.highlight : nil)
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
