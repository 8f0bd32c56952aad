import Synchronization

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
public final class OneToOneRing<Element: Sendable>: @unchecked Sendable {
    let capacity: UInt64
    let slots: UnsafeMutablePointer<Element>
    /// Elements ever pushed. Written by the producer only.
    let tail = PaddedCounter()
    /// Elements ever popped. Written by the consumer only.
    let head = PaddedCounter()
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
            (slots + Int(index & (capacity - 1))).deinitialize(count: 1)
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
}

/// 128 bytes with padding on both sides, so that the two threads' counters never share a cache-line pair.
struct PaddedCounter: ~Copyable {
    private let before = InlineArray<15, UInt64>(repeating: 0)
    let value = Atomic<UInt64>(0)
    private let after = InlineArray<15, UInt64>(repeating: 0)
}

/// The end that pushes. Confined to one thread.
public struct RingProducer<Element: Sendable>: ~Copyable {
    private let ring: OneToOneRing<Element>
    private var tail: UInt64 = 0
    /// May be behind: then the ring only looks fuller than it is.
    private var headSeen: UInt64 = 0

    init(ring: OneToOneRing<Element>) { self.ring = ring }

    /// `false` when the ring is full; the element has not been taken then.
    public mutating func tryPush(_ element: Element) -> Bool {
        guard free > 0 else { return false }
        (ring.slots + Int(tail & (ring.capacity - 1))).initialize(to: element)
        tail += 1
        // Publishes the slot written above; meets the acquire in `pop`.
        ring.tail.value.store(tail, ordering: .releasing)
        return true
    }

    /// Slots that are free for certain.
    public var free: Int {
        mutating get {
            if tail - headSeen == ring.capacity {
                // Meets the release in `pop`: the slot has been emptied before we write it again.
                headSeen = ring.head.value.load(ordering: .acquiring)
            }
            return Int(ring.capacity - (tail - headSeen))
        }
    }
}

/// The end that pops. Confined to one thread.
public struct RingConsumer<Element: Sendable>: ~Copyable {
    private let ring: OneToOneRing<Element>
    private var head: UInt64 = 0
    /// May be behind: then the ring only looks emptier than it is.
    private var tailSeen: UInt64 = 0

    init(ring: OneToOneRing<Element>) { self.ring = ring }

    public mutating func pop() -> Element? {
        if head == tailSeen {
            // Meets the release in `tryPush`: the element has been written before we read it.
            tailSeen = ring.tail.value.load(ordering: .acquiring)
            guard head != tailSeen else { return nil }
        }
        let element = (ring.slots + Int(head & (ring.capacity - 1))).move()
        head += 1
        // Gives the slot back; meets the acquire in `free`.
        ring.head.value.store(head, ordering: .releasing)
        return element
    }
}
