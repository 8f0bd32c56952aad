import FanfareFanOut
import FanfareModel

extension World {
    /// Checks everything that can be said of a push when it is pulled. Numbers in the texts are the design's invariants.
    func judge(_ payload: Payload, to index: Int, token: [UInt8], from node: Node) -> String? {
        let phone = phones[index]
        counts.pushes += 1
        let sight = sight(of: payload, to: phone, token: token, from: node)
        if let violation = sight.violation(of: Sight.judges) { return violation }
        if payload.event == .start {
            counts.starts += 1
            if phone.card?.renews != nil { counts.renewals += 1 }
            return judgeLane(of: payload, for: phone, from: node) ?? judgeStart(payload, to: phone, from: node)
        }
        if !phone.hasToken { return "a push to a card without a token (L7)" }
        if let violation = judgeLane(of: payload, for: phone, from: node) { return violation }
        var isExpiring = false
        if let served = phone.served {
            if payload.event == .end {
                if let violation = judgeEnd(of: index, served: served, from: node) { return violation }
                isExpiring = isAlmostOver(phone)
            }
            if payload.event == .end, payload.state.isEmpty {
                // An end for the age of a card that never had a state.
                guard !node.topics.hasNews(for: phone.following),
                    sight.isUnseen || payload.dismissalDate ?? .max < moment.wallSeconds
                else {
                    return "an end without a state"
                }
                return nil
            }
            if let violation = judgeState(of: payload, shown: served, for: phone, from: node) { return violation }
            if case .lineup(let topics, _) = served, !isExpiring,
                let violation = judgeGathering(payload, lineup: topics, to: phone, from: node)
                    ?? judgeRotation(payload, lineup: topics, to: index, from: node)
            {
                return violation
            }
        } else if payload.event != .end || !sight.isUnseen && payload.dismissalDate ?? .max > moment.wallSeconds {
            return "something else than one private end after an unfollow"
        }
        if payload.alert != nil { counts.alerts += 1 }
        if let told = sight.told, told.count > 1 { counts.joinedAlerts += 1 }
        return sight.violation(of: Sight.attentionJudges)
    }

    private func sight(of payload: Payload, to phone: Phone, token: [UInt8], from node: Node) -> Sight {
        Sight(
            payload: payload, token: token, phone: phone, published: node.topics, moment: moment,
            engine: node.clock.moment, lifetime: lifetime,
            isUnseen: node.service.isRevoked(at: moment.monotonic) || node.jwt?.fault != nil,
            faultOfJWT: node.jwt.flatMap { node.credentials?.judge($0, at: moment.monotonic) },
            told: payload.alert.flatMap(feed.alerts.told))
    }

    /// Checks the state against the newest one for members of the audience, written independently of the engine and as plainly as possible.
    func judgeState(
        of payload: Payload, shown audience: AudienceKey, for phone: Phone, from node: Node
    ) -> String? {
        let carried = payload.alert.flatMap(feed.alerts.told)?.first.flatMap { feed.alerts[$0] }
        switch audience {
        case .topic(let topic):
            guard let newest = node.topics.newest(topic, for: phone.following) else { return "a state of nothing" }
            let state = carried?.alert.highlight.map(newest.state.highlighting) ?? newest.state.bytes
            guard payload.state == state else {
                return "not the newest state: \(String(decoding: payload.state, as: UTF8.self)) (1)"
            }
            return nil
        case .lineup(let topics, _):
            return lineupJudge(of: node).judge(payload, carrying: carried, lineup: topics, for: phone)
        }
    }

    /// Returns a judge of what the node's lineups show now.
    func lineupJudge(of node: Node) -> LineupJudge {
        LineupJudge(rules: options.lineupRules, published: node.topics, now: moment.monotonic)
    }

    /// Judges only worlds with one activity, because another member of the lineup may have waited for the first alert.
    private func judgeGathering(
        _ payload: Payload, lineup topics: [TopicID], to phone: Phone, from node: Node
    ) -> String? {
        guard options.activitiesMax == 1 else { return nil }
        return lineupJudge(of: node).gathering(payload, lineup: topics, to: phone)
    }

    private func judgeRotation(_ payload: Payload, lineup topics: [TopicID], to index: Int, from node: Node) -> String?
    {
        guard lineupJudge(of: node).isRotation(topics, to: phones[index]) else { return nil }
        let violation = phones[index].lineup.rotation.seen(
            payload, isLive: topics.contains { node.topics.latest[$0]?.event == .update },
            after: moment.monotonic - phones[index].following.joinedAt, granting: options.lineupRules.rotationPushes)
        if violation == nil { counts.rotations += 1 }
        return violation
    }

    /// Returns how many death reports a removed phone must have. A nameless phone has none, because its name means another card; a renewed
    /// card that has lost its first name may still be reported under the name that it alone has.
    private func deathReportsExpected(of phone: Phone) -> ClosedRange<Int> {
        guard phone.naming.isDetached else { return 1...1 }
        return phone.card == nil || phones.count { $0.id == phone.id } > 1 ? 0...0 : 0...1
    }

    /// Checks what must hold once the feed is quiet and all pushes are answered.
    func globallyViolated() -> String? {
        if let lost = feed.pendingChange() { return lost }
        for phone in phones
        where !phone.life.isGone && !phone.life.isExpired && !isBetweenCards(phone) && !isOutlivedAndLetGo(phone) {
            guard phone.hasToken else {
                if let card = phone.card, !card.isOut, nodes[phone.node].topics.hasNews(for: phone.following) {
                    return "\(card.name) was never started (L7)"
                }
                continue
            }
            // A phone that left with an end in flight stays where it was until the end is taken or the card is gone.
            if phone.life.hasLeft, isLetGo(phone) { continue }
            guard let served = phone.served else {
                return "activity \(phone.id.rawValue) left and was never ended (3)"
            }
            let node = nodes[phone.node]
            guard node.topics.hasNews(for: phone.following) else { continue }
            if phone.states.accepted == nil, phone.states.refusedSerial == nil {
                return "activity \(phone.id.rawValue) never got a state (1)"
            }
            // A refused state is not due again before a newer one.
            if phone.states.refusedSerial != nil { continue }
            for state in [phone.states.accepted, phone.states.shown].compactMap(\.self) {
                if let violation = stale(state, of: phone, beside: served, node: node) {
                    return "activity \(phone.id.rawValue) shows \(violation) (1)"
                }
            }
            // A silenced phone may have been settled without a push if it had the newest state.
            if let lost = phone.alerts.stillMissed(at: moment.monotonic).last(where: { !$0.mayBeSettled }) {
                return "activity \(phone.id.rawValue) never got alert \(lost.alert.text.title) (4)"
            }
        }
        // The start of a card that was let go of in the meantime is not reported.
        for phone in phones
        where (phone.life.isRemoved || phone.life.isDead && phone.life.isGone) && phone.naming.isIntroduced
            && !deathReportsExpected(of: phone).contains(phone.life.deathReports)
            && (phone.hasToken || !phone.life.hasLeft)
        {
            return "the death of activity \(phone.id.rawValue) was reported \(phone.life.deathReports) times"
        }
        for node in nodes {
            if let grown = grown(node) { return grown }
            let (lacked, doubtful) = refused(by: node)
            if let violation = node.judges.violation(lacked: lacked, doubtful: doubtful) { return violation }
        }
        return nil
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
        for phone in phones where nodes[phone.node] === node && !phone.life.isGone && !isOutlivedAndLetGo(phone) {
            guard let serial = phone.states.refusedSerial, let served = phone.served else { continue }
            // A new member may get the rest of earlier publications without delaying them; a state shown
            // again because of a wrong clock delays none either.
            if case .topic = served, !phone.life.isExpired, let at = node.judges.completions.published[serial]?.at,
                phone.following.memberSince < at,
                phone.states.acceptedSerial < serial
            {
                lacked.insert(serial)
            }
            for (serial, published) in node.judges.completions.published where served.topics.contains(published.topic) {
                doubtful.insert(serial)
            }
        }
        return (lacked, doubtful.subtracting(lacked))
    }

    /// Checks that the accepted state is the newest version, apart from the highlighted key, which follows the alert.
    func stale(_ accepted: [UInt8], of phone: Phone, beside audience: AudienceKey, node: Node) -> String? {
        var newest: [TopicID: [Publication]] = [:]
        for topic in audience.topics { newest[topic] = node.topics.newest(topic, for: phone.following).map { [$0] } }
        return stale(accepted, beside: audience, versions: newest, node: node)
    }

    /// - Parameter versions: acceptable versions of each topic, the newest last.
    func stale(
        _ accepted: [UInt8], beside audience: AudienceKey, versions: [TopicID: [Publication]], node: Node
    ) -> String? {
        switch audience {
        case .topic(let topic):
            guard let versions = versions[topic], let newest = versions.last else { return nil }
            let keys = [
                "homeScore", "awayScore", "homeYellow", "awayYellow", "homeRed", "awayRed", "period", "lastEvent",
            ]
            if versions.contains(where: { version in keys.contains { version.state.highlighting($0) == accepted } }) {
                return nil
            }
            return
                "\(String(decoding: accepted, as: UTF8.self)), not \(String(decoding: newest.state.bytes, as: UTF8.self))"
        case .lineup(let topics, _): return lineupJudge(of: node).stale(accepted, lineup: topics, versions: versions)
        }
    }
}
