public import Synchronization

/// Bounded lock-free queue from any number of threads to one, by which an embedding program's threads reach the core.
///
/// Each cell has a sequence number for its turns: it equals the position while the cell is free for the push at that
/// position, and is one more while the cell holds that element. Producers claim positions with a compare-and-exchange. A producer
/// that is suspended between claiming and writing delays the elements after its own, and loses none.
///
/// A full mailbox is an answer: `tryPush` returns `false` and never blocks. A closed one is, too: elements taken before the close
/// will be popped, and none is taken after it. Elements leave in the order in which their positions were claimed, one order for all
/// producers. The methods are inlinable for the reason given at `OneToOneRing`; positions count from 0 and never reach 2^64, so
/// their arithmetic needs no overflow checks. `Sendable` is unchecked because the compiler knows nothing of sequence numbers.
@safe @usableFromInline package final class ManyToOneMailbox<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let capacity: UInt64
    // Two arrays and not one of pairs: taking an element is then no access to the sequence number beside it, which other
    // threads read meanwhile (ThreadSanitizer sees such an access as one to the whole pair).
    @usableFromInline let sequences: UnsafeMutablePointer<Atomic<UInt64>>
    /// Elements, initialised in the cells whose sequence number says so.
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    /// Next position to claim; shared by all producers. No position is claimed after `closed` is set.
    @usableFromInline let tail = PaddedCounter()
    /// Next position to read; written by the consumer only.
    @usableFromInline let head = PaddedCounter()

    /// A bit above every position: a closed mailbox looks like one that is full for ever.
    private static var closed: UInt64 { 1 << 63 }

    /// - Parameter capacity: a power of two.
    package init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0, "mailbox capacity must be a power of two")
        self.capacity = UInt64(capacity)
        unsafe sequences = .allocate(capacity: capacity)
        unsafe elements = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (sequences + index).initialize(to: Atomic(UInt64(index))) }
    }

    deinit {
        // No thread holds the mailbox any more, so no push is half done.
        while pop() != nil { continue }
        unsafe sequences.deinitialize(count: Int(capacity))
        unsafe sequences.deallocate()
        unsafe elements.deallocate()
    }

    /// Closes the mailbox for good: no element is taken from now on. Callable from any thread.
    package func close() { _ = tail.value.bitwiseOr(ManyToOneMailbox.closed, ordering: .acquiringAndReleasing) }

    /// Is `true` after `close`. Readable from any thread.
    package var isClosed: Bool { tail.value.load(ordering: .acquiring) >= ManyToOneMailbox.closed }

    /// Is `true` when the mailbox is closed and all elements taken before have been popped; `false` while a producer is about to write
    /// to a position that it has claimed. Only for the consumer's thread.
    package var isExhausted: Bool {
        tail.value.load(ordering: .acquiring) == ManyToOneMailbox.closed | head.value.load(ordering: .relaxed)
    }

    /// Is `true` when the mailbox is closed, or was full at one moment of the call. Readable from any thread.
    package var isFull: Bool {
        // Read first: an element popped meanwhile makes the mailbox look fuller, and never emptier, than it is.
        let head = head.value.load(ordering: .acquiring)
        return tail.value.load(ordering: .acquiring) >= head + capacity
    }

    /// Number of elements that were popped: one more than the position of the last one. Only for the consumer's thread.
    package var popped: UInt64 { head.value.load(ordering: .relaxed) }

    /// Elements that may be pushed before the mailbox is full; fewer if producers push meanwhile. Only for the consumer's thread.
    package var room: Int {
        let claimed = tail.value.load(ordering: .relaxed) & ~ManyToOneMailbox.closed
        return Int(capacity - (claimed - head.value.load(ordering: .relaxed)))
    }

    /// Pushes an element; returns `false` if the mailbox is full or closed. Callable from any thread.
    @inlinable package func tryPush(_ element: Element) -> Bool { push(element) != nil }

    /// Pushes an element. Callable from any thread.
    ///
    /// - Returns: the element's position, which counts from 0 in the order in which the consumer pops; `nil` if full or closed.
    @inlinable package func push(_ element: Element) -> UInt64? {
        var position = tail.value.load(ordering: .relaxed)
        while true {
            let cell = index(of: position)
            // Meets the release in `pop`: the cell has been emptied before it is written again.
            let turn = unsafe sequences[cell].load(ordering: .acquiring)
            if turn == position {
                let (won, current) = tail.value.weakCompareExchange(
                    expected: position, desired: position &+ 1, ordering: .relaxed)
                if won {
                    unsafe (elements + cell).initialize(to: element)
                    // Publishes the element; meets the acquire in `pop`.
                    unsafe sequences[cell].store(position &+ 1, ordering: .releasing)
                    return position
                }
                position = current
            } else if turn < position {
                return nil  // still holds the element of one lap ago, or closed
            } else {
                position = tail.value.load(ordering: .relaxed)
            }
        }
    }

    /// Removes and returns the oldest element; `nil` if there is none. Only for the consumer's thread.
    @inlinable package func pop() -> Element? {
        let position = head.value.load(ordering: .relaxed)
        let cell = index(of: position)
        // Meets the release in `push`.
        guard unsafe sequences[cell].load(ordering: .acquiring) == position &+ 1 else { return nil }
        let element = unsafe (elements + cell).move()
        head.value.store(position &+ 1, ordering: .relaxed)
        // Gives the cell to the push one lap later; meets the acquire there.
        unsafe sequences[cell].store(position &+ capacity, ordering: .releasing)
        return element
    }

    @inlinable func index(of position: UInt64) -> Int { Int(truncatingIfNeeded: position & (capacity &- 1)) }
}
