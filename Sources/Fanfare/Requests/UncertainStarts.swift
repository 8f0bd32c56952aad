/// Cards that the earlier process may have started, and the calls that were handed in before the engine reported these cards. None of the calls
/// starts an uncertain card, or confirms its start.
package struct UncertainStarts {
    /// Number of the last call that must not start the card, by the bits of its id; `.max` until the engine has reported the card, and while callers
    /// from before the report wait.
    private var cards: [UInt64: UInt64] = [:]
    /// Cards that the engine reported while callers waited for room, with the callers until then, in their order.
    private var unsettled: [(callers: CallerArrivals, cards: [UInt64])] = []
    private var last: UInt64 = 0
    private var allReported = false

    var count: Int { cards.count }

    /// - Parameter cards: bits of their ids.
    init(_ cards: [UInt64] = []) { for card in cards { self.cards[card] = .max } }

    /// Notes that the engine is about to report a card.
    ///
    /// - Parameters:
    ///   - lastCall: number of the last call in the mailbox.
    ///   - callers: callers that have begun to wait for room there so far; `nil` if none waits.
    /// - Returns: `false` if the card is certain now.
    mutating func noteReport(of card: UInt64, lastCall: UInt64, callers: CallerArrivals?) -> Bool {
        guard cards[card] != nil else { return false }
        guard let callers else {
            settle(card, lastCall)
            return true
        }
        if unsettled.last?.callers != callers { unsettled.append((callers, [])) }
        unsettled[unsettled.count - 1].cards.append(card)
        return true
    }

    private mutating func settle(_ card: UInt64, _ lastCall: UInt64) {
        last = max(last, lastCall)
        if cards[card] != nil { cards[card] = lastCall }
    }

    /// Notes that the engine has reported all cards.
    package mutating func endReports() { allReported = true }

    /// Notes that callers may have been admitted, or have given up.
    ///
    /// - Parameters:
    ///   - lastCall: number of the last call in the mailbox.
    ///   - isWaiting: returns whether one of these callers waits for room.
    mutating func noteAdmitted(lastCall: UInt64, isWaiting: (CallerArrivals) -> Bool) {
        while let first = unsettled.first, !isWaiting(first.callers) {
            for card in first.cards { settle(card, lastCall) }
            unsettled.removeFirst()
        }
    }

    /// Notes that a card is on a phone: it has followed.
    mutating func resolve(_ card: UInt64) { if !cards.isEmpty { cards[card] = nil } }

    /// Returns whether a call is passed over.
    ///
    /// - Parameters:
    ///   - card: id of the card that it starts or confirms.
    ///   - number: number of the call in the mailbox.
    mutating func covers(_ card: UInt64, _ number: UInt64) -> Bool {
        guard let until = cards[card] else { return false }
        // All later calls have greater numbers.
        if allReported, unsettled.isEmpty, number > last { cards = [:] }
        return number <= until
    }

    /// Describes a card whose calls end behind the last one, or callers without a card; `nil` if there is none.
    func violation() -> String? {
        guard cards.values.allSatisfy({ $0 == .max || $0 <= last }) else {
            return "an uncertain start covers calls behind \(last), the last one"
        }
        return unsettled.contains { $0.cards.isEmpty } ? "callers are remembered for no card" : nil
    }
}
