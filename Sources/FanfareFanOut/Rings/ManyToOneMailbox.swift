public import Synchronization

/// Bounded queue from any number of threads to one, without locks: how an embedding program's threads reach the core.
///
/// Each cell carries a sequence number that says whose turn it is: equal to the position when free for the push at that
/// position, one more when it holds that element. Producers claim positions with a compare-and-exchange, so one that is
/// suspended between claiming and writing holds up what comes after it, never loses it.
///
/// Full is an answer: `tryPush` says so and nobody waits. So is closed: what was taken before the close will be popped, and nothing
/// is taken after it. Elements leave in the order in which their positions were claimed, one
/// order for all producers. Inlinable for the reason given at `OneToOneRing`; positions count from 0 and never reach 2^64, so
/// their arithmetic needs no overflow checks. `Sendable` is unchecked because the compiler knows nothing of sequence numbers.
@usableFromInline package final class ManyToOneMailbox<Element: Sendable>: @unchecked Sendable {
    @usableFromInline let capacity: UInt64
    // Two arrays and not one of pairs: taking an element then is no access to the sequence number beside it, which other
    // threads read meanwhile (ThreadSanitizer sees such an access as one to the whole pair).
    @usableFromInline let sequences: UnsafeMutablePointer<Atomic<UInt64>>
    /// Initialised where the sequence number says that it holds an element.
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    /// Next position to claim; all producers. With `closed` set nobody claims any more.
    @usableFromInline let tail = PaddedCounter()
    /// Next position to read; written by the consumer only.
    @usableFromInline let head = PaddedCounter()

    /// Above every position, so that a closed mailbox looks like one that is full for ever.
    private static var closed: UInt64 { 1 << 63 }

    /// - Parameter capacity: a power of two.
    package init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0, "mailbox capacity must be a power of two")
        self.capacity = UInt64(capacity)
        sequences = .allocate(capacity: capacity)
        elements = .allocate(capacity: capacity)
        for index in 0..<capacity { (sequences + index).initialize(to: Atomic(UInt64(index))) }
    }

    deinit {
        // Nobody holds the mailbox any more, so no push is half done.
        while pop() != nil { continue }
        sequences.deinitialize(count: Int(capacity))
        sequences.deallocate()
        elements.deallocate()
    }

    /// From any thread: nothing is taken from now on. Once and for all.
    package func close() { _ = tail.value.bitwiseOr(ManyToOneMailbox.closed, ordering: .acquiringAndReleasing) }

    /// From any thread.
    package var isClosed: Bool { tail.value.load(ordering: .acquiring) >= ManyToOneMailbox.closed }

    /// From the consumer's thread only: closed, and everything that was taken has been popped. While a producer is about to write
    /// what it has claimed, it is not.
    package var isExhausted: Bool {
        tail.value.load(ordering: .acquiring) == ManyToOneMailbox.closed | head.value.load(ordering: .relaxed)
    }

    /// From any thread: full at one moment, or closed.
    package var isFull: Bool {
        // Read first, so that what is popped meanwhile makes it look fuller, and never emptier, than it is.
        let head = head.value.load(ordering: .acquiring)
        return tail.value.load(ordering: .acquiring) >= head + capacity
    }

    /// From the consumer's thread only: elements that may be pushed before the mailbox is full. Producers that push meanwhile leave fewer.
    package var room: Int {
        let claimed = tail.value.load(ordering: .relaxed) & ~ManyToOneMailbox.closed
        return Int(capacity - (claimed - head.value.load(ordering: .relaxed)))
    }

    /// From any thread. `false` when full or closed.
    @inlinable package func tryPush(_ element: Element) -> Bool { push(element) != nil }

    /// From any thread.
    ///
    /// - Returns: the element's position, which counts from 0 in the order in which the consumer pops; `nil` when full or closed.
    @inlinable package func push(_ element: Element) -> UInt64? {
        var position = tail.value.load(ordering: .relaxed)
        while true {
            let cell = index(of: position)
            // Meets the release in `pop`: the cell has been emptied before it is written again.
            let turn = sequences[cell].load(ordering: .acquiring)
            if turn == position {
                let (won, current) = tail.value.weakCompareExchange(
                    expected: position, desired: position &+ 1, ordering: .relaxed)
                if won {
                    (elements + cell).initialize(to: element)
                    // Publishes the element; meets the acquire in `pop`.
                    sequences[cell].store(position &+ 1, ordering: .releasing)
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

    /// From the consumer's thread only.
    @inlinable package func pop() -> Element? {
        let position = head.value.load(ordering: .relaxed)
        let cell = index(of: position)
        // Meets the release in `tryPush`.
        guard sequences[cell].load(ordering: .acquiring) == position &+ 1 else { return nil }
        let element = (elements + cell).move()
        head.value.store(position &+ 1, ordering: .relaxed)
        // Gives the cell to the push one lap later; meets the acquire there.
        sequences[cell].store(position &+ capacity, ordering: .releasing)
        return element
    }

    @inlinable func index(of position: UInt64) -> Int { Int(truncatingIfNeeded: position & (capacity &- 1)) }
}
