import FanfareFanOut
import FanfareModel
import FanfareTestSupport

extension World {
    /// Checks everything that can be said of a push when it is pulled. Numbers in the texts are the design's invariants.
    func judge(_ payload: Payload, to index: Int, token: [UInt8], from node: Node) -> String? {
        counts[.pushes] += 1
        let sight = sight(of: payload, to: index, token: token, from: node)
        if let violation = sight.violation(of: Sight.judges) { return violation }
        if payload.event == .start {
            counts[.starts] += 1
            if sight.phone.card?.renews != nil { counts[.renewals] += 1 }
        }
        if let violation = judgeLane(of: payload, for: sight, from: node)
            ?? sight.violation(of: Sight.cardJudges)
        {
            return violation
        }
        if payload.event == .start || sight.isEndWithoutState { return nil }
        if payload.event != .end || !sight.age.isAlmostOver, let violation = judgeRotation(sight, to: index) {
            return violation
        }
        if payload.alert != nil { counts[.alerts] += 1 }
        if let told = sight.told, told.count > 1 { counts[.joinedAlerts] += 1 }
        return sight.violation(of: Sight.attentionJudges)
    }

    private func sight(of payload: Payload, to index: Int, token: [UInt8], from node: Node) -> Sight {
        let told = payload.alert.flatMap(feed.alerts.told)
        return Sight(
            payload: payload, token: token, phone: phones[index], history: histories[index], published: node.topics,
            moment: moment, engine: node.clock.moment, lifetime: lifetime,
            isUnseen: node.service.isRevoked(at: moment.monotonic) || node.jwt?.fault != nil,
            faultOfJWT: node.jwt.flatMap { node.credentials?.judge($0, at: moment.monotonic) },
            told: told, carried: told?.first.flatMap { feed.alerts[$0] }, lineupRules: options.lineupRules,
            succession: succession(of: index, at: payload.event), isAlone: options.activitiesMax == 1)
    }

    private func succession(of index: Int, at event: Payload.Event) -> Succession {
        var succession = Succession()
        if event == .start, let old = phones[index].card?.renews {
            succession.isUnwanted = phones[old].life.isEndedEarly
        }
        if event == .end, let successor = successor(of: index) {
            succession.isUnderWay = phones[successor].card?.isOut == true
        }
        return succession
    }

    /// Returns a judge of the states that the node's phones show now.
    func stateJudge(of node: Node) -> StateJudge {
        StateJudge(
            lineups: LineupJudge(rules: options.lineupRules, published: node.topics, now: moment.monotonic))
    }

    private func judgeRotation(_ sight: Sight, to index: Int) -> String? {
        guard case .lineup(let topics, _) = sight.phone.served,
            sight.states.lineups.isRotation(topics, after: sight.history)
        else { return nil }
        let violation = histories[index].lineup.rotation.seen(
            sight.payload, isLive: topics.contains { sight.published.latest[$0]?.event == .update },
            after: sight.now - sight.phone.following.joinedAt, granting: options.lineupRules.rotationPushes)
        if violation == nil { counts[.rotations] += 1 }
        return violation
    }

    /// Checks what must hold once the feed is quiet and all pushes are answered.
    func globallyViolated() -> String? {
        if let lost = feed.pendingChange() { return lost }
        if let violation = violation(of: CalmSight.settledJudges) { return violation }
        for node in nodes {
            if let grown = grown(node) { return grown }
            let (lacked, doubtful) = refused(by: node)
            if let violation = node.judges.violation(lacked: lacked, doubtful: doubtful) { return violation }
        }
        return nil
    }

    /// Asks each judge of a calm about all phones.
    func violation(of judges: [any CalmJudge]) -> String? {
        let troubles = nodes.map { trouble(of: $0) }
        for judge in judges {
            for index in phones.indices {
                if let violation = judge.seen(calmSight(of: index, in: troubles[phones[index].node])) {
                    return violation
                }
            }
        }
        return nil
    }

    private func trouble(of node: Node) -> NodeTrouble {
        NodeTrouble(
            isGuardShut: node.judges.deadTokens.isShut,
            isSick: zip(phones, histories).contains { phone, history in
                history.health.sickness != nil && phone.node == node.index && !phone.life.isGone
                    && !phone.life.isExpired
            }, isFull: node.shard.isFeedbackFull)
    }

    private func calmSight(of index: Int, in trouble: NodeTrouble) -> CalmSight {
        let phone = phones[index]
        let isThere = !phone.life.isGone && !phone.life.isExpired
        let node = nodes[phone.node]
        return CalmSight(
            phone: phone, history: histories[index], states: stateJudge(of: node), age: age(of: phone),
            isBetweenCards: isThere && isBetweenCards(phone),
            isOutlivedAndLetGo: isThere && isOutlivedAndLetGo(phone),
            hasNamesake: phone.naming.isDetached && phones.count { $0.id == phone.id } > 1,
            awaitsClaim: node.shard.awaitsClaim(phone.id), trouble: trouble)
    }

    /// Checks the shard's topics: it keeps those that the core keeps and those that a phone shows.
    private func grown(_ node: Node) -> String? {
        var kept = feed.history.kept
        for phone in phones
        where nodes[phone.node] === node && !phone.life.isGone && !(phone.life.isExpired && isLetGo(phone)) {
            kept.formUnion((phone.served ?? phone.following.left)?.topics ?? [])
        }
        guard node.shard.topicCount > kept.count else { return nil }
        return "\(node.shard.topicCount) topics are kept, and \(kept.count) are any use"
    }

    /// Returns the publications that some follower lacks for good, and those of which a lineup may have been refused a
    /// part; the latter may have been complete before.
    private func refused(by node: Node) -> (lacked: Set<UInt64>, doubtful: Set<UInt64>) {
        var (lacked, doubtful): (Set<UInt64>, Set<UInt64>) = ([], [])
        for (phone, history) in zip(phones, histories)
        where nodes[phone.node] === node && !phone.life.isGone && !isOutlivedAndLetGo(phone) {
            guard let serial = history.states.refusedSerial, let served = phone.served else { continue }
            // A new member may get the rest of earlier publications without delaying them; a state shown
            // again because of a wrong clock delays none either.
            if case .topic = served, !phone.life.isExpired, let at = node.judges.completions.published[serial]?.at,
                phone.following.memberSince < at,
                history.states.acceptedSerial < serial
            {
                lacked.insert(serial)
            }
            for (serial, published) in node.judges.completions.published where served.topics.contains(published.topic) {
                doubtful.insert(serial)
            }
        }
        return (lacked, doubtful.subtracting(lacked))
    }
}
