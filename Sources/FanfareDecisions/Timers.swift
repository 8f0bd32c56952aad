import FanfareModel
import FanfareQueues

/// A topic's deadlines, and those that the core's timers hold for it. A timer whose topic has a later deadline by now is set again,
/// so an event that only puts off its topic's lapse, as each does, sets no timer.
///
/// A separate type, because the core reads it after every event and a topic is too large to copy for that.
struct Deadlines: Sendable {
    @PackedTime private var flush: FeedTime?
    @PackedTime private var lapse: FeedTime?
    @PackedTime private var armedFlush: FeedTime?
    @PackedTime private var armedLapse: FeedTime?

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

    /// Returns the deadline that the core's timers hold for a timer kind.
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

/// Deadlines in log time, earliest first. Equal ones are ordered by the birth of their topics, then `flush` before `lapse`. This
/// total order does not depend on where a topic is stored, so every node fires timers alike, whatever it has forgotten.
///
/// The heap may hold obsolete deadlines: the owner compares each with its topic's present one.
struct Timers: Sendable {
    enum Kind: UInt8, Sendable {
        /// The topic's minimum interval has passed and changes wait.
        case flush = 0
        /// The feed of a running topic has been silent for too long, or the time to remember an ended topic is over.
        case lapse = 1
    }

    struct Entry: Sendable, Comparable {
        let deadline: FeedTime
        /// Birth number of the topic, unique over all topics. Another topic may have the place by now.
        let birth: UInt64
        let place: UInt32
        let kind: Kind

        static func < (a: Entry, b: Entry) -> Bool {
            (a.deadline, a.birth, a.kind.rawValue) < (b.deadline, b.birth, b.kind.rawValue)
        }
    }

    private var heap = BinaryHeap<Entry>()

    var first: Entry? { heap.first }
    var count: Int { heap.count }
    /// All timers, in no particular order.
    var entries: [Entry] { heap.elements }

    mutating func insert(_ entry: Entry) { heap.insert(entry) }
    mutating func removeFirst() -> Entry? { heap.removeFirst() }

    /// Keeps only the timers that are still wanted.
    mutating func keep(_ isWanted: (Entry) -> Bool) { heap.keep(isWanted) }

    /// Describes a timer that would fire too late, or one that a topic counts on and that is missing; `nil` if there is none. For tests.
    ///
    /// - Parameter armed: the timers that topics count on.
    func violation(armed: [Entry]) -> String? {
        if let violation = heap.violation() { return violation }
        let held = Dictionary(grouping: heap.elements, by: \.birth)
        let missing = armed.first { held[$0.birth]?.contains($0) != true }
        return missing.map { "topic \($0.birth) counts on a \($0.kind) at \($0.deadline), for which no timer is set" }
    }
}
