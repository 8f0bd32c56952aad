/// Activities whose token was answered as dead while the guard was shut, in the order in which they came.
struct HeldActivities {
    private var queue = Queue<(slot: ActivitySlot, generation: UInt32)>()
    /// Entries, at most, whose activity waits no longer, or not for this.
    private var abandoned = 0
    /// A timer stands for those here.
    var areTimed = false

    var count: Int { queue.count }
    var isEmpty: Bool { queue.isEmpty }
    var first: (slot: ActivitySlot, generation: UInt32)? { queue.first }

    mutating func append(_ slot: ActivitySlot, generation: UInt32) { queue.append((slot, generation)) }

    mutating func popFirst() -> (slot: ActivitySlot, generation: UInt32)? {
        let first = queue.popFirst()
        if queue.isEmpty { abandoned = 0 }
        return first
    }

    /// An activity that may be held waits no longer. Once half of the entries may be such they are cut out.
    mutating func abandon(isHeld: (ActivitySlot, _ generation: UInt32) -> Bool) {
        guard !queue.isEmpty else { return }
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > queue.count else { return }
        queue = Queue(queue.elements.filter { isHeld($0.slot, $0.generation) })
        abandoned = 0
    }
}
