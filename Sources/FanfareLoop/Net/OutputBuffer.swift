/// Bytes on their way out, at a fixed address while nothing is appended. Non-copyable, so that two streams cannot own one.
struct OutputBuffer: ~Copyable {
    fileprivate var base: UnsafeMutableRawPointer?
    fileprivate var capacity = 0
    private(set) var count = 0

    /// An emptied buffer keeps at most this much memory.
    fileprivate static let keptBytesMax = 1 << 20

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

/// Memory of buffers that have been sent, for the next ones to be filled: what a loop's streams write one after the other stays in the
/// processor's cache, however many streams there are.
struct SpareMemory: ~Copyable {
    private var spares: [(base: UnsafeMutableRawPointer, capacity: Int)] = []

    /// As many streams as usually write in one turn.
    private static let sparesMax = 16

    deinit {
        for spare in spares { spare.base.deallocate() }
    }

    /// Gives an empty buffer that has no memory the memory that was used last.
    mutating func lend(to buffer: inout OutputBuffer) {
        guard buffer.base == nil, let spare = spares.popLast() else { return }
        (buffer.base, buffer.capacity) = spare
    }

    /// Empties the buffer, and keeps its memory.
    mutating func takeBack(_ buffer: inout OutputBuffer) {
        buffer.removeAll()
        guard let base = buffer.base, spares.count < SpareMemory.sparesMax else { return }
        spares.append((base, buffer.capacity))
        (buffer.base, buffer.capacity) = (nil, 0)
    }
}
