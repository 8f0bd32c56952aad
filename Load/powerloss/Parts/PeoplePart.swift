internal import FanfareLog
internal import FanfareModel

/// The people: cards that are inserted, changed as calls change them, and removed, some of them larger than a page.
package final class PeoplePart: Part {
    package static let name = "people"

    private struct State: Equatable {
        var position: LogPosition = 0
        var nextSerial: UInt64 = 1
        var cards: [CardKey: Card] = [:]
    }

    private let store: String
    private var people: LMDBPeopleStore?
    private var states = [State()]
    private static let mapSize = ByteCount.kibibytes(64)
    private static let cardsMax = 200
    /// A merge of changed cards every few steps.
    private static let mergeMin = 16

    package init(store: String) throws { self.store = store }

    package func close() { people = nil }

    package func step() throws {
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
            guard var card = state.cards[key] else { continue }
            card.change(key.serial, in: number)
            changes.append(.replace(key, card))
            state.cards[key] = card
        }
        for _ in 0...(random.next() % 4) {
            let card = Card(state.nextSerial, in: number)
            changes.append(.insert(card))
            let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
            state.cards[CardKey(slice: slice, serial: state.nextSerial)] = card
            state.nextSerial += 1
        }
        state.position = number
        try people.apply(changes, upTo: number)
        states.append(state)
    }

    package func judge(store: String, done: Int, begun: Int) throws -> String? {
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
        let card = Card(next.nextSerial, in: 7)
        let slice = Card.slice(ofSubscriber: card.subscriber, token: card.token)
        next.cards[CardKey(slice: slice, serial: next.nextSerial)] = card
        var changes = [PeopleChange.insert(card)]
        for key in next.cards.keys.sorted(by: { $0.serial < $1.serial }).prefix(mergeMin)
        where key.serial < next.nextSerial {
            guard var card = next.cards[key] else { continue }
            card.change(key.serial, in: 8)
            changes.append(.replace(key, card))
            next.cards[key] = card
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
            guard let wanted = state.cards[key] else {
                fault = "card \(key.serial) was removed, and is there"
                return false
            }
            switch found {
            case .success(let card):
                // Requests are equal whatever their numbers, by which claims tell them apart.
                if card != wanted || card.request?.number != wanted.request?.number {
                    fault = "card \(key.serial) is another one"
                }
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
