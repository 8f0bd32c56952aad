/// What must wait for a moment before it may be looked at again: the shard's only timers, as a hierarchical timing wheel (Varghese
/// and Lauck). Inserting, cancelling and expiring cost the same however many entries there are: a goal is a dwell time in each of
/// a million lineups.
///
/// A tick is a millisecond, because the loop's timers count those. An entry expires with the first tick that is not before its
/// moment: never early, and less than a tick late. Those of one tick expire in the order in which they were inserted.
///
/// There are eight levels of 64 lists. A tick is a number of eight digits to the base 64; an entry stands at the level of the
/// highest digit in which its tick differs from the current one, in that digit's list. So whatever stands lower is due sooner,
/// entries of one tick are always in one list, and when time comes to a list, what is in it goes to lower levels: seven times at
/// most. Time goes from one list's earliest tick to the next one's. However long a pause was, no empty tick is visited, and nobody
/// is woken to move entries. What there is to move moves at once: of a million entries that is less work than what inserted them.
struct TimingWheel {
    enum Subject: Hashable {
        /// An activity in its backoff. Where the slot has another generation, it has gone meanwhile.
        case activity(ActivitySlot, generation: UInt32)
        /// An audience which gathers alerts: its index.
        case audience(UInt32)
        /// Activities that the dead-token guard holds: one entry for all.
        case held
        /// The scan for old activities.
        case ageScan
        /// A lineup that may have something to show by itself: its audience's index.
        case lineup(UInt32)
    }

    /// Names an entry until that has expired or is cancelled; then another one may have the name.
    struct Entry {
        fileprivate let node: UInt32
    }

    /// A link of a ring: a list, or one of its entries.
    private struct Node {
        /// When the entry expires; of a list, when the first of its entries does, or did before it was cancelled.
        var tick: Int64
        var next: UInt32
        var previous: UInt32
        /// A list's means nothing.
        var subject: Subject
    }

    static let tickNanoseconds: Int64 = 1_000_000
    private static let levels = 8
    private static let digitBits = 6
    private static let digits = 1 << digitBits
    private static let lists = levels * digits
    private static let tickMax = Int64.max / tickNanoseconds

    /// The lists, by level and digit, and then the entries: as many as there have been at one time.
    private var nodes = (0..<UInt32(lists)).map { Node(tick: 0, next: $0, previous: $0, subject: .ageScan) }
    /// By level: the digits whose lists are not empty.
    private var occupied = InlineArray<8, UInt64>(repeating: 0)
    /// The first of the nodes that are free, each of which knows the next; 0, which is a list, ends them.
    private var free: UInt32 = 0
    /// What was due before it has expired.
    private var current: Int64 = 0
    private(set) var count = 0

    /// Entries for which there is memory.
    var capacity: Int { nodes.count - TimingWheel.lists }

    /// When to call `popDue`, monotonic nanoseconds. It may find nothing when what was due then is cancelled; there is at most one
    /// such moment for each list.
    var nextDue: Int64? { earliest.map { $0 * TimingWheel.tickNanoseconds } }

    /// - Parameter due: monotonic nanoseconds; what is overdue expires next.
    @discardableResult
    mutating func insert(_ subject: Subject, due: Int64) -> Entry {
        let (whole, rest) = due.quotientAndRemainder(dividingBy: TimingWheel.tickNanoseconds)
        let tick = min(max(whole + (rest > 0 ? 1 : 0), current), TimingWheel.tickMax)
        let node = Node(tick: tick, next: 0, previous: 0, subject: subject)
        let index: UInt32
        if free == 0 {
            index = UInt32(nodes.count)
            nodes.append(node)
        } else {
            index = free
            free = nodes[Int(index)].next
            nodes[Int(index)] = node
        }
        count += 1
        append(index, tick)
        return Entry(node: index)
    }

    mutating func cancel(_ entry: Entry) { remove(entry.node) }

    /// `nil`: it has expired, or was cancelled, and no other has its name.
    func subject(of entry: Entry) -> Subject? {
        let node = nodes[Int(entry.node)]
        return node.previous == .max ? nil : node.subject
    }

    /// Of all entries; for whoever checks that none is missing.
    var subjects: [Subject] {
        var subjects: [Subject] = []
        for list in 0..<TimingWheel.lists {
            var index = nodes[list].next
            while index != list {
                subjects.append(nodes[Int(index)].subject)
                index = nodes[Int(index)].next
            }
        }
        return subjects
    }

    /// When it expires: the moment for which it was inserted, or what is left of a tick later.
    func due(of entry: Entry) -> Int64 { nodes[Int(entry.node)].tick * TimingWheel.tickNanoseconds }

    /// Takes out what is due, one entry after the other.
    mutating func popDue(_ now: Int64) -> Subject? {
        let tick = now / TimingWheel.tickNanoseconds
        while let earliest, earliest <= tick {
            if earliest > current { advance(to: earliest) }
            let list = Int(current) % TimingWheel.digits
            let first = nodes[list].next
            if first != list {
                remove(first)
                return nodes[Int(first)].subject
            }
        }
        return nil
    }

    /// The first tick of the first list: of the lowest level that has any, and there of the lowest digit.
    private var earliest: Int64? {
        for level in 0..<TimingWheel.levels where occupied[level] != 0 {
            return nodes[level * TimingWheel.digits + occupied[level].trailingZeroBitCount].tick
        }
        return nil
    }

    /// Time goes on to the earliest tick. The list to which that belongs moves down; all others stand where they belong.
    private mutating func advance(to tick: Int64) {
        let (level, list) = place(of: tick)
        current = tick
        guard level > 0 else { return }
        var index = nodes[Int(list)].next
        empty(list)
        while index != list {
            let next = nodes[Int(index)].next
            append(index, nodes[Int(index)].tick)
            index = next
        }
    }

    private func place(of tick: Int64) -> (level: Int, list: UInt32) {
        // Whether or not the lowest digit differs, it is the lowest level. A tick has 44 bits, so there are enough levels.
        let highestBit = 63 - ((tick ^ current) | 1).leadingZeroBitCount
        let level = highestBit / TimingWheel.digitBits
        let digit = Int(tick &>> (TimingWheel.digitBits &* level)) % TimingWheel.digits
        return (level, UInt32(truncatingIfNeeded: level * TimingWheel.digits + digit))
    }

    private mutating func append(_ index: UInt32, _ tick: Int64) {
        let (level, list) = place(of: tick)
        let bit = TimingWheel.bit(of: list)
        if occupied[level] & bit == 0 || tick < nodes[Int(list)].tick { nodes[Int(list)].tick = tick }
        occupied[level] |= bit
        let last = nodes[Int(list)].previous
        nodes[Int(index)].previous = last
        nodes[Int(index)].next = list
        nodes[Int(last)].next = index
        nodes[Int(list)].previous = index
    }

    /// Takes the entry out of its list; its node is free.
    private mutating func remove(_ index: UInt32) {
        let (previous, next) = (nodes[Int(index)].previous, nodes[Int(index)].next)
        // It was alone between the two ends of its list.
        if previous == next {
            empty(next)
        } else {
            nodes[Int(previous)].next = next
            nodes[Int(next)].previous = previous
        }
        // Whoever removes it once more is not to go unnoticed: there is no such node.
        nodes[Int(index)].previous = .max
        nodes[Int(index)].next = free
        free = index
        count -= 1
    }

    private mutating func empty(_ list: UInt32) {
        nodes[Int(list)].next = list
        nodes[Int(list)].previous = list
        occupied[Int(list) / TimingWheel.digits] &= ~TimingWheel.bit(of: list)
    }

    private static func bit(of list: UInt32) -> UInt64 { 1 &<< UInt64(list) }
}
