import FanfareFanOut
import FanfareModel

/// Troubles of a node or its people, which end when the world goes quiet.
extension World {
    /// Makes a trouble, or lets several people do the same at once.
    func makeTrouble() {
        let node = nodes.randomElement(using: &random)!
        let now = moment.monotonic
        let live = phones.indices.filter { phones[$0].isLive && nodes[phones[$0].node] === node }
        // Renewed cards are seldom held for long.
        if options.handsOver, node.judges.deadTokens.isShut, random.chance(0.3) { reRegisterHeld(live, at: node) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            if options.stepsClocks {
                let isProven = node.credentials?.hasBeenAccepted == true
                node.clock.set(at: moment, daysLast: isProven ? 300 : 4, using: &random)
            }
        case 1:
            guard options.sickens else { break }
            // A renewed card soon gets a new token, so more tokens must fall sick.
            for _ in 0..<(options.handsOver ? 4 : 1) {
                guard let index = live.randomElement(using: &random) else { break }
                histories[index].health.sickness = [.fails, .isSilent, nil].randomElement(using: &random)!
            }
        case 2:
            if options.sickens {
                node.service.wedge(salt: random.next(), answers: Int.random(in: 1...20, using: &random))
            }
        case 3:
            if options.revokesKeys, random.chance(options.handsOver ? 0.6 : 0.3) {
                revokeKey(of: node)
            }
        case 4:
            if options.hasCrowds, random.chance(0.2) {
                for index in live where random.chance(0.9) { unfollow(index) }
            }
        case 5:
            if options.hasCrowds, random.chance(0.3) {
                for _ in 0..<options.activitiesMax / 2 { follow(on: node.index) }
            }
        case 6:
            if options.sickens, random.chance(0.3) {
                node.service.fail(until: now + .seconds(Int64.random(in: 1...200, using: &random)))
            }
        case 7:
            if options.hasCrowds, random.chance(0.3) {
                var nothing = Subscriber()
                nothing.mask = .none
                for index in live { setPreferences(index, nothing) }
            }
        default:
            if node.judges.deadTokens.isShut { reRegisterHeld(live, at: node) }
            // Every app registers again; nothing changes, but there are many commands.
            if options.hasCrowds, random.chance(0.1) {
                for index in live where phones[index].card == nil { reRegister(index) }
            }
        }
    }

    /// Revokes the key with which the node signs, so that no push in flight is taken.
    private func revokeKey(of node: Node) {
        node.service.revokeKey(until: moment.monotonic + .seconds(Int64.random(in: 1...60, using: &random)))
        for index in node.flying.indices {
            let (payload, phone) = (node.flying[index].payload, node.flying[index].phone)
            if payload.event == .start {
                // A card that was seen cannot be lost.
                guard phones[phone].card?.isReported == false else { continue }
                phones[phone].screen.lostStart()
            }
            node.flying[index].outcome = .notProcessed
            node.flying[index].arrives = false
            if let meeting = meeting(of: payload, to: phone) { troubles.note(.revokedKey, meeting) }
        }
    }

    private func reRegisterHeld(_ live: [Int], at node: Node) {
        for index in live where histories[index].health.isHeld {
            reRegister(index)
            histories[index].health.wasHeld = true
        }
    }

    /// Registers the activity again, mostly with a new token.
    private func reRegister(_ index: Int) {
        guard phones[index].card == nil, phones[index].naming.isIntroduced, random.chance(0.5) else {
            if phones[index].hasToken { rotateToken(of: index) }
            return
        }
        if random.chance(0.5) { phones[index].tokens.renew(using: &random) }
        send(
            .follow(phones[index].id, phones[index].audience, token: phones[index].tokens.current),
            to: phones[index].node)
    }

    /// Draws the outcome of a push that leaves now.
    func fate(of index: Int, from node: Node) -> Fate {
        let phone = phones[index]
        if node.service.isRevoked(at: moment.monotonic) {
            return Fate(.notProcessed, by: .revokedKey)
        }
        if node.jwt?.fault != nil { return Fate(.notProcessed) }
        if node.service.fails(at: moment.monotonic) { return Fate(.serviceError, by: .outage) }
        if isMisconfigured { return Fate(.deadToken, by: .wrongEnvironment) }
        if phone.life.isDead { return Fate(.deadToken, by: .deadToken) }
        if random.chance(options.dead) {
            phones[index].life.isDead = true
            return Fate(.deadToken, by: .deadToken)
        }
        switch histories[index].health.sickness {
        case .fails: return Fate(.serviceError, by: .sickToken)
        case .isSilent: return Fate(.uncertain, by: .silentToken)
        case nil: break
        }
        if node.service.wedges(index + 1) { return Fate(.serviceError, by: .wedgedConnection) }
        if random.chance(options.throttled) { return Fate(.throttled, by: .throttled) }
        if random.chance(options.notProcessed) { return Fate(.notProcessed, by: .notProcessed) }
        if random.chance(options.refused) { return Fate(.refused, by: .refused) }
        if random.chance(options.uncertain) { return Fate(.uncertain, arrives: random.chance(0.5), by: .noAnswer) }
        return Fate(.accepted, arrives: true)
    }

    struct Fate {
        let outcome: DeliveryOutcome
        let arrives: Bool
        let trouble: Trouble?

        init(_ outcome: DeliveryOutcome, arrives: Bool = false, by trouble: Trouble? = nil) {
            (self.outcome, self.arrives, self.trouble) = (outcome, arrives, trouble)
        }
    }

    /// Returns the kind of this push for the count of troubles.
    private func meeting(of payload: Payload, to index: Int) -> Meeting? {
        if isHandedOver(index) { return .handOver }
        return switch payload.event {
        case .start: .start
        case .end: .end
        case .update: payload.alert == nil ? nil : .goal
        }
    }

    /// Counts the troubles that this push has met.
    func note(_ payload: Payload, to index: Int, _ fate: Fate, from node: Node) {
        guard let meeting = meeting(of: payload, to: index) else { return }
        if let trouble = fate.trouble { troubles.note(trouble, meeting) }
        if node.clock.isAhead { troubles.note(.clockAhead, meeting) }
        if node.clock.isBack { troubles.note(.clockBack, meeting) }
        if node.judges.deadTokens.isShut { troubles.note(.shutGuard, meeting) }
        if !node.rings.backlog.isEmpty { troubles.note(.fullRing, meeting) }
        let leaving = phones.lazy.filter {
            $0.served == nil && $0.life.hasLeft && !$0.life.isGone && self.nodes[$0.node] === node
        }
        if leaving.count >= 4 { troubles.note(.massUnfollow, meeting) }
        let phone = phones[index]
        if phone.naming.wasUsed { troubles.note(.reusedID, meeting) }
        if histories[index].health.wasHeld { troubles.note(.reRegistered, meeting) }
        if phones.contains(where: {
            $0.card?.isReported == true && !$0.hasToken && !$0.life.isGone && nodes[$0.node] === node
        }) {
            troubles.note(.lostToken, meeting)
        }
        let topics = phone.served?.topics ?? []
        if topics.contains(where: { node.topics.latest[$0].map { feed.disorder.serials.contains($0.serial) } == true })
        {
            troubles.note(.disorderedEvent, meeting)
        }
        if topics.contains(where: feed.history.reopened.contains) { troubles.note(.reopened, meeting) }
        if topics.contains(where: feed.history.reborn.contains) { troubles.note(.reborn, meeting) }
    }
}
