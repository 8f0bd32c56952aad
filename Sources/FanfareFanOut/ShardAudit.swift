import FanfareModel
import FanfareQueues

/// The checks of a shard's state that concern several of its parts.
struct ShardAudit {
    let reporter: FeedbackReporter
    let membership: Membership
    let lifecycle: Lifecycle
    let retries: Retries
    let sender: PushSender

    /// Describes a violated invariant; `nil` if there is none.
    func violation() -> String? {
        var total = Census()
        for (index, audience) in zip(membership.audiences.indices, membership.audiences.rows)
        where audience !== membership.audiences.resting {
            if audience === membership.audiences.restingFollower {
                if let violation = violation(ofFollowerAt: index) { return violation }
                continue
            }
            var census = Census()
            if let violation = violation(ofMembersOf: audience, at: index, &census)
                ?? violation(ofStartsOf: audience, at: index, &census) ?? violation(of: audience, at: index, census)
            {
                return violation
            }
            total.owed += census.owed
            total.refused += census.refused
        }
        // The compiler cannot type-check a chain of all these calls.
        if let violation = violationOfStarts() ?? violationOfDepartures() ?? membership.topics.violation() {
            return violation
        }
        if let violation = violatedInvariantOfLineups() ?? violationOfDueLineups() ?? violatedInvariantOfTimers() {
            return violation
        }
        if let violation = violationOfParts() ?? violationOfCounts(total) ?? violationOfExpected() { return violation }
        return membership.claims.violation(slots: membership.store.activities.count) ?? violationOfAbsences()
    }

    /// Checks that no member of an audience is listed as an exception from it.
    private func violationOfAbsences() -> String? {
        let absentees = reporter.completions.absentees
        guard membership.claims.isKept, !absentees.isEmpty else { return nil }
        for place in membership.store.activities.indices {
            let audience = membership.store.activities[place].audience
            guard audience != .none else { continue }
            let mark = membership.claims.mark(of: ActivitySlot(UInt32(place)))
            guard let key = absentees.audience(of: mark), lifecycle.isMember(of: audience, by: key) else {
                continue
            }
            return "an activity belongs to \(key), and is an exception from it"
        }
        return nil
    }

    /// Numbers of an audience, counted from its members.
    private struct Census {
        var owed = 0
        var refused = 0
        /// Number of members by version.
        var members: [UInt32: Int] = [:]
        /// Number of pushes in flight by version.
        var inFlight: [UInt32: Int] = [:]
    }

    private func violation(ofMembersOf audience: Audience, at index: AudienceIndex, _ census: inout Census) -> String? {
        let queued = audience.revisits.slots
        for (position, slot) in audience.order.members.enumerated() {
            let activity = membership.store[slot]
            guard activity.audience == index else {
                return "member \(slot) of audience \(index) belongs elsewhere"
            }
            guard membership.store.positions[Int(slot.rawValue)] == UInt32(position) else {
                return
                    "slot \(slot.rawValue) stands at \(position), not at \(membership.store.positions[Int(slot.rawValue)])"
            }
            guard activity.delivered <= audience.target else {
                return "slot \(slot.rawValue) is ahead of its audience"
            }
            census.members[activity.delivered, default: 0] += 1
            if activity.flags.contains(.inFlight), activity.sending != 0 {
                census.inFlight[activity.sending, default: 0] += 1
            }
            if membership.isRefused(activity, audience) { census.refused += 1 }
            guard membership.isOwed(activity, audience) else { continue }
            census.owed += 1
            guard !activity.flags.contains(.tokenless) else { return "member \(slot) has no update token" }
            let reachable =
                audience.order.isUnvisited(position) || !activity.flags.isDisjoint(with: [.inFlight, .suspended])
                || activity.flags.contains(.queued) && queued.contains(slot)
            guard reachable else { return "slot \(slot.rawValue) is owed a push and nothing will bring it one" }
        }
        return nil
    }

    private func violation(ofFollowerAt index: AudienceIndex) -> String? {
        guard let row = membership.audiences.followers[index] else {
            return "audience \(index) rests, and nothing is known of it"
        }
        let member = membership.store[row.member]
        let topic = membership.topics[row.topic]
        guard topic.followers == index, member.audience == index, member.flags.isEmpty,
            member.delivered == row.number, (row.number > 0) == (topic.latest != nil),
            membership.store.positions[Int(row.member.rawValue)] == 0,
            !membership.carriedAlerts.contains(row.member)
        else { return "audience \(index) rests, and something is to be done for its member" }
        return nil
    }

    private func violation(ofStartsOf audience: Audience, at index: AudienceIndex, _ census: inout Census) -> String? {
        for (position, slot) in audience.starts.prompt.places + audience.starts.late.places {
            guard let start = lifecycle.starts[slot], start.phase == .due, start.audience == index,
                membership.store.positions[Int(slot.rawValue)] == UInt32(position)
            else { return "slot \(slot.rawValue) is to be started by audience \(index), which it does not know" }
        }
        if audience.target > 0 { census.owed += audience.starts.count }
        return nil
    }

    private func violation(of audience: Audience, at index: AudienceIndex, _ census: Census) -> String? {
        if let violation = audience.violation() { return violation }
        guard audience.versions.matches(members: census.members, inFlight: census.inFlight) else {
            return
                "audience \(index) has versions \(census.members), in flight \(census.inFlight): its counts say something else"
        }
        guard census.owed == audience.owed else {
            return "audience \(index) membership.counts \(audience.owed) owed, has \(census.owed)"
        }
        guard census.refused == audience.refused else {
            return "audience \(index) membership.counts \(audience.refused) refused, has \(census.refused)"
        }
        guard audience === membership.audiences.vacant || audience.order.count + audience.externalReferences > 0 else {
            return "audience \(index) has no members and is still there"
        }
        guard
            audience === membership.audiences.vacant || audience.lineup != nil
                || membership.topics[audience.topics[0]].followers == index
        else {
            return "audience \(index) are not the followers of its topic"
        }
        if let lineup = audience.lineup, !lineup.deferred.isEmpty {
            let free = lineup.publishedAt.advanced(
                byNanoseconds: membership.lineupRules.minimumInterval.boundedNanoseconds)
            guard let wakeUp = lineup.wakeUp,
                membership.timers.due(of: wakeUp) < free.advanced(byNanoseconds: ShardTimers.tickNanoseconds)
            else { return "changes of lineup \(index) wait and nothing will bring them out" }
        }
        let isServed = audience.lane.current != nil || audience.lane.parked != nil
        guard census.owed == 0 || isServed || !audience.hasWork else {
            return "audience \(index) has work and stands in no lane"
        }
        return nil
    }

    private func violationOfStarts() -> String? {
        for (slot, start) in lifecycle.starts.all {
            let activity = membership.store[slot]
            guard activity.flags.contains(.tokenless), activity.audience == .none else {
                return "slot \(slot.rawValue) waits for a token and has one"
            }
            let line = membership.audiences[start.audience].starts
            guard
                start.phase != .due
                    || (activity.failures.count > 0 ? line.late : line.prompt)
                        .contains(slot, at: Int(membership.store.positions[Int(slot.rawValue)])),
                (start.phase == .suspended) == activity.flags.contains(.suspended),
                start.phase == .sent || !activity.flags.contains(.inFlight)
            else { return "slot \(slot.rawValue) is to be started, and nothing will" }
        }
        guard lifecycle.starts.count == membership.store.activities.count(where: { $0.flags.contains(.tokenless) })
        else {
            return "\(lifecycle.starts.count) activities are known to lack a token, others do too"
        }
        for (slot, successor) in lifecycle.renewals.underWay {
            guard
                membership.slot(of: successor).map({ lifecycle.starts[$0]?.renews == membership.store[slot].id })
                    == true
            else {
                return "slot \(slot.rawValue) is to be renewed by an activity that does not know"
            }
        }
        return nil
    }

    private func violationOfDepartures() -> String? {
        let queued = lifecycle.departures.revisits.slots
        for index in membership.store.activities.indices {
            let (slot, flags) = (ActivitySlot(UInt32(index)), membership.store.activities[index].flags)
            guard flags.contains(.leaving), !flags.contains(.tokenless) else { continue }
            guard !flags.isDisjoint(with: [.inFlight, .suspended]) || flags.contains(.queued),
                !flags.contains(.queued) || queued.contains(slot)
            else { return "slot \(index) has been unfollowed, and nothing will end it" }
        }
        guard lifecycle.departures.lane.current != nil || !lifecycle.departures.hasWork else {
            return "departures stand in no lane"
        }
        return nil
    }

    private func violationOfCounts(_ total: Census) -> String? {
        guard total.owed == membership.counts.owed else {
            return "the shard counts \(membership.counts.owed) owed, has \(total.owed)"
        }
        guard total.refused == membership.counts.refused else {
            return "the shard counts \(membership.counts.refused) refused, has \(total.refused)"
        }
        let deferred = membership.audiences.rows.count { $0.lineup?.deferred.isEmpty == false }
        guard deferred == membership.counts.deferredLineups else {
            return "the shard counts \(membership.counts.deferredLineups) lineups that wait, has \(deferred)"
        }
        let inFlight = membership.store.activities.count { $0.flags.contains(.inFlight) }
        guard inFlight == sender.inFlight else {
            return "the shard counts \(sender.inFlight) in flight, has \(inFlight)"
        }
        return nil
    }

    /// Checks the activities that need an audience without being members of it, and those that carry alerts.
    private func violationOfExpected() -> String? {
        for slot in membership.carriedAlerts.slots
        where lifecycle.lastStates[slot] == nil
            && (membership.store[slot].audience == .none
                || !membership.store[slot].flags.contains(.needsPush))
        {
            return "slot \(slot.rawValue) carries alerts along, and gets no push with them"
        }
        let expected = lifecycle.starts.audiences + lifecycle.lastStates.values
        guard membership.audiences.rows.reduce(0, { $0 + $1.externalReferences }) == expected.count,
            expected.allSatisfy({ membership.audiences[$0].externalReferences > 0 })
        else { return "\(expected.count) are expected in audiences, which say something else" }
        return nil
    }

    private func violationOfParts() -> String? {
        let places = zip(membership.audiences.indices, membership.audiences.rows).map {
            (index: $0, place: $1.completionPlace)
        }
        return reporter.violation(places: places) ?? membership.store.violation() ?? membership.audiences.violation()
            ?? lifecycle.violation() ?? membership.lanes.violation()
            ?? membership.lineups.violation(awaitsNews: awaitsNews) ?? retries.violation()
            ?? membership.carriedAlerts.violation()
    }

    private func awaitsNews(_ row: Int) -> Bool {
        membership.audiences[membership.lineups.audience(of: row)].lineup?.awaitsNews == true
    }

    /// Checks that each lineup has an audience of its topics, and the reverse.
    private func violatedInvariantOfLineups() -> String? {
        for row in membership.lineups.all {
            let audience = membership.audiences[membership.lineups.audience(of: row)]
            let isLone = membership.lineups.isLone(row)
            guard isLone == (audience === membership.audiences.resting),
                membership.lineups.loneRow(ofAudience: membership.lineups.audience(of: row)) == (isLone ? row : nil)
            else { return "lineup \(row) has its state in its row and in an audience, or nowhere" }
            if isLone {
                if let violation = violation(ofLone: row) { return violation }
                continue
            }
            guard let lineup = audience.lineup, lineup.row == row,
                membership.lineups.topicIndices(of: row).elementsEqual(audience.topics),
                membership.lineups.pinned(of: row) == lineup.rotation.pinned
            else { return "lineup \(row) has an audience that is another's" }
            guard
                lineup.publishedSpotlight.map({
                    membership.lineups.isInSpotlight(
                        LineupLink(rawValue: UInt32(membership.lineups.links(of: row).lowerBound + $0)))
                })
                    ?? true
            else { return "lineup \(row) is not known for its spotlight" }
        }
        guard membership.dueLineups.allSatisfy({ !$0.hasWork || $0.lane.current != nil }) else {
            return "lineups are due and stand in no lane"
        }
        let isAnswerDue = !membership.claims.owesNothing
        guard !membership.claims.hasUnnamed || isAnswerDue || sender.claims.roomTurn.lane.current != nil else {
            return "some wait for room among claims, and nothing lets them go"
        }
        let waits = membership.lineups.all.contains {
            membership.lineups.isLone($0) && membership.lineups[lone: $0].flags.contains(.awaitsClaim)
        }
        guard !waits || !membership.claims.owesNothing || !membership.lanes.isEmpty else {
            return "lineups wait for claims, and the store is not asked"
        }
        guard !waits || membership.claims.lineups.timer != nil else {
            return "lineups wait for claims, and nothing ends their wait for a store that does not answer"
        }
        guard membership.lineups.stranded == 0 else { return "lineups have news and stand in no lane" }
        guard membership.lineups.count == membership.audiences.rows.count(where: { $0.lineup != nil }),
            membership.lineups.all.reduce(0, { $0 + membership.lineups.links(of: $1).count })
                == membership.topics.lineupsListed
        else { return "lineups are found, or listed by topics, that are no more" }
        let members = membership.audiences.rows.reduce(0) {
            $0 + ($1 === membership.audiences.resting ? 1 : $1.lineup == nil ? 0 : $1.order.count)
        }
        guard members == membership.counts.inLineups else {
            return "\(membership.counts.inLineups) members of lineups are counted, there are \(members)"
        }
        guard
            membership.audiences.rows.count(where: { $0 !== membership.audiences.vacant && $0.lineup == nil })
                == membership.topics.followed
        else {
            return "followers are listed by topics that are no more"
        }
        return nil
    }

    /// Checks that each lineup of one member that is due has an entry in its lane, and that no entry counts for another.
    private func violationOfDueLineups() -> String? {
        let lone = membership.lineups.all.filter { membership.lineups.isLone($0) }
        for lane in membership.dueLineups {
            let due = Set(lone.filter { membership.lineups.isDue($0, lane: lane.number) })
            if let violation = lane.violation(due: due) { return violation }
        }
        return nil
    }

    /// Checks a lineup of one member whose state is in its row.
    private func violation(ofLone row: Int) -> String? {
        let state = membership.lineups[lone: row]
        let member = membership.store[state.member]
        let isInFlight = state.flags.contains(.inFlight)
        guard member.audience == membership.lineups.audience(of: row),
            membership.store.positions[Int(state.member.rawValue)] == 0,
            member.flags.subtracting([.inFlight, .rotated]).isEmpty, member.flags.contains(.inFlight) == isInFlight,
            isInFlight ? member.sending == state.number : member.delivered == state.number
        else { return "lineup \(row) is a row, and something is to be done for its member" }
        guard isInFlight || !state.flags.contains(.wasPassed) else { return "lineup \(row) waits for no answer" }
        guard !state.flags.contains(.awaitsClaim) || membership.claims.lineups.contains(row) else {
            return "lineup \(row) awaits a claim, and nobody will tell it"
        }
        return nil
    }

    /// Checks that each timer of a lineup, a parked audience and the age scan is in the timing wheel, once, under its own subject.
    private func violatedInvariantOfTimers() -> String? {
        // The wheel is checked first, because a walk over lists that are no rings may not end.
        if let violation = membership.timers.violation() { return violation }
        var (wakeUps, parked) = (0, 0)
        for (index, audience) in zip(membership.audiences.indices, membership.audiences.rows) {
            if let timer = audience.lane.parked {
                guard membership.timers.subject(of: timer) == .audience(index) else {
                    return "the timer of parked audience \(index) is another's"
                }
                parked += 1
            }
            let row = membership.lineups.loneRow(ofAudience: index)
            guard let wakeUp = row.map({ membership.lineups[lone: $0].wakeUp }) ?? audience.lineup?.wakeUp else {
                continue
            }
            guard membership.timers.subject(of: wakeUp) == .lineup(index) else {
                return "the wake-up of lineup \(index) is another's"
            }
            wakeUps += 1
        }
        if let timer = lifecycle.ageScanner.timer, membership.timers.subject(of: timer.entry) != .ageScan {
            return "the timer of the scan for old activities is another's"
        }
        var (lineups, audiences, ageScans, claims) = (0, 0, 0, 0)
        for subject in membership.timers.subjects {
            switch subject {
            case .lineup: lineups += 1
            case .ageScan: ageScans += 1
            case .claims: claims += 1
            case .audience: audiences += 1
            case .activity, .quarantine: break
            }
        }
        guard lineups == wakeUps else { return "\(lineups) lineups are to be woken, \(wakeUps) know of it" }
        guard audiences == parked else { return "\(audiences) audiences are to go on, \(parked) know of it" }
        guard claims == (membership.claims.lineups.timer == nil ? 0 : 1) else {
            return "\(claims) timers end the wait for claims"
        }
        guard ageScans == (lifecycle.ageScanner.timer == nil ? 0 : 1) else {
            return "\(ageScans) timers start the scan for old activities"
        }
        return nil
    }
}
