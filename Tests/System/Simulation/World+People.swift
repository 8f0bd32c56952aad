import FanfareFanOut
import FanfareModel

/// Actions of people and their apps.
extension World {
    func broadcast(_ commands: [ShardCommand]) {
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
    var minute: Int { Int(moment.wallSeconds / 60 % 1440) }
    /// Returns another audience, or the same lineup with a topic more or less, in another order, or with another favourite.
    func nextAudience(after key: AudienceKey) -> AudienceKey {
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

    func livePhone() -> Int? {
        phones.indices.filter { phones[$0].isLive }.randomElement(using: &random)
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

    func setPreferences(_ index: Int, _ subscriber: Subscriber) {
        wishes[subscriber.preferences] = subscriber
        send(.setPreferences(anyName(of: index), subscriber.preferences), to: phones[index].node)
    }

    func follow(on node: Int) {
        guard phones.count(where: \.isLive) < options.activitiesMax else { return }
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
            audience: randomAudience(), using: &random)
        phone.naming.wasUsed = former != nil
        add(phone, PushHistory(subscriber, options.limits))
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
}
