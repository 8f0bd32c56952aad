public import Synchronization

/// Bounded queue from exactly one thread to exactly one other, without locks.
///
/// ```swift
/// let ring = OneToOneRing<ShardCommand>(capacity: 1 << 16)
/// var producer = ring.takeProducer()   // on the sending thread
/// var consumer = ring.takeConsumer()   // on the receiving thread
/// ```
///
/// Full is an answer: `tryPush` returns `false` and does not take the element. Elements leave in the order in which they entered. Elements
/// that are left in the ring are released with it.
///
/// The ends are non-copyable, so that "one producer, one consumer" is a rule of the type, and they hold their own indices: class variables
/// would cost a dynamic exclusivity check per item. `Sendable` is unchecked because the compiler does not know that the two counters decide
/// which end owns a slot.
///
/// All code on an element's path is inlinable: unspecialised generic code in another module costs a hundred times as much as the element.
/// For that the types as well as their members must be `@usableFromInline`.
@safe @usableFromInline package final class OneToOneRing<Element: Sendable>: @unchecked Sendable {
    private let capacity: Int
    private let slots: UnsafeMutablePointer<Element>
    /// Number of elements ever pushed. Written by the producer only.
    @usableFromInline let tail = PaddedCounter()
    /// Number of elements ever popped. Written by the consumer only.
    @usableFromInline let head = PaddedCounter()
    private let producerTaken = Atomic<Bool>(false)
    private let consumerTaken = Atomic<Bool>(false)

    /// - Parameter capacity: a power of two.
    package init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "ring capacity must be a power of two")
        self.capacity = capacity
        // Aligned to a cache-line pair: elements of a line's size then lie in one line each.
        unsafe slots = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * MemoryLayout<Element>.stride,
            alignment: max(PaddedCounter.lineBytes, MemoryLayout<Element>.alignment)
        ).bindMemory(to: Element.self, capacity: capacity)
    }

    deinit {
        // Both ends hold a reference to the ring, so neither is in use any more.
        for index in head.value.load(ordering: .acquiring)..<tail.value.load(ordering: .acquiring) {
            unsafe (slots + Int(truncatingIfNeeded: index) & (capacity - 1)).deinitialize(count: 1)
        }
        unsafe UnsafeMutableRawPointer(slots).deallocate()  // as it was allocated: with an alignment of ours
    }

    package func takeProducer() -> RingProducer<Element> {
        let taken = producerTaken.exchange(true, ordering: .relaxed)
        precondition(!taken, "a ring has one producer")
        return unsafe RingProducer(ring: self, slots: slots, capacity: capacity)
    }

    package func takeConsumer() -> RingConsumer<Element> {
        let taken = consumerTaken.exchange(true, ordering: .relaxed)
        precondition(!taken, "a ring has one consumer")
        return unsafe RingConsumer(ring: self, slots: slots, capacity: capacity)
    }
}

// Indices count elements since the ring was made and never reach 2^64, and a tail is at most one capacity ahead of its head:
// so the arithmetic below needs no overflow checks.

/// The end that pushes. Confined to one thread.
@safe @usableFromInline package struct RingProducer<Element: Sendable>: ~Copyable {
    @usableFromInline let ring: OneToOneRing<Element>
    // Copied out of the ring, so that they stay in registers while elements are written.
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int
    @usableFromInline var tail: UInt64 = 0
    /// The tail at which the ring is full. It may be stale: then the ring only looks fuller than it is.
    @usableFromInline var tailMax: UInt64

    init(ring: OneToOneRing<Element>, slots: UnsafeMutablePointer<Element>, capacity: Int) {
        self.ring = ring
        unsafe self.slots = slots
        self.capacity = capacity
        tailMax = UInt64(capacity)
    }

    /// Pushes an element; returns `false` without taking it if the ring is full.
    @inlinable package mutating func tryPush(_ element: Element) -> Bool {
        if tail == tailMax {
            refresh()
            guard tail != tailMax else { return false }
        }
        unsafe (slots + offset).initialize(to: element)
        tail &+= 1
        // Publishes the slot written above; meets the acquire in `RingConsumer.refresh`.
        ring.tail.value.store(tail, ordering: .releasing)
        return true
    }

    /// Pushes the leading elements, as many as there is room for, and publishes them to the consumer together.
    /// - Returns: the number of elements taken; the rest stays with the caller.
    @inlinable package mutating func push(_ elements: Span<Element>) -> Int {
        if room < elements.count { refresh() }
        let count = min(room, elements.count)
        unsafe elements.withUnsafeBufferPointer { source in
            guard count > 0, let source = source.baseAddress else { return }
            let untilWrap = min(count, capacity &- offset)
            unsafe (slots + offset).initialize(from: source, count: untilWrap)
            if untilWrap < count { unsafe slots.initialize(from: source + untilWrap, count: count &- untilWrap) }
            tail &+= UInt64(truncatingIfNeeded: count)
            // Publishes the slots written above; meets the acquire in `RingConsumer.refresh`.
            ring.tail.value.store(tail, ordering: .releasing)
        }
        return count
    }

    /// Number of elements that the consumer has not taken yet, or that it is taking at this moment.
    package var count: Int { Int(truncatingIfNeeded: tail &- ring.head.value.load(ordering: .relaxed)) }

    /// Slots that are free for certain.
    @inlinable var room: Int { Int(truncatingIfNeeded: tailMax &- tail) }
    /// Index of the slot to be written next.
    @inlinable var offset: Int { Int(truncatingIfNeeded: tail) & (capacity &- 1) }

    @inlinable mutating func refresh() {
        // Meets the releases in `pop` and `drain`: the slots have been emptied before we write them again.
        tailMax = ring.head.value.load(ordering: .acquiring) &+ UInt64(truncatingIfNeeded: capacity)
    }
}

/// The end that pops. Confined to one thread.
@safe @usableFromInline package struct RingConsumer<Element: Sendable>: ~Copyable {
    @usableFromInline let ring: OneToOneRing<Element>
    // Copied out of the ring, so that they stay in registers while elements are read.
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int
    @usableFromInline var head: UInt64 = 0
    /// The producer's tail at the last refresh. It may be stale: then the ring only looks emptier than it is.
    @usableFromInline var tailSeen: UInt64 = 0
    /// Is `true` when the previous refresh found elements, too.
    @usableFromInline var isFollowing = false

    init(ring: OneToOneRing<Element>, slots: UnsafeMutablePointer<Element>, capacity: Int) {
        self.ring = ring
        unsafe self.slots = slots
        self.capacity = capacity
    }

    @inlinable package mutating func pop() -> Element? {
        if head == tailSeen {
            refresh()
            guard head != tailSeen else {
                isFollowing = false
                return nil
            }
            if isFollowing, tailSeen &- head < distanceMin { fallBehind() }
            isFollowing = true
        }
        let element = unsafe (slots + offset).move()
        head &+= 1
        // Frees the slot; meets the acquire in `RingProducer.refresh`.
        ring.head.value.store(head, ordering: .releasing)
        return element
    }

    /// Is `true` if the ring is empty now. The producer has to announce elements that it pushes later.
    @inlinable package var isEmpty: Bool {
        // Meets the releases in `tryPush` and `push`.
        ring.tail.value.load(ordering: .acquiring) == head
    }

    /// Number of elements that wait.
    package var count: Int { Int(truncatingIfNeeded: ring.tail.value.load(ordering: .relaxed) &- head) }

    /// Passes at most `limit` elements to `body`, oldest first, and frees their slots together: for the producer they are taken until the call
    /// ends. Elements that arrive meanwhile are left to the next call, so the call ends.
    /// - Returns: the number of elements passed.
    @inlinable package mutating func drain(limit: Int, _ body: (consuming Element) -> Void) -> Int {
        if tailSeen &- head < UInt64(limit) { refresh() }
        let count = min(Int(truncatingIfNeeded: tailSeen &- head), limit)
        guard count > 0 else { return 0 }
        let untilWrap = min(count, capacity &- offset)
        // Straight runs: the compiler sees that no slot repeats.
        for index in 0..<untilWrap { unsafe body((slots + offset + index).move()) }
        for index in 0..<count &- untilWrap { unsafe body((slots + index).move()) }
        head &+= UInt64(truncatingIfNeeded: count)
        // Frees the slots; meets the acquire in `RingProducer.refresh`.
        ring.head.value.store(head, ordering: .releasing)
        return count
    }

    /// Index of the slot to be read next.
    @inlinable var offset: Int { Int(truncatingIfNeeded: head) & (capacity &- 1) }

    @inlinable mutating func refresh() {
        // Meets the releases in `tryPush` and `push`: the elements have been written before we read them.
        tailSeen = ring.tail.value.load(ordering: .acquiring)
    }

    /// Pauses for about a microsecond, once, and looks again. A consumer close behind the producer takes the cache line that is being written
    /// from it again and again, and both wait for that line most of the time. So a consumer that finds only few elements twice in a row
    /// lets the producer get ahead. A lone element is never delayed: nothing was found before it.
    @inlinable mutating func fallBehind() {
        for _ in 0..<RingConsumer.looksWhileBehind { _ = ring.head.value.load(ordering: .relaxed) }  // its own line
        refresh()
    }

    /// Number of elements in two cache lines; a consumer with fewer before it is close behind the producer.
    @inlinable var distanceMin: UInt64 {
        UInt64(truncatingIfNeeded: PaddedCounter.lineBytes / MemoryLayout<Element>.stride)
    }
    @inlinable static var looksWhileBehind: Int { 4000 }
}
