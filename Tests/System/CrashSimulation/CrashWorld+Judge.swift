import Fanfare
import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

/// The judgement of pushes and states, and what the store has of them.
extension CrashWorld {
    /// Checks that a crash costs few alerts: for each topic, what each shard has claimed and not sent, and what was in flight.
    func judgeLoss() {
        // Once the disk answers after a stall, it has claims of all followers.
        guard !slowDisk.isStalling, let life, let shards = life.nodes.first.map({ _ in life.nodes.count }) else {
            return
        }
        let flying = life.nodes.reduce(0) { $0 + $1.network.flights.count }
        for topic in Self.topics {
            let alerts = durableAlerts(of: topic)
            guard let newest = alerts.last, Int(newest).map({ $0 > before }) == true else { continue }
            // Claims name alerts by their log time: those of one millisecond are one to them.
            guard alerts.count(where: { known.granted[$0]?.at == known.granted[newest]?.at }) == 1 else { continue }
            let lost = phones.count {
                $0.topic == topic && !$0.isLineup && !$0.hasMoved && !$0.isSick && !$0.alerts.contains(newest)
                    && isClaimed($0, newest, in: disk.claims.claims)
            }
            met.lost += lost
            if lost > shards * Self.claimedMax + flying { complain("a crash costs \(lost) phones alert \(newest)") }
        }
    }

    /// Greatest number of claimed members that a shard has not sent a push: one and a half blocks, of which the largest has two members.
    private static let claimedMax = 3

    /// Checks that each phone shows what its topics do.
    ///
    /// - Parameter judgesLineups: `false` if changes may still wait for the lineups' interval.
    func judgeStates(judgesLineups: Bool) {
        var newest: [TopicID: String] = [:]
        try? disk.log.read(from: 1) { _, entry in
            if case .event(let event, _) = entry.body, event.topic != .every, let id = event.id {
                newest[event.topic] = id
            }
            return true
        }
        for (index, card) in cards() where !phones[index].isSick {
            let shown = String(decoding: phones[index].state, as: UTF8.self)
            guard card.audience.topics.count == 1 else {
                if judgesLineups { judgeRows(shown, of: card.audience.topics, on: index, newest) }
                noteSpared(index)
                continue
            }
            guard let number = newest[card.audience.topics[0]] else { continue }
            if !(shown.contains("\"number\":\(number),") || shown.contains("\"number\":\(number)}")) {
                complain("phone \(index) shows \(shown) and not number \(number)")
            }
            judgeEdition(shown, of: card.audience.topics[0], on: index)
            if death.at != nil { met.spared += 1 }
        }
    }

    /// Counts a lineup that was calm when the engine died, and to which the restart has sent nothing: once in a life.
    private func noteSpared(_ index: Int) {
        guard phones[index].pushes == 0, !phones[index].state.isEmpty, !phones[index].hasMoved,
            death.calm.remove(index) != nil
        else { return }
        met.sparedLineups += 1
        counts[.sparedLineups] += 1
    }

    /// Checks that each topic's row in a lineup shows the topic's newest number.
    private func judgeRows(_ shown: String, of topics: [TopicID], on index: Int, _ newest: [TopicID: String]) {
        for topic in topics {
            guard let number = newest[topic] else { continue }
            met.rows += 1
            let row = "\"id\":\"\(topic.rawValue)\",\"kind\":\"generic\",\"minimal\":\"\(number)\"}"
            if !shown.contains(row) { complain("phone \(index), a lineup, shows \(shown) and not \(row)") }
        }
    }

    /// Checks that the phone shows what the running build has decided, and that this is its own decision if its version says that it decides
    /// otherwise.
    private func judgeEdition(_ shown: String, of topic: TopicID, on index: Int) {
        guard let state = life?.core.state(of: topic)?.contentState, case .int(let edition)? = state["edition"] else {
            return
        }
        if !shown.contains("\"edition\":\(edition)") {
            complain("phone \(index) shows \(shown), its topic edition \(edition)")
        }
        if isUpgrade, edition != build.edition {
            complain("topic \(topic) shows edition \(edition), and the build that runs decides \(build.edition)")
        }
    }

    func show(_ push: WorldNetwork.Flight) {
        if let index = byToken[push.token] { phones[index].state = push.state }
    }

    /// Checks that a restart sends nothing to those who have it. A card that joined at the log time at which the engine died, or later, may get a
    /// push, and a lineup that was not restorable by then.
    private func judgeSuperfluous(_ push: WorldNetwork.Flight, to index: Int) {
        guard !isMistake, push.alert == nil, push.state == phones[index].state, let card = cards()[index] else {
            return
        }
        met.superfluous += 1
        counts[.superfluous] += 1
        guard let diedAt = death.at, !phones[index].isSick else { return }
        guard card.audience.topics.count == 1 || death.restorable.contains(index) else { return }
        if let joined = card.joinedAt, joined >= diedAt { return }
        complain("phone \(index) gets what it has had before")
    }

    /// Reads the log as a restart would find it.
    func noteDurable() {
        try? disk.log.read(from: disk.log.start) { _, entry in
            guard case .event(let event, _) = entry.body, let number = event.id.flatMap({ Int($0) }) else {
                return true
            }
            durable.insert(number)
            return true
        }
    }

    /// Checks that what the phone is shown is durable, and not older than what has left for it before, in any life.
    private func judgeNumber(_ push: WorldNetwork.Flight, to index: Int) {
        let text = String(decoding: push.state, as: UTF8.self)
        guard let place = text.firstRange(of: "\"number\":")?.upperBound,
            let number = Int(text[place...].prefix { $0.isNumber })
        else { return }
        if !durable.contains(number) { noteDurable() }
        if !durable.contains(number) { complain("phone \(index) is shown \(number), which no loss of power leaves") }
        guard !phones[index].hasMoved, !phones[index].hasFollowedAgain, !phones[index].isLineup else { return }
        if number < phones[index].number {
            complain("phone \(index) goes back from \(phones[index].number) to \(number)")
        }
        phones[index].number = number
    }

    /// Checks that the push is newer, for the phone, than those of all lives before it.
    private func judgeStamp(_ push: WorldNetwork.Flight, to index: Int) {
        if push.stamp > clock.source.wall().milliseconds / 1000 { met.ahead += 1 }
        if let last = phones[index].last,
            push.stamp < last.stamp || push.stamp == last.stamp && push.state != last.state
        {
            complain("phone \(index): another state with stamp \(push.stamp) after \(last.stamp)")
        }
        phones[index].last = (push.stamp, push.state)
    }

    /// Checks that the phone's budget for priority 10 has begun half spent if the store had its card.
    private func judgeBudget(_ push: WorldNetwork.Flight, to index: Int) {
        guard push.event == .update else { return }
        guard push.priority == .immediate else {
            // A lineup's rotation needs no budget.
            let isOfBudget = !phones[index].isLineup && !phones[index].hasMoved && push.alert == nil
            if isOfBudget, budgets?.restrains(index) == true { met.conserved += 1 }
            return
        }
        if let fault = budgets?.noteUse(by: index, isSilent: push.alert == nil, stamp: push.stamp) {
            complain("phone \(index): \(fault)")
        }
    }

    /// Ids of the alerts whose events are durable, in order.
    func durableAlerts(of topic: TopicID) -> [String] {
        var found: [String] = []
        var isMuted = false
        try? disk.log.read(from: 1) { _, entry in
            guard case .event(let event, _) = entry.body else { return true }
            if case .operation(let operation) = event.change { isMuted = operation == .mute }
            guard event.topic == topic, event.alert != nil, let id = event.id else { return true }
            found.append(id)
            known.granted[id] = (topic, entry.now)
            if isMuted { known.withheld.insert(id) }
            return true
        }
        return found
    }

    func isWithheld(_ alert: String) -> Bool {
        known.withheld.contains(alert) || life?.isMuted == true && Int(alert).map { $0 <= before } == true
    }

    /// - Parameter isOfMoment: whether a claim of another alert counts that was granted in the same millisecond: to a claim, those are one,
    ///   also of several topics of a lineup. So a phone may lack it.
    func isClaimed(
        _ phone: Phone, _ alert: String, in claims: [StoredClaims], orOneOfItsMoment isOfMoment: Bool = false
    ) -> Bool {
        guard let (topic, at) = known.granted[alert] else { return false }
        let mark = ActivityMark(phone.id, token: phone.tokens[0])
        return claims.contains { stored in
            stored.claims.contains { claim in
                // A claim without names is of all followers: an alert that has left unclaimed, beside a disk that stalls.
                guard claim.activities.isEmpty && slowDisk.isPossible || claim.activities.contains(mark) else {
                    return false
                }
                return claim.topic == topic ? claim.through >= at : isOfMoment && claim.through == at
            }
        }
    }

    func judge(_ push: WorldNetwork.Flight, from node: Int) {
        guard let index = byToken[push.token] else { return complain("a push to nobody") }
        tell(
            "push to phone \(index), \(push.alerts.isEmpty ? "silent" : "alerts \(push.alerts)"): \(String(decoding: push.state, as: UTF8.self))"
        )
        judgeSuperfluous(push, to: index)
        phones[index].pushedAt = clock.now
        phones[index].pushes += 1
        judgeStamp(push, to: index)
        judgeNumber(push, to: index)
        judgeBudget(push, to: index)
        let unclaimed = met.unclaimed
        for alert in push.alerts { judge(alert, to: index) }
        if met.unclaimed > unclaimed { judgePatience(met.unclaimed - unclaimed, from: node) }
    }

    /// Checks that each alert which has left without a claim is one that its shard counts: the shard does so while a request to the store has been
    /// waiting for as long as alerts wait.
    ///
    /// - Parameter count: number of such alerts in a push of the node.
    private func judgePatience(_ count: Int, from node: Int) {
        let left = slowDisk.noteUnclaimed(count, of: node)
        let counted = life?.nodes[node].turn.shard.statistics.alerts.unclaimed ?? 0
        if left > counted {
            complain("\(left) alerts of node \(node) leave without a claim, and a slow store explains \(counted)")
        }
    }

    func judge(_ alert: String, to index: Int) {
        met.alerts += 1
        if life?.isLoading == true, Int(alert).map({ $0 > before }) == true { met.whileLoading += 1 }
        if phones[index].isLineup { met.ofLineups += 1 }
        if met.lives > 1, Int(alert).map({ $0 <= before }) == true {
            met.late += 1
            if phones[index].isLineup { met.lateOfLineups += 1 }
        }
        if let at = known.happenedAt[alert], clock.truth - at > .seconds(301) {
            complain("alert \(alert) is out of date")
        }
        if isWithheld(alert) { complain("phone \(index): alert \(alert), which an operator had muted") }
        if !phones[index].alerts.insert(alert).inserted { judgeRepeat(of: alert, on: index) }
        for topic in Self.topics { _ = durableAlerts(of: topic) }
        if let (topic, at) = known.granted[alert], phones[index].follows[topic].map({ at < $0 }) ?? true {
            complain("phone \(index): alert \(alert) of \(topic), which it did not follow by then")
        }
        judgeClaim(of: alert, on: index)
    }

    /// Checks that the alert comes again only because an earlier life has sent it without a claim, and has left none.
    private func judgeRepeat(of alert: String, on index: Int) {
        guard let earlier = phones[index].unclaimed[alert], earlier < met.lives,
            !isClaimed(phones[index], alert, in: claimsBefore)
        else { return complain("phone \(index): alert \(alert) twice") }
        met.repeated += 1
    }

    /// Checks that a claim names the phone, unless the disk stalls in this life.
    private func judgeClaim(of alert: String, on index: Int) {
        phones[index].unclaimed[alert] = nil
        guard !isClaimed(phones[index], alert, in: disk.claims.claims) else { return }
        guard slowDisk.isStalling else { return complain("phone \(index): alert \(alert) leaves without a claim") }
        phones[index].unclaimed[alert] = met.lives
        met.unclaimed += 1
    }

    func note(_ outcome: DeliveryOutcome, to push: WorldNetwork.Flight) {
        if outcome == .accepted { show(push) } else { tell("answer \(outcome) to \(byToken[push.token] ?? -1)") }
        // Certainly not processed: nobody has heard it.
        guard outcome == .notProcessed || outcome == .serviceError, let index = byToken[push.token] else { return }
        if push.event == .update, push.priority == .immediate { budgets?.noteReturn(to: index) }
        phones[index].alerts.subtract(push.alerts)
        for alert in push.alerts { phones[index].unclaimed[alert] = nil }
    }
}
