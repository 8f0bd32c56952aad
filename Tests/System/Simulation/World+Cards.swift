import FanfareFanOut
import FanfareModel

/// Cards that pushes start and renew, and the names by which commands mean them.
extension World {
    var lifetime: Duration { options.lifetime }
    func age(of phone: Phone) -> CardAge {
        CardAge(passed: moment.monotonic - phone.life.beganAt, lifetime: lifetime)
    }

    /// Returns a phone that renews this one and has no token yet. Its start may have arrived, so the renewed card must stay.
    func successor(of index: Int) -> Int? {
        phones.firstIndex { $0.card?.renews == index && !$0.hasToken && !$0.life.isGone && $0.served != nil }
    }

    /// Is `true` during a hand-over, for either card: from the successor's start, through the old card's pushes until the successor's token
    /// and the old card's end, to the first state of the new card.
    func isHandedOver(_ index: Int) -> Bool {
        if let old = phones[index].card?.renews { return !phones[index].hasToken || !phones[old].life.isGone }
        return phones[index].life.isReplaced || successor(of: index) != nil
    }

    /// Is `true` if the engine is about to end the card for its age, or has ended it: a command would meet it at an unknown point. A card
    /// whose successor is being started is exempt, because its name then means the successor.
    func isTooOld(_ index: Int) -> Bool {
        if phones[index].life.isReplaced { return false }
        if let successor = successor(of: index), phones[successor].card?.isOut == true { return false }
        return phones[index].life.isExpired || isAlmostOver(phones[index])
    }

    /// Starts a card for a person who follows something without having a card of it.
    func start() {
        guard phones.count(where: \.isLive) < options.activitiesMax else { return }
        let former = options.reusesIDs && random.chance(0.4) ? forgottenCard() : nil
        let name = former.flatMap { phones[$0].card?.name } ?? "card \(phones.count)"
        var phone = Phone(
            id: ActivityID(hashing: name),
            node: former.map { phones[$0].node } ?? Int.random(in: 0..<nodes.count, using: &random),
            audience: randomAudience(), using: &random)
        phone.card = StartedCard(name)
        phone.naming.wasUsed = former != nil
        add(phone, PushHistory(Subscriber(), options.limits))
        let request = StartRequest(
            activity: name, token: phone.tokens.current, attributesType: "Match",
            alert: AlertText(title: "Start", body: ""))
        send(.start(request, phone.audience), to: phone.node)
    }

    /// Replaces a device's start token while a start to the old one is in flight.
    ///
    /// - Returns: `true` if there was such a start.
    func replaceStartToken() -> Bool {
        let starting = nodes.flatMap(\.flying).filter { $0.payload.event == .start }.map(\.phone)
        guard
            let index = starting.filter({ phones[$0].isLive && phones[$0].card?.isReported == false })
                .randomElement(using: &random), let card = phones[index].card
        else { return false }
        phones[index].tokens.renew(using: &random)
        let request = StartRequest(
            activity: String(card.name.split(separator: "~")[0]), token: phones[index].tokens.current,
            attributesType: "Match",
            alert: AlertText(title: "Start", body: ""))
        send(.start(request, phones[index].audience), to: phones[index].node)
        return true
    }

    /// Sends the shard another start token for a card whose start is in flight.
    ///
    /// - Returns: `true` if the command may be sent. The result of a start answered in the meantime is unknown.
    func startsGo(to request: StartRequest, _ audience: AudienceKey, from node: Node) -> Bool {
        guard let index = phones.lastIndex(where: { $0.card != nil && $0.tokens.hasUsed(request.token) }),
            !phones[index].hasToken, let named = named(ActivityID(hashing: request.activity)),
            named == index || successor(of: named) == index,
            node.flying.contains(where: { $0.phone == index && $0.payload.event == .start })
        else { return false }
        let cards = Set([named, index])
        for card in cards {
            guard phones[card].served != nil, !phones[card].life.isGone, !phones[card].naming.isDetached,
                !isTooOld(card),
                !isEnding(card, named: audience)
            else { return false }
        }
        for card in cards {
            phones[card].tokens.start = request.token
            join(card, audience)
        }
        serves(index, request.token)
        return true
    }

    /// Returns a first card that is gone, together with all later cards of its name.
    private func forgottenCard() -> Int? {
        var isFree: [Substring: Bool] = [:]
        for phone in phones {
            guard let name = phone.card?.name.split(separator: "~")[0] else { continue }
            // The shard may still start the successor of a card that it was about to renew.
            isFree[name] =
                isFree[name] != false && phone.naming.isForgotten && (!options.renews || !age(of: phone).isRenewable)
        }
        return phones.indices.filter {
            guard let card = phones[$0].card, card.edition == 1 else { return false }
            return isFree[card.name[...]] == true && !isTakenByFollowing(phones[$0].id)
        }.randomElement(using: &random)
    }

    /// Returns the first name of a renewed card that was let go of and is not gone yet; the app knows the card by that name.
    func freedName(on node: Int) -> String? {
        phones.compactMap { phone -> String? in
            guard let card = phone.card, card.edition > 1, phone.node == node, phone.hasToken, phone.life.hasLeft,
                !phone.life.isGone, !phone.naming.isDetached, !phone.life.isExpired
            else { return nil }
            let name = String(card.name.split(separator: "~")[0])
            return isTakenByFollowing(ActivityID(hashing: name)) ? nil : name
        }.randomElement(using: &random)
    }

    /// Is `true` if a card made by the app has the name of a started one.
    private func isTakenByFollowing(_ id: ActivityID) -> Bool {
        phones.contains { $0.card == nil && $0.id == id && !$0.naming.isForgotten }
    }

    /// Follows something else under the name of a card that is being ended.
    func followAgain(by name: String, on node: Int) {
        let subscriber = Subscriber()
        var phone = Phone(id: ActivityID(hashing: name), node: node, audience: randomAudience(), using: &random)
        phone.naming.wasUsed = true
        add(phone, PushHistory(subscriber, options.limits))
        send(
            .follow(phone.id, phone.audience, token: phone.tokens.current, preferences: subscriber.preferences),
            to: node)
    }

    /// Is `true` if the phone's card is the successor of the old phone's.
    private func renews(_ old: Phone, by phone: Phone) -> Bool {
        guard let index = phone.card?.renews else { return false }
        return phones[index].id == old.id && phones[index].tokens.first == old.tokens.first
    }

    /// Reports a card's update token. Some apps never do, because the person has not allowed it.
    func report() {
        let waiting = phones.indices.filter {
            phones[$0].screen.hasStarted && phones[$0].card?.isReported == false
        }
        guard let index = waiting.randomElement(using: &random) else { return }
        phones[index].card?.isReported = true
        guard random.chance(0.85) else { return }
        phones[index].tokens.renew(using: &random)
        send(
            .follow(phones[index].id, phones[index].audience, token: phones[index].tokens.current),
            to: phones[index].node)
    }

    /// Returns the phone that a start is meant for, by the name in its attributes; makes the phone if the start is a renewal.
    func phone(startedBy payload: Payload, to token: [UInt8]) -> Int? {
        let attributes = String(decoding: payload.start?.attributes ?? [], as: UTF8.self)
        guard let name = attributes.split(separator: "\"").dropFirst(3).first.map(String.init) else { return nil }
        if let known = phones.firstIndex(where: { $0.card?.name == name && $0.tokens.hasUsed(token) }) { return known }
        let parts = name.split(separator: "~")
        guard parts.count == 2, let edition = Int(parts[1]),
            let old = phones.firstIndex(where: {
                $0.card?.name == StartRequest.name(String(parts[0]), edition: edition - 1) && $0.tokens.start == token
            }), let served = phones[old].served, age(of: phones[old]).isRenewable
        else { return nil }
        var phone = Phone(renewing: phones[old], id: ActivityID(hashing: name))
        phone.card = StartedCard(name, edition: edition, renews: old)
        add(phone, PushHistory(renewing: histories[old]))
        joined(phones.count - 1, served, tenure: phones[old].following.tenure, isWaited: false)
        return phones.count - 1
    }

    func isLetGo(_ phone: Phone) -> Bool { age(of: phone).isLetGo }

    /// Is `true` when the system has ended the card and no start of its successor was taken: the outcome is reported once one has been.
    func isBetweenCards(_ phone: Phone) -> Bool {
        guard options.renews, phone.card != nil, isLetGo(phone) else { return false }
        return !phones.contains { $0.card?.isOut == true && renews(phone, by: $0) }
    }

    /// Is `true` when the system has ended the card and the person has let go of its successor: neither is reported.
    func isOutlivedAndLetGo(_ phone: Phone) -> Bool {
        guard options.renews, isLetGo(phone) else { return false }
        return phones.contains { $0.life.hasLeft && renews(phone, by: $0) }
    }

    func isAlmostOver(_ phone: Phone) -> Bool { age(of: phone).isAlmostOver }

    /// Sends the shard a card's token.
    ///
    /// - Returns: `true` if the token may be sent. A late one is not sent at all: alerts must not grow stale, nor the activity too old.
    func register(_ index: Int, _ token: [UInt8]) -> Bool {
        guard !phones[index].life.isGone, !isTooOld(index), age(of: phones[index]).passed < .seconds(60) else {
            return false
        }
        registered(index, token)
        guard phones[index].served != nil, let card = phones[index].card, let old = card.renews else { return true }
        let isThere = !phones[old].life.isExpired && !isLetGo(phones[old])
        takesOver(index, from: old, isThere: isThere)
        phones[old].life.isReplaced = true
        // A card that is being ended is already leaving.
        if phones[old].served != nil, !phones[old].life.isGone, !phones[old].life.isEnding {
            phones[old].life.hasLeft = true
            join(old, nil)
        }
        return true
    }

    /// Returns the phone that a command means by this name: a renewed activity keeps its earlier names.
    func named(_ id: ActivityID) -> Int? {
        guard
            var index = phones.lastIndex(where: { $0.id == id && $0.naming.isIntroduced && !$0.naming.isDetached })
                ?? phones.firstIndex(where: { $0.id == id })
        else { return nil }
        while phones[index].life.isReplaced || phones[index].life.isGone,
            let next = phones.firstIndex(where: { $0.card?.renews == index })
        {
            index = next
        }
        return index
    }

    /// Returns one of the card's names at random.
    func anyName(of index: Int) -> ActivityID {
        guard let card = phones[index].card, random.chance(0.5) else { return phones[index].id }
        // The names in between are forgotten after some time.
        let editions = [1, max(1, card.edition - 1), card.edition]
        let edition = editions[Int.random(in: 0..<editions.count, using: &random)]
        return ActivityID(
            hashing: StartRequest.name(String(card.name.split(separator: "~")[0]), edition: edition))
    }

    /// Is `true` for the latest phone of a name that the fate can concern.
    func isMeant(_ phone: Phone, by fate: ActivityFate) -> Bool {
        // Only a started activity is renewed.
        if case .renewed = fate { return phone.card != nil }
        if phone.card != nil
            || phones.lastIndex(where: { $0.id == phone.id }) == phones.firstIndex(where: { $0.id == phone.id })
        {
            return true
        }
        if case .expired = fate, phone.life.isExpired || !isAlmostOver(phone) { return false }
        return phone.naming.isIntroduced && !phone.naming.isDetached
    }

    /// Notes the audience that an activity joins.
    ///
    /// - Returns: `true` if the command may be sent to the shard.
    func join(_ id: ActivityID, _ audience: AudienceKey?) -> Bool {
        guard let index = named(id) else { return false }
        guard !isTooOld(index) else {
            // The card stays, unless the shard has already heard that it leaves.
            if phones[index].served != nil { phones[index].life.hasLeft = false }
            return false
        }
        let successor = successor(of: index)
        if phones[index].life.isEnding, successor.map({ phones[$0].card?.isOut != true }) ?? true {
            phones[index].following.postponed = audience
        }
        for index in [index, successor].compactMap(\.self) where phones[index].served != nil {
            join(index, audience)
            if let audience { phones[index].audience = audience } else { leave(index) }
        }
        return true
    }

    private func leave(_ index: Int) {
        phones[index].life.hasLeft = true
        // A card that was never started needs no end.
        if !phones[index].hasToken, phones[index].card?.isOut == false { phones[index].life.isGone = true }
    }
}
