public import Synchronization

/// Bounded queue from any number of threads to one, without locks: how an embedding program's threads reach the core.
///
/// Each cell carries a sequence number that says whose turn it is: equal to the position when free for the push at that
/// position, one more when it holds that element. Producers claim positions with a compare-and-exchange, so one that is
/// suspended between claiming and writing holds up what comes after it, never loses it.
///
/// Full is an answer: `tryPush` says so and nobody waits. Elements leave in the order in which their positions were claimed, one
/// order for all producers. Inlinable for the reason given at `OneToOneRing`; positions count from 0 and never reach 2^64, so
/// their arithmetic needs no overflow checks.
public final class ManyToOneMailbox<Element: Sendable>: @unchecked Sendable {
    @usableFromInline struct Cell: ~Copyable {
        @usableFromInline let sequence: Atomic<UInt64>
        @usableFromInline var element: Element?

        init(sequence: UInt64) { self.sequence = Atomic(sequence) }
    }

    @usableFromInline let capacity: UInt64
    @usableFromInline let cells: UnsafeMutablePointer<Cell>
    /// Next position to claim; all producers.
    @usableFromInline let tail = PaddedCounter()
    /// Next position to read; written by the consumer only.
    @usableFromInline let head = PaddedCounter()

    /// - Parameter capacity: a power of two.
    public init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0, "mailbox capacity must be a power of two")
        self.capacity = UInt64(capacity)
        cells = .allocate(capacity: capacity)
        for index in 0..<capacity {
            (cells + index).initialize(to: Cell(sequence: UInt64(index)))
        }
    }

    deinit {
        cells.deinitialize(count: Int(capacity))
        cells.deallocate()
    }

    /// From any thread. `false` when full.
    @inlinable public func tryPush(_ element: Element) -> Bool {
        var position = tail.value.load(ordering: .relaxed)
        while true {
            let cell = cell(at: position)
            // Meets the release in `pop`: the cell has been emptied before it is written again.
            let turn = cell.pointee.sequence.load(ordering: .acquiring)
            if turn == position {
                let (won, current) = tail.value.weakCompareExchange(
                    expected: position, desired: position &+ 1, ordering: .relaxed)
                if won {
                    cell.pointee.element = element
                    // Publishes the element; meets the acquire in `pop`.
                    cell.pointee.sequence.store(position &+ 1, ordering: .releasing)
                    return true
                }
                position = current
            } else if turn < position {
                return false  // still holds the element of one lap ago
            } else {
                position = tail.value.load(ordering: .relaxed)
            }
        }
    }

    /// From the consumer's thread only.
    @inlinable public func pop() -> Element? {
        let position = head.value.load(ordering: .relaxed)
        let cell = cell(at: position)
        // Meets the release in `tryPush`.
        guard cell.pointee.sequence.load(ordering: .acquiring) == position &+ 1 else { return nil }
        let element = cell.pointee.element.take()
        head.value.store(position &+ 1, ordering: .relaxed)
        // Gives the cell to the push one lap later; meets the acquire there.
        cell.pointee.sequence.store(position &+ capacity, ordering: .releasing)
        return element
    }

    @inlinable func cell(at position: UInt64) -> UnsafeMutablePointer<Cell> {
        cells + Int(truncatingIfNeeded: position & (capacity &- 1))
    }
}
