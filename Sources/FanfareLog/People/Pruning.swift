package import FanfareModel

/// Rule by which an operator removes cards from a store that no process uses: cards that no phone shows any more, and cards that a later card of the
/// same activity replaces.
package struct Pruning: Sendable {
    /// Cause of a removal.
    package enum Cause: Sendable {
        case isOver
        /// A later card of the same activity takes its place.
        case isReplaced
    }

    /// Time after which no phone shows a card: eight hours of updates, and four more on the Lock Screen (rule L1).
    private static let lifetime = Duration.seconds(12 * 3600)
    /// A card that began earlier is over.
    package let before: FeedTime
    /// A start that was requested earlier is over. A start may wait for days until its topic has something to show, and its card has the time of its
    /// request.
    private let askedBefore: FeedTime

    /// - Parameter before: time before which the cards that are over began, if an operator has named one.
    package init(before: FeedTime? = nil, now: FeedTime) {
        self.before = before ?? now + (.zero - Pruning.lifetime)
        askedBefore = min(self.before, now + (.zero - StartRequest.patience))
    }

    /// Calls the closure with each row of a slice and the cause of its removal, `nil` for a card that stays. The closure may remove the row.
    package func judge(
        slice: Int, of store: any PeopleStore,
        _ body: (CardKey, Result<Cause?, SerialError>) throws(LogError) -> Void
    ) throws(LogError) {
        // A slice of ten million cards has 160,000 names.
        var newest = NewestCards()
        try store.read(slice: slice, from: 0) { (key, found) throws(LogError) in
            if case .success(let card) = found { newest.note(card.name, key.serial) }
            return true
        }
        try store.read(slice: slice, from: 0) { (key, found) throws(LogError) in
            switch found {
            case .success(let card): try body(key, .success(cause(of: card, key, newest)))
            case .failure(let error): try body(key, .failure(error))
            }
            return true
        }
    }

    private func cause(of card: Card, _ key: CardKey, _ newest: NewestCards) -> Cause? {
        if newest.isReplaced(card.name, key.serial) { return .isReplaced }
        return card.startedAt < (card.phase == .starting ? askedBefore : before) ? .isOver : nil
    }
}
