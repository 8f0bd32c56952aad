public import Synchronization

/// Bounded queue from exactly one thread to exactly one other, without locks.
///
/// ```swift
/// let ring = OneToOneRing<ShardCommand>(capacity: 1 << 16)
/// var producer = ring.takeProducer()   // on the sending thread
/// var consumer = ring.takeConsumer()   // on the receiving thread
/// ```
///
/// Full is an answer: `tryPush` says so and leaves the element with the caller. Elements leave in the order in which they
/// entered. What is still inside when the ring goes is released with it.
///
/// The ends are non-copyable, so that "one producer, one consumer" is a rule of the type, and they hold their own indices:
/// class variables would cost a dynamic exclusivity check per item.
///
/// Everything on the way of an element is inlinable: unspecialised generic code in another module costs a hundred times
/// what the element costs. The types must be `@usableFromInline` for that as well as their members.
public final class OneToOneRing<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let capacity: UInt64
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    /// Elements ever pushed. Written by the producer only.
    @usableFromInline let tail = PaddedCounter()
    /// Elements ever popped. Written by the consumer only.
    @usableFromInline let head = PaddedCounter()
    private let producerTaken = Atomic<Bool>(false)
    private let consumerTaken = Atomic<Bool>(false)

    /// - Parameter capacity: a power of two.
    public init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "ring capacity must be a power of two")
        self.capacity = UInt64(capacity)
        slots = .allocate(capacity: capacity)
    }

    deinit {
        // Both ends hold the ring, so neither is at work any more.
        for index in head.value.load(ordering: .acquiring)..<tail.value.load(ordering: .acquiring) {
            slot(index).deinitialize(count: 1)
        }
        slots.deallocate()
    }

    public func takeProducer() -> RingProducer<Element> {
        let taken = producerTaken.exchange(true, ordering: .relaxed)
        precondition(!taken, "a ring has one producer")
        return RingProducer(ring: self)
    }

    public func takeConsumer() -> RingConsumer<Element> {
        let taken = consumerTaken.exchange(true, ordering: .relaxed)
        precondition(!taken, "a ring has one consumer")
        return RingConsumer(ring: self)
    }

    @inlinable func slot(_ index: UInt64) -> UnsafeMutablePointer<Element> {
        slots + Int(truncatingIfNeeded: index & (capacity &- 1))
    }
}

// Indices count elements since the ring was made and never reach 2^64, and a tail is at most one capacity ahead of its head:
// so the arithmetic below needs no overflow checks.

/// The end that pushes. Confined to one thread.
public struct RingProducer<Element: Sendable>: ~Copyable {
    @usableFromInline let ring: OneToOneRing<Element>
    @usableFromInline var tail: UInt64 = 0
    /// May be behind: then the ring only looks fuller than it is.
    @usableFromInline var headSeen: UInt64 = 0

    init(ring: OneToOneRing<Element>) { self.ring = ring }

    /// `false` when the ring is full; the element has not been taken then.
    @inlinable public mutating func tryPush(_ element: Element) -> Bool {
        guard free > 0 else { return false }
        ring.slot(tail).initialize(to: element)
        tail &+= 1
        // Publishes the slot written above; meets the acquire in `RingConsumer.refresh`.
        ring.tail.value.store(tail, ordering: .releasing)
        return true
    }

    /// Pushes the leading elements, as many as there is room for, and shows them to the consumer together.
    /// - Returns: how many have been taken; the rest stays with the caller.
    @inlinable public mutating func push(_ elements: Span<Element>) -> Int {
        if room < elements.count { refresh() }
        let count = min(room, elements.count)
        elements.withUnsafeBufferPointer { source in
            guard count > 0, let source = source.baseAddress else { return }
            let untilWrap = Int(truncatingIfNeeded: ring.capacity &- (tail & (ring.capacity &- 1)))
            let first = min(count, untilWrap)
            ring.slot(tail).initialize(from: source, count: first)
            ring.slots.initialize(from: source + first, count: count &- first)
        }
        tail &+= UInt64(truncatingIfNeeded: count)
        // Publishes the slots written above; meets the acquire in `RingConsumer.refresh`.
        ring.tail.value.store(tail, ordering: .releasing)
        return count
    }

    /// Slots that are free for certain.
    @inlinable public var free: Int {
        mutating get {
            if room == 0 { refresh() }
            return room
        }
    }

    @inlinable var room: Int { Int(truncatingIfNeeded: ring.capacity &- (tail &- headSeen)) }

    @inlinable mutating func refresh() {
        // Meets the releases in `pop` and `drain`: the slots have been emptied before we write them again.
        headSeen = ring.head.value.load(ordering: .acquiring)
    }
}

/// The end that pops. Confined to one thread.
public struct RingConsumer<Element: Sendable>: ~Copyable {
    @usableFromInline let ring: OneToOneRing<Element>
    @usableFromInline var head: UInt64 = 0
    /// May be behind: then the ring only looks emptier than it is.
    @usableFromInline var tailSeen: UInt64 = 0

    init(ring: OneToOneRing<Element>) { self.ring = ring }

    @inlinable public mutating func pop() -> Element? {
        if head == tailSeen {
            refresh()
            guard head != tailSeen else { return nil }
        }
        let element = ring.slot(head).move()
        head &+= 1
        // Gives the slot back; meets the acquire in `RingProducer.refresh`.
        ring.head.value.store(head, ordering: .releasing)
        return element
    }

    /// Hands at most `limit` elements to `body`, oldest first, and gives their slots back together: while it runs, the producer
    /// finds them taken. Elements that arrive meanwhile wait for the next call, so it ends.
    /// - Returns: how many there were.
    @inlinable public mutating func drain(limit: Int, _ body: (consuming Element) -> Void) -> Int {
        if tailSeen &- head < UInt64(limit) { refresh() }
        let count = min(tailSeen &- head, UInt64(limit))
        guard count > 0 else { return 0 }
        let end = head &+ count
        while head != end {
            body(ring.slot(head).move())
            head &+= 1
        }
        // Gives the slots back; meets the acquire in `RingProducer.refresh`.
        ring.head.value.store(head, ordering: .releasing)
        return Int(truncatingIfNeeded: count)
    }

    @inlinable mutating func refresh() {
        // Meets the releases in `tryPush` and `push`: the elements have been written before we read them.
        tailSeen = ring.tail.value.load(ordering: .acquiring)
    }
}
