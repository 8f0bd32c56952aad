/// Bytes at a fixed address until the next append. Non-copyable, so that two streams cannot own one buffer.
@safe struct ByteBuffer: ~Copyable {
    fileprivate var base: UnsafeMutableRawPointer?
    fileprivate var capacity = 0
    private(set) var count = 0

    /// Largest memory that an emptied buffer keeps, in bytes.
    fileprivate static let keptBytesMax = 1 << 20

    deinit { unsafe base?.deallocate() }

    var isEmpty: Bool { count == 0 }

    /// The buffer's bytes, valid until the next mutation.
    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: base, count: count) }

    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let from = source.baseAddress, source.count > 0 else { return }
        if count + source.count > capacity { grow(toHold: count + source.count) }
        // `capacity` > 0, so there is memory.
        unsafe base!.advanced(by: count).copyMemory(from: from, byteCount: source.count)
        count += source.count
    }

    mutating func removeAll() {
        count = 0
        if capacity > ByteBuffer.keptBytesMax {
            unsafe base?.deallocate()
            unsafe base = nil
            capacity = 0
        }
    }

    private mutating func grow(toHold needed: Int) {
        let grown = max(needed, capacity * 2, 4096)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
        if let base = unsafe base {
            unsafe moved.copyMemory(from: base, byteCount: count)
            unsafe base.deallocate()
        }
        unsafe base = moved
        capacity = grown
    }
}

/// Memory of sent buffers, reused by the next ones, so that the output of all streams of a loop stays in the processor's
/// cache, however many streams there are.
@safe struct SpareMemory: ~Copyable {
    private var spares: [(base: UnsafeMutableRawPointer, capacity: Int)] = unsafe []

    /// Maximum number of spare buffers: as many as streams usually write in one turn.
    private static let sparesMax = 16

    deinit {
        unsafe spares.forEach { unsafe $0.base.deallocate() }
    }

    /// Gives an empty buffer without memory the most recently used memory.
    mutating func lend(to buffer: inout ByteBuffer) {
        guard unsafe buffer.base == nil, let spare = unsafe spares.popLast() else { return }
        unsafe (buffer.base, buffer.capacity) = spare
    }

    /// Empties the buffer and takes its memory as a spare.
    mutating func takeBack(_ buffer: inout ByteBuffer) {
        buffer.removeAll()
        guard let base = unsafe buffer.base, unsafe spares.count < SpareMemory.sparesMax else { return }
        unsafe spares.append((base, buffer.capacity))
        unsafe (buffer.base, buffer.capacity) = (nil, 0)
    }
}
