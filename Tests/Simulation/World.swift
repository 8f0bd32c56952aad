import FanfareDecisions
import FanfareFanOut
import FanfareModel

/// Feed, decision core, shards and a network of phones in one thread, driven by one seed. Every random choice comes from the seed, so a
/// failure is reproduced by its number.
///
/// Each step does one small thing (an update arrives, a person follows, a push comes back, a second passes) and then checks every invariant
/// that holds at all times. Worlds are small, so that rare coincidences are common.
package final class World {
    /// Next thing that a world does; the weights make both quiet spells and storms.
    enum Action: CaseIterable {
        case card, goal, goals, cancelGoal, endMatch, reopen, follow, start, report, unfollow, move, rotateToken,
            prefer,
            reconfigure, trouble, ask
        case deliverCommand, pull, complete, takeFeedback, passTime

        var weight: Int {
            switch self {
            case .card: 6
            case .goal: 3
            case .goals, .cancelGoal, .endMatch, .reopen, .unfollow, .rotateToken, .prefer, .reconfigure, .ask: 1
            case .start, .trouble: 2
            case .move, .follow, .report: 4
            case .passTime: 6
            case .deliverCommand: 24
            case .pull: 16
            case .complete: 24
            case .takeFeedback: 16
            }
        }
    }

    let options: Options
    var random: SplitMix64
    var moment = Moment(wallMilliseconds: 1_790_000_000_000, monotonicNanoseconds: 1_000_000_000)
    var nodes: [Node] = []
    var feed: SimulatedFeed
    var phones: [Phone] = []
    /// Is `true` while every token looks dead.
    var isMisconfigured = false
    /// Subscribers by the preferences in their commands.
    private var wishes: [Preferences: Subscriber] = [:]
    package private(set) var steps = 0
    /// Number of pushes judged: a world in which nothing happens proves nothing.
    package internal(set) var pushesSeen = 0
    package internal(set) var alertsSeen = 0
    /// Number of pushes caused only by a lineup's rotation.
    package internal(set) var rotationsSeen = 0
    /// Number of alerts that name events of several topics.
    package internal(set) var joinedAlertsSeen = 0
    /// Number of starts among the pushes; `renewalsSeen` is the number of renewals among the starts.
    package internal(set) var startsSeen = 0
    package internal(set) var renewalsSeen = 0
    package internal(set) var troublesMet = TroublesMet()
    /// Hash of all pushes, answers and their moments; equal for a seed in every process.
    package private(set) var digest: UInt64 = 0
    /// Takes a line for everything that happens, to find the cause of a violation.
    package var onHappening: ((String) -> Void)?
    /// A wrong or missing statement of a shard.
    private var falsehood: String?

    package init(seed: UInt64, options: Options = Options()) {
        self.options = options
        random = SplitMix64(seed: seed)
        feed = SimulatedFeed(options, seed: seed)
        nodes = (0..<options.shards).map { Node($0, options, at: moment) }
        broadcast(feed.start())
    }

    /// - Returns: a violation, or `nil` after `count` steps and a final calm in which everything settled.
    package func run(steps count: Int) -> String? {
        for _ in 0..<count {
            steps += 1
            if let violation = step() ?? locallyViolated() { return "step \(steps): \(violation)" }
            // Now and then the world goes quiet, and the global invariants are checked.
            if random.chance(0.002), let violation = calm() { return "calm after step \(steps): \(violation)" }
        }
        return calm().map { "calm after step \(steps): \($0)" }
    }

    private func step() -> String? {
        var choice = Int.random(in: 0..<Action.allCases.reduce(0) { $0 + $1.weight }, using: &random)
        for action in Action.allCases {
            choice -= action.weight
            if choice < 0 { return perform(action) }
        }
        return nil
    }

    private func perform(_ action: Action) -> String? {
        switch action {
        case .card, .goal, .goals, .cancelGoal, .endMatch, .reopen, .follow, .start, .report, .unfollow, .move,
            .rotateToken,
            .prefer, .trouble, .ask:
            // Outside events are refused while the core has no room to pass them on.
            guard nodes.allSatisfy(\.backlog.isEmpty) else { return nil }
        case .reconfigure, .deliverCommand, .pull, .complete, .takeFeedback, .passTime: break
        }
        switch action {
        case .card: broadcast(feed.card(using: &random))
        case .goal: broadcast(feed.goal(using: &random))
        case .goals: broadcast(feed.goals(using: &random))
        case .cancelGoal: broadcast(feed.cancelGoal(using: &random))
        case .endMatch: broadcast(feed.end(using: &random))
        case .reopen: if options.reopens != .never { broadcast(feed.reopen(using: &random)) }
        case .follow:
            if options.handsOver, random.chance(0.8) {
                start()
            } else {
                follow(on: Int.random(in: 0..<nodes.count, using: &random))
            }
        case .start:
            if options.starts, !random.chance(0.5) || !replaceStartToken() { start() }
        case .report: report()
        case .unfollow: if let index = livePhone() { unfollow(index) }
        case .move:
            if let index = livePhone() {
                phones[index].audience = nextAudience(after: phones[index].audience)
                send(.move(anyName(of: index), phones[index].audience), to: phones[index].node)
            }
        case .rotateToken:
            if let index = livePhone(), phones[index].hasToken { rotateToken(of: index) }
        case .prefer:
            if let index = livePhone() { prefer(index, Subscriber(atMinute: minute, using: &random)) }
        case .reconfigure:
            if options.isMisconfigurable { isMisconfigured = !isMisconfigured && random.chance(0.3) }
        case .trouble: makeTrouble()
        case .ask: ask(nodes.randomElement(using: &random)!)
        case .deliverCommand: _ = deliverCommand(to: nodes.randomElement(using: &random)!)
        case .pull: return pull(nodes.randomElement(using: &random)!)
        case .complete: complete(nodes.randomElement(using: &random)!)
        case .takeFeedback:
            _ = takeFeedback(nodes.randomElement(using: &random)!, limit: Int.random(in: 1...8, using: &random))
        case .passTime:
            // Some steps go exactly to the next deadline; none is so long that alerts grow stale.
            let due = random.chance(0.2) ? feed.untilDeadline : nil
            // Steps are longer where lifetimes or silences are short, so that many of them end.
            let longest: Int64 = options.lifetime < .seconds(3600) || options.silences ? 6000 : 3000
            broadcast(feed.fallSilent())
            broadcast(feed.moveKickOff())
            pass(milliseconds: due.map { min($0, longest) } ?? Int64.random(in: 1...longest, using: &random))
        }
        return nil
    }

    // MARK: Doing things

    private func broadcast(_ commands: [ShardCommand]) {
        for node in nodes { commands.forEach(node.send) }
    }

    func send(_ command: ShardCommand, to node: Int) { nodes[node].send(command) }

    func randomAudience() -> AudienceKey {
        let ids = feed.topics.shuffled(using: &random)
        if options.lineups, random.chance(0.4) {
            return .lineup(Array(ids.prefix(Int.random(in: 1...ids.count, using: &random))))
        }
        return .topic(ids[0])
    }

    /// Current minute of the day, UTC.
    private var minute: Int { Int(moment.wallSeconds / 60 % 1440) }
    /// Returns another audience, or the same lineup with a topic more or less, in another order, or with another favourite.
    private func nextAudience(after key: AudienceKey) -> AudienceKey {
        guard case .lineup(var topics, let favourite) = key, random.chance(0.7) else { return randomAudience() }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let others = feed.topics.filter { !topics.contains($0) }
            if let new = others.randomElement(using: &random) {
                topics.insert(new, at: Int.random(in: 0...topics.count, using: &random))
            }
        case 1:
            if topics.count > 1 { topics.remove(at: Int.random(in: 0..<topics.count, using: &random)) }
        case 2: topics.shuffle(using: &random)
        default: return .lineup(topics, favourite: random.chance(0.7) ? topics.randomElement(using: &random) : nil)
        }
        return .lineup(topics, favourite: favourite.flatMap { topics.contains($0) ? $0 : nil })
    }

    private func livePhone() -> Int? {
        phones.indices.filter { phones[$0].life.isLive }.randomElement(using: &random)
    }

    func unfollow(_ index: Int) {
        // Cards that are to be renewed must not leave too often.
        if options.handsOver, random.chance(0.7) { return }
        let name = anyName(of: index)
        phones[named(name) ?? index].life.hasLeft = true
        send(.unfollow(name), to: phones[index].node)
    }

    func rotateToken(of index: Int) {
        phones[index].tokens.renew(using: &random)
        send(.replaceToken(phones[index].id, token: phones[index].tokens.current), to: phones[index].node)
    }

    func prefer(_ index: Int, _ subscriber: Subscriber) {
        wishes[subscriber.preferences] = subscriber
        send(.prefer(anyName(of: index), subscriber.preferences), to: phones[index].node)
    }

    func follow(on node: Int) {
        guard phones.count(where: \.life.isLive) < options.activitiesMax else { return }
        if options.reusesIDs, options.renews, random.chance(0.4), let name = freedName(on: node) {
            followAgain(by: name, on: node)
            return
        }
        let former = options.reusesIDs && random.chance(0.4) ? leaver(of: node) : nil
        if let former, !phones[former].life.isGone, random.chance(0.4) {
            // The person changes their mind while the card is still there.
            send(.follow(phones[former].id, randomAudience(), token: phones[former].tokens.current), to: node)
            return
        }
        let subscriber = random.chance(0.5) ? Subscriber() : Subscriber(atMinute: minute, using: &random)
        var phone = Phone(
            id: former.map { phones[$0].id } ?? ActivityID(UInt64(phones.count) + 1), node: node,
            audience: randomAudience(), subscriber: subscriber, limits: options.limits, using: &random)
        phone.naming.wasUsed = former != nil
        phones.append(phone)
        send(
            .follow(phone.id, phone.audience, token: phone.tokens.current, preferences: subscriber.preferences),
            to: node)
    }

    /// Returns a phone whose name may pass to another card, because its own card was unfollowed, or is gone.
    private func leaver(of node: Int) -> Int? {
        phones.indices.filter {
            phones[$0].node == node && phones[$0].card == nil && !phones[$0].naming.isDetached
                && !phones[$0].life.isExpired
                && (phones[$0].life.hasLeft || phones[$0].life.isGone)
                && phones.lastIndex { [id = phones[$0].id] in $0.id == id } == $0
        }.randomElement(using: &random)
    }

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
            phones[index].serves(token)
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
            phones[former].partsFromName()
        }
        // A renewed card may lack its end, too.
        for before in phones.indices.prefix(index)
        where phones[before].id == phones[index].id && phones[before].life.isReplaced && !phones[before].life.isGone {
            phones[before].partsFromName()
        }
        phones[index].naming.isIntroduced = true
        phones[index].life.beganAt = now
        join(index, audience)
        return true
    }

    /// Is `true` if the phone is being ended, or lacks only the end of the former turn under the id that it is to follow.
    func isEnding(_ index: Int, named audience: AudienceKey) -> Bool {
        let phone = phones[index]
        if phone.life.isEnding { return true }
        guard case .topic(let topic) = audience, phone.served == audience else { return false }
        return phone.following.turn < nodes[phone.node].turn(of: topic)
    }

    /// Notes that the shard knows what the phone shows from now on.
    func join(_ index: Int, _ audience: AudienceKey?) {
        let audience = audience.map(shared)
        let node = nodes[phones[index].node]
        var turn = 0
        if case .topic(let topic) = audience { turn = node.turn(of: topic) }
        phones[index].joined(
            audience, turn: turn, isWaited: audience.map(node.isWaited) == true, at: moment.monotonic)
    }

    /// - Returns: `true` if a command was waiting and the shard could take it.
    private func deliverCommand(to node: Node) -> Bool {
        guard !node.shard.isFeedbackFull else { return false }
        takeCommands(of: node)
        guard let command = node.waiting.popFirst() else { return false }
        happens("\(command.summary)", at: node)
        switch command {
        case .publish(let publication):
            node.waitingVersions[publication.serial] = nil
            node.note(publication, at: moment.monotonic)
            for index in phones.indices
            where isServed(index, by: node) && node.shows(publication.topicID, to: phones[index]) {
                phones[index].noteAlert(of: publication, at: moment.monotonic)
            }
        case .revokeAlert(_, let cause):
            node.revoked.insert(cause)
            for index in phones.indices where nodes[phones[index].node] === node { phones[index].alerts.revoke(cause) }
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
                phones[index].serves(token)
            }
        case .prefer(let id, let preferences):
            if let index = named(id), let subscriber = wishes[preferences] {
                guard !isTooOld(index) else { return true }
                phones[index].budget.subscriber = subscriber
                if let successor = successor(of: index) { phones[successor].budget.subscriber = subscriber }
            }
        case .checkRemoval: break
        case .trustDeadAnswers: node.deadTokens.overrule()
        case .forget(let topic): node.forgotten.insert(topic)
        case .reportQuiet(let question): noteQuestion(question, to: node)
        case .republish, .reportDisposition, .claimed: break
        case .publishResumed, .load, .endLoading, .followed, .reportCompletion: break  // no world restarts
        }
        node.shard.apply(command, at: node.clock.moment)
        forgetEmptyLineups(of: node)
        tell(node)
        return true
    }

    /// Takes waiting commands from the ring, as far as there is room.
    private func takeCommands(of node: Node) {
        let room = options.waitingMax - node.waiting.count
        guard room > 0 else { return }
        var commands: [ShardCommand] = []
        _ = node.commands.drain(limit: Int.random(in: 1...room, using: &random)) { commands.append($0) }
        for command in commands {
            if case .publish(let publication) = command {
                node.waitingVersions[publication.serial] = (publication, node.questionsTaken)
            }
            if case .reportQuiet = command { node.questionsTaken += 1 }
            node.waiting.append(command) { serial in
                happens("publication \(serial) is overtaken", at: node)
                falsehood = falsehood ?? judgeOvertaking(of: serial, by: command, at: node)
                node.shard.reportOvertaken(serial)
            }
        }
    }

    /// Returns the choice that the shard is to make of a person's: by the schedule, the order of the picks does not matter.
    private func shared(_ audience: AudienceKey) -> AudienceKey {
        guard options.lineupRules.order == .schedule, case .lineup(let topics, let favourite) = audience else {
            return audience
        }
        return .lineup(topics.sorted { $0.rawValue < $1.rawValue }, favourite: favourite)
    }

    private func note(_ audience: AudienceKey?, of node: Node) {
        let audience = audience.map(shared)
        if case .lineup = audience, let audience, node.lineups[audience] == nil {
            node.begin(audience, at: moment.monotonic)
        }
    }

    /// Forgets lineups without members; the next member finds them new. A member without a token, or one that expires within the second in
    /// which the engine counts, may or may not keep its lineup.
    private func forgetEmptyLineups(of node: Node) {
        let served = Set(
            phones.lazy.filter {
                self.nodes[$0.node] === node && !$0.life.isGone && $0.hasToken && !self.isLetGo($0)
            }.compactMap(\.served))
        node.lineups = node.lineups.filter { served.contains($0.key) }
        if !node.waitingLineups.isEmpty {
            node.waitingLineups.formIntersection(
                phones.lazy.filter { self.nodes[$0.node] === node && !$0.life.isGone }.compactMap(\.served))
        }
        guard !node.forgotten.isEmpty else { return }
        // The shard remembers a topic that the core has forgotten while a phone shows it.
        var (looked, surely): (Set<TopicID>, Set<TopicID>) = ([], [])
        for phone in phones where nodes[phone.node] === node && !phone.life.isGone {
            for topic in phone.served?.topics ?? [] where node.shows(topic, to: phone) {
                looked.insert(topic)
                // A start may have been given up and an old card may have gone without a report yet.
                if phone.hasToken, !phone.life.isExpired, !isLetGo(phone) { surely.insert(topic) }
            }
        }
        for topic in node.forgotten where !looked.contains(topic) { node.drop(topic) }
        node.forgotten.formIntersection(looked)
        node.mayBeUnknown.formUnion(node.forgotten.subtracting(surely))
        node.mayBeUnknown.formIntersection(node.forgotten)
    }

    private func isServed(_ phone: Int, by node: Node) -> Bool {
        nodes[phones[phone].node] === node && phones[phone].served != nil && !phones[phone].life.isGone
    }

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

    private func pull(_ node: Node) -> String? {
        readTime(of: node)
        let room = node.service.limit(
            options.window - node.flying.count, flying: node.flying.count, at: moment.monotonic)
        guard room > 0 else { return nil }
        noteClockStep(of: node)
        noteSettled(by: node)
        if !node.shard.isFeedbackFull {
            let released = node.deadTokens.release(at: moment.monotonic) { index, token in
                if phones[index].life.isGone || phones[index].tokens.served != token { return .hasGone }
                return isLetGo(phones[index]) ? .mayHaveGone : .stays
            }
            for index in released { phones[index].health.isHeld = false }
        }
        var batch = DeliveryBatch()
        node.jwt = node.credentials?.current(at: node.clock.moment, truth: moment)
        let mayBring = node.shard.mayHavePushes(at: node.clock.moment)
        // As a pool that tries whether the service works.
        node.isByLot = Int.random(in: 0..<8, using: &random) == 0
        let number = node.isByLot ? random.next() : UInt64(Int.random(in: 1...room, using: &random))
        // A pool asks a shard for nothing that has nothing to send; to ask all the same is to bring nothing.
        if mayBring { node.vainPulls = 0 } else { node.vainPulls += 1 }
        if mayBring || node.vainPulls.isMultiple(of: 2) {
            if node.isByLot {
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
            let told = payload.alert.flatMap(feed.told) ?? []
            phones[phone].sent(
                payload, telling: told, newest: newestSerial(for: phones[phone], node: node), at: moment)
            if isStart {
                phones[phone].sentStart(
                    arrives: fate.outcome == .accepted || fate.arrives, at: moment.monotonic)
            }
            node.flying.append(
                Flight(
                    delivery: delivery, payload: payload, told: told, phone: phone, token: token,
                    outcome: fate.outcome, arrives: fate.arrives, jwt: node.jwt,
                    isTaken: Phone.takes(payload.stamp, at: moment),
                    trouble: fate.trouble))
        }
        tell(node)
        return nil
    }

    private func complete(_ node: Node) {
        guard !node.flying.isEmpty else { return }
        var flight = node.flying.remove(at: Int.random(in: 0..<node.flying.count, using: &random))
        digest(UInt64(flight.phone))
        // A token that was replaced during its push may be dead by now.
        let isStart = flight.payload.event == .start
        let wasSeen = isStart && phones[flight.phone].card?.isReported == true
        if flight.token != phones[flight.phone].tokens.served, flight.outcome == .accepted, !wasSeen, random.chance(0.5)
        {
            (flight.outcome, flight.arrives) = (.deadToken, false)
            if isStart { phones[flight.phone].lostStart() }
        }
        happens("answer to phone \(flight.phone): \(flight.outcome)", at: node)
        if isStart {
            let outage = flight.trouble == .outage ? node.service.outages : nil
            phones[flight.phone].answeredStart(flight.outcome, outage: outage)
        }
        let completion = Completion(
            slot: flight.delivery.slot, generation: flight.delivery.generation, outcome: flight.outcome)
        let activities = node.shard.statistics.activities
        node.shard.complete([completion], at: node.clock.moment)
        var isHeld = false
        if flight.outcome == .accepted {
            node.deadTokens.answered(dead: false)
        } else if flight.outcome == .deadToken, flight.token == phones[flight.phone].tokens.served {
            node.deadTokens.answered(dead: true)
            // From outside it is unknown whether a card that is ended for its age is already leaving and is to be removed.
            let mayGo = flight.payload.event == .end && isAlmostOver(phones[flight.phone])
            isHeld =
                node.deadTokens.isShut && phones[flight.phone].served != nil && !phones[flight.phone].naming.isDetached
                && !(mayGo && node.shard.statistics.activities < activities)
            if isHeld { node.deadTokens.hold(flight.phone, flight.token, at: moment.monotonic) }
        }
        node.service.answered(flight.outcome, at: moment.monotonic)
        judgeTime(by: flight, of: node)
        // From outside it is unknown whether the age scan or the topic's end ended the card first.
        if flight.outcome == .refused, flight.payload.event == .end, isAlmostOver(phones[flight.phone]) {
            phones[flight.phone].life.isExpired = true
        }
        phones[flight.phone].answered(flight, isHeld: isHeld, at: moment.monotonic)
        if let audience = phones[flight.phone].following.postponed {
            phones[flight.phone].following.postponed = nil
            if phones[flight.phone].served != nil {
                join(flight.phone, audience)
                note(phones[flight.phone].served, of: node)
            }
        }
        if isHeld, node.deadTokens.isInDoubt { phones[flight.phone].health.isHeld = false }
        if phones[flight.phone].life.isGone, age(of: phones[flight.phone]) < lifetime - .seconds(1) {
            phones[flight.phone].life.isEndedEarly = true
        }
        forgetEmptyLineups(of: node)
        if phones[flight.phone].life.isGone, random.chance(options.echo) { node.echoes.append(completion) }
        if random.chance(0.1), let echo = node.echoes.popLast() {
            node.shard.complete([echo], at: node.clock.moment)
        }
        tell(node)
    }

    private func happens(_ what: @autoclosure () -> String, at node: Node) {
        onHappening?("\(steps) \(moment.monotonic.nanoseconds / 1_000_000) ms, node \(node.index): \(what())")
    }

    private func digest(_ numbers: UInt64...) {
        for number in numbers + [UInt64(moment.monotonic.nanoseconds)] { digest = (digest ^ number).mixed }
    }

    /// Ends the shard's turn.
    ///
    /// - Returns: `true` if the shard had feedback to send, and room for it.
    @discardableResult
    private func tell(_ node: Node) -> Bool {
        node.shard.requestStamps(at: node.clock.moment)
        return node.shard.sendFeedback(to: &node.sendFeedback)
    }

    /// Drains a shard's feedback in the core, and sends the commands that waited for room.
    ///
    /// - Returns: `true` if there was any.
    private func takeFeedback(_ node: Node, limit: Int) -> Bool {
        var taken = 0
        while taken < limit, let fact = node.feedback.pop() {
            taken += 1
            happens("the shard says \(fact)", at: node)
            switch fact {
            case .completed(let serial, _): node.completed[serial, default: 0] += 1
            case .overtaken(let serial): node.overtaken.insert(serial)
            case .deadToken(let id):
                let index =
                    phones.firstIndex {
                        $0.id == id && $0.life.isRemoved && !$0.naming.isDetached && !$0.naming.isForgotten
                            && $0.life.deathReports == 0
                    } ?? phones.lastIndex { $0.id == id }
                if let index { phones[index].life.deathReports += 1 }
            case .report(let line):
                if line.contains("went to dead tokens") { node.alarmsHeard += 1 }
                if line.contains("dead tokens are few again") { node.resumptionsHeard += 1 }
            case .fate(let id, let fate):
                guard let index = phones.lastIndex(where: { $0.id == id && isMeant($0, by: fate) }) else { break }
                falsehood = falsehood ?? judgeFate(fate, of: index).map { "activity \(id.rawValue): \($0)" }
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
            case .stampsReach(let mark): node.clock.stamps.mark = max(node.clock.stamps.mark, mark)
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
        return node.flush() || taken > 0
    }

    /// - Returns: `true` if anything was published in the meantime.
    @discardableResult
    private func pass(milliseconds: Int64) -> Bool {
        let commands = feed.pass(milliseconds: milliseconds)
        broadcast(commands)
        moment.monotonic += .milliseconds(milliseconds)
        moment.wallMilliseconds += milliseconds
        for node in nodes { node.clock.read(at: moment) }
        return commands.contains { if case .publish = $0 { true } else { false } }
    }

    // MARK: Calm

    /// Stops events and trouble. Everything must settle.
    private func calm() -> String? {
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
        where phones[index].health.sickness != nil && phones[index].life.isLive && phones[index].hasToken {
            if random.chance(0.5) { rotateToken(of: index) }
        }
        var looksForRenewed = true
        for round in 0..<20_000 {
            // Some worlds have no phone left that could show that tokens are alive; and a token that is also
            // sick is not known to be dead before it is mended.
            if round % 200 == 199 {
                for node in nodes where node.deadTokens.isShut { node.send(.trustDeadAnswers) }
            }
            var busy = false
            if looksForRenewed, moment.monotonic > quietSince + .seconds(10) {
                looksForRenewed = false
                if let neglected = neglectedWithNewToken() { return neglected }
            }
            let patience = World.patience + .seconds(40)
            if moment.monotonic > quietSince + patience, phones.contains(where: { $0.health.sickness != nil }) {
                if let neglected = neglected() { return neglected }
                for index in phones.indices { phones[index].health.sickness = nil }
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
                busy = busy || !node.shard.isQuiet || !node.backlog.isEmpty
            }
            if !busy { return globallyViolated() }
            // A feed's silence may have ended a topic.
            if pass(milliseconds: 500) { quietSince = moment.monotonic }
        }
        return "nothing settles: \(nodes.map { $0.shard.statistics.owed }) pushes are still owed"
    }

    private func locallyViolated() -> String? {
        for node in nodes { if let violation = node.shard.violatedInvariant() { return violation } }
        if let falsehood { return falsehood }
        return feed.violatedInvariant()
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
