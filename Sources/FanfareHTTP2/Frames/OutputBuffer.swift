/// Output bytes: appended at the end, taken from the front, in storage that is reused. This is the only file of the module
/// that holds memory by pointer.
@safe package struct OutputBuffer: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var start = 0
    private var end = 0
    /// Bytes taken so far: the offset of `start` in the connection's output.
    private(set) var taken: UInt64 = 0

    package init(capacity: Int) {
        self.capacity = capacity
        unsafe memory = .allocate(capacity: capacity)
    }

    deinit { unsafe memory.deallocate() }

    package var count: Int { end - start }
    /// Offset of the next appended byte in the connection's output.
    var position: UInt64 { taken + UInt64(count) }

    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: memory + start, count: end - start))
    }

    /// - Precondition: `count` is at most the number of bytes in the buffer.
    package mutating func take(_ count: Int) {
        precondition(count >= 0 && count <= end - start, "took \(count) of \(end - start) bytes")
        taken += UInt64(count)
        start += count
        if start == end { (start, end) = (0, 0) }
    }

    /// Swaps memory with another buffer.
    /// - Precondition: both buffers are empty.
    package mutating func exchangeMemory(with other: inout OutputBuffer) {
        precondition(start == end && other.start == other.end, "bytes wait in a buffer that is given away")
        unsafe swap(&memory, &other.memory)
        swap(&capacity, &other.capacity)
        (start, end, other.start, other.end) = (0, 0, 0, 0)
    }

    /// Ensures capacity for `count` more bytes.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if capacity - end < count { grow(by: count) }
    }

    @inline(never)
    private mutating func grow(by count: Int) {
        let held = end - start
        // Taken bytes leave room at the front. Moving the rest there pays only while at least half of the buffer is free;
        // otherwise the next call would move everything again.
        if held + count <= capacity / 2 {
            unsafe memory.update(from: memory + start, count: held)
        } else {
            let larger = max(2 * capacity, held + count)
            let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
            unsafe moved.initialize(from: memory + start, count: held)
            unsafe memory.deallocate()
            unsafe memory = moved
            capacity = larger
        }
        (start, end) = (0, held)
    }

    /// Returns a cursor with room for `count` bytes at the end; `commit` makes the bytes written through it part of the output.
    @inline(__always)
    mutating func cursor(room count: Int) -> OutputCursor {
        reserve(count)
        return unsafe OutputCursor(next: memory + end)
    }

    @inline(__always)
    mutating func commit(_ cursor: OutputCursor) {
        let written = unsafe cursor.next - memory
        precondition(written >= end && written <= capacity)
        end = written
    }

    package mutating func append(_ byte: UInt8) {
        var cursor = unsafe cursor(room: 1)
        unsafe cursor.put(byte)
        unsafe commit(cursor)
    }

    package mutating func append(_ bytes: Span<UInt8>) {
        var cursor = unsafe cursor(room: bytes.count)
        unsafe cursor.put(bytes)
        unsafe commit(cursor)
    }

    package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }
}

/// Writes into room that an `OutputBuffer` has reserved. It writes each byte once and checks no bounds: the code that takes
/// the cursor adds up the size first.
@unsafe struct OutputCursor {
    fileprivate(set) var next: UnsafeMutablePointer<UInt8>

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        unsafe next.pointee = byte
        unsafe next += 1
    }

    @inline(__always)
    mutating func put(_ value: UInt32) {
        unsafe UnsafeMutableRawPointer(next).storeBytes(of: value.bigEndian, as: UInt32.self)
        unsafe next += 4
    }

    @inline(__always)
    mutating func put(_ value: UInt16) {
        unsafe UnsafeMutableRawPointer(next).storeBytes(of: value.bigEndian, as: UInt16.self)
        unsafe next += 2
    }

    @inline(__always)
    mutating func put(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            unsafe next.initialize(from: base, count: source.count)
            unsafe next += source.count
        }
    }

    @inline(__always)
    mutating func put(_ bytes: [UInt8]) { unsafe put(bytes.span) }

    /// Writes an integer in the encoding of RFC 7541 §5.1, like `PrefixInteger.write`; at most `integerBytesMax` bytes.
    mutating func put(integer value: Int, prefix: Int, pattern: UInt8) {
        let limit = (1 << prefix) - 1
        guard value >= limit else { return unsafe put(pattern | UInt8(value)) }
        unsafe put(pattern | UInt8(limit))
        var rest = value - limit
        while rest >= 128 {
            unsafe put(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        unsafe put(UInt8(rest))
    }

    static let integerBytesMax = 10

    @inline(__always)
    static func bytes(ofInteger value: Int, prefix: Int) -> Int {
        let limit = (1 << prefix) - 1
        guard value >= limit else { return 1 }
        // Each byte holds seven bits, and a rest of zero takes one byte.
        return 2 + (Int.bitWidth - 1 - max(1, value - limit).leadingZeroBitCount) / 7
    }

    /// Writes two lower-case hex digits per byte. The loop steps pointers and has no branch, so the optimiser processes
    /// sixteen bytes at a time.
    mutating func put(hexOf bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { source in
            guard var from = source.baseAddress else { return }
            let end = unsafe from + source.count
            var digits = unsafe UnsafeMutableRawPointer(next)
            while unsafe from < end {
                let byte = unsafe UInt16(from.load(as: UInt8.self))
                // The high nibble's digit comes first, in the low byte.
                let nibbles = (byte >> 4 | byte << 8) & 0x0f0f
                // A nibble of ten or more gives 1: its letter lies 39 above the character at the same distance from "0".
                let letters = (nibbles &+ 0x0606) >> 4 & 0x0101
                unsafe digits.storeBytes(of: (nibbles &+ 0x3030 &+ letters &* 39).littleEndian, as: UInt16.self)
                unsafe from += 1
                unsafe digits += 2
            }
            unsafe next += 2 * source.count
        }
    }

    @inline(__always)
    mutating func putHeader(length: Int, type: UInt8, flags: UInt8, stream: UInt32) {
        unsafe put(UInt32(truncatingIfNeeded: length) << 8 | UInt32(type))
        unsafe put(flags)
        unsafe put(stream)
    }
}

/// Frames of fixed layout (RFC 9113 §6).
extension OutputBuffer {
    package mutating func appendHeader(length: Int, type: UInt8, flags: UInt8, stream: UInt32) {
        var cursor = unsafe cursor(room: FrameHeader.count)
        unsafe cursor.putHeader(length: length, type: type, flags: flags, stream: stream)
        unsafe commit(cursor)
    }

    /// Removes all bytes from `position` on, none of which may have been taken, and returns them.
    mutating func cut(from position: UInt64) -> [UInt8] {
        precondition(position >= taken)
        let from = start + Int(position - taken)
        defer { end = from }
        return unsafe Array(UnsafeBufferPointer(start: memory + from, count: end - from))
    }

    private mutating func append(_ value: UInt32) {
        var cursor = unsafe cursor(room: 4)
        unsafe cursor.put(value)
        unsafe commit(cursor)
    }

    package mutating func appendSettings(_ settings: [(id: UInt16, value: UInt32)]) {
        appendHeader(length: 6 * settings.count, type: FrameType.settings, flags: 0, stream: 0)
        var cursor = unsafe cursor(room: 6 * settings.count)
        for setting in settings {
            unsafe cursor.put(setting.id)
            unsafe cursor.put(setting.value)
        }
        unsafe commit(cursor)
    }

    package mutating func appendSettingsAcknowledgement() {
        appendHeader(length: 0, type: FrameType.settings, flags: FrameFlag.acknowledgement, stream: 0)
    }

    package mutating func appendPing(_ opaque: UInt64, acknowledges: Bool) {
        appendHeader(
            length: 8, type: FrameType.ping, flags: acknowledges ? FrameFlag.acknowledgement : 0, stream: 0)
        append(UInt32(truncatingIfNeeded: opaque >> 32))
        append(UInt32(truncatingIfNeeded: opaque))
    }

    package mutating func appendWindowUpdate(_ increment: Int, stream: UInt32) {
        appendHeader(length: 4, type: FrameType.windowUpdate, flags: 0, stream: stream)
        append(UInt32(increment))
    }

    package mutating func appendReset(_ code: ErrorCode, stream: UInt32) {
        appendHeader(length: 4, type: FrameType.resetStream, flags: 0, stream: stream)
        append(code.rawValue)
    }

    package mutating func appendGoAway(_ code: ErrorCode, lastStream: UInt32, debug: String) {
        let text = Array(debug.utf8)
        appendHeader(length: 8 + text.count, type: FrameType.goAway, flags: 0, stream: 0)
        append(lastStream)
        append(code.rawValue)
        append(text)
    }
}
