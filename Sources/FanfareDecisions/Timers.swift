import FanfareModel

/// When a topic wants to be called again, and what the core's timers hold for it. A timer that finds a later deadline here than its
/// own is set again: an event that puts off its topic's lapse, as each does, sets no timer.
///
/// A value of its own, because the core looks at it after every event, and a topic is too large to be copied for that.
struct Deadlines: Sendable {
    private var flush: FeedTime?
    private var lapse: FeedTime?
    private var armedFlush: FeedTime?
    private var armedLapse: FeedTime?

    subscript(kind: Timers.Kind) -> FeedTime? {
        get {
            switch kind {
            case .flush: flush
            case .lapse: lapse
            }
        }
        set {
            switch kind {
            case .flush: flush = newValue
            case .lapse: lapse = newValue
            }
        }
    }

    /// What the timers hold.
    func armed(_ kind: Timers.Kind) -> FeedTime? {
        switch kind {
        case .flush: armedFlush
        case .lapse: armedLapse
        }
    }

    mutating func arm(_ kind: Timers.Kind, _ deadline: FeedTime?) {
        switch kind {
        case .flush: armedFlush = deadline
        case .lapse: armedLapse = deadline
        }
    }
}

/// Deadlines in log time, earliest first; of equal ones that of the topic born earlier, then `flush` before `lapse`: a total order
/// that does not ask where a topic is kept, so that every node fires them alike, whatever it has forgotten.
///
/// A binary heap. It knows nothing of what became of a deadline: the owner compares with what its topic says now.
struct Timers: Sendable {
    enum Kind: UInt8, Sendable {
        /// A topic's minimum interval has passed and changes wait.
        case flush = 0
        /// A running topic's feed has been silent for too long, or one that has ended is remembered no longer.
        case lapse = 1
    }

    struct Entry: Sendable, Comparable {
        let deadline: FeedTime
        /// Of the topic; no two have the same. A place may be another topic's by now.
        let birth: UInt64
        let place: UInt32
        let kind: Kind

        static func < (a: Entry, b: Entry) -> Bool {
            (a.deadline, a.birth, a.kind.rawValue) < (b.deadline, b.birth, b.kind.rawValue)
        }
    }

    private var heap: [Entry] = []

    var first: Entry? { heap.first }
    var count: Int { heap.count }
    /// In no order.
    var entries: [Entry] { heap }

    mutating func insert(_ entry: Entry) {
        heap.append(entry)
        raise(heap.count - 1)
    }

    /// Drops what nobody waits for any more.
    mutating func keep(_ isWanted: (Entry) -> Bool) {
        heap = heap.filter(isWanted)
        // Sorted, it is a heap.
        heap.sort()
    }

    private mutating func raise(_ position: Int) {
        var child = position
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child] < heap[parent] else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() -> Entry? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < heap[parent] else { break }
            heap.swapAt(child, parent)
            parent = child
        }
        return first
    }
}
