import FanfareFanOut
import FanfareModel
import FanfareQueues

/// Commands on their way to the shards, and what each of them means for the phones.
extension World {
    /// Sends the shard a follow, of an activity without a card or of one that the app has started.
    ///
    /// - Returns: `true` if the command may be sent.
    private func followed(_ index: Int, _ audience: AudienceKey, _ token: [UInt8]) -> Bool {
        let now = moment.monotonic
        // No app follows with a card that is gone or about to go.
        guard !phones[index].life.isGone else { return false }
        if phones[index].naming.isIntroduced {
            guard !phones[index].naming.isDetached, !isTooOld(index) else { return false }
            guard !isEnding(index, named: audience) || token == phones[index].tokens.served else { return false }
            if phones[index].served == nil, !phones[index].life.isEnding {
                // An unfollow can be taken back only by the same card.
                guard token == phones[index].tokens.served else { return false }
                phones[index].audience = audience
                phones[index].life.hasLeft = false
            }
            serves(index, token)
            // The backend was told that the card is over.
            if phones[index].life.isEnding { phones[index].following.postponed = nil }
            join(index, audience)
            return true
        }
        if let former = named(phones[index].id), former != index, !phones[former].life.isGone {
            guard phones[former].served == nil || phones[former].life.isEnding, !isTooOld(former) else {
                phones[index].life.isGone = true
                return false
            }
            partsFromName(former)
        }
        // A renewed card may lack its end, too.
        for before in phones.indices.prefix(index)
        where phones[before].id == phones[index].id && phones[before].life.isReplaced && !phones[before].life.isGone {
            partsFromName(before)
        }
        phones[index].naming.isIntroduced = true
        phones[index].life.beganAt = now
        join(index, audience)
        return true
    }

    /// Is `true` if the phone is being ended, or lacks only the end of the former tenure under the id that it is to follow.
    func isEnding(_ index: Int, named audience: AudienceKey) -> Bool {
        let phone = phones[index]
        if phone.life.isEnding { return true }
        guard case .topic(let topic) = audience, phone.served == audience else { return false }
        return phone.following.tenure < nodes[phone.node].topics.tenure(of: topic)
    }

    /// Notes that the shard knows what the phone shows from now on.
    func join(_ index: Int, _ audience: AudienceKey?) {
        let audience = audience.map(shared)
        let node = nodes[phones[index].node]
        var tenure = 0
        if case .topic(let topic) = audience { tenure = node.topics.tenure(of: topic) }
        joined(index, audience, tenure: tenure, isWaited: audience.map(node.topics.isWaited) == true)
    }

    /// - Returns: `true` if a command was waiting and the shard could take it.
    func deliverCommand(to node: Node) -> Bool {
        guard !node.shard.isFeedbackFull else { return false }
        takeCommands(of: node)
        guard let command = node.waiting.popFirst() else { return false }
        happens("\(command.summary)", at: node)
        switch command {
        case .publish(let publication): notePublished(publication, at: node)
        case .revokeAlert(_, let cause): revoke(cause, at: node)
        case .follow(let id, let audience, let token, _, _, _):
            if let index = phones.lastIndex(where: { $0.id == id && $0.tokens.hasUsed(token) }) {
                if phones[index].card != nil {
                    guard register(index, token) else { return true }
                    if phones[index].served != nil { join(index, audience) }
                } else {
                    guard followed(index, audience, token) else { return true }
                }
                note(phones[index].served, of: node)
            }
        case .start(let request, let audience):
            if let index = phones.lastIndex(where: {
                $0.card?.name == request.activity && $0.tokens.first == request.token
            }) {
                phones[index].naming.isIntroduced = true
                phones[index].life.beganAt = moment.monotonic
                join(index, audience)
                note(phones[index].served, of: node)
            } else {
                guard startsGo(to: request, audience, from: node) else { return true }
                note(audience, of: node)
            }
        case .move(let id, let audience):
            guard join(id, audience) else { return true }
            note(named(id).flatMap { phones[$0].served }, of: node)
        case .unfollow(let id): guard join(id, nil) else { return true }
        case .replaceToken(let id, let token):
            if let index = phones.lastIndex(where: { $0.id == id && $0.tokens.hasUsed(token) }) {
                // The name may mean another card by now.
                guard
                    index == phones.lastIndex(where: { $0.id == id && $0.naming.isIntroduced && !$0.naming.isDetached })
                else {
                    return true
                }
                serves(index, token)
            }
        case .setPreferences(let id, let preferences):
            guard setPreferences(preferences, of: id) else { return true }
        case .checkRemoval: break
        case .confirmDeadTokens: node.judges.deadTokens.overrule()
        case .forget(let topic): node.topics.forget(topic)
        case .reportQuiet(let question): noteQuestion(question, to: node)
        case .republish, .reportDisposition, .claimed: break
        case .publishResumed, .load, .endLoading, .followed, .reportCompletion: break  // no world restarts
        }
        node.shard.apply(command, at: node.clock.moment)
        forgetEmptyLineups(of: node)
        tell(node)
        return true
    }

    /// - Returns: `true` if the command may be sent.
    private func setPreferences(_ preferences: Preferences, of id: ActivityID) -> Bool {
        guard let index = named(id), let subscriber = wishes[preferences] else { return true }
        guard !isTooOld(index) else { return false }
        histories[index].budget.subscriber = subscriber
        if let successor = successor(of: index) { histories[successor].budget.subscriber = subscriber }
        return true
    }

    private func notePublished(_ publication: Publication, at node: Node) {
        node.judges.overtaking.applied(publication.serial)
        let now = moment.monotonic
        node.topics.note(publication, at: now)
        node.judges.completions.note(publication, at: now)
        let lineups = node.topics.lineups.keys
        node.judges.lanes.cursorBegins(
            over: lineups.count { $0.topics.contains(publication.topicID) },
            most: lineups.reduce(0) { $0 + $1.topics.count })
        for index in phones.indices
        where isServed(index, by: node) && node.topics.shows(publication.topicID, to: phones[index].following)
            && !phones[index].naming.isDetached
        {
            histories[index].noteAlert(of: publication, hasToken: phones[index].hasToken, at: now)
        }
    }

    /// Takes waiting commands from the ring, as far as there is room.
    private func takeCommands(of node: Node) {
        let room = options.waitingMax - node.waiting.count
        guard room > 0 else { return }
        var commands: [ShardCommand] = []
        _ = node.rings.commands.drain(limit: Int.random(in: 1...room, using: &random)) { commands.append($0) }
        for command in commands {
            node.judges.overtaking.took(command)
            node.waiting.append(command) { serial in
                happens("publication \(serial) is overtaken", at: node)
                falsehood = falsehood ?? node.judges.overtaking.seen(serial, overtakenBy: command)
                node.shard.reportOvertaken(serial)
            }
        }
    }

    /// Returns the selection that the shard is to make of a person's: by the schedule, the order of the picks does not matter.
    private func shared(_ audience: AudienceKey) -> AudienceKey {
        guard options.lineupRules.order == .schedule, case .lineup(let topics, let favourite) = audience else {
            return audience
        }
        return .lineup(topics.sorted { $0.rawValue < $1.rawValue }, favourite: favourite)
    }

    func note(_ audience: AudienceKey?, of node: Node) {
        let audience = audience.map(shared)
        if case .lineup = audience, let audience { node.topics.join(audience, at: moment.monotonic) }
    }

    /// Forgets lineups without members; the next member finds them new. A member without a token, or one that expires within the second in
    /// which the engine counts, may or may not keep its lineup.
    func forgetEmptyLineups(of node: Node) {
        let served = Set(
            phones.lazy.filter {
                self.nodes[$0.node] === node && !$0.life.isGone && $0.hasToken && !self.isLetGo($0)
            }.compactMap(\.served))
        node.topics.keepLineups(of: served)
        if !node.topics.waitingLineups.isEmpty {
            node.topics.keepWaitingLineups(
                of: Set(phones.lazy.filter { self.nodes[$0.node] === node && !$0.life.isGone }.compactMap(\.served)))
        }
        guard !node.topics.forgotten.isEmpty else { return }
        // The shard remembers a topic that the core has forgotten while a phone shows it.
        var (looked, surely): (Set<TopicID>, Set<TopicID>) = ([], [])
        for phone in phones where nodes[phone.node] === node && !phone.life.isGone {
            for topic in phone.served?.topics ?? [] where node.topics.shows(topic, to: phone.following) {
                looked.insert(topic)
                // A start may have been given up and an old card may have gone without a report yet.
                if phone.hasToken, !phone.life.isExpired, !isLetGo(phone) { surely.insert(topic) }
            }
        }
        node.topics.keepForgotten(looked, surely: surely)
    }

    private func isServed(_ phone: Int, by node: Node) -> Bool {
        nodes[phones[phone].node] === node && phones[phone].served != nil && !phones[phone].life.isGone
    }
}

extension ShardCommand {
    /// Description without long and uninteresting parts.
    fileprivate var summary: String {
        switch self {
        case .publish(let publication):
            "publish \(publication.serial) \(publication.topicID), \(publication.event), "
                + "\(String(decoding: publication.state.bytes, as: UTF8.self)), "
                + "\(publication.alert.map { "\($0.class) \($0.text.title) \($0.text.body)" } ?? "silent")"
        case .follow(let id, let key, let token, _, _, _): "follow \(id.rawValue), \(key), token \(token.prefix(4))"
        case .start(let request, let key): "start \(request.activity), \(key)"
        case .replaceToken(let id, let token): "replace the token of \(id.rawValue) by \(token.prefix(4))"
        default: "\(self)"
        }
    }
}
