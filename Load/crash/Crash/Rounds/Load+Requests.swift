import FanfareModel

/// Requests that the load asks for, drawn from its seed.
extension Load {
    /// Returns the next request and its number; `nil` if nothing is to be asked for now.
    mutating func next(at now: Int64) -> (number: Int, request: Request)? {
        let apps = history.lives[life].apps
        let waits = { (request: Request) in request.card.map { !apps.contains(CardApp(card: $0)) } ?? false }
        if let again = requests.sendAgain(unless: waits) { return again }
        if let place = appeared.lastIndex(where: { apps.contains(CardApp(card: $0)) }) {
            let card = appeared.remove(at: place)
            guard !cards[card].isOver, let start = history.cards[card].start else { return next(at: now) }
            // Its start has arrived before the acknowledgement.
            guard !cards[card].isBusy else {
                appeared.insert(card, at: 0)
                return isEnding ? nil : drawn(at: now)
            }
            cards[card].isBusy = true
            let asked = nextTick()
            history.cards[card].tokens.append(.init(0, asked: asked))
            // A later life may have given it up.
            if start.arrived == life { return send(.confirm(card: card, generation: 0), asked: asked) }
            let audience = history.cards[card].shows.last?.value ?? []
            return send(
                .follow(card: card, audience: audience.map { history.topics[$0].name }, generation: 0), asked: asked)
        }
        return isEnding ? nil : drawn(at: now)
    }

    private mutating func drawn(at now: Int64) -> (number: Int, request: Request)? {
        for _ in 0..<20 { if let request = draw(at: now) { return send(request, asked: tick) } }
        return nil
    }

    private mutating func send(_ request: Request, asked: History.Tick) -> (number: Int, request: Request) {
        requests.send(.init(request: request, asked: asked))
    }

    /// Asks for something beside the load.
    mutating func ask(_ request: Request) -> (number: Int, request: Request) { send(request, asked: nextTick()) }

    private mutating func draw(at now: Int64) -> Request? {
        let draw = Double.random(in: 0..<1, using: &random)
        if let missing = groupThatLacksFollowers(), draw < 0.15 || missing.count > 200 {
            return follow(missing.topic)
        }
        switch draw {
        case ..<0.60: return change(drawTopic(), at: now)
        case ..<0.63: return order(at: now)
        case ..<0.66: return end()
        case ..<0.72: return start()
        case ..<0.80: return unfollow()
        case ..<0.88: return replaceToken()
        case ..<0.93: return setPreferences(at: now)
        default: return move()
        }
    }

    private mutating func drawTopic() -> Int {
        let draw = Double.random(in: 0..<1, using: &random)
        let group: TopicGroup =
            switch draw {
            case ..<0.004: .large
            case ..<0.04: .crowd
            case ..<0.40: .match
            case ..<0.48: .favourite
            default: .order
            }
        return live[group]!.randomElement(using: &random)!  // no group is ever empty
    }

    private mutating func change(_ topic: Int, at now: Int64) -> Request? {
        guard !states[topic].isBusy else { return nil }
        let draw = Double.random(in: 0..<1, using: &random)
        let kind: Request.Change = draw < 0.35 ? .alert : draw < 0.85 ? .event : draw < 0.93 ? .publish : .correct
        return change(topic, kind)
    }

    private mutating func change(_ topic: Int, _ kind: Request.Change) -> Request {
        states[topic].isBusy = true
        var change = History.Change(kind: kind, asked: nextTick())
        change.isMuted = states[topic].isMuted
        change.pause = states[topic].isPaused ? history.topics[topic].pauses.count - 1 : nil
        history.topics[topic].changes.append(change)
        return .change(kind, topic: history.topics[topic].name, number: history.topics[topic].changes.count)
    }

    private mutating func order(at now: Int64) -> Request? {
        let topic = drawTopic()
        guard !states[topic].isBusy else { return nil }
        return order(
            random.chance(0.5)
                ? (states[topic].isMuted ? .unmute : .mute) : (states[topic].isPaused ? .resume : .pause), topic,
            at: now)
    }

    private mutating func order(_ order: Request.Order, _ topic: Int, at now: Int64) -> Request {
        states[topic].isBusy = true
        let asked = nextTick()
        if order == .pause { history.topics[topic].pauses.append(.init(asked: asked)) }
        if order == .resume {
            history.topics[topic].pauses[history.topics[topic].pauses.count - 1].liftedNanoseconds = now
        }
        return .order(order, topic: history.topics[topic].name, call: asked)
    }

    private mutating func end() -> Request? {
        let topic = drawTopic()
        let group = states[topic].group
        guard group == .order || group == .match || group == .crowd && random.chance(0.1), !states[topic].isBusy,
            !history.topics[topic].changes.isEmpty, !states[topic].cards.contains(where: { cards[$0].isBusy })
        else { return nil }
        let request = change(topic, .end)
        // Later draws depend on the order.
        for card in states[topic].cards.sorted() where !cards[card].isOver { leaveAlone(card) }
        live[group]?.removeAll { $0 == topic }
        addTopic(group)
        return request
    }

    // MARK: Cards

    /// Returns a topic that has too few followers, of some that are drawn.
    private mutating func groupThatLacksFollowers() -> (topic: Int, count: Int)? {
        for _ in 0..<8 {
            guard let group = TopicGroup.allCases.randomElement(using: &random),
                let topic = live[group]?.randomElement(using: &random)
            else { continue }
            let missing = (sizes.groups[group]?.followers ?? 0) - states[topic].cards.count { !cards[$0].isOver }
            if missing > 0 { return (topic, missing) }
        }
        return nil
    }

    private mutating func newCard(_ audience: [Int], asked: History.Tick) -> Int {
        // The next card of an app that this life has.
        while isAway(cards.count) {
            cards.append(CardState(isOver: true))
            history.cards.append(History.Card())
        }
        let card = cards.count
        cards.append(CardState(isBusy: true))
        history.cards.append(History.Card())
        show(audience, on: card, asked: asked)
        return card
    }

    private mutating func show(_ audience: [Int], on card: Int, asked: History.Tick) {
        for index in history.cards[card].shows.indices where history.cards[card].shows[index].leaving == nil {
            history.cards[card].shows[index].leaving = asked
        }
        history.cards[card].shows.append(.init(audience, asked: asked))
        for topic in audience { states[topic].cards.insert(card) }
    }

    private mutating func follow(_ topic: Int) -> Request? {
        let asked = nextTick()
        let audience = lineups < sizes.lineups && states[topic].group == .favourite ? lineup() : [topic]
        if audience.count > 1 { lineups += 1 }
        let card = newCard(audience, asked: asked)
        history.cards[card].tokens.append(.init(0, asked: asked))
        return .follow(card: card, audience: audience.map { history.topics[$0].name }, generation: 0)
    }

    private mutating func lineup() -> [Int] {
        Array((live[.favourite] ?? []).shuffled(using: &random).prefix(3))
    }

    private mutating func start() -> Request? {
        let topic = drawTopic()
        // Some wait for their topic's first version.
        guard history.topics[topic].changes.isEmpty || !states[topic].isPaused else { return nil }
        let asked = nextTick()
        let card = newCard([topic], asked: asked)
        history.cards[card].start = History.Start(asked: asked, life: life)
        return .start(card: card, audience: [history.topics[topic].name])
    }

    private mutating func idleCard() -> Int? {
        for _ in 0..<8 {
            guard let card = shown.drawn(by: &random) else { return nil }
            if !cards[card].isBusy, !isAway(card) { return card }
        }
        return nil
    }

    private mutating func unfollow() -> Request? {
        guard let card = idleCard() else { return nil }
        cards[card].isBusy = true
        let asked = nextTick()
        history.cards[card].unfollowed = asked
        for index in history.cards[card].shows.indices where history.cards[card].shows[index].leaving == nil {
            history.cards[card].shows[index].leaving = asked
        }
        if history.cards[card].shows.last.map({ $0.value.count > 1 }) == true { lineups -= 1 }
        return .unfollow(card: card)
    }

    private mutating func replaceToken() -> Request? {
        guard let card = idleCard() else { return nil }
        cards[card].isBusy = true
        let asked = nextTick()
        for index in history.cards[card].tokens.indices where history.cards[card].tokens[index].leaving == nil {
            history.cards[card].tokens[index].leaving = asked
        }
        let generation = history.cards[card].tokens.count
        history.cards[card].tokens.append(.init(generation, asked: asked))
        return .replaceToken(card: card, generation: generation)
    }

    private mutating func setPreferences(at now: Int64) -> Request? {
        guard let card = idleCard() else { return nil }
        cards[card].isBusy = true
        let wish: Request.Wish = random.chance(0.5) ? .alerts : random.chance(0.5) ? .silence : .quietHours
        let asked = nextTick()
        history.cards[card].preferences.append(.init(wish, asked: asked, askedNanoseconds: now))
        return .setPreferences(card: card, wish)
    }

    private mutating func move() -> Request? {
        guard let card = idleCard() else { return nil }
        let group = history.cards[card].shows.last.map { states[$0.value[0]].group }
        // The large crowd keeps its size.
        if group == .large, random.chance(0.9) { return nil }
        let topic = drawTopic()
        guard history.cards[card].shows.last?.value != [topic] else { return nil }
        cards[card].isBusy = true
        let audience = states[topic].group == .favourite && random.chance(0.5) ? lineup() : [topic]
        show(audience, on: card, asked: nextTick())
        return .move(card: card, audience: audience.map { history.topics[$0].name })
    }

    // MARK: Repeats and the end

    /// Hands in acknowledged events again, as a backend does that does not know how far it had come. Each must be known; one that was lost
    /// would show its old number.
    mutating func repeats(most: Int) -> [(number: Int, request: Request)] {
        var found: [(number: Int, request: Request)] = []
        for topic in liveTopics {
            let known = history.topics[topic].changes
            for (index, change) in known.enumerated().suffix(12)
            where change.acknowledged != nil && (change.kind == .event || change.kind == .alert) {
                found.append((index + 1, .change(change.kind, topic: history.topics[topic].name, number: index + 1)))
            }
        }
        return found.shuffled(using: &random).prefix(most).map {
            requests.send(.init(request: $0.request, asked: nextTick(), isRepeat: true))
        }
    }

    /// Hands in acknowledged calls with idempotency keys again, of this life and of earlier ones. Each must be answered as a repeated call; one that
    /// is carried out again shows an old number, alerts twice, or starts a second card.
    mutating func keyedRepeats(most: Int) -> [(number: Int, request: Request)] {
        keyed.drawn(by: &random).filter { $0.card.map { !isAway($0) } ?? true }.prefix(most).map {
            requests.send(.init(request: $0, asked: nextTick(), isRepeat: true))
        }
    }

    /// Requests that let all topics show what they have.
    mutating func release(at now: Int64) -> [(number: Int, request: Request)] {
        var found: [(number: Int, request: Request)] = []
        for topic in liveTopics where states[topic].isPaused {
            found.append(send(order(.resume, topic, at: now), asked: tick))
        }
        return found
    }

    /// A last change of each topic, which shows who follows it.
    mutating func lastChanges() -> [(number: Int, request: Request)] {
        liveTopics.map { send(change($0, .event), asked: tick) }
    }
}
