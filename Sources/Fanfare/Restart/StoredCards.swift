import FanfareFanOut
package import FanfareLog
import FanfareLoop
import FanfareModel

/// People of an engine's store on their way to its shards: slice by slice, so that few cards are in memory beside the shards.
package final class StoredCards: Sendable {
    /// Number of failed reads of a place of the store before the rest of its slice is left out.
    private static let triesMax = 3

    let register: PeopleRegister
    package let expectedCount: Int
    private let others: (any SubscriberSource)?
    private let found = Locked(LoadedCards())

    /// - Parameter others: activities that the program hands in. Stored ones are left out, because the store has the newest tokens.
    package init(_ register: PeopleRegister, beside others: (any SubscriberSource)?) throws(LogError) {
        self.register = register
        self.others = others
        expectedCount = try register.count() + (others?.expectedCount ?? 0)
    }

    /// Reads all cards and passes them to their shards, which serve the loaded ones. Blocks; called once, on a thread of its own.
    ///
    /// - Parameters:
    ///   - earlier: knowledge of the process before this one.
    ///   - retry: waits until the next try of a failed read, and receives the reason; it returns `false` to give up.
    package func load(_ distribution: LoadingDistribution, after earlier: EarlierProcess, retry: (LogError) -> Bool) {
        var lines: [String] = []
        var lacksSlices = false
        var starting: [(key: CardKey, card: Card)] = []
        var damaged: (count: Int, first: LogError)?
        var (failures, failedAt) = (0, register.loadsOnAt)
        while true {
            do throws(LogError) {
                // No card waits for the next slice to fill its batch.
                try register.load(sliceEnds: distribution.flush) { row in
                    switch row {
                    case .success((let key, let card)):
                        if card.phase == .starting {
                            starting.append((key, card))
                        } else {
                            StoredCards.put(card, key, distribution, earlier)
                        }
                    case .failure(let error): damaged = ((damaged?.count ?? 0) + 1, damaged?.first ?? error)
                    }
                    return !distribution.checkClosed()
                }
                break
            } catch {
                failures = register.loadsOnAt == failedAt ? failures + 1 : 1
                failedAt = register.loadsOnAt
                if failures == StoredCards.triesMax, let place = failedAt {
                    lines.append(
                        "\(error); the cards of slice \(place.slice) from card \(place.serial) on are left out: stop the "
                            + "engine, restore the folder, and start it again")
                    register.skipSlice()
                    lacksSlices = true
                } else if !retry(error) {
                    return
                }
            }
        }
        do {
            try others?.read { subscription in
                // An activity that cannot be looked up counts as stored, with a newer token.
                guard !distribution.checkClosed(), (try? register.has(subscription.activity)) == false else {
                    return nil
                }
                return distribution.put(subscription) { earlier.delivery(subscription, startedAt: $0, app: $1) }
            }
        } catch { lines.append("subscribers that the program hands in are left out: \(error)") }
        distribution.flush()
        if let damaged {
            lines.append("\(damaged.count) cards of the store cannot be read, and are left out: \(damaged.first)")
        }
        let result = LoadedCards(
            starting: newest(starting), lines: lines + distribution.faults.lines, lacksSlices: lacksSlices)
        found.withLock { $0 = result }
    }

    private static func put(
        _ card: Card, _ key: CardKey, _ distribution: LoadingDistribution, _ earlier: EarlierProcess
    ) {
        let subscription = card.subscription(key)
        distribution.put(subscription) {
            var delivery = earlier.delivery(subscription, startedAt: $0, app: $1)
            delivery.isStored = true
            // The end of a leaving card may not have left.
            delivery.isLeaving = card.phase == .leaving
            return delivery
        }
    }

    /// Removes cards that others with their names replace, after an import for example.
    private func newest(_ cards: [(key: CardKey, card: Card)]) -> [Card] {
        var newest: [Card] = []
        var older: [(key: CardKey, card: Card)] = []
        for (key, card) in cards {
            // A card that cannot be compared counts as the newest, as it nearly always is.
            if (try? register.isNewest(card, at: key)) != false {
                newest.append(card)
            } else {
                older.append((key, card))
            }
        }
        // The next loading leaves the older cards out again if the disk refuses their removal.
        try? register.remove(older)
        return newest
    }

    /// Removes and returns the findings, once all cards are loaded.
    package func takeFound() -> LoadedCards {
        found.withLock { found in
            defer { found = LoadedCards() }
            return found
        }
    }
}
