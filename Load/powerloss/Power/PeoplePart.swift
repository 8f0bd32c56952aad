internal import FanfareLog
internal import FanfareModel

/// The people: cards that are inserted, written again and removed, some of them larger than a page.
final class PeoplePart: Part {
    static let name = "people"

    private struct State: Equatable {
        var position: LogPosition = 0
        var nextSerial: UInt64 = 1
        /// Number of the content of each card.
        var cards: [CardKey: UInt64] = [:]
    }

    private let store: String
    private var people: LMDBPeopleStore?
    private var states = [State()]
    private static let mapSize = ByteCount.kibibytes(64)
    private static let cardsMax = 200
    /// A merge of changed cards every few steps.
    private static let mergeMin = 16

    init(store: String) throws { self.store = store }

    func close() { people = nil }

    func step() throws {
        let number = UInt64(states.count)
        var state = states[states.count - 1]
        if number.isMultiple(of: 53) { close() }
        let people = try self.people ?? PeoplePart.open(store)
        self.people = people
        var random = SplitMix64(seed: number)
        var changes: [PeopleChange] = []
        var keys = state.cards.keys.sorted { $0.serial < $1.serial }
        keys.shuffle(using: &random)
        for key in keys.prefix(keys.count > PeoplePart.cardsMax ? 8 : 1) {
            changes.append(.remove(key))
            state.cards[key] = nil
        }
        for key in keys.dropFirst(8).prefix(4) {
            changes.append(.replace(key, PeoplePart.card(key.serial, number)))
            state.cards[key] = number
        }
        for _ in 0...(random.next() % 4) {
            let card = PeoplePart.card(state.nextSerial, number)
            changes.append(.insert(card))
            let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
            state.cards[CardKey(slice: slice, serial: state.nextSerial)] = number
            state.nextSerial += 1
        }
        state.position = number
        try people.apply(changes, upTo: number)
        states.append(state)
    }

    private static func card(_ serial: UInt64, _ number: UInt64) -> Card {
        let seed = serial &* 100_000 &+ number
        let topics = seed.isMultiple(of: 11) ? 1 + Int(seed.mixed % 40) : 1
        var card = Card(
            subscriber: "person \(serial)", activity: "card \(serial)",
            token: Array(seed.text(bytes: 32 + Int(seed % 100)).utf8),
            audience: topics == 1
                ? .topic(TopicID("topic \(seed)"))
                : .lineup((0..<topics).map { TopicID((seed &+ UInt64($0)).text(bytes: 200)) }, favourite: nil),
            startedAt: FeedTime(milliseconds: Int64(number)))
        card.generation = number
        return card
    }

    func judge(store: String, done: Int, begun: Int) throws -> String? {
        let wanted = [states[done], states[min(begun, states.count - 1)]]
        var next = State()
        if let fault = try PeoplePart.goOn(store, wanted, &next) { return fault }
        return try PeoplePart.compare(PeoplePart.open(store), with: [next, next])
    }

    private static func open(_ store: String) throws -> LMDBPeopleStore {
        try LMDBPeopleStore(store: store, mapSize: mapSize, mergeMin: mergeMin)
    }

    /// Reads the people, adds a card, changes some, which merges others, and lets go of them.
    private static func goOn(_ store: String, _ wanted: [State], _ next: inout State) throws -> String? {
        let people = try open(store)
        if let fault = try compare(people, with: wanted) { return fault }
        next = wanted[wanted[0].position == people.position ? 0 : 1]
        let card = card(next.nextSerial, 7)
        next.cards[
            CardKey(slice: Card.slice(ofSubscriber: card.subscriber, token: card.token), serial: next.nextSerial)] = 7
        var changes = [PeopleChange.insert(card)]
        for key in next.cards.keys.sorted(by: { $0.serial < $1.serial }).prefix(mergeMin)
        where key.serial < next.nextSerial {
            changes.append(.replace(key, PeoplePart.card(key.serial, 8)))
            next.cards[key] = 8
        }
        (next.position, next.nextSerial) = (next.position + 1, next.nextSerial + 1)
        try people.apply(changes, upTo: next.position)
        return nil
    }

    private static func compare(_ people: LMDBPeopleStore, with wanted: [State]) throws -> String? {
        guard let state = wanted.first(where: { $0.position == people.position }) else {
            return
                "the people are at \(people.position); \(wanted[0].position) was acknowledged, \(wanted[1].position) handed in"
        }
        guard people.nextSerial == state.nextSerial else { return "the next serial is \(people.nextSerial)" }
        var seen = 0
        var fault: String?
        try people.read { (key, found) in
            seen += 1
            guard let number = state.cards[key] else {
                fault = "card \(key.serial) was removed, and is there"
                return false
            }
            switch found {
            case .success(let card):
                if card != PeoplePart.card(key.serial, number) { fault = "card \(key.serial) is another one" }
            case .failure(let error): fault = "card \(key.serial): \(error)"
            }
            return fault == nil
        }
        if let fault { return fault }
        let count = try people.count()
        return seen == state.cards.count && count == seen
            ? nil : "\(seen) cards, counted \(count), not \(state.cards.count)"
    }
}
