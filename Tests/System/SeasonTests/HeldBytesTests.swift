import CountAllocations
import FanfareQueues
import Testing

/// The bytes by which a season judges growth.
@Suite(.enabled(if: allocations_are_counted())) struct HeldBytesTests {
    @Test func theBytesOfALargeColumnAreHeldUntilItIsGone() {
        let (before, mappedBefore) = (bytes_held_by_this_thread(), bytes_mapped_by_this_thread())
        var column = GrowingColumn<UInt64>(repeating: 1, count: 1 << 19)
        let first = bytes_held_by_this_thread() - before
        column.append(repeating: 1, count: 1 << 19)
        let second = bytes_held_by_this_thread() - before
        let mapped = bytes_mapped_by_this_thread() - mappedBefore
        column = GrowingColumn()
        let last = bytes_held_by_this_thread() - before
        #expect(column.isEmpty && first >= 4 << 20 && second - first == 4 << 20 && mapped == 8 << 20)
        #expect(last < 4096)
    }

    /// A block of half a megabyte or one is replaced by a range.
    @Test func aColumnThatBecomesLargeDoesNotSeemToShrink() {
        let before = bytes_held_by_this_thread()
        var column = GrowingColumn<UInt64>()
        var (held, shrinks) = (Int64(0), false)
        for number in 0..<UInt64(300_000) {
            column.append(number)
            let now = bytes_held_by_this_thread() - before
            shrinks = shrinks || now < held
            held = now
        }
        #expect(!shrinks && held >= 2 << 20 && column.count == 300_000)
    }
}
