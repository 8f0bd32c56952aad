import FanfareQueues

/// What a pass over the entries of `Revisits` has kept: one prompt entry and one late entry of each member at most, in order. These entries go before
/// those that the pass has still to examine.
///
/// An object of its own, because few audiences have a pass, and a million have queues.
final class RevisitPass {
    private(set) var prompt = Queue<ActivitySlot>()
    private(set) var late = Queue<ActivitySlot>()
    /// Members with an entry in `prompt`, and in `late`.
    private var promptMembers = SlotSet()
    private var lateMembers = SlotSet()
    /// Those of `promptMembers` that lacked an alert when the pass examined an entry of theirs.
    private var urgentMembers = SlotSet()
    /// Upper bound on the kept entries to be skipped: of members that have left since the pass began, and second entries of others.
    private(set) var abandoned = 0
    /// Is `true` after a lot has chosen, for the next prompt visit, the first of the entries that the pass has still to examine.
    var isPassedOver = false

    /// Number of prompt members that lacked an alert.
    var urgent: Int { urgentMembers.count }
    var count: Int { prompt.count + late.count }
    var isEmpty: Bool { prompt.isEmpty && late.isEmpty }

    func noteAbandoned() { abandoned += 1 }

    /// Notes the visit to an entry that the pass has not examined. A kept entry of the same member is to be skipped.
    func noteVisit(_ slot: ActivitySlot) {
        if promptMembers.contains(slot) || lateMembers.contains(slot) { abandoned += 1 }
    }

    /// Keeps an entry of a prompt member.
    ///
    /// - Returns: `false` if the member has an earlier one.
    func keepPrompt(_ slot: ActivitySlot, isUrgent: Bool) -> Bool {
        // A member that has come back may lack an alert that it had when its earlier entry was examined.
        if isUrgent { urgentMembers.insert(slot) }
        guard promptMembers.insert(slot) else { return false }
        // The visit to one of a member's two entries leaves the other one to be skipped.
        if lateMembers.contains(slot) { abandoned += 1 }
        prompt.append(slot)
        return true
    }

    /// Keeps an entry of a member that has failures.
    ///
    /// - Returns: `false` if the member has an earlier one, or one in `prompt`.
    func keepLate(_ slot: ActivitySlot) -> Bool {
        guard !promptMembers.contains(slot), lateMembers.insert(slot) else { return false }
        late.append(slot)
        return true
    }

    func popPrompt() -> ActivitySlot? {
        guard let slot = prompt.popFirst() else { return nil }
        promptMembers.remove(slot)
        urgentMembers.remove(slot)
        return slot
    }

    func popLate() -> ActivitySlot? {
        guard let slot = late.popFirst() else { return nil }
        lateMembers.remove(slot)
        return slot
    }

    /// Makes any prompt member the next one.
    func drawNext(by random: UInt64) { prompt.drawFirst(by: random) }

    /// Describes members that differ from the entries; `nil` if there are none.
    func violation() -> String? {
        guard promptMembers.count == prompt.count, prompt.elements.allSatisfy({ promptMembers.contains($0) }),
            lateMembers.count == late.count, late.elements.allSatisfy({ lateMembers.contains($0) }),
            urgent <= prompt.count
        else {
            return "a pass has kept \(prompt.count) prompt visits and \(late.count) late ones, and knows "
                + "\(promptMembers.count) and \(lateMembers.count) members, \(urgent) of them urgent"
        }
        return promptMembers.violation() ?? lateMembers.violation() ?? urgentMembers.violation()
    }
}
