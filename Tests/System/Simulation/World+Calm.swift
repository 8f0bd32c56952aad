import FanfareFanOut
import FanfareModel
import FanfareQueues

/// Feedback of the shards, and the calm in which everything settles.
extension World {
    /// Ends the shard's turn.
    ///
    /// - Returns: `true` if the shard had feedback to send, and room for it.
    @discardableResult
    func tell(_ node: Node) -> Bool {
        node.shard.requestStamps(at: node.clock.moment)
        return node.shard.sendFeedback(to: &node.rings.sendFeedback)
    }

    /// Drains a shard's feedback in the core, and sends the commands that waited for room.
    ///
    /// - Returns: `true` if there was any.
    func takeFeedback(_ node: Node, limit: Int) -> Bool {
        var taken = 0
        while taken < limit, let fact = node.rings.feedback.pop() {
            taken += 1
            happens("the shard says \(fact)", at: node)
            switch fact {
            case .completed(let serial, _): node.judges.completions.completed(serial)
            case .overtaken(let serial): node.judges.completions.overtook(serial)
            case .deadToken(let id):
                let index =
                    phones.firstIndex {
                        $0.id == id && $0.life.isRemoved && !$0.naming.isDetached && !$0.naming.isForgotten
                            && $0.life.deathReports == 0
                    } ?? phones.lastIndex { $0.id == id }
                if let index { phones[index].life.deathReports += 1 }
            case .report(let line): node.judges.deadTokens.heard(line)
            case .fate(let id, let fate):
                guard let index = phones.lastIndex(where: { $0.id == id && isMeant($0, by: fate) }) else { break }
                let judge = FateJudge(
                    phone: phones[index], age: age(of: phones[index]),
                    successor: phones.first { $0.card?.renews == index })
                falsehood = falsehood ?? judge.seen(fate).map { "activity \(id.rawValue): \($0)" }
                switch fate {
                case .expired: phones[index].life.isExpired = true
                case .renewed:
                    phones[index].life.isReplaced = true
                    // Otherwise the card has left for its successor and still gets its end.
                    let lasted = phones[index].following.joinedAt - phones[index].life.beganAt
                    if phones[index].served != nil || lasted >= lifetime - .seconds(1) {
                        phones[index].life.isExpired = true
                    }
                case .notStarted(let failure):
                    phones[index].life.isGone = true
                    phones[index].life.isDead = failure == .deadToken
                    if failure == .deadToken { phones[index].life.deathReports += 1 }
                case .ended, .notEnded, .refused: break
                }
            case .quiet(let question, let isComplete):
                falsehood = falsehood ?? judgeAnswer(to: question, isComplete: isComplete, from: node)
            case .claims(let request): node.send(.claimed(request.ticket))
            case .stampsReach(let ceiling): node.clock.stamps.ceiling = max(node.clock.stamps.ceiling, ceiling)
            case .disposition, .counted, .fresh, .ready, .loaded, .removed, .removalChecked, .topicsCompleted,
                .showsAgain:
                break
            }
        }
        if !tell(node), taken < limit {
            // Neither the ring nor the shard holds further feedback.
            for index in phones.indices where phones[index].life.isGone && nodes[phones[index].node] === node {
                phones[index].naming.isForgotten = true
            }
        }
        return node.rings.flush() || taken > 0
    }

    /// Stops events and trouble. Everything must settle.
    func calm() -> String? {
        for node in nodes { node.clock.mend() }
        // Nothing waits for its interval after that, and a corrected clock is believed.
        pass(milliseconds: 2000)
        pass(milliseconds: 8000)
        isMisconfigured = false
        for node in nodes {
            node.service.mend()
            if random.chance(0.5) { ask(node) }
        }
        // Tokens that are sick for good stay so until all other phones have the newest state.
        var quietSince = moment.monotonic
        for index in phones.indices
        where histories[index].health.sickness != nil && phones[index].isLive && phones[index].hasToken {
            if random.chance(0.5) { rotateToken(of: index) }
        }
        var looksForRenewed = true
        for round in 0..<20_000 {
            // Some worlds have no phone left that could show that tokens are alive; and a token that is also
            // sick is not known to be dead before it is mended.
            if round % 200 == 199 {
                for node in nodes where node.judges.deadTokens.isShut { node.send(.confirmDeadTokens) }
            }
            var busy = false
            if looksForRenewed, moment.monotonic > quietSince + .seconds(10) {
                looksForRenewed = false
                if let neglected = violation(of: [NewTokenJudge()]) { return neglected }
            }
            let patience = NeglectJudge.patience + .seconds(40)
            if moment.monotonic > quietSince + patience, histories.contains(where: { $0.health.sickness != nil }) {
                if let neglected = violation(of: [NeglectJudge()]) { return neglected }
                for index in phones.indices { histories[index].health.sickness = nil }
            }
            for node in nodes {
                while deliverCommand(to: node) || takeFeedback(node, limit: .max) {}
                // Sends as much as can leave at once, and everything that the answers make due.
                for _ in 0..<1000 {
                    if let violation = pull(node) ?? locallyViolated() { return violation }
                    if node.flying.isEmpty { break }
                    while !node.flying.isEmpty { complete(node) }
                }
                while takeFeedback(node, limit: .max) { busy = true }
                busy = busy || !node.shard.isQuiet || !node.rings.backlog.isEmpty
            }
            if !busy { return globallyViolated() }
            // A feed's silence may have ended a topic.
            if pass(milliseconds: 500) { quietSince = moment.monotonic }
        }
        return "nothing settles: \(nodes.map { $0.shard.statistics.owed }) pushes are still owed"
    }
}
