import FanfareModel

/// Load of a program, drawn from a seed: what backends ask for, many at once, and one thing at a time for each topic and card. Keeps the history
/// of it.
struct Load {
    /// State of a topic that the history does not have.
    struct TopicState {
        let group: TopicGroup
        var isBusy = false
        var isMuted = false
        var isPaused = false
        var cards: Set<Int> = []
    }

    struct CardState {
        var isBusy = false
        /// Nothing more is asked for it.
        var isOver = false
        var isShown = false
    }

    var history = History()
    var random: SplitMix64
    let sizes: LoadSizes
    var states: [TopicState] = []
    var cards: [CardState] = []
    /// Topics that have not ended, by group.
    var live: [TopicGroup: [Int]] = [:]
    var shown = ShownCards()
    var lineups = 0
    var requests = RequestsInFlight()
    var keyed = KeyedRequests()
    /// Cards whose starts have arrived.
    var appeared: [Int] = []
    private(set) var acknowledged: [String: Int] = [:]
    /// Is `true` if nothing new is drawn.
    var isEnding = false
    private var names: [String: Int] = [:]
    private(set) var tick = 0

    init(seed: UInt64, sizes: LoadSizes = LoadSizes()) {
        random = SplitMix64(seed: seed)
        self.sizes = sizes
        for group in TopicGroup.allCases { for _ in 0..<(sizes.groups[group]?.topics ?? 0) { addTopic(group) } }
    }

    mutating func addTopic(_ group: TopicGroup) {
        let name = "\(group.name)/\(states.count)"
        names[name] = states.count
        live[group, default: []].append(states.count)
        states.append(TopicState(group: group))
        history.topics.append(History.Topic(name))
    }

    func topic(named name: String) -> Int? { names[name] }
    /// Topics that have not ended, in the same order in each process.
    var liveTopics: [Int] { TopicGroup.allCases.flatMap { live[$0] ?? [] } }

    var isIdle: Bool { requests.isEmpty && appeared.isEmpty }
    var life: Int { history.lives.count - 1 }
    /// Is `true` if the present life lacks the card's app, so that it refuses requests for the card.
    func isAway(_ card: Int) -> Bool { !history.serves(card, in: life) }

    mutating func nextTick() -> History.Tick {
        tick += 1
        return tick
    }
    mutating func count(_ request: Request) { acknowledged[request.kind, default: 0] += 1 }
    mutating func complain(_ text: String) { history.complaints.append(text) }

    // MARK: Lives

    /// - Parameter apps: apps that the life has; requests for cards of others wait.
    mutating func begin(
        round: Int, at nanoseconds: Int64, apps: Set<CardApp> = Set(CardApp.allCases), isQuiet: Bool = false
    ) {
        var life = History.Life(round: round, beganNanoseconds: nanoseconds)
        (life.apps, life.isQuiet) = (apps, isQuiet)
        history.lives.append(life)
    }

    /// Notes a kill. An unacknowledged request may have been carried out or not: the harness repeats some of them, as backends do.
    ///
    /// - Parameter unclaimed: time from which on alerts may have left without claims, because the disk was full at the kill; `nil` if it was not.
    mutating func killed(in phases: [Phase], unclaimedNanoseconds unclaimed: Int64? = nil) {
        history.lives[life].killed = nextTick()
        history.lives[life].phases = phases
        history.lives[life].unclaimedNanoseconds = unclaimed
        for operation in requests.takeLost() where !operation.isRepeat { giveUp(operation) }
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

    private mutating func giveUp(_ operation: RequestsInFlight.Entry) {
        switch operation.request {
        case .change(let change, let topic, _):
            guard change != .end, random.chance(0.25) else { return requests.askAgain(operation) }
            if let topic = names[topic] { states[topic].isBusy = false }
        case .order, .unfollow: requests.askAgain(operation)
        case .follow(let card, _, _):
            guard random.chance(0.3) else { return requests.askAgain(operation) }
            cards[card].isBusy = false
            // Nobody knows whether the engine has it.
            leaveAlone(card)
        case .move(let card, _), .replaceToken(let card, _), .setPreferences(let card, _):
            guard random.chance(0.3) else { return requests.askAgain(operation) }
            cards[card].isBusy = false
        case .start(let card, _):
            guard random.chance(0.3) else { return requests.askAgain(operation) }
            cards[card].isBusy = false
        case .confirm(let card, let generation):
            guard let audience = history.cards[card].shows.last?.value else { return }
            requests.askAgain(
                .init(
                    request: .follow(
                        card: card, audience: audience.map { history.topics[$0].name }, generation: generation),
                    asked: operation.asked))
        case .settle, .disk, .stop: break
        }
    }

    mutating func leaveAlone(_ card: Int) {
        cards[card].isOver = true
        shown.remove(card)
    }

    /// Notes that the start of a card has arrived.
    mutating func appear(_ card: Int) {
        let arrived = history.cards[card].start?.arrived ?? life
        history.cards[card].start?.arrived = arrived
        if !cards[card].isOver { appeared.append(card) }
    }
}
