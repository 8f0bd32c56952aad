import FanfareModel

/// Activities to be visited apart from the sweep, first come, first served. An entry whose activity has lost its `queued` flag, or
/// belongs elsewhere by now, is skipped by whoever takes it out.
struct VisitQueue {
    private var queue = Queue<ActivitySlot>()
    /// Entries that may be such, at most.
    private var abandoned = 0

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }

    mutating func append(_ slot: ActivitySlot) { queue.append(slot) }

    mutating func popFirst() -> ActivitySlot? {
        let slot = queue.popFirst()
        if queue.isEmpty { abandoned = 0 }
        return slot
    }

    func contains(_ slot: ActivitySlot) -> Bool { queue.elements.contains(slot) }

    /// An activity that may stand here goes elsewhere. Once half of the entries may be such they are cut out, so that who comes and
    /// goes while nothing is served leaves nothing behind.
    mutating func abandon(isWanted: (ActivitySlot) -> Bool) {
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > queue.count else { return }
        var seen: Set<ActivitySlot> = []
        let wanted = queue.elements.filter { isWanted($0) && seen.insert($0).inserted }
        queue = Queue(wanted)
        abandoned = 0
    }
}
