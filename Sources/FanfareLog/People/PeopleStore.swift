package import FanfareModel

/// Change of a store of people.
package enum PeopleChange: Sendable, Equatable {
    /// A new card, which gets the next serial.
    case insert(Card)
    /// Other content for a card that exists; it stays in its slice.
    case replace(CardKey, Card)
    case remove(CardKey)
}

/// All cards of all people: a table that follows the people log and knows the position that it has reached. Its calls block; they are for
/// a thread of their own. Confined to one thread at a time.
package protocol PeopleStore: AnyObject, Sendable {
    /// Position of the people log that the cards have reached; 0 for cards that were imported only.
    var position: LogPosition { get }
    /// Serial of the next inserted card; later ones count up.
    var nextSerial: UInt64 { get }

    /// Makes the changes, in order, and moves the position. All are durable when the call returns. The same call may be repeated after an error;
    /// `position` tells whether the changes were made.
    func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError)

    /// Returns the card with this key; `nil` if there is none, or its row cannot be read.
    func card(_ key: CardKey) throws(LogError) -> Card?

    /// Bytes of the people's file.
    var diskSize: DiskSize { get }

    /// Number of cards in a slice.
    func count(slice: Int) throws(LogError) -> Int

    /// Calls the closure with each card of a slice from a serial on, in the order of insertion, until it returns `false`. An unreadable row gives its
    /// fault instead of a card, and does not hide later rows. The closure may change the store.
    func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError)
}

extension PeopleStore {
    package var diskSize: DiskSize { DiskSize() }

    /// Makes changes without an entry of the people log.
    package func apply(_ changes: [PeopleChange]) throws(LogError) { try apply(changes, upTo: position) }

    package func count() throws(LogError) -> Int {
        var count = 0
        for slice in 0..<Card.slices { count += try self.count(slice: slice) }
        return count
    }

    /// Calls the closure with each card, slice by slice, until it returns `false`.
    package func read(
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        var goesOn = true
        for slice in 0..<Card.slices where goesOn {
            try read(slice: slice, from: 0) { (key, card) throws(LogError) in
                goesOn = try body(key, card)
                return goesOn
            }
        }
    }
}

/// Store of people in memory, as durable as the process.
///
/// `Sendable` is unchecked because `PeopleStore` confines it to one thread at a time.
package final class MemoryPeopleStore: PeopleStore, @unchecked Sendable {
    private var slices = [[(serial: UInt64, card: Card)]](repeating: [], count: Card.slices)
    package private(set) var nextSerial: UInt64 = 1
    package private(set) var position: LogPosition = 0

    package init() {}

    package func apply(_ changes: [PeopleChange], upTo position: LogPosition) throws(LogError) {
        for change in changes { try change.check() }
        for change in changes {
            switch change {
            case .insert(let card):
                slices[Card.slice(ofSubscriber: card.subscriber, token: card.token)].append((nextSerial, card))
                nextSerial += 1
            case .replace(let key, let card):
                if let index = index(of: key) { slices[key.slice][index].card = card }
            case .remove(let key): if let index = index(of: key) { slices[key.slice].remove(at: index) }
            }
        }
        self.position = position
    }

    private func index(of key: CardKey) -> Int? {
        let index = place(in: key.slice, from: key.serial)
        return index < slices[key.slice].count && slices[key.slice][index].serial == key.serial ? index : nil
    }

    /// Returns the index of the first card from a serial on.
    private func place(in slice: Int, from serial: UInt64) -> Int {
        var (low, high) = (0, slices[slice].count)
        while low < high {
            let middle = (low + high) / 2
            if slices[slice][middle].serial < serial { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package func card(_ key: CardKey) -> Card? { index(of: key).map { slices[key.slice][$0].card } }

    package func count(slice: Int) -> Int { slices[slice].count }

    package func read(
        slice: Int, from serial: UInt64,
        _ body: (CardKey, Result<Card, SerialError>) throws(LogError) -> Bool
    ) throws(LogError) {
        var next = serial
        while true {
            let index = place(in: slice, from: next)
            guard index < slices[slice].count else { return }
            let (serial, card) = slices[slice][index]
            guard try body(CardKey(slice: slice, serial: serial), .success(card)), serial < .max else { return }
            next = serial + 1
        }
    }
}

extension PeopleChange {
    /// Refuses a card that no release could read back.
    package func check() throws(LogError) {
        switch self {
        case .remove: return
        case .insert(let card), .replace(_, let card):
            guard (1...Subscription.tokenSizeMax.bytes).contains(card.token.count) else {
                throw LogError("a token has 1 to \(Subscription.tokenSizeMax), not \(card.token.count)", .entry)
            }
            guard (1...Card.topicsMax).contains(card.audience.topics.count) else {
                throw LogError(
                    "a lineup has 1 to \(Card.topicsMax) topics, not \(card.audience.topics.count)", .entry)
            }
        }
    }
}
