public import FanfareModel

/// Timers, as a hierarchical timing wheel (Varghese and Lauck). The cost of inserting, cancelling and expiring
/// does not depend on the number of entries: a goal is a dwell time in each of a million lineups.
///
/// A tick is a millisecond, because the loop's timers count milliseconds. An entry expires with the first tick that is not before its
/// moment: never early, and less than a tick late. Entries of one tick expire in the order in which they were inserted.
///
/// There are eight levels of 64 lists. A tick is a number of eight digits to the base 64. An entry is at the level of the highest
/// digit in which its tick differs from the current one, in that digit's list. So entries at a lower level are due sooner, entries of
/// one tick are always in one list, and the entries of a list move to lower levels when time reaches it: seven times at most. Time
/// advances from one list's earliest tick to the next one's. However long a pause was, no empty tick is visited, and no thread is
/// woken to move entries. One call moves a few thousand entries at most, because a list may have a million of them; entries that are
/// inserted while a list moves go behind those that have not moved yet.
///
/// Subjects are values without references, so that the nodes of millions of entries grow where they are.
@usableFromInline package struct TimingWheel<Subject: BitwiseCopyable> {
    /// Handle of an entry until that expires or is cancelled; another entry may get the same handle later.
    @usableFromInline package struct Entry: BitwiseCopyable {
        @usableFromInline let node: UInt32

        @inlinable init(node: UInt32) { self.node = node }
    }

    /// A link of a ring: the head of a list, or one of its entries.
    @usableFromInline struct Node: BitwiseCopyable {
        /// The tick at which the entry expires; for a head, the earliest tick of its entries, including ones cancelled since.
        @usableFromInline var tick: Int64
        @usableFromInline var next: UInt32
        @usableFromInline var previous: UInt32
        /// The entry's subject; `nil` for a head and for a free node.
        @usableFromInline var subject: Subject?

        @inlinable init(tick: Int64, next: UInt32, previous: UInt32, subject: Subject?) {
            self.tick = tick
            self.next = next
            self.previous = previous
            self.subject = subject
        }
    }

    // Computed, because a generic type has no stored constants.
    @inlinable package static var tickNanoseconds: Int64 { 1_000_000 }
    @inlinable static var levels: Int { 8 }
    @inlinable static var digitBits: Int { 6 }
    @inlinable static var digits: Int { 1 << digitBits }
    @inlinable static var lists: Int { levels * digits }
    @inlinable static var tickMax: Int64 { Int64.max / tickNanoseconds }

    /// The heads of the lists, by level and digit, and then the entries: as many as there have been at one time.
    @usableFromInline var nodes: GrowingColumn<Node>
    /// Bits of the digits whose lists are not empty, by level.
    @usableFromInline var occupied = InlineArray<8, UInt64>(repeating: 0)
    /// The first free node, from which `next` links the others; 0, the index of a head, ends them.
    @usableFromInline var free: UInt32 = 0
    /// The present tick; all entries due before it have expired.
    @usableFromInline var current: Int64 = 0
    @usableFromInline package internal(set) var count = 0
    /// List whose entries are moving to lower levels; `nil` while none does. `current` is its earliest tick.
    @usableFromInline var moving: UInt32?
    /// Maximum of entries that one call of `popDue` moves: half a millisecond of work.
    @usableFromInline let movesMax: Int

    @inlinable package init(movesMax: Int = 4096) {
        self.movesMax = movesMax
        // Not beside its declaration, where the compiler would specialise nothing for other modules.
        nodes = GrowingColumn()
        nodes.reserveCapacity(TimingWheel.lists)
        for list in 0..<UInt32(TimingWheel.lists) {
            nodes.append(Node(tick: 0, next: list, previous: list, subject: nil))
        }
    }

    /// Entries for which memory is allocated.
    @inlinable package var capacity: Int { nodes.count - TimingWheel.lists }

    /// Reserves room for this many entries, so that timers of very many lineups, set in one turn, copy none. Memory that no entry has been
    /// in is not resident.
    @inlinable package mutating func reserve(_ entries: Int) {
        guard nodes.capacity < TimingWheel.lists + entries else { return }
        nodes.reserveCapacity(TimingWheel.lists + 2 * entries)
    }

    /// The time at which to call `popDue`. The call may find nothing if the entry due then was cancelled; that happens at most once for
    /// each list.
    @inlinable package var nextDue: MonotonicTime? { earliest.map { TimingWheel.time(of: $0) } }

    /// - Parameter due: an overdue entry expires next.
    @discardableResult @inlinable package mutating func insert(_ subject: Subject, due: MonotonicTime) -> Entry {
        let (whole, rest) = due.nanoseconds.quotientAndRemainder(dividingBy: TimingWheel.tickNanoseconds)
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
        // Behind the entries that still move, because one of the same tick may be among them.
        if let moving { link(index, into: moving) } else { append(index, tick) }
        return Entry(node: index)
    }

    @inlinable package mutating func cancel(_ entry: Entry) { remove(entry.node) }

    /// Returns the subject of an entry; `nil` if it has expired or was cancelled, and no other entry has its handle.
    @inlinable package func subject(of entry: Entry) -> Subject? {
        nodes[Int(entry.node)].subject
    }

    /// Subjects of all entries, for the check that none is missing.
    @inlinable package var subjects: [Subject] {
        var subjects: [Subject] = []
        for list in 0..<TimingWheel.lists {
            var index = nodes[list].next
            while index != list {
                if let subject = nodes[Int(index)].subject { subjects.append(subject) }
                index = nodes[Int(index)].next
            }
        }
        return subjects
    }

    /// Describes an entry that is in a wrong list, linked wrongly, or not counted; `nil` if there is none. Linear in `capacity`.
    @inlinable package func violation() -> String? {
        var linked = 0
        for head in 0..<UInt32(TimingWheel.lists) {
            let isMoving = moving == head
            let isMarked = occupied[Int(head) / TimingWheel.digits] & TimingWheel.bit(of: head) != 0
            guard isMarked == (nodes[Int(head)].next != head && !isMoving) else {
                return "list \(head) of timers has a wrong mark"
            }
            var (previous, index) = (head, nodes[Int(head)].next)
            while index != head {
                let node = nodes[Int(index)]
                guard node.previous == previous, linked < count else { return "list \(head) of timers is no ring" }
                guard node.tick >= current,
                    isMoving || node.tick >= nodes[Int(head)].tick && place(of: node.tick).list == head
                else { return "a timer for tick \(node.tick) is in list \(head) at tick \(current)" }
                linked += 1
                (previous, index) = (index, node.next)
            }
            guard nodes[Int(head)].previous == previous else { return "list \(head) of timers is no ring" }
        }
        var (unused, next) = (0, free)
        while next != 0, unused <= capacity {
            guard nodes[Int(next)].previous == .max else { return "a timer's node is free and in use" }
            unused += 1
            next = nodes[Int(next)].next
        }
        guard linked == count, linked + unused == capacity else {
            return "\(count) timers are counted, \(linked) are in lists and \(unused) free, of \(capacity)"
        }
        return nil
    }

    /// Returns the time at which the entry expires: the moment for which it was inserted, rounded up to a tick.
    @inlinable package func due(of entry: Entry) -> MonotonicTime { TimingWheel.time(of: nodes[Int(entry.node)].tick) }

    /// Removes one entry that is due and returns its subject; `nil` if none is. It is also `nil` if a list still moves, and `nextDue` is not
    /// after `now` then.
    @inlinable package mutating func popDue(_ now: MonotonicTime) -> Subject? {
        let tick = now.nanoseconds / TimingWheel.tickNanoseconds
        while let earliest, earliest <= tick {
            if earliest > current { advance(to: earliest) }
            guard moveOn() else { return nil }
            let list = Int(current) % TimingWheel.digits
            let first = nodes[list].next
            if first != list {
                let subject = nodes[Int(first)].subject
                remove(first)
                return subject
            }
        }
        return nil
    }

    /// The first tick of the first list: of the lowest level that has entries, and there of the lowest digit.
    @inlinable var earliest: Int64? {
        if moving != nil { return current }
        for level in 0..<TimingWheel.levels where occupied[level] != 0 {
            return nodes[level * TimingWheel.digits + occupied[level].trailingZeroBitCount].tick
        }
        return nil
    }

    /// Advances to the earliest tick. The entries of its list begin to move down; all others are in the right list already.
    @inlinable mutating func advance(to tick: Int64) {
        let (level, list) = place(of: tick)
        current = tick
        guard level > 0 else { return }
        occupied[level] &= ~TimingWheel.bit(of: list)
        moving = list
    }

    /// Moves the next entries of the moving list, in order.
    ///
    /// - Returns: `false` if entries are left.
    @inlinable mutating func moveOn() -> Bool {
        guard let list = moving else { return true }
        for _ in 0..<movesMax where nodes[Int(list)].next != list {
            let index = nodes[Int(list)].next
            let next = nodes[Int(index)].next
            nodes[Int(list)].next = next
            nodes[Int(next)].previous = list
            append(index, nodes[Int(index)].tick)
        }
        guard nodes[Int(list)].next == list else { return false }
        moving = nil
        return true
    }

    @inlinable static func time(of tick: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: tick * tickNanoseconds)
    }

    @inlinable func place(of tick: Int64) -> (level: Int, list: UInt32) {
        // It is the lowest level whether or not the lowest digit differs. A tick has 44 bits, so there are enough levels.
        let highestBit = 63 - ((tick ^ current) | 1).leadingZeroBitCount
        let level = highestBit / TimingWheel.digitBits
        let digit = Int(tick &>> (TimingWheel.digitBits &* level)) % TimingWheel.digits
        return (level, UInt32(truncatingIfNeeded: level * TimingWheel.digits + digit))
    }

    @inlinable mutating func append(_ index: UInt32, _ tick: Int64) {
        let (level, list) = place(of: tick)
        let bit = TimingWheel.bit(of: list)
        if occupied[level] & bit == 0 || tick < nodes[Int(list)].tick { nodes[Int(list)].tick = tick }
        occupied[level] |= bit
        link(index, into: list)
    }

    @inlinable mutating func link(_ index: UInt32, into list: UInt32) {
        let last = nodes[Int(list)].previous
        nodes[Int(index)].previous = last
        nodes[Int(index)].next = list
        nodes[Int(last)].next = index
        nodes[Int(list)].previous = index
    }

    /// Removes the entry from its list and frees its node.
    @inlinable mutating func remove(_ index: UInt32) {
        let (previous, next) = (nodes[Int(index)].previous, nodes[Int(index)].next)
        // The entry was the only one of its list.
        if previous == next {
            empty(next)
        } else {
            nodes[Int(previous)].next = next
            nodes[Int(next)].previous = previous
        }
        // An index of no node, so that removing the entry once more traps.
        nodes[Int(index)].previous = .max
        nodes[Int(index)].subject = nil
        nodes[Int(index)].next = free
        free = index
        count -= 1
    }

    @inlinable mutating func empty(_ list: UInt32) {
        nodes[Int(list)].next = list
        nodes[Int(list)].previous = list
        occupied[Int(list) / TimingWheel.digits] &= ~TimingWheel.bit(of: list)
    }

    @inlinable static func bit(of list: UInt32) -> UInt64 { 1 &<< UInt64(list) }
}
