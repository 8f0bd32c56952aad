/// When a topic wants to be called again, and what the core's timers hold for it. A timer that finds a later deadline here than its
/// own is set again, so there is never more than one of each kind.
///
/// A value of its own, because the core looks at it after every event, and a topic is too large to be copied for that.
struct Deadlines: Sendable {
    private var flush: FeedTime?
    private var limit: FeedTime?
    private var armedFlush: FeedTime?
    private var armedLimit: FeedTime?

    subscript(kind: Timers.Kind) -> FeedTime? {
        get {
            switch kind {
            case .flush: flush
            case .limit: limit
            }
        }
        set {
            switch kind {
            case .flush: flush = newValue
            case .limit: limit = newValue
            }
        }
    }

    /// What the timers hold.
    func armed(_ kind: Timers.Kind) -> FeedTime? {
        switch kind {
        case .flush: armedFlush
        case .limit: armedLimit
        }
    }

    mutating func arm(_ kind: Timers.Kind, _ deadline: FeedTime?) {
        switch kind {
        case .flush: armedFlush = deadline
        case .limit: armedLimit = deadline
        }
    }
}

/// Deadlines in log time, earliest first; of equal ones the lower topic index, then `flush` before `limit`: a total order,
/// so that every node fires them alike.
///
/// A binary heap. It knows nothing of what became of a deadline: the owner compares with what its topic says now.
struct Timers: Sendable {
    enum Kind: UInt8, Sendable {
        /// A topic's minimum interval has passed and changes wait.
        case flush = 0
        /// A topic has lasted as long as it may.
        case limit = 1
    }

    struct Entry: Sendable, Comparable {
        let deadline: FeedTime
        let topic: UInt32
        let kind: Kind

        static func < (a: Entry, b: Entry) -> Bool {
            (a.deadline, a.topic, a.kind.rawValue) < (b.deadline, b.topic, b.kind.rawValue)
        }
    }

    private var heap: [Entry] = []

    var first: Entry? { heap.first }

    mutating func insert(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
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
