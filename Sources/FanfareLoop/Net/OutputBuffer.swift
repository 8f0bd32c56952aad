/// Bytes on their way out, at a fixed address while nothing is appended. Non-copyable, so that two streams cannot own one.
struct OutputBuffer: ~Copyable {
    private var base: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    /// An emptied buffer keeps at most this much memory.
    private static let keptBytesMax = 1 << 20

    deinit { base?.deallocate() }

    var isEmpty: Bool { count == 0 }

    /// Valid until the next mutation.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let from = source.baseAddress, source.count > 0 else { return }
        if count + source.count > capacity { grow(toHold: count + source.count) }
        base!.advanced(by: count).copyMemory(from: from, byteCount: source.count)  // `capacity` > 0, so there is memory
        count += source.count
    }

    mutating func removeAll() {
        count = 0
        if capacity > OutputBuffer.keptBytesMax {
            base?.deallocate()
            base = nil
            capacity = 0
        }
    }

    private mutating func grow(toHold needed: Int) {
        let grown = max(needed, capacity * 2, 4096)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
        if let base {
            moved.copyMemory(from: base, byteCount: count)
            base.deallocate()
        }
        base = moved
        capacity = grown
    }
}
