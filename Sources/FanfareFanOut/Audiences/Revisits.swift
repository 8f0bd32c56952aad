import FanfareModel
import FanfareQueues

/// Members of an audience that need a visit although its sweep has passed them, first come, first served; each has its `queued` flag set. The caller
/// of `nextPrompt` and `nextLate` skips an entry whose member has lost that flag, or has moved elsewhere.
struct Revisits {
    private var prompt = Queue<ActivitySlot>()
    /// Members that have failures; they come after all others.
    private var late = Queue<ActivitySlot>()
    /// Number of members in `prompt` that still lack an alert. It may include members that have left, until their entries are removed.
    private var urgent = 0
    /// Upper bound on the entries to be skipped, in both queues together: a member that has left, and comes back with failures, has an entry in each,
    /// and the visit to the first of them leaves the other one to be skipped.
    private var abandoned = 0

    var isEmpty: Bool { prompt.isEmpty && late.isEmpty }
    var hasPrompt: Bool { !prompt.isEmpty }
    var hasLate: Bool { !late.isEmpty }
    /// Number of entries, those to be skipped included.
    var count: Int { prompt.count + late.count }
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
        if isEmpty { abandoned = 0 }
        return slot
    }

    mutating func nextLate() -> ActivitySlot? {
        let slot = late.popFirst()
        if isEmpty { abandoned = 0 }
        return slot
    }

    /// Makes any prompt member the next one.
    mutating func drawNext(by random: UInt64) { prompt.drawFirst(by: random) }

    /// Notes that a member in a queue has left. Abandoned entries are removed when they may be half of all, so that members that come and go while
    /// nothing is served do not accumulate.
    ///
    /// - Parameters:
    ///   - isWanted: returns whether a member is to be visited.
    ///   - isUrgent: returns whether a member in `prompt` still lacks an alert.
    mutating func abandon(isWanted: (ActivitySlot) -> Bool, isUrgent: (ActivitySlot) -> Bool) {
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > count else { return }
        var seen: Set<ActivitySlot> = []
        prompt = Queue(prompt.elements.filter { isWanted($0) && seen.insert($0).inserted })
        late = Queue(late.elements.filter { isWanted($0) && seen.insert($0).inserted })
        urgent = prompt.elements.count(where: isUrgent)
        abandoned = 0
    }

    // For checks.
    /// The members that have an entry.
    var slots: Set<ActivitySlot> { Set(prompt.elements).union(late.elements) }

    /// Describes a count of members that lack an alert without such members; `nil` if there is none.
    func violation() -> String? {
        (prompt.isEmpty ? urgent == 0 : urgent >= 0) ? nil : "\(urgent) of \(prompt.count) visits are urgent"
    }

    /// Describes more entries to be skipped than members have left; `nil` if there are none.
    ///
    /// - Parameter isWanted: returns whether a member is to be visited.
    func violation(isWanted: (ActivitySlot) -> Bool) -> String? {
        let skipped = count - slots.count(where: isWanted)
        return skipped <= abandoned ? nil : "\(skipped) entries are to be skipped, \(abandoned) were abandoned"
    }
}
