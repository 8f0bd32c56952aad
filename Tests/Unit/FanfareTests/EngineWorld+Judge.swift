import FanfareDecisions
import FanfareFanOut
import FanfareLog
import FanfareModel
import FanfareTestSupport

@testable import CrashSimulation
@testable import Fanfare

extension EngineWorld: EngineCoreDelegate {
    func coreDidRecord(_ record: DecisionRecord, of publication: Publication?) { judge(record) }
    func coreDidDecide(_ decisions: [Decision]) { note(decisions) }
    func coreDidLoseToken(of activity: ActivityID) { judge(death: activity) }
    func coreDidLearn(_ fate: ActivityFate, of activity: ActivityID) { judge(fate, of: activity) }
    func coreDidClaim(_ claims: StoredClaims, _ ticket: UInt64, shard: Int) {
        disk?.claim(claims, ticket, shard: shard)
    }
    func coreWillPublish(_ publication: Publication) {
        if let alert = publication.alert { alertTimes[alert.text.title.description] = alert.grantedAt }
    }
    func coreDidRemove(_ activity: UInt64, token: UInt64, shard: Int) {
        turn.noteRemoval(of: activity, token: token, shard: shard)
    }
    func coreDidCheckRemoval(_ activity: UInt64, token: UInt64, isOver: Bool) {
        if turn.noteRemovalCheck(of: activity, token: token, isOver: isOver) { requested.isSet = true }
    }
    func coreDidReport(_ line: String) { turn.report(line) }
    func coreDidRelieve() { requested.isSet = true }
}

extension EngineWorld {
    // MARK: Decisions

    /// Checks that each taken event is decided, once and in order.
    func judge(_ record: DecisionRecord) {
        onHappening?("\(record.kind) \(record.id ?? ""): \(record.outcome), \(record.reason)")
        guard record.origin == .event else { return }
        if let wrong = events.decides(record.id) { complain(wrong) }
    }

    /// Records the state that each app's people are to see from now on.
    func note(_ decisions: [Decision]) {
        for decision in decisions {
            switch decision {
            case .publish(let publication):
                let topic = publication.topicID
                onHappening?("\(publication.event) \(String(decoding: publication.state.bytes, as: UTF8.self))")
                for app in apps.indices {
                    if apps[app].isPaused, publication.event == .update {
                        apps[app].held[topic] = publication
                    } else {
                        apps[app].held[topic] = nil
                        apps[app].shown[topic] = publication
                    }
                }
            case .order(let operation, let id):
                guard let app = apps.firstIndex(where: { $0.id == id }) else { continue }
                if operation == .pause { apps[app].isPaused = true }
                if operation == .resume {
                    apps[app].isPaused = false
                    apps[app].shown.merge(apps[app].held) { $1 }
                    apps[app].held = [:]
                }
            case .record, .revokeAlert, .forget: break
            }
        }
    }

    func isPaused(_ topic: Topic) -> Bool { everyIsPaused || topic.isPaused }

    // MARK: Pushes

    func judge(_ push: WorldNetwork.Flight, from node: WorldNode) {
        met.pushes += 1
        onHappening?(
            "push \(push.event) \(String(decoding: push.state, as: UTF8.self)) to \(phonesByToken[push.token].map { phones[$0].id.rawValue } ?? 0)"
        )
        guard let index = phonesByToken[push.token] else {
            return complain("a push to somebody whom nobody has told of")
        }
        let phone = phones[index]
        let who = "activity \(phone.id.rawValue)"
        if phone.app != node.app { complain("\(who): a push of another app") }
        if phone.isFlying { complain("\(who): two pushes at once") }
        if phone.isGone { complain("\(who): a push after its end") }
        if phone.tokens.prefix(phone.oldTokens).contains(push.token) { complain("\(who): a push to an old token") }
        if push.stamp < phone.stamp || push.stamp == phone.stamp && push.state != phone.sent {
            complain("\(who): stamp \(push.stamp) after \(phone.stamp)")
        }
        if let disk, let meaning = meanings[push.state], !disk.hasDurable(meaning.number, of: meaning.topic) {
            complain("\(who): \(meaning.number) of \(meaning.topic) leaves before it is durable")
        }
        if let alert = push.alert {
            if phone.alerts.contains(alert) { complain("\(who): alert \(alert) twice") }
            if alertTopics[alert].map(phone.hasFollowed) != true {
                complain("\(who): alert \(alert) of what it does not show")
            }
            phones[index].alerts.insert(alert)
            judge(claimOf: alert, to: phone)
        }
        if push.event == .end {
            let mayEnd = phone.choices.contains { $0.topic.map { topics[$0]?.endedBy != nil } ?? true }
            if !mayEnd { complain("\(who): an end of what goes on") }
        }
        if push.event == .update || !push.state.isEmpty {
            if meanings[push.state].map({ phone.hasFollowed($0.topic) }) != true {
                complain("\(who): a state of what it does not show: \(String(decoding: push.state, as: UTF8.self))")
            }
        }
        phones[index].isFlying = true
        phones[index].stamp = push.stamp
        phones[index].sent = push.state
    }

    /// Checks that an alert leaves only after a durable claim has named the activity, unless a move has carried the alert along.
    private func judge(claimOf alert: String, to phone: Phone) {
        guard let disk, let topic = alertTopics[alert], let grantedAt = alertTimes[alert],
            let choice = phone.choices.last, choice.topic == topic, choice.sequence < Int(alert) ?? 0
        else { return }
        met.claimed += 1
        let mark = ActivityMark(phone.id, token: phone.tokens[0])
        if !disk.isClaimed(mark, of: topic, app: apps[phone.app].id, grantedAt: grantedAt) {
            complain("activity \(phone.id.rawValue): alert \(alert) leaves without a claim")
        }
    }

    func note(_ outcome: DeliveryOutcome, to push: WorldNetwork.Flight) {
        guard let index = phonesByToken[push.token] else { return }
        onHappening?("activity \(phones[index].id.rawValue): \(outcome)")
        phones[index].isFlying = false
        switch outcome {
        case .accepted:
            phones[index].shown = push.state
            phones[index].refused = nil
            phones[index].hasEnded = push.event == .end
        case .deadToken: phones[index].isDead = true
        case .refused:
            phones[index].refused = push.state
            phones[index].isLost = push.event == .end && push.state.isEmpty
        case .throttled, .serviceError, .notProcessed:
            // The alert was not heard.
            if let alert = push.alert { phones[index].alerts.remove(alert) }
        case .uncertain: break
        }
    }

    /// Checks that connections are read before their requests time out.
    func judge(turn waited: Duration) {
        if waited > ShardTurn.longest + .milliseconds(4) { complain("a shard's turn takes \(waited)") }
    }

    // MARK: Reports

    func judge(death id: ActivityID) {
        guard let index = phones.firstIndex(where: { $0.id == id }) else {
            return complain("\(id) is not known, and dies")
        }
        phones[index].deathsTold += 1
        if !phones[index].isDead { complain("activity \(id.rawValue) is told to be dead") }
    }

    func judge(_ fate: ActivityFate, of id: ActivityID) {
        let phone = phones.firstIndex { $0.id == id }
        switch fate {
        case .refused where phone == nil: strangers[id, default: 0] -= 1
        case .notEnded: if let phone { phones[phone].staysSince = sequence }
        default: break
        }
    }

    func judge(line: String) {
        if let wrong = lines.heard(line, at: clock.now) { complain(wrong) }
    }

    func answered(_ number: Int) {
        questions[number].answers += 1
        if questions[number].answers > 1 { complain("question \(number) is answered twice") }
    }

    /// Checks that every phone that can have them has the events taken before the question, or newer ones.
    func judge(_ settlement: Settlement, of number: Int) {
        answered(number)
        onHappening?("question \(number): \(settlement)")
        met.settled += settlement == .unknown ? 0 : 1
        let question = questions[number]
        guard settlement != .unknown else {
            if !isStopping, clock.now < question.until ?? .never { complain("a settle is given up before its time") }
            return
        }
        if settlement == .refused, !phones.contains(where: { $0.wasRefused }) {
            complain("nobody was refused anything")
        }
        for phone in phones where !phone.isGone {
            guard let choice = phone.choices.last, choice.sequence <= question.sequence,
                choice.sequence > phone.staysSince
            else { continue }
            guard settlement == .complete || phone.refused == nil else { continue }
            if let missing = missing(from: phone, choice.topic, since: choice.sequence, question) {
                complain("settled, though activity \(phone.id.rawValue) \(missing)")
            }
        }
    }

    private func missing(
        from phone: Phone, _ topic: TopicID?, since sequence: Int, _ question: Question
    ) -> String? {
        guard let id = topic else { return "has not been ended" }
        guard let topic = topics[id] else { return nil }
        if let end = topic.endedBy, end <= question.sequence {
            return sequence < end && apps[phone.app].shown[id] != nil ? "lacks the end of \(id)" : nil
        }
        // Paused topics and apps are not waited for.
        guard question.pauses == pauses, !question.pausedApps.contains(phone.app), let number = question.numbers[id]
        else {
            return nil
        }
        let shown = phone.shown.flatMap { meanings[$0] }
        if number > 0, shown?.topic != id || shown!.number < number {
            return "shows \(shown.map { "\($0.number) of \($0.topic)" } ?? "nothing"), not \(number) of \(id)"
        }
        return nil
    }

    // MARK: After a calm

    /// Returns a description of a state that should have arrived everywhere by now and has not.
    func missing() -> String? {
        if core.isCongested { return "the core waits for room in a ring" }
        if nodes.contains(where: { $0.turn.shard.isFeedbackFull }) { return "a shard waits for room in a ring" }
        if events.waiting != 0 { return "\(events.waiting) events wait to be decided" }
        for (id, topic) in topics where topic.endedBy == nil && !isPaused(topic) {
            for app in apps where !app.isPaused {
                let shown = app.shown[id].flatMap { meanings[$0.state.bytes] }?.number
                if shown != topic.number { return "\(id) is at \(topic.number), and \(shown ?? 0) is published" }
            }
        }
        for phone in phones where !phone.isGone {
            let who = "activity \(phone.id.rawValue)"
            guard let choice = phone.choices.last, choice.sequence > phone.staysSince else { continue }
            guard let id = choice.topic else { return "\(who) left, and has not been ended" }
            guard let newest = apps[phone.app].shown[id], phone.refused != newest.state.bytes else { continue }
            if newest.event == .end, choice.sequence < topics[id]?.endedBy ?? .max { return "\(who) lacks an end" }
            if newest.event == .update, phone.shown != newest.state.bytes { return "\(who) shows an old state" }
        }
        if strangers.values.contains(where: { $0 != 0 }) { return "what was refused was not told" }
        return deathUntold()
    }

    func deathUntold() -> String? {
        if let phone = phones.first(where: { $0.deathsTold != ($0.isDead ? 1 : 0) }) {
            return "the death of activity \(phone.id.rawValue) was told \(phone.deathsTold) times"
        }
        return nil
    }

    func unanswered() -> String? {
        let waiting = questions.count { $0.answers == 0 }
        return waiting == 0 ? nil : "\(waiting) questions wait for their answer"
    }
}
