/// Members of an audience that need a visit although its sweep has passed them; each has its `queued` flag set.
struct Revisits {
    private(set) var prompt = VisitQueue()
    /// Members that have failures; they come after all others.
    private(set) var late = VisitQueue()
    /// Number of members in `prompt` that still lack an alert. It may include members that have left, until their entries are removed.
    private var urgent = 0

    var isEmpty: Bool { prompt.isEmpty && late.isEmpty }
    var awaitsAlert: Bool { min(urgent, prompt.count) > 0 }

    /// - Parameters:
    ///   - isUrgent: whether the member still lacks an alert.
    ///   - isLate: whether the member has failures.
    mutating func append(_ slot: ActivitySlot, isUrgent: Bool, isLate: Bool) {
        guard !isLate else {
            late.append(slot)
            return
        }
        prompt.append(slot)
        if isUrgent { urgent += 1 }
    }

    /// - Parameter isUrgent: returns the value given when the member was queued, or a newer one.
    mutating func nextPrompt(isUrgent: (ActivitySlot) -> Bool) -> ActivitySlot? {
        guard let slot = prompt.popFirst() else { return nil }
        urgent = prompt.isEmpty ? 0 : max(0, urgent - (isUrgent(slot) ? 1 : 0))
        return slot
    }

    mutating func nextLate() -> ActivitySlot? { late.popFirst() }

    /// Makes any prompt member the next one.
    mutating func drawNext(by random: UInt64) { prompt.drawFirst(by: random) }

    /// Notes that a member in a queue has left.
    ///
    /// - Parameter isUrgent: returns whether a member in `prompt` still lacks an alert.
    mutating func abandon(isWanted: (ActivitySlot) -> Bool, isUrgent: (ActivitySlot) -> Bool) {
        if prompt.abandon(isWanted: isWanted) { urgent = prompt.entries.count(where: isUrgent) }
        late.abandon(isWanted: isWanted)
    }

    // For checks.
    /// The members that have an entry.
    var slots: Set<ActivitySlot> { prompt.slots.union(late.slots) }

    /// Describes a count of members that lack an alert without such members; `nil` if there is none.
    func violation() -> String? {
        (prompt.isEmpty ? urgent == 0 : urgent >= 0) ? nil : "\(urgent) of \(prompt.count) visits are urgent"
    }
}
