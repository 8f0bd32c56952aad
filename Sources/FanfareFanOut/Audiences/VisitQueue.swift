import FanfareModel
import FanfareQueues

/// Activities to be visited apart from the sweep, first come, first served. The caller of `popFirst` skips an entry whose activity has
/// lost its `queued` flag, or has moved elsewhere.
struct VisitQueue {
    private var queue = Queue<ActivitySlot>()
    /// Upper bound on the entries to be skipped.
    private var abandoned = 0

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }

    mutating func append(_ slot: ActivitySlot) { queue.append(slot) }

    mutating func popFirst() -> ActivitySlot? {
        let slot = queue.popFirst()
        if queue.isEmpty { abandoned = 0 }
        return slot
    }

    /// Makes any entry the first one.
    mutating func drawFirst(by random: UInt64) { queue.drawFirst(by: random) }

    /// The activities of all entries, the first one first.
    var entries: ArraySlice<ActivitySlot> { queue.elements }

    // For checks.
    /// The activities that have an entry.
    var slots: Set<ActivitySlot> { Set(queue.elements) }

    /// Notes that an activity that may have an entry here goes elsewhere. Abandoned entries are removed when they may be half of the queue, so
    /// that activities that come and go while nothing is served do not accumulate.
    ///
    /// - Returns: whether entries were removed.
    @discardableResult mutating func abandon(isWanted: (ActivitySlot) -> Bool) -> Bool {
        abandoned += 1
        guard abandoned > 16, abandoned * 2 > queue.count else { return false }
        var seen: Set<ActivitySlot> = []
        let wanted = queue.elements.filter { isWanted($0) && seen.insert($0).inserted }
        queue = Queue(wanted)
        abandoned = 0
        return true
    }

    /// Describes more entries to be skipped than activities went elsewhere; `nil` if there are none. The bound holds of activities that have their
    /// entries in this queue alone.
    ///
    /// - Parameter isWanted: returns whether an activity is to be visited.
    func violation(isWanted: (ActivitySlot) -> Bool) -> String? {
        let skipped = queue.count - slots.count(where: isWanted)
        return skipped <= abandoned ? nil : "\(skipped) entries are to be skipped, \(abandoned) were abandoned"
    }
}
