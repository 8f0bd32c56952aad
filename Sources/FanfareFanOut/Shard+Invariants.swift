extension Shard {
    /// Checks the whole state and describes a violated invariant; `nil` if there is none. The simulation calls it after every step; it is too
    /// slow for other uses.
    package func violatedInvariant() -> String? {
        var total = Census()
        for (index, audience) in audiences.enumerated() where audience !== resting {
            var census = Census()
            if let violation = violation(ofMembersOf: audience, at: index, &census)
                ?? violation(ofStartsOf: audience, at: index, &census) ?? violation(of: audience, at: index, census)
            {
                return violation
            }
            total.owed += census.owed
            total.refused += census.refused
        }
        return violationOfStarts() ?? violationOfDepartures() ?? topics.violatedInvariant()
            ?? violatedInvariantOfLineups() ?? violatedInvariantOfTimers() ?? violationOfParts()
            ?? violationOfCounts(total) ?? violationOfExpected()
    }

    /// Numbers of an audience, counted from its members.
    private struct Census {
        var owed = 0
        var refused = 0
        /// Number of members by version.
        var members: [UInt32: Int] = [:]
        /// Number of pushes in flight by version.
        var flying: [UInt32: Int] = [:]
    }

    private func violation(ofMembersOf audience: Audience, at index: Int, _ census: inout Census) -> String? {
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
            census.members[activity.delivered, default: 0] += 1
            if activity.flags.contains(.inFlight), activity.sending != 0 {
                census.flying[activity.sending, default: 0] += 1
            }
            if isRefused(activity, audience) { census.refused += 1 }
            guard isOwed(activity, audience) else { continue }
            census.owed += 1
            guard !activity.flags.contains(.tokenless) else { return "member \(slot) has no update token" }
            let reachable =
                audience.order.isUnvisited(position) || !activity.flags.isDisjoint(with: [.inFlight, .waiting])
                || activity.flags.contains(.queued) && audience.revisits.contains(slot)
            guard reachable else { return "slot \(slot.rawValue) is owed a push and nothing will bring it one" }
        }
        return nil
    }

    private func violation(ofStartsOf audience: Audience, at index: Int, _ census: inout Census) -> String? {
        for (position, slot) in audience.starts.prompt.places + audience.starts.late.places {
            guard let start = starts[slot], start.phase == .due, start.audience == index,
                store.positions[Int(slot.rawValue)] == UInt32(position)
            else { return "slot \(slot.rawValue) is to be started by audience \(index), which it does not know" }
        }
        if audience.target > 0 { census.owed += audience.starts.count }
        return nil
    }

    private func violation(of audience: Audience, at index: Int, _ census: Census) -> String? {
        guard audience.ledger.tells(members: census.members, flying: census.flying) else {
            return
                "audience \(index) has versions \(census.members), in flight \(census.flying): its ledger says something else"
        }
        guard census.owed == audience.owed else {
            return "audience \(index) counts \(audience.owed) owed, has \(census.owed)"
        }
        guard census.refused == audience.refused else {
            return "audience \(index) counts \(audience.refused) refused, has \(census.refused)"
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
        let isServed = audience.lane.current != nil || audience.lane.parked != nil
        guard census.owed == 0 || isServed || !audience.hasWork else {
            return "audience \(index) has work and stands in no lane"
        }
        return nil
    }

    private func violationOfStarts() -> String? {
        for (slot, start) in starts.all {
            let activity = store[slot]
            guard activity.flags.contains(.tokenless), activity.audience == ActivityStore.noAudience else {
                return "slot \(slot.rawValue) waits for a token and has one"
            }
            let waiting = audiences[start.audience].starts
            guard
                start.phase != .due
                    || (activity.strikes.count > 0 ? waiting.late : waiting.prompt).places
                        .contains(where: { $0.slot == slot }),
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
        return nil
    }

    private func violationOfDepartures() -> String? {
        for index in store.activities.indices {
            let (slot, flags) = (ActivitySlot(UInt32(index)), store.activities[index].flags)
            guard flags.contains(.leaving), !flags.contains(.tokenless) else { continue }
            guard !flags.isDisjoint(with: [.inFlight, .waiting]) || flags.contains(.queued),
                !flags.contains(.queued) || departures.revisits.contains(slot)
            else { return "slot \(index) has been unfollowed, and nothing will end it" }
        }
        guard departures.lane.current != nil || !departures.hasWork else { return "departures stand in no lane" }
        return nil
    }

    private func violationOfCounts(_ total: Census) -> String? {
        guard total.owed == counts.owed else { return "the shard counts \(counts.owed) owed, has \(total.owed)" }
        guard total.refused == counts.refused else {
            return "the shard counts \(counts.refused) refused, has \(total.refused)"
        }
        let waiting = audiences.count { $0.lineup?.waiting.isEmpty == false }
        guard waiting == lineupsWaiting else {
            return "the shard counts \(lineupsWaiting) lineups that wait, has \(waiting)"
        }
        let flying = store.activities.count { $0.flags.contains(.inFlight) }
        guard flying == inFlight else { return "the shard counts \(inFlight) in flight, has \(flying)" }
        return nil
    }

    /// Checks the activities that need an audience without being members of it, and those that carry alerts.
    private func violationOfExpected() -> String? {
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
        return nil
    }

    private func violationOfParts() -> String? {
        feedback.violation() ?? publications.violation() ?? freshness.violation()
            ?? ageScanner.violation(hasActivities: store.count > 0, slots: store.activities.count)
            ?? renewals.violation(slotOf: { store.slot(of: $0) })
            ?? lanes.violation() ?? starts.violation() ?? lineups.violation() ?? quarantine.violation()
            ?? carriedAlerts.violation()
    }

    /// Checks that each lineup has an audience of its topics, and the reverse.
    private func violatedInvariantOfLineups() -> String? {
        for row in lineups.all {
            let audience = audiences[lineups.audience(of: row)]
            guard lineups.isResting(row) == (audience === resting),
                lineups.row(ofAudience: lineups.audience(of: row)) == row
            else { return "lineup \(row) rests, and its audience does not, or the other way round" }
            if audience === resting {
                let member = store[lineups.member(of: row)]
                guard member.audience == UInt32(lineups.audience(of: row)), member.flags.isEmpty,
                    member.delivered == lineups.number(of: row),
                    store.positions[Int(lineups.member(of: row).rawValue)] == 0
                else { return "lineup \(row) rests, and something is to be done for its member" }
                continue
            }
            guard let lineup = audience.lineup, lineup.row == row,
                lineups.topicIndices(of: row).elementsEqual(audience.topics),
                lineups.pinned(of: row) == lineup.rotation.pinned
            else { return "lineup \(row) has an audience that is another's" }
            guard
                lineup.lit.map({ lineups.isLit(LineupLink(rawValue: UInt32(lineups.links(of: row).lowerBound + $0))) })
                    ?? true
            else { return "lineup \(row) is not known for its spotlight" }
        }
        guard lineups.stranded == 0 else { return "lineups have news and stand in no lane" }
        guard lineups.count == audiences.count(where: { $0.lineup != nil }),
            lineups.all.reduce(0, { $0 + lineups.links(of: $1).count }) == topics.lineupsListed
        else { return "lineups are found, or listed by topics, that are no more" }
        let members = audiences.reduce(0) { $0 + ($1 === resting ? 1 : $1.lineup == nil ? 0 : $1.order.count) }
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

    /// Checks that each timer of a lineup, a parked audience and the age scan is in the timing wheel, once, under its own subject.
    private func violatedInvariantOfTimers() -> String? {
        var (wakeUps, parked) = (0, 0)
        for (index, audience) in audiences.enumerated() {
            if let timer = audience.lane.parked {
                guard timers.subject(of: timer) == .audience(UInt32(index)) else {
                    return "the timer of parked audience \(index) is another's"
                }
                parked += 1
            }
            let rests = audience === resting
            guard let wakeUp = rests ? lineups.wakeUp(of: lineups.row(ofAudience: index)) : audience.lineup?.wakeUp
            else { continue }
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
