import FanfareModel

/// Cards that are on a phone, in any order, of which requests draw some.
struct ShownCards {
    private var cards: [Int] = []
    private var places: [Int: Int] = [:]

    /// Does nothing to a card that is there.
    mutating func insert(_ card: Int) {
        guard places[card] == nil else { return }
        places[card] = cards.count
        cards.append(card)
    }

    /// Removes a card, whose place the last one gets.
    mutating func remove(_ card: Int) {
        guard let place = places.removeValue(forKey: card) else { return }
        let last = cards.removeLast()
        guard last != card else { return }
        cards[place] = last
        places[last] = place
    }

    func drawn(by random: inout SplitMix64) -> Int? { cards.randomElement(using: &random) }
}
