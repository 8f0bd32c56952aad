/// What must wait for a moment before it may be looked at again: a binary heap by monotonic time. At most one entry per activity
/// and per audience, and few per lineup (a wake-up is arranged only when it comes before the one that stands), so it is
/// bounded by them.
struct RetryList {
    enum Subject {
        /// An activity in its backoff.
        case activity(ActivitySlot, generation: UInt32)
        /// An audience whose stamps have run ahead of the clock.
        case audience(Audience)
        /// Activities that the dead-token guard holds: one entry for all.
        case held
        /// The hand that looks for old activities.
        case hand
        /// A lineup that may have something to show by itself.
        case lineup(Audience)
    }

    private var heap: [(due: Int64, subject: Subject)] = []
    private var forgotten = 0

    var count: Int { heap.count }
    /// Monotonic nanoseconds.
    var nextDue: Int64? { heap.first?.due }

    mutating func insert(_ subject: Subject, due: Int64) {
        heap.append((due, subject))
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2].due > heap[child].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// One more entry is of no use any more. Once half of them are, they leave: a lineup's may lie hours ahead, and members come
    /// and go.
    mutating func forget(_ isForgotten: (Subject) -> Bool) {
        forgotten += 1
        guard forgotten * 2 > heap.count else { return }
        forgotten = 0
        let kept = heap.filter { !isForgotten($0.subject) }
        heap.removeAll(keepingCapacity: true)
        for entry in kept { insert(entry.subject, due: entry.due) }
    }

    mutating func popDue(_ now: Int64) -> Subject? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < heap.count && heap[child].due < heap[least].due { least = child }
                if least == parent { break }
                heap.swapAt(parent, least)
                parent = least
            }
        }
        return first.subject
    }
}
