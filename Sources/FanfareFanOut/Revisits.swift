/// Members of an audience that need a visit although its sweep has passed them; each has its `queued` flag set.
struct Revisits {
    private(set) var prompt = VisitQueue()
    /// Those that have strikes: behind everybody else.
    private(set) var late = VisitQueue()
    /// Of the prompt ones, those before which an alert has not come yet. May count a few who have left meanwhile; an empty queue
    /// counts none.
    private var urgent = 0

    var isEmpty: Bool { prompt.isEmpty && late.isEmpty }
    var awaitsAlert: Bool { min(urgent, prompt.count) > 0 }

    /// - Parameters:
    ///   - isUrgent: an alert has not come to it yet.
    ///   - isLate: it has strikes.
    mutating func append(_ slot: ActivitySlot, isUrgent: Bool, isLate: Bool) {
        guard !isLate else {
            late.append(slot)
            return
        }
        prompt.append(slot)
        if isUrgent { urgent += 1 }
    }

    /// - Parameter isUrgent: as it was told of the member when it was queued, or is since.
    mutating func nextPrompt(isUrgent: (ActivitySlot) -> Bool) -> ActivitySlot? {
        guard let slot = prompt.popFirst() else { return nil }
        urgent = prompt.isEmpty ? 0 : max(0, urgent - (isUrgent(slot) ? 1 : 0))
        return slot
    }

    mutating func nextLate() -> ActivitySlot? { late.popFirst() }

    /// A member that was to be visited has left.
    mutating func abandon(isWanted: (ActivitySlot) -> Bool) {
        prompt.abandon(isWanted: isWanted)
        late.abandon(isWanted: isWanted)
    }

    func contains(_ slot: ActivitySlot) -> Bool { prompt.contains(slot) || late.contains(slot) }
}
