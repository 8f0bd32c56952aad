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
        /// A lineup that may have something to show by itself: its audience's index.
        case lineup(UInt32)
    }

    /// `nil`: the lineups of that moment.
    private var heap: [(due: Int64, subject: Subject?)] = []
    /// Lineups by moment, one entry of the heap for each. A goal is a dwell time in all its lineups, which ends for all at once.
    private var lineups: [Int64: Queue<UInt32>] = [:]
    private var lineupCount = 0
    private var forgotten = 0

    var count: Int { heap.count - lineups.count + lineupCount }
    /// Monotonic nanoseconds.
    var nextDue: Int64? { heap.first?.due }

    mutating func insert(_ subject: Subject, due: Int64) { push((due, subject)) }

    mutating func insert(lineup: UInt32, due: Int64) {
        lineupCount += 1
        if lineups[due, default: Queue()].appended(lineup) == 1 { push((due, nil)) }
    }

    /// One more entry of a lineup is of no use any more. Once half of them are, they leave: a lineup's may lie hours ahead, and
    /// members come and go.
    mutating func forget(_ isForgotten: (UInt32) -> Bool) {
        forgotten += 1
        guard forgotten * 2 > lineupCount else { return }
        forgotten = 0
        for due in Array(lineups.keys) {
            lineups[due]?.removeAll(where: isForgotten)
            if lineups[due]?.isEmpty == true { lineups[due] = nil }
        }
        lineupCount = lineups.values.reduce(0) { $0 + $1.count }
        let kept = heap.filter { $0.subject != nil || lineups[$0.due] != nil }
        heap.removeAll(keepingCapacity: true)
        for entry in kept { push(entry) }
    }

    mutating func popDue(_ now: Int64) -> Subject? {
        guard let first = heap.first, first.due <= now else { return nil }
        guard first.subject == nil, let index = lineups.index(forKey: first.due),
            let lineup = lineups.values[index].first
        else {
            pop()
            return first.subject
        }
        lineupCount -= 1
        lineups.values[index].removeFirst()
        if lineups.values[index].isEmpty {
            lineups.remove(at: index)
            pop()
        }
        return .lineup(lineup)
    }

    private mutating func push(_ entry: (due: Int64, subject: Subject?)) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2].due > heap[child].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].due < heap[least].due { least = child }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
