import FanfareModel

/// The data for starting an activity once more.
struct Renewal {
    let request: StartRequest
    let edition: Int
    /// The activity that is to take this one's place.
    var successor: ActivityID?
    /// Is `true` after the renewal failed: the activity ends without a successor.
    var hasFailed = false

    /// Maximum of earlier cards whose names mean the newest one: the first, which has the app's own name, and those of the last day.
    static let namesMax = 4

    /// - Parameter names: the names of the cards before it, the oldest first.
    static func names(_ names: [ActivityID], and last: ActivityID) -> [ActivityID] {
        names.prefix(1) + names.dropFirst().suffix(namesMax - 2) + [last]
    }
}

/// The cards that can be started once more, the successor of each card under renewal, and the card that each id means at present.
///
/// A renewed card has an id of its own, and the ids of the cards before it are its names. These mean the old card while the new
/// one's start is on its way, and the new card from the hand-over on.
struct RenewalBook {
    private struct Names {
        /// Id of the card that has the names.
        let card: ActivityID
        let names: [ActivityID]
    }

    private var renewals: [ActivitySlot: Renewal] = [:]
    private var names: [ActivitySlot: Names] = [:]
    /// The card that each name means since a hand-over.
    private var cards: [ActivityID: ActivityID] = [:]

    var isEmpty: Bool { renewals.isEmpty && !hasNames }
    var hasNames: Bool { !names.isEmpty || !cards.isEmpty }
    /// Number of names that have been handed over.
    var handedOverCount: Int { cards.count }
    /// The cards under renewal, and the activity that is to take each one's place.
    var underWay: [(slot: ActivitySlot, successor: ActivityID)] {
        renewals.compactMap { slot, renewal in renewal.successor.map { (slot, $0) } }
    }

    subscript(slot: ActivitySlot) -> Renewal? { renewals[slot] }

    // MARK: Renewals

    func successor(of slot: ActivitySlot) -> ActivityID? { renewals.isEmpty ? nil : renewals[slot]?.successor }

    /// Makes the card renewable.
    mutating func add(_ slot: ActivitySlot, request: StartRequest, edition: Int) {
        renewals[slot] = Renewal(request: request, edition: edition)
    }

    /// Replaces the request of the card's next renewal, and permits one again if a renewal has failed.
    mutating func replaceRequest(of slot: ActivitySlot, with request: StartRequest) {
        renewals[slot] = Renewal(
            request: request, edition: renewals[slot]?.edition ?? 1, successor: renewals[slot]?.successor)
    }

    mutating func begin(_ slot: ActivitySlot, successor: ActivityID) { renewals[slot]?.successor = successor }

    mutating func fail(_ slot: ActivitySlot) {
        renewals[slot]?.successor = nil
        renewals[slot]?.hasFailed = true
    }

    /// Ends the card's renewals: it goes, or another card has taken its place.
    mutating func remove(_ slot: ActivitySlot) { renewals[slot] = nil }

    // MARK: Names

    /// Returns the id of the card that `id` means.
    func card(of id: ActivityID) -> ActivityID { cards[id] ?? id }

    func isHandedOver(_ id: ActivityID) -> Bool { cards[id] != nil }

    /// - Parameter old: the card whose id and names the new card will have.
    mutating func name(_ slot: ActivitySlot, _ card: ActivityID, after old: (slot: ActivitySlot, id: ActivityID)) {
        names[slot] = Names(card: card, names: Renewal.names(names[old.slot]?.names ?? [], and: old.id))
    }

    /// Hands the names of the old card, and of those before it, over to the new card.
    mutating func handOver(_ old: ActivitySlot, to slot: ActivitySlot) {
        renewals[old] = nil
        guard let names = names[slot] else { return }
        for name in names.names { cards[name] = names.card }
    }

    /// Withdraws from the card the names of the cards before it.
    mutating func removeNames(of slot: ActivitySlot) {
        guard !names.isEmpty, let names = names.removeValue(forKey: slot) else { return }
        for name in names.names where cards[name] == names.card { cards[name] = nil }
    }

    /// - Parameter slotOf: returns the activity that has the id.
    func violation(slotOf: (ActivityID) -> ActivitySlot?) -> String? {
        for (name, card) in cards {
            guard let slot = slotOf(card), names[slot]?.names.contains(name) == true else {
                return "an activity's name means another one that is gone"
            }
        }
        for (slot, names) in names {
            guard slotOf(names.card) == slot else { return "the names of an activity are kept that is gone" }
            guard names.names.count <= Renewal.namesMax else { return "slot \(slot.rawValue) has too many names" }
        }
        for (slot, renewal) in renewals where renewal.hasFailed && renewal.successor != nil {
            return "the renewal of slot \(slot.rawValue) has failed, and goes on"
        }
        return nil
    }
}
