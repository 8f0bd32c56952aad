import Synchronization

/// Bounded queue from any number of threads to one, without locks: how an embedding program's threads reach the core.
///
/// Each cell carries a sequence number that says whose turn it is: equal to the position when free for the push at that
/// position, one more when it holds that element. Producers claim positions with a compare-and-exchange, so one that is
/// suspended between claiming and writing holds up what comes after it, never loses it.
///
/// Full is an answer: `tryPush` says so and nobody waits.
public final class ManyToOneMailbox<Element: Sendable>: @unchecked Sendable {
    private struct Cell: ~Copyable {
        let sequence: Atomic<UInt64>
        var element: Element?
    }

    private let capacity: UInt64
    private let cells: UnsafeMutablePointer<Cell>
    /// Next position to claim; all producers.
    private let tail = PaddedCounter()
    /// Next position to read; written by the consumer only.
    private let head = PaddedCounter()

    /// - Parameter capacity: a power of two.
    public init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0, "mailbox capacity must be a power of two")
        self.capacity = UInt64(capacity)
        cells = .allocate(capacity: capacity)
        for index in 0..<capacity {
            (cells + index).initialize(to: Cell(sequence: Atomic(UInt64(index)), element: nil))
        }
    }

    deinit {
        cells.deinitialize(count: Int(capacity))
        cells.deallocate()
    }

    /// From any thread. `false` when full.
    public func tryPush(_ element: Element) -> Bool {
        var position = tail.value.load(ordering: .relaxed)
        while true {
            let cell = cells + Int(position & (capacity - 1))
            // Meets the release in `pop`: the cell has been emptied before it is written again.
            let turn = cell.pointee.sequence.load(ordering: .acquiring)
            if turn == position {
                let (won, current) = tail.value.weakCompareExchange(
                    expected: position, desired: position + 1, ordering: .relaxed)
                if won {
                    cell.pointee.element = element
                    // Publishes the element; meets the acquire in `pop`.
                    cell.pointee.sequence.store(position + 1, ordering: .releasing)
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
    public func pop() -> Element? {
        let position = head.value.load(ordering: .relaxed)
        let cell = cells + Int(position & (capacity - 1))
        // Meets the release in `tryPush`.
        guard cell.pointee.sequence.load(ordering: .acquiring) == position + 1 else { return nil }
        let element = cell.pointee.element.take()
        head.value.store(position + 1, ordering: .relaxed)
        // Gives the cell to the push one lap later; meets the acquire there.
        cell.pointee.sequence.store(position + capacity, ordering: .releasing)
        return element
    }
}
