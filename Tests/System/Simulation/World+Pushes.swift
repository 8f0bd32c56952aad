import FanfareFanOut
import FanfareModel

/// Pushes on their way to the phones, and the answers to them.
extension World {
    /// Reads the node's clock, from which its next JWT is made.
    private func readTime(of node: Node) {
        guard node.credentials != nil else { return }
        let now = moment.monotonic
        node.clock.provenOrigin = node.credentials?.provenOrigin
        node.clock.read(at: moment)
        node.credentials?.note(isClockRight: node.clock.isRight, at: now)
        if node.credentials?.knowsAnotherTime(at: node.clock.moment) == true { node.service.tryNow(at: now) }
    }

    /// Judges the node's JWT by the answer.
    private func judgeTime(by flight: Flight, of node: Node) {
        guard let jwt = flight.jwt else { return }
        if let fault = jwt.fault {
            let now = moment.monotonic
            let isMended = node.credentials?.refused(jwt, as: fault, at: node.clock.moment) ?? false
            happens(
                "JWT \(jwt.serial) is refused: \(fault), \(isMended ? "another" : "no other") one is tried", at: node)
            if !isMended { node.service.refusesAll(at: now) }
        } else {
            switch flight.outcome {
            case .accepted, .deadToken, .throttled: node.credentials?.accepted(jwt)
            default: break
            }
        }
    }

    /// Releases the phones whose dead tokens the shard tries again now.
    private func releaseHeld(of node: Node) {
        guard !node.shard.isFeedbackFull else { return }
        let released = node.judges.deadTokens.release(at: moment.monotonic) { index, token in
            if phones[index].life.isGone || phones[index].tokens.served != token { return .hasGone }
            return isLetGo(phones[index]) ? .mayHaveGone : .stays
        }
        for index in released { histories[index].health.isHeld = false }
    }

    func pull(_ node: Node) -> String? {
        readTime(of: node)
        let room = node.service.limit(
            options.window - node.flying.count, flying: node.flying.count, at: moment.monotonic)
        guard room > 0 else { return nil }
        noteClockStep(of: node)
        noteSettled(by: node)
        releaseHeld(of: node)
        var batch = DeliveryBatch()
        node.jwt = node.credentials?.current(at: node.clock.moment, truth: moment)
        let mayBring = node.shard.mayHavePushes(at: node.clock.moment)
        // As a pool that tries whether the service works.
        node.judges.lanes.isByLot = Int.random(in: 0..<8, using: &random) == 0
        let number = node.judges.lanes.isByLot ? random.next() : UInt64(Int.random(in: 1...room, using: &random))
        // A pool asks a shard for nothing that has nothing to send; to ask all the same is to bring nothing.
        if mayBring { node.vainPulls = 0 } else { node.vainPulls += 1 }
        if mayBring || node.vainPulls.isMultiple(of: 2) {
            if node.judges.lanes.isByLot {
                node.shard.pullByLot(number, at: node.clock.moment, into: &batch)
            } else {
                node.shard.pull(limit: Int(number), at: node.clock.moment, into: &batch)
            }
        }
        if !mayBring, !batch.deliveries.isEmpty { return "a shard that has nothing to send brings a push" }
        for delivery in batch.deliveries {
            let token = Array(batch.tokens[delivery.token])
            let payload = batch.payload(of: delivery)
            let isStart = payload.event == .start
            guard
                let phone = isStart
                    ? phone(startedBy: payload, to: token) : phones.firstIndex(where: { $0.tokens.hasUsed(token) })
            else { return "a push to an unknown token, or a start out of time" }
            if let violation = judge(payload, to: phone, token: token, from: node) {
                return "activity \(phones[phone].id.rawValue): \(violation)"
            }
            let fate = fate(of: phone, from: node)
            happens(
                "\(payload.event) to phone \(phone): \(fate.outcome) \(fate.arrives), stamp \(payload.stamp), "
                    + "\(payload.alert.map { "\($0.title) \($0.body)" } ?? "silent"), "
                    + "\(String(decoding: payload.state, as: UTF8.self))", at: node)
            digest(UInt64(phone), UInt64(payload.stamp), payload.state.fnv1a)
            note(payload, to: phone, fate, from: node)
            let told = payload.alert.flatMap(feed.alerts.told) ?? []
            sent(payload, to: phone, telling: told, from: node)
            if isStart {
                phones[phone].sentStart(
                    arrives: fate.outcome == .accepted || fate.arrives, at: moment.monotonic)
            }
            node.flying.append(
                Flight(
                    delivery: delivery, payload: payload, told: told, phone: phone, token: token,
                    outcome: fate.outcome, arrives: fate.arrives, jwt: node.jwt,
                    isTaken: Screen.takes(payload.stamp, at: moment),
                    trouble: fate.trouble))
        }
        tell(node)
        return nil
    }

    func complete(_ node: Node) {
        guard !node.flying.isEmpty else { return }
        var flight = node.flying.remove(at: Int.random(in: 0..<node.flying.count, using: &random))
        digest(UInt64(flight.phone))
        // A token that was replaced during its push may be dead by now.
        let isStart = flight.payload.event == .start
        let wasSeen = isStart && phones[flight.phone].card?.isReported == true
        if flight.token != phones[flight.phone].tokens.served, flight.outcome == .accepted, !wasSeen, random.chance(0.5)
        {
            (flight.outcome, flight.arrives) = (.deadToken, false)
            if isStart { phones[flight.phone].screen.lostStart() }
        }
        happens("answer to phone \(flight.phone): \(flight.outcome)", at: node)
        if isStart {
            let outage = flight.trouble == .outage ? node.service.outages : nil
            phones[flight.phone].card?.answered(flight.outcome, outage: outage)
        }
        let completion = DeliveryCompletion(
            slot: flight.delivery.slot, generation: flight.delivery.generation, outcome: flight.outcome)
        let activities = node.shard.statistics.activities
        node.shard.complete([completion], at: node.clock.moment)
        var isHeld = false
        if flight.outcome == .accepted {
            node.judges.deadTokens.answered(dead: false)
        } else if flight.outcome == .deadToken, flight.token == phones[flight.phone].tokens.served {
            node.judges.deadTokens.answered(dead: true)
            // From outside it is unknown whether a card that is ended for its age is already leaving and is to be removed.
            let mayGo = flight.payload.event == .end && isAlmostOver(phones[flight.phone])
            isHeld =
                node.judges.deadTokens.isShut && phones[flight.phone].served != nil
                && !phones[flight.phone].naming.isDetached
                && !(mayGo && node.shard.statistics.activities < activities)
            if isHeld { node.judges.deadTokens.hold(flight.phone, flight.token, at: moment.monotonic) }
        }
        node.service.answered(flight.outcome, at: moment.monotonic)
        judgeTime(by: flight, of: node)
        // From outside it is unknown whether the age scan or the topic's end ended the card first.
        if flight.outcome == .refused, flight.payload.event == .end, isAlmostOver(phones[flight.phone]) {
            phones[flight.phone].life.isExpired = true
        }
        answered(flight, isHeld: isHeld)
        if let audience = phones[flight.phone].following.postponed {
            phones[flight.phone].following.postponed = nil
            if phones[flight.phone].served != nil {
                join(flight.phone, audience)
                note(phones[flight.phone].served, of: node)
            }
        }
        if isHeld, node.judges.deadTokens.isInDoubt { histories[flight.phone].health.isHeld = false }
        if phones[flight.phone].life.isGone, !isLetGo(phones[flight.phone]) {
            phones[flight.phone].life.isEndedEarly = true
        }
        forgetEmptyLineups(of: node)
        if phones[flight.phone].life.isGone, random.chance(options.echo) { node.echoes.append(completion) }
        if random.chance(0.1), let echo = node.echoes.popLast() {
            node.shard.complete([echo], at: node.clock.moment)
        }
        tell(node)
    }
}
