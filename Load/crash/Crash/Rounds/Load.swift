import FanfareModel

/// Load of a program, drawn from a seed: what backends ask for, many at once, and one thing at a time for each topic and card. Keeps the history
/// of it.
struct Load {
    /// A request that is on its way.
    private struct Pending {
        let request: Request
        let asked: History.Tick
        /// An event that was acknowledged once and is handed in again.
        var isRepeat = false

        /// Is `true` for a request that may have been carried out before it was asked for again.
        var mayBeGone: Bool { if case .unfollow = request { true } else { false } }
    }

    enum Group: CaseIterable {
        /// Crowds whose sweeps take a while: a large one, which never ends, and others.
        case large, crowd
        /// Topics with some followers, those of lineups, which never end, and topics with one follower.
        case match, favourite, order

        var name: String {
            switch self {
            case .large, .crowd: "crowd"
            case .match: "match"
            case .favourite: "favourite"
            case .order: "order"
            }
        }
    }

    /// Number of topics of a group at a time, and of the followers of each.
    struct Size {
        var topics: Int
        var followers: Int
    }

    struct Sizes {
        var groups: [Group: Size] = [
            .large: Size(topics: 1, followers: 2500), .crowd: Size(topics: 3, followers: 200),
            .match: Size(topics: 24, followers: 8), .favourite: Size(topics: 8, followers: 4),
            .order: Size(topics: 120, followers: 1),
        ]
        var lineups = 40
    }

    /// State of a topic that the history does not have.
    private struct TopicState {
        let group: Group
        var isBusy = false
        var isMuted = false
        var isPaused = false
        var cards: Set<Int> = []
    }

    private struct CardState {
        var isBusy = false
        /// Nothing more is asked for it.
        var isOver = false
        var isShown = false
        var place: Int?
    }

    private(set) var history = History()
    private var random: SplitMix64
    private let sizes: Sizes
    private var states: [TopicState] = []
    private var cards: [CardState] = []
    /// Topics that have not ended, by group; cards that are shown, in any order.
    private var live: [Group: [Int]] = [:]
    private var shown: [Int] = []
    private var lineups = 0
    private var pending: [Int: Pending] = [:]
    private var again: [Pending] = []
    private var appeared: [Int] = []
    private var tick = 0
    private var number = 0
    private(set) var acknowledged: [String: Int] = [:]
    /// Is `true` if nothing new is drawn.
    var isEnding = false
    private var names: [String: Int] = [:]

    init(seed: UInt64, sizes: Sizes = Sizes()) {
        random = SplitMix64(seed: seed)
        self.sizes = sizes
        for group in Group.allCases { for _ in 0..<(sizes.groups[group]?.topics ?? 0) { addTopic(group) } }
    }

    private mutating func addTopic(_ group: Group) {
        let name = "\(group.name)/\(states.count)"
        names[name] = states.count
        live[group, default: []].append(states.count)
        states.append(TopicState(group: group))
        history.topics.append(History.Topic(name))
    }

    var waiting: Int { pending.count }
    func isWaiting(for number: Int) -> Bool { pending[number] != nil }
    var isIdle: Bool { pending.isEmpty && again.isEmpty && appeared.isEmpty }
    private var life: Int { history.lives.count - 1 }

    private mutating func nextTick() -> History.Tick {
        tick += 1
        return tick
    }

    // MARK: Lives

    mutating func begin(round: Int, at nanoseconds: Int64, isQuiet: Bool = false) {
        var life = History.Life(round: round, beganNanoseconds: nanoseconds)
        life.isQuiet = isQuiet
        history.lives.append(life)
    }

    /// Notes a kill. What was not acknowledged may have happened or not: some of it is asked for again, as backends do.
    mutating func killed(in phases: [Phase]) {
        history.lives[life].killed = nextTick()
        history.lives[life].phases = phases
        let lost = pending.sorted { $0.key < $1.key }.map(\.value)
        pending = [:]
        for operation in lost where !operation.isRepeat { giveUp(operation) }
    }

    /// Notes that a restart does not send a start again that may have left. If it has arrived, its card is followed.
    mutating func noteUncertain(_ card: Int) {
        guard history.cards.indices.contains(card), history.cards[card].start != nil else {
            return complain("card \(card) has no start, and life \(life) gives it up")
        }
        // Each life tells it until its row is gone.
        let told = history.cards[card].start?.uncertain ?? life
        history.cards[card].start?.uncertain = told
        guard !cards[card].isShown, !appeared.contains(card), !cards[card].isBusy else { return }
        cards[card].isOver = true
    }

    private mutating func giveUp(_ operation: Pending) {
        switch operation.request {
        case .change(let change, let topic, _):
            guard change != .end, random.chance(0.25) else { return again.append(operation) }
            if let topic = names[topic] { states[topic].isBusy = false }
        case .order, .unfollow: again.append(operation)
        case .follow(let card, _, _):
            guard random.chance(0.3) else { return again.append(operation) }
            cards[card].isBusy = false
            // Nobody knows whether the engine has it.
            leaveAlone(card)
        case .move(let card, _), .replaceToken(let card, _):
            guard random.chance(0.3) else { return again.append(operation) }
            cards[card].isBusy = false
        case .start(let card, _): cards[card].isBusy = false
        case .confirm(let card, let generation):
            guard let audience = history.cards[card].shows.last?.value else { return }
            again.append(
                Pending(
                    request: .follow(
                        card: card, audience: audience.map { history.topics[$0].name }, generation: generation),
                    asked: operation.asked))
        case .settle, .stop: break
        }
    }

    private mutating func leaveAlone(_ card: Int) {
        cards[card].isOver = true
        guard let place = cards[card].place else { return }
        shown.swapAt(place, shown.count - 1)
        cards[shown[place]].place = place
        shown.removeLast()
        cards[card].place = nil
    }

    /// Notes that the start of a card has arrived.
    mutating func appear(_ card: Int) { if !cards[card].isOver { appeared.append(card) } }

    // MARK: Requests

    /// Returns the next request and its number; `nil` if nothing is to be asked for now.
    mutating func next(at now: Int64) -> (number: Int, request: Request)? {
        if !again.isEmpty {
            let operation = again.removeFirst()
            return ask(operation)
        }
        if let card = appeared.popLast() {
            guard !cards[card].isOver, let start = history.cards[card].start else { return next(at: now) }
            // Its start has arrived before the acknowledgement.
            guard !cards[card].isBusy else {
                appeared.insert(card, at: 0)
                return isEnding ? nil : drawn(at: now)
            }
            cards[card].isBusy = true
            let asked = nextTick()
            history.cards[card].tokens.append(.init(0, asked: asked))
            if start.life == life { return ask(Pending(request: .confirm(card: card, generation: 0), asked: asked)) }
            let audience = history.cards[card].shows.last?.value ?? []
            return ask(
                Pending(
                    request: .follow(card: card, audience: audience.map { history.topics[$0].name }, generation: 0),
                    asked: asked))
        }
        return isEnding ? nil : drawn(at: now)
    }

    private mutating func drawn(at now: Int64) -> (number: Int, request: Request)? {
        for _ in 0..<20 { if let request = draw(at: now) { return ask(Pending(request: request, asked: tick)) } }
        return nil
    }

    private mutating func ask(_ operation: Pending) -> (number: Int, request: Request) {
        number += 1
        pending[number] = operation
        return (number, operation.request)
    }

    /// Asks for something beside the load.
    mutating func ask(_ request: Request) -> (number: Int, request: Request) {
        ask(Pending(request: request, asked: nextTick()))
    }

    private mutating func draw(at now: Int64) -> Request? {
        let draw = Double.random(in: 0..<1, using: &random)
        if let missing = groupThatLacksFollowers(), draw < 0.15 || missing.count > 200 {
            return follow(missing.topic)
        }
        switch draw {
        case ..<0.62: return change(drawTopic(), at: now)
        case ..<0.65: return order(at: now)
        case ..<0.68: return end()
        case ..<0.74: return start()
        case ..<0.82: return unfollow()
        case ..<0.91: return replaceToken()
        default: return move()
        }
    }

    private mutating func drawTopic() -> Int {
        let draw = Double.random(in: 0..<1, using: &random)
        let group: Group =
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
        return .order(order, topic: history.topics[topic].name)
    }

    private mutating func end() -> Request? {
        let topic = drawTopic()
        let group = states[topic].group
        guard group == .order || group == .match || group == .crowd && random.chance(0.1), !states[topic].isBusy,
            !history.topics[topic].changes.isEmpty, !states[topic].cards.contains(where: { cards[$0].isBusy })
        else { return nil }
        let request = change(topic, .end)
        for card in states[topic].cards where !cards[card].isOver { leaveAlone(card) }
        live[group]?.removeAll { $0 == topic }
        addTopic(group)
        return request
    }

    // MARK: Cards

    /// Returns a topic that has too few followers, of some that are drawn.
    private mutating func groupThatLacksFollowers() -> (topic: Int, count: Int)? {
        for _ in 0..<8 {
            guard let group = Group.allCases.randomElement(using: &random),
                let topic = live[group]?.randomElement(using: &random)
            else { continue }
            let missing = (sizes.groups[group]?.followers ?? 0) - states[topic].cards.count { !cards[$0].isOver }
            if missing > 0 { return (topic, missing) }
        }
        return nil
    }

    private mutating func newCard(_ audience: [Int], asked: History.Tick) -> Int {
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
            guard let card = shown.randomElement(using: &random) else { return nil }
            if !cards[card].isBusy { return card }
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
}

// MARK: - Answers

extension Load {
    mutating func take(_ answer: Answer, to number: Int, at now: Int64) {
        guard let operation = pending.removeValue(forKey: number) else {
            return history.complaints.append("an answer to request \(number), which is none: \(answer)")
        }
        let tick = nextTick()
        switch answer {
        case .failed(let text): history.complaints.append("\(operation.request.line): \(text)")
        case .memory where !operation.mayBeGone: history.complaints.append("\(operation.request.line): memory only")
        case .unsettled: history.complaints.append("life \(life): not settled within 60 s")
        case .settled:
            history.settlements.append(
                .init(life: life, asked: operation.asked, acknowledged: tick, nanoseconds: now))
        default: break
        }
        acknowledged[operation.request.kind, default: 0] += 1
        guard !operation.isRepeat else { return }
        acknowledge(operation.request, at: tick)
    }

    private mutating func acknowledge(_ request: Request, at tick: History.Tick) {
        switch request {
        case .change(_, let name, let number):
            guard let topic = names[name] else { return }
            states[topic].isBusy = false
            history.topics[topic].changes[number - 1].acknowledged = tick
            history.topics[topic].changes[number - 1].life = life
        case .order(let order, let name):
            guard let topic = names[name] else { return }
            states[topic].isBusy = false
            switch order {
            case .mute, .unmute: states[topic].isMuted = order == .mute
            case .pause: states[topic].isPaused = true
            case .resume:
                states[topic].isPaused = false
                history.topics[topic].pauses[history.topics[topic].pauses.count - 1].over = tick
            }
        case .follow(let card, _, _), .confirm(let card, _):
            cards[card].isBusy = false
            settleShows(of: card, at: tick)
            settleTokens(of: card, at: tick)
            appearInTable(card)
        case .move(let card, _):
            cards[card].isBusy = false
            settleShows(of: card, at: tick)
        case .replaceToken(let card, _):
            cards[card].isBusy = false
            settleTokens(of: card, at: tick)
        case .unfollow(let card):
            cards[card].isBusy = false
            history.cards[card].isUnfollowAcknowledged = true
            for index in history.cards[card].shows.indices where history.cards[card].shows[index].left == nil {
                history.cards[card].shows[index].left = tick
            }
            for topic in Set(history.cards[card].shows.flatMap(\.value)) { states[topic].cards.remove(card) }
            leaveAlone(card)
        case .start(let card, _):
            cards[card].isBusy = false
            history.cards[card].start?.acknowledged = tick
        case .settle, .stop: break
        }
    }

    /// The last of what the card shows is certain, and the others are over.
    private mutating func settleShows(of card: Int, at tick: History.Tick) {
        let last = history.cards[card].shows.count - 1
        for index in 0..<last where history.cards[card].shows[index].left == nil {
            history.cards[card].shows[index].left = tick
        }
        history.cards[card].shows[last].acknowledged = history.cards[card].shows[last].acknowledged ?? tick
        let kept = Set(history.cards[card].shows[last].value)
        for topic in Set(history.cards[card].shows.flatMap(\.value)).subtracting(kept) {
            states[topic].cards.remove(card)
        }
    }

    private mutating func settleTokens(of card: Int, at tick: History.Tick) {
        let last = history.cards[card].tokens.count - 1
        for index in 0..<last where history.cards[card].tokens[index].left == nil {
            history.cards[card].tokens[index].left = tick
        }
        history.cards[card].tokens[last].acknowledged = history.cards[card].tokens[last].acknowledged ?? tick
    }

    private mutating func appearInTable(_ card: Int) {
        cards[card].isShown = true
        guard cards[card].place == nil, !cards[card].isOver else { return }
        cards[card].place = shown.count
        shown.append(card)
    }

    mutating func complain(_ text: String) { history.complaints.append(text) }

    // MARK: Repeats and the end

    /// Hands in acknowledged events again, as a backend does that does not know how far it had come. Each must be known; one that was lost
    /// would show its old number.
    mutating func repeats(most: Int) -> [(number: Int, request: Request)] {
        var found: [(number: Int, request: Request)] = []
        for topic in live.values.joined() {
            let known = history.topics[topic].changes
            for (index, change) in known.enumerated().suffix(12)
            where change.acknowledged != nil && (change.kind == .event || change.kind == .alert) {
                found.append((index + 1, .change(change.kind, topic: history.topics[topic].name, number: index + 1)))
            }
        }
        return found.shuffled(using: &random).prefix(most).map {
            ask(Pending(request: $0.request, asked: nextTick(), isRepeat: true))
        }
    }

    /// Requests that let all topics show what they have.
    mutating func release(at now: Int64) -> [(number: Int, request: Request)] {
        var found: [(number: Int, request: Request)] = []
        for topic in live.values.joined() where states[topic].isPaused {
            found.append(ask(Pending(request: order(.resume, topic, at: now), asked: tick)))
        }
        return found
    }

    /// A last change of each topic, which shows who follows it.
    mutating func lastChanges() -> [(number: Int, request: Request)] {
        live.values.joined().map { ask(Pending(request: change($0, .event), asked: tick)) }
    }
}

extension Request {
    /// Kind of the request, for counts.
    var kind: String {
        switch self {
        case .change(let change, _, _): change == .end ? "ends" : "events"
        case .order: "orders"
        case .follow: "follows"
        case .move: "moves"
        case .replaceToken: "rotations"
        case .unfollow: "unfollows"
        case .start: "starts"
        case .confirm: "confirmations"
        case .settle, .stop: "questions"
        }
    }
}
