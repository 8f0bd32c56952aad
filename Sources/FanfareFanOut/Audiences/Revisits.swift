import FanfareModel
import FanfareQueues

/// Members of an audience that need a visit although its sweep has passed them, first come, first served; each has its `queued` flag set. The caller
/// of `nextPrompt` and `nextLate` skips an entry whose member has lost that flag, or has moved elsewhere.
struct Revisits {
    private var prompt = Queue<ActivitySlot>()
    /// Members that have failures; they come after all others.
    private var late = Queue<ActivitySlot>()
    /// Number of prompt members that still lack an alert. It may include members that have left, until their entries are removed.
    private var urgent = 0
    /// Upper bound on the entries to be skipped, in both queues together: a member that has left, and comes back with failures, has an entry in each,
    /// and the visit to the first of them leaves the other one to be skipped.
    private var abandoned = 0
    /// The pass that removes entries to be skipped; `nil` while none is under way. Its entries go before those of the queues.
    private var pass: RevisitPass?

    /// Number of entries to be skipped that are left alone.
    private static let abandonedMin = 16
    /// Maximum of entries that one pass examines at once.
    static let wholeMax = 64
    /// Number of entries that each abandoned one makes a longer pass examine. A pass begins when a quarter of the entries may be to be skipped, and is
    /// over before as many as half are.
    static let examinedMax = 8

    var isEmpty: Bool { prompt.isEmpty && late.isEmpty && pass?.isEmpty != false }
    var hasPrompt: Bool { promptCount > 0 }
    var hasLate: Bool { !late.isEmpty || pass?.late.isEmpty == false }
    /// Number of entries, those to be skipped included.
    var count: Int { prompt.count + late.count + (pass?.count ?? 0) }
    var awaitsAlert: Bool { min(urgent, promptCount) > 0 }
    private var promptCount: Int { prompt.count + (pass?.prompt.count ?? 0) }

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
        guard let slot = popPrompt() else { return nil }
        urgent = hasPrompt ? max(0, urgent - (isUrgent(slot) ? 1 : 0)) : 0
        if isEmpty { endPass() }
        return slot
    }

    mutating func nextLate() -> ActivitySlot? {
        let slot = popLate()
        if isEmpty { endPass() }
        return slot
    }

    private mutating func popPrompt() -> ActivitySlot? {
        if pass?.isPassedOver != true, let slot = pass?.popPrompt() { return slot }
        pass?.isPassedOver = false
        let slot = prompt.popFirst()
        if let pass, let slot { pass.noteVisit(slot) }
        return slot
    }

    private mutating func popLate() -> ActivitySlot? {
        if let slot = pass?.popLate() { return slot }
        let slot = late.popFirst()
        if let pass, let slot { pass.noteVisit(slot) }
        return slot
    }

    /// Makes any prompt member the next one.
    mutating func drawNext(by random: UInt64) {
        guard let pass else { return prompt.drawFirst(by: random) }
        guard hasPrompt else { return }
        let place = random % UInt64(promptCount)
        let kept = UInt64(pass.prompt.count)
        pass.isPassedOver = place >= kept
        if place < kept { pass.drawNext(by: place) } else { prompt.drawFirst(by: place - kept) }
    }

    /// Notes that a member in a queue has left. Abandoned entries are removed when they may be a quarter of all, so that members that come and go while
    /// nothing is served do not accumulate. A few entries are examined each time, so that a million of them lengthen no turn.
    ///
    /// - Parameters:
    ///   - isWanted: returns whether a member is to be visited.
    ///   - isUrgent: returns whether a prompt member still lacks an alert.
    mutating func abandon(isWanted: (ActivitySlot) -> Bool, isUrgent: (ActivitySlot) -> Bool) {
        abandoned = min(abandoned + 1, count)
        var examined = Revisits.examinedMax
        if let pass {
            pass.noteAbandoned()
        } else {
            guard abandoned > Revisits.abandonedMin, abandoned * 4 > count else { return }
            if count <= Revisits.wholeMax { examined = count }
            pass = RevisitPass()
        }
        // The last of them is a late one: prompt visits that keep coming do not keep the late ones from being examined.
        for number in 1...examined {
            examineNext(isLate: number == examined && !late.isEmpty, isWanted: isWanted, isUrgent: isUrgent)
        }
        if prompt.isEmpty, late.isEmpty { endPass() }
        if !hasPrompt { urgent = 0 }
    }

    /// Examines the next entry of the pass, which keeps it, or it is to be skipped and removed. The prompt ones come first.
    ///
    /// - Parameter isLate: whether the next late entry is examined before them.
    private mutating func examineNext(
        isLate: Bool, isWanted: (ActivitySlot) -> Bool, isUrgent: (ActivitySlot) -> Bool
    ) {
        guard let pass else { return }
        pass.isPassedOver = false
        let isKept: Bool
        if !isLate, let slot = prompt.popFirst() {
            isKept = isWanted(slot) && pass.keepPrompt(slot, isUrgent: isUrgent(slot))
        } else if let slot = late.popFirst() {
            isKept = isWanted(slot) && pass.keepLate(slot)
        } else {
            return
        }
        if !isKept { abandoned = max(0, abandoned - 1) }
    }

    /// Ends the pass, if one is under way: it has examined all entries, or there are none.
    private mutating func endPass() {
        if let pass {
            (prompt, late) = (pass.prompt, pass.late)
            urgent = pass.urgent
            abandoned = min(abandoned, pass.abandoned)
            self.pass = nil
        }
        if isEmpty { abandoned = 0 }
    }

    // For checks.
    /// The members that have an entry.
    var slots: Set<ActivitySlot> {
        var slots = Set(prompt.elements).union(late.elements)
        if let pass { slots.formUnion(Array(pass.prompt.elements) + Array(pass.late.elements)) }
        return slots
    }

    /// Describes a count of members that lack an alert without such members, or a wrong state of the pass; `nil` if there is none.
    func violation() -> String? {
        guard hasPrompt ? urgent >= 0 : urgent == 0 else { return "\(urgent) of \(promptCount) visits are urgent" }
        return pass?.violation()
    }

    /// Describes more entries to be skipped than members have left; `nil` if there are none.
    ///
    /// - Parameter isWanted: returns whether a member is to be visited.
    func violation(isWanted: (ActivitySlot) -> Bool) -> String? {
        let skipped = count - slots.count(where: isWanted)
        return skipped <= abandoned ? nil : "\(skipped) entries are to be skipped, \(abandoned) were abandoned"
    }
}
