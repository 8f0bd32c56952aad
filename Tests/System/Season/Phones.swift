import FanfareFanOut
import FanfareModel

/// All cards of the season, and the service's answers to pushes for them. Judges each push, and at times whether each card shows the
/// content that it should.
struct Phones {
    /// A topic's newest publication and the cards that show it.
    private struct Following {
        var newest: Publication?
        var tokens: [UInt64] = []
    }

    /// A card that went because of its age.
    private struct Gone {
        let card: Card
        /// Is `true` if no command asked for its end, so that the engine must report its fate by the morning.
        let isToBeTold: Bool
    }

    /// Cards by update token.
    private var cards: [UInt64: Card] = [:]
    private var tokens: [ActivityID: UInt64] = [:]
    private var followings: [TopicID: Following] = [:]
    /// Cards that went and whose fate the engine has not reported.
    private var gone: [ActivityID: Gone] = [:]
    private var tokensGiven: UInt64 = 0
    /// Audiences of pending starts, by the activity's name.
    private var expected: [String: AudienceKey] = [:]
    private var reports = TokenReports()
    private(set) var deaths = TokenDeathJudge()
    private(set) var violation: String?
    private(set) var pushes = 0
    private(set) var unprocessed = 0
    private(set) var renewals = 0
    private(set) var expiries = 0
    private(set) var alerts = AlertTally()

    var count: Int { cards.count }
    /// Is `true` while a new card's token is pending.
    var awaitsRenewal: Bool { cards.values.contains { $0.renews != nil && !$0.isRegistered } }
    /// Names of all cards that have not been left, in the order in which they came.
    var names: [String] { cards.filter { $0.value.leftAt == nil }.sorted { $0.key < $1.key }.map(\.value.name) }
    func isRenewed(_ name: String) -> Bool { card(named: name)?.isRenewed ?? false }
    /// People who have a card, or whose last card's end has not been reported.
    var people: Set<Int> { Set(cards.values.compactMap(\.person) + gone.values.compactMap(\.card.person)) }
    func card(named name: String) -> Card? { tokens[ActivityID(hashing: name)].flatMap { cards[$0] } }

    private mutating func fail(_ problem: String) { if violation == nil { violation = problem } }

    // MARK: Cards come and go

    /// - Returns: the card's update token.
    mutating func add(
        _ name: String, _ audience: AudienceKey, person: Int? = nil, renewing old: String? = nil,
        isRegistered: Bool = true, at now: SeasonTime
    ) -> [UInt8] {
        tokensGiven += 1
        let health: Card.Health =
            person != nil ? .well : tokensGiven % 101 == 0 ? .dead : tokensGiven % 503 == 0 ? .sick : .well
        cards[tokensGiven] = Card(
            name: name, audience: audience, health: health, beganAt: now, person: person, renews: old,
            isRegistered: isRegistered)
        tokens[ActivityID(hashing: name)] = tokensGiven
        for topic in audience.topics { followings[topic, default: Following()].tokens.append(tokensGiven) }
        return Phones.bytes(tokensGiven)
    }

    /// - Parameter isAsked: `true` if the end was asked for, its topic has ended, or its token was reported dead.
    private mutating func remove(_ token: UInt64, isAsked: Bool, at now: SeasonTime) {
        guard let card = cards.removeValue(forKey: token) else { return }
        if card.isOld(at: now) || card.isReplaced, !card.isToldOf {
            gone[ActivityID(hashing: card.name)] = Gone(card: card, isToBeTold: card.isReplaced || !isAsked)
        }
        alerts.dropped += card.missed.count
        tokens[ActivityID(hashing: card.name)] = nil
        for topic in card.audience.topics {
            followings[topic]?.tokens.removeAll { $0 == token }
            if let following = followings[topic], following.newest == nil, following.tokens.isEmpty {
                followings[topic] = nil
            }
        }
    }

    /// Replaces the token of a card.
    ///
    /// - Returns: the new token; `nil` without such a card, or before its first token.
    mutating func rotateToken(of name: String) -> [UInt8]? {
        let id = ActivityID(hashing: name)
        guard let old = tokens[id], let card = cards[old], card.isRegistered, card.leftAt == nil else { return nil }
        cards[old] = nil
        tokensGiven += 1
        cards[tokensGiven] = card
        tokens[id] = tokensGiven
        for topic in card.audience.topics {
            followings[topic]?.tokens.removeAll { $0 == old }
            followings[topic]?.tokens.append(tokensGiven)
        }
        return Phones.bytes(tokensGiven)
    }

    /// Ends a card at the person's wish.
    ///
    /// - Returns: `true` if there was a card or a pending start.
    mutating func leave(_ name: String, at now: SeasonTime) -> Bool {
        if expected.removeValue(forKey: name) != nil { return true }
        guard let token = tokens[ActivityID(hashing: name)], cards[token]?.leftAt == nil else { return false }
        cards[token]?.leftAt = now
        dropMissed(of: token)
        return true
    }

    private mutating func dropMissed(of token: UInt64) {
        alerts.dropped += cards[token]?.missed.count ?? 0
        cards[token]?.missed = []
    }

    /// Notes a pending start.
    ///
    /// - Returns: the device's start token.
    mutating func expect(_ name: String, _ audience: AudienceKey) -> [UInt8] {
        expected[name] = audience
        return Phones.startToken(of: name)
    }

    static func startToken(of name: String) -> [UInt8] { [0xff] + Array(name.utf8) }

    private static func bytes(_ token: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: token >> (8 * $0)) } + [UInt8](repeating: 7, count: 24)
    }

    // MARK: What is published

    mutating func note(_ publication: Publication, at now: SeasonTime) {
        followings[publication.topicID, default: Following()].newest = publication
        guard let alert = publication.alert else { return }
        for token in followings[publication.topicID]?.tokens ?? [] where cards[token]?.leftAt == nil {
            cards[token]?.missed.append(Card.Missed(alert: alert, at: now))
        }
    }

    mutating func revoke(_ cause: String, of topic: TopicID) {
        for token in followings[topic]?.tokens ?? [] {
            let before = cards[token]?.missed.count ?? 0
            cards[token]?.missed.removeAll { $0.alert.cause == cause }
            alerts.dropped += before - (cards[token]?.missed.count ?? 0)
        }
    }

    mutating func forget(_ topic: TopicID) {
        followings[topic]?.newest = nil
        if followings[topic]?.tokens.isEmpty == true { followings[topic] = nil }
    }

    // MARK: Pushes

    mutating func take(
        _ payload: Payload, _ bytes: ArraySlice<UInt8>, _ service: Troubles.Service, at now: SeasonTime
    ) -> DeliveryOutcome {
        pushes += 1
        let outcome: DeliveryOutcome
        if payload.event == .start {
            outcome = start(payload, bytes, service, at: now)
        } else {
            let token = bytes.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let card = cards[token] else {
                fail("a push to token \(token), whose card has ended, or which was replaced")
                return .accepted
            }
            if let wrong = card.judge(payload, newest: newest(of: card), at: now) { fail("\(card.name): \(wrong)") }
            outcome = answer(to: card, service)
            settle(token, card, payload, outcome, at: now)
        }
        if outcome != .accepted { unprocessed += 1 }
        return outcome
    }

    private func newest(of card: Card) -> Publication? {
        if case .topic(let topic) = card.audience { followings[topic]?.newest } else { nil }
    }

    private func answer(to card: Card, _ service: Troubles.Service) -> DeliveryOutcome {
        switch service {
        case .breaking, .unreachable: return .uncertain
        case .keyRevoked: return .notProcessed
        case .down: return .serviceError
        case .well: break
        }
        switch card.health {
        case .dead: return .deadToken
        case .sick: return .serviceError
        case .well: return pushes % 997 == 0 ? .throttled : pushes % 1009 == 0 ? .notProcessed : .accepted
        }
    }

    private mutating func settle(
        _ token: UInt64, _ card: Card, _ payload: Payload, _ outcome: DeliveryOutcome, at now: SeasonTime
    ) {
        switch outcome {
        case .accepted:
            noteAlerts(of: card, payload, at: now)
            cards[token]?.missed = []
            guard payload.event != .end else {
                return remove(token, isAsked: card.leftAt != nil || newest(of: card)?.event == .end, at: now)
            }
            arrive(payload, at: token)
        case .uncertain:
            // An alert is sent at most once, and its delivery is unknown.
            alerts.uncertain += card.missed.count
            cards[token]?.missed = []
            if token % 2 == 0, payload.event == .update { arrive(payload, at: token) }
        case .deadToken:
            remove(token, isAsked: true, at: now)
            deaths.answeredDead(ActivityID(hashing: card.name))
        case .throttled, .serviceError, .notProcessed, .refused: cards[token]?.troubledAt = now
        }
    }

    private mutating func arrive(_ payload: Payload, at token: UInt64) {
        cards[token]?.stamp = payload.stamp
        cards[token]?.state = payload.state
    }

    private mutating func noteAlerts(of card: Card, _ payload: Payload, at now: SeasonTime) {
        for missed in card.missed {
            if missed.alert.text == payload.alert {
                alerts.heard += 1
            } else if card.isSilenced(missed.alert, at: now) {
                alerts.silenced += 1
            } else {
                alerts.overtaken += 1
                if !Troubles.delayed(from: missed.at, to: now) {
                    fail("\(card.name) was never told \(missed.alert.text.title), and nothing was in the way")
                }
            }
        }
    }

    // MARK: Starts

    private mutating func start(
        _ payload: Payload, _ token: ArraySlice<UInt8>, _ service: Troubles.Service, at now: SeasonTime
    ) -> DeliveryOutcome {
        let attributes = String(decoding: payload.start?.attributes ?? [], as: UTF8.self)
        guard let name = attributes.split(separator: "\"").dropFirst(3).first.map(String.init) else {
            fail("a start without the activity's name: \(attributes)")
            return .refused
        }
        switch service {
        case .well, .breaking: break
        case .keyRevoked: return .notProcessed
        case .down, .unreachable: return .serviceError
        }
        let outcome: DeliveryOutcome = service == .breaking ? .uncertain : .accepted
        if let audience = expected.removeValue(forKey: name) {
            if !token.elementsEqual(Phones.startToken(of: name)) { fail("\(name) is started on another device") }
            appear(name, audience, person: nil, renewing: nil, payload, at: now)
        } else if let (old, card) = predecessor(of: name) {
            if !card.mayBeRenewed(at: now) { fail("\(old) is renewed too early") }
            if card.leftAt != nil || card.isToldOf { fail("\(old) is renewed, and had left or was over") }
            if tokens[ActivityID(hashing: name)] != nil { fail("\(name) is started twice") }
            appear(name, card.audience, person: card.person, renewing: old, payload, at: now)
        } else {
            fail("a start of \(name), which nobody has asked for")
        }
        return outcome
    }

    private func predecessor(of name: String) -> (String, Card)? {
        let parts = name.split(separator: "~")
        guard parts.count == 2, let edition = Int(parts[1]) else { return nil }
        let old = StartRequest.name(String(parts[0]), edition: edition - 1)
        return (card(named: old) ?? gone[ActivityID(hashing: old)]?.card).map { (old, $0) }
    }

    /// Puts the card on the screen. Its app reports the token some seconds later; some apps never do.
    private mutating func appear(
        _ name: String, _ audience: AudienceKey, person: Int?, renewing old: String?, _ payload: Payload,
        at now: SeasonTime
    ) {
        _ = add(name, audience, person: person, renewing: old, isRegistered: false, at: now)
        arrive(payload, at: tokensGiven)
        if person != nil || tokensGiven % 5 != 0 { reports.add(tokensGiven, at: now + .seconds(5)) }
    }

    var nextReport: SeasonTime? { reports.next }

    /// Returns the next report of a started card's token that is due.
    mutating func takeReport(at now: SeasonTime) -> (name: String, audience: AudienceKey, token: [UInt8])? {
        while let token = reports.takeDue(at: now) {
            guard let card = cards[token] else { continue }
            cards[token]?.isRegistered = true
            if let old = card.renews, leave(old, at: now), let token = tokens[ActivityID(hashing: old)] {
                cards[token]?.isReplaced = true
            }
            return (card.name, card.audience, Phones.bytes(token))
        }
        return nil
    }

    // MARK: What the engine says of cards

    mutating func hearDeath(of id: ActivityID) {
        if let wrong = deaths.heard(of: id) { fail(wrong) }
    }

    mutating func hear(_ fate: ActivityFate, of id: ActivityID, at now: SeasonTime) {
        switch fate {
        case .expired:
            expiries += 1
            guard let card = takeUntold(id) else { return }
            if !card.isOld(at: now) { fail("\(card.name) has expired, they say, and has not") }
            if card.isRenewed, let next = next(after: card) {
                fail("\(card.name) is over, they say, beside \(next.name)")
            }
        case .renewed(let successor):
            renewals += 1
            guard let card = takeUntold(id) else { return }
            guard let next = next(after: card) else {
                return fail("\(card.name) was renewed, they say, by a card that is not there")
            }
            if ActivityID(hashing: next.name) != successor {
                fail("\(card.name) is renewed by \(next.name) and no other")
            }
        case .notStarted(.gaveUp), .notStarted(.over):
            // A start given up because its topic was over or unavailable for too long.
            if let name = expected.keys.first(where: { ActivityID(hashing: $0) == id }) { expected[name] = nil }
            if !Troubles.delayed(from: now + .seconds(-3600), to: now) { fail("a card was not started: \(fate)") }
            if tokens[id] != nil { fail("a card was not started, they say, and is there: \(fate)") }
        case .notStarted, .ended, .notEnded, .refused:
            fail("\(tokens[id].flatMap { cards[$0]?.name } ?? "a card that is gone"): \(fate)")
        }
    }

    /// Notes that the engine has reported a card's fate.
    private mutating func takeUntold(_ id: ActivityID) -> Card? {
        if let gone = gone.removeValue(forKey: id) { return gone.card }
        guard let token = tokens[id], let card = cards[token], !card.isToldOf else {
            fail("the fate was told of a card that went otherwise, or a second time")
            return nil
        }
        cards[token]?.isToldOf = true
        return card
    }

    /// Returns the card on the screen that renews this one.
    private func next(after old: Card) -> Card? {
        let parts = old.name.split(separator: "~")
        let edition = parts.count == 2 ? Int(parts[1]) ?? 1 : 1
        return card(named: StartRequest.name(String(parts[0]), edition: edition + 1))
    }

    /// - Returns: number of cards that went for their age without a report.
    mutating func takeGone() -> Int {
        defer { gone = [:] }
        return gone.values.count(where: \.isToBeTold)
    }

    // MARK: All cards

    /// Removes cards whose time the system has ended.
    mutating func endOld(at now: SeasonTime) {
        for (token, card) in cards where card.hasEnded(at: now) {
            if card.health == .well, card.isRegistered, !Troubles.delayed(from: now + .seconds(-3600), to: now) {
                fail("\(card.name) has outlived its eight hours")
            }
            remove(token, isAsked: card.leftAt != nil, at: now)
        }
    }

    /// Checks the conditions that hold when the service has been well for some time and nothing has happened for some seconds.
    mutating func judgeAll(at now: SeasonTime) {
        for card in cards.values where card.health == .well && card.isRegistered {
            if let troubledAt = card.troubledAt, now < troubledAt + .seconds(10) { continue }
            if card.leftAt != nil {
                fail("\(card.name) has left, and was never ended")
            } else if let due = card.missed.first(where: {
                $0.isFresh(at: now) && !card.isSilenced($0.alert, at: now) && $0.at + .seconds(10) < now
            }) {
                fail("\(card.name) waits for alert \(due.alert.text.title)")
            } else if let wrong = staleness(of: card) {
                fail("\(card.name) shows \(wrong)")
            }
        }
    }

    private func staleness(of card: Card) -> String? {
        let newest = card.audience.topics.compactMap { followings[$0]?.newest }
        guard newest.count == card.audience.topics.count else { return "what was forgotten" }
        guard case .topic = card.audience else {
            return LineupReading.staleness(ofLineup: card.state, showing: newest)
        }
        // The highlighted key depends on the alert.
        func plain(_ state: [UInt8]) -> String {
            String(decoding: state, as: UTF8.self).replacing(/"highlight":"[^"]*"/, with: "")
        }
        let (shown, state) = (card.state, newest[0].state.bytes)
        return shown == state || plain(shown) == plain(state)
            ? nil : "\(String(decoding: shown, as: UTF8.self)), not \(String(decoding: state, as: UTF8.self))"
    }
}
