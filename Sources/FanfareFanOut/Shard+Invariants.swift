extension Shard {
    /// Walks everything and says what does not hold, or `nil`. For the simulation, which asks after every step; too slow for
    /// anything else.
    package func violatedInvariant() -> String? {
        var (owedTotal, refusedTotal) = (0, 0)
        for (index, audience) in audiences.enumerated() {
            var (owed, refused) = (0, 0)
            var members: [UInt32: Int] = [:]
            var flying: [UInt32: Int] = [:]
            for (position, slot) in audience.order.members.enumerated() {
                let activity = store[slot]
                guard activity.audience == UInt32(index) else {
                    return "member \(slot) of audience \(index) belongs elsewhere"
                }
                guard store.positions[Int(slot.rawValue)] == UInt32(position) else {
                    return "slot \(slot.rawValue) stands at \(position), not at \(store.positions[Int(slot.rawValue)])"
                }
                guard activity.delivered <= audience.target else {
                    return "slot \(slot.rawValue) is ahead of its audience"
                }
                members[activity.delivered, default: 0] += 1
                if activity.flags.contains(.inFlight), activity.sending != 0 {
                    flying[activity.sending, default: 0] += 1
                }
                if isRefused(activity, audience) { refused += 1 }
                guard isOwed(activity, audience) else { continue }
                owed += 1
                guard !activity.flags.contains(.tokenless) else { return "member \(slot) has no update token" }
                let reachable =
                    audience.order.isUnvisited(position) || !activity.flags.isDisjoint(with: [.inFlight, .waiting])
                    || activity.flags.contains(.queued)
                        && (audience.again.contains(slot) || audience.later.contains(slot))
                guard reachable else { return "slot \(slot.rawValue) is owed a push and nothing will bring it one" }
            }
            for (position, slot) in audience.starts.places + audience.lateStarts.places {
                guard let start = starts[slot], start.phase == .due, start.audience == index,
                    store.positions[Int(slot.rawValue)] == UInt32(position)
                else { return "slot \(slot.rawValue) is to be started by audience \(index), which it does not know" }
            }
            if audience.target > 0 { owed += audience.starts.count + audience.lateStarts.count }
            guard audience.ledger.tells(members: members, flying: flying) else {
                return "audience \(index) has versions \(members), in flight \(flying): its ledger says something else"
            }
            guard owed == audience.owed else { return "audience \(index) counts \(audience.owed) owed, has \(owed)" }
            guard refused == audience.refused else {
                return "audience \(index) counts \(audience.refused) refused, has \(refused)"
            }
            guard audience === vacant || audience.order.count + audience.expected > 0 else {
                return "audience \(index) has no members and is still there"
            }
            guard audience === vacant || audience.lineup != nil || topics[audience.topics[0]].followers == index else {
                return "audience \(index) are not the followers of its topic"
            }
            if let lineup = audience.lineup, !lineup.waiting.isEmpty {
                guard let publishedAt = lineup.publishedAt, let wakeUp = lineup.wakeUp,
                    timers.due(of: wakeUp) < publishedAt + lineupInterval + TimingWheel.tickNanoseconds
                else { return "changes of lineup \(index) wait and nothing will bring them out" }
            }
            guard owed == 0 || audience.lane != nil || audience.parked != nil || !audience.hasWork else {
                return "audience \(index) has work and stands in no lane"
            }
            owedTotal += owed
            refusedTotal += refused
        }
        for (slot, start) in starts.all {
            let activity = store[slot]
            guard activity.flags.contains(.tokenless), activity.audience == ActivityStore.noAudience else {
                return "slot \(slot.rawValue) waits for a token and has one"
            }
            let (onTime, late) = (audiences[start.audience].starts, audiences[start.audience].lateStarts)
            guard
                start.phase != .due
                    || (activity.strikes.count > 0 ? late : onTime).places.contains(where: { $0.slot == slot }),
                (start.phase == .waiting) == activity.flags.contains(.waiting),
                start.phase == .sent || !activity.flags.contains(.inFlight)
            else { return "slot \(slot.rawValue) is to be started, and nothing will" }
        }
        guard starts.count == store.activities.count(where: { $0.flags.contains(.tokenless) }) else {
            return "\(starts.count) activities are known to lack a token, others do too"
        }
        for (slot, successor) in renewals.underWay {
            guard store.slot(of: successor).map({ starts[$0]?.renews == store[slot].id }) == true else {
                return "slot \(slot.rawValue) is to be renewed by an activity that does not know"
            }
        }
        for index in store.activities.indices {
            let (slot, flags) = (ActivitySlot(UInt32(index)), store.activities[index].flags)
            guard flags.contains(.leaving), !flags.contains(.tokenless) else { continue }
            guard !flags.isDisjoint(with: [.inFlight, .waiting]) || flags.contains(.queued),
                !flags.contains(.queued) || departures.again.contains(slot) || departures.later.contains(slot)
            else { return "slot \(index) has been unfollowed, and nothing will end it" }
        }
        guard departures.lane != nil || !departures.hasWork else { return "departures stand in no lane" }
        if let violation = topics.violatedInvariant() ?? violatedInvariantOfLineups() ?? violatedInvariantOfTimers()
            ?? violationOfParts()
        {
            return violation
        }
        guard owedTotal == counts.owed else { return "the shard counts \(counts.owed) owed, has \(owedTotal)" }
        guard refusedTotal == counts.refused else {
            return "the shard counts \(counts.refused) refused, has \(refusedTotal)"
        }
        let waiting = audiences.count { $0.lineup?.waiting.isEmpty == false }
        guard waiting == lineupsWaiting else {
            return "the shard counts \(lineupsWaiting) lineups that wait, has \(waiting)"
        }
        for slot in carriedAlerts.slots
        where lastStates[slot] == nil
            && (store[slot].audience == ActivityStore.noAudience || !store[slot].flags.contains(.owedFirst))
        {
            return "slot \(slot.rawValue) carries alerts along, and gets no push with them"
        }
        let expected = starts.audiences + lastStates.values
        guard audiences.reduce(0, { $0 + $1.expected }) == expected.count,
            expected.allSatisfy({ audiences[$0].expected > 0 })
        else { return "\(expected.count) are expected in audiences, which say something else" }
        let flying = store.activities.count { $0.flags.contains(.inFlight) }
        guard flying == inFlight else { return "the shard counts \(inFlight) in flight, has \(flying)" }
        return nil
    }

    private func violationOfParts() -> String? {
        feedback.violation() ?? publications.violation() ?? freshness.violation()
            ?? ageScanner.violation(hasActivities: store.count > 0, slots: store.activities.count)
            ?? renewals.violation(slotOf: { store.slot(of: $0) })
            ?? starts.violation() ?? quarantine.violation() ?? carriedAlerts.violation()
    }

    /// Each lineup has members, is found by its choice, and is listed by each of its topics, once.
    private func violatedInvariantOfLineups() -> String? {
        var listed = 0
        for (index, audience) in audiences.enumerated() {
            guard let lineup = audience.lineup else { continue }
            let choice = Lineup.Choice(topics: audience.topics, pinned: lineup.rotation.pinned)
            guard lineupIndices[choice] == index else { return "lineup \(index) is not found by its choice" }
            for (position, topic) in audience.topics.enumerated() {
                let (places, place) = (topics[topic].lineups, Int(lineup.places[position]))
                guard places.indices.contains(place), places[place] == (UInt32(index), UInt32(position)) else {
                    return "lineup \(index) is not listed by topic \(topic)"
                }
                listed += 1
            }
        }
        guard lineupIndices.count == audiences.count(where: { $0.lineup != nil }),
            listed == topics.lineupsListed
        else { return "lineups are found, or listed by topics, that are no more" }
        let members = audiences.reduce(0) { $0 + ($1.lineup == nil ? 0 : $1.order.count) }
        guard members == membersOfLineups else {
            return "\(membersOfLineups) members of lineups are counted, there are \(members)"
        }
        guard audiences.count(where: { $0 !== vacant && $0.lineup == nil }) == topics.followed else {
            return "followers are listed by topics that are no more"
        }
        guard audiences.count(where: { $0 === vacant }) == freeAudiences.count else {
            return "\(freeAudiences.count) places of audiences are free, others are vacant"
        }
        return nil
    }

    /// Whatever is to be woken stands in the timing wheel: lineups and the scan for old activities once, and as no other.
    private func violatedInvariantOfTimers() -> String? {
        var (wakeUps, parked) = (0, 0)
        for (index, audience) in audiences.enumerated() {
            if let timer = audience.parked {
                guard timers.subject(of: timer) == .audience(UInt32(index)) else {
                    return "the timer of parked audience \(index) is another's"
                }
                parked += 1
            }
            guard let wakeUp = audience.lineup?.wakeUp else { continue }
            guard timers.subject(of: wakeUp) == .lineup(UInt32(index)) else {
                return "the wake-up of lineup \(index) is another's"
            }
            wakeUps += 1
        }
        if let timer = ageScanner.timer, timers.subject(of: timer.entry) != .ageScan {
            return "the timer of the scan for old activities is another's"
        }
        var (lineups, audiences, ageScans) = (0, 0, 0)
        for subject in timers.subjects {
            switch subject {
            case .lineup: lineups += 1
            case .ageScan: ageScans += 1
            case .audience: audiences += 1
            case .activity, .held: break
            }
        }
        guard lineups == wakeUps else { return "\(lineups) lineups are to be woken, \(wakeUps) know of it" }
        guard audiences == parked else { return "\(audiences) audiences are to go on, \(parked) know of it" }
        guard ageScans == (ageScanner.timer == nil ? 0 : 1) else {
            return "\(ageScans) timers start the scan for old activities"
        }
        return nil
    }
}
