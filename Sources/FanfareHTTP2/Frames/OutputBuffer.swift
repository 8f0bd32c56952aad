/// Bytes on their way out: written at the end, taken from the front, in storage that is kept. The one place of this
/// module that owns memory by pointer.
package struct OutputBuffer: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var start = 0
    private var end = 0
    /// Bytes taken since the beginning: where in the connection's output `start` is.
    private(set) var taken: UInt64 = 0

    package init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
    }

    deinit { memory.deallocate() }

    package var count: Int { end - start }
    /// Where in the connection's output the next byte goes.
    var position: UInt64 { taken + UInt64(count) }

    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory + start, count: end - start))
    }

    /// - Precondition: no more than there is.
    package mutating func take(_ count: Int) {
        precondition(count >= 0 && count <= end - start, "took \(count) of \(end - start) bytes")
        taken += UInt64(count)
        start += count
        if start == end { (start, end) = (0, 0) }
    }

    /// Makes room for `count` more bytes.
    @inline(__always)
    mutating func reserve(_ count: Int) {
        if capacity - end < count { grow(by: count) }
    }

    @inline(never)
    private mutating func grow(by count: Int) {
        let held = end - start
        // What was taken leaves room at the front. Moving pays only when at least half is free; else the next call would
        // move everything again.
        if held + count <= capacity / 2 {
            memory.update(from: memory + start, count: held)
        } else {
            let larger = max(2 * capacity, held + count)
            let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
            moved.initialize(from: memory + start, count: held)
            memory.deallocate()
            memory = moved
            capacity = larger
        }
        (start, end) = (0, held)
    }

    package mutating func append(_ byte: UInt8) {
        reserve(1)
        memory[end] = byte
        end += 1
    }

    mutating func append(_ value: UInt32) {
        reserve(4)
        UnsafeMutableRawPointer(memory + end).storeBytes(of: value.bigEndian, as: UInt32.self)
        end += 4
    }

    mutating func append(_ value: UInt16) {
        reserve(2)
        UnsafeMutableRawPointer(memory + end).storeBytes(of: value.bigEndian, as: UInt16.self)
        end += 2
    }

    package mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        bytes.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            (memory + end).initialize(from: base, count: source.count)
        }
        end += bytes.count
    }

    package mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    /// RFC 7541 §5.1, as `PrefixInteger.write`.
    mutating func appendInteger(_ value: Int, prefix: Int, pattern: UInt8) {
        let limit = (1 << prefix) - 1
        guard value >= limit else { return append(pattern | UInt8(value)) }
        append(pattern | UInt8(limit))
        var rest = value - limit
        while rest >= 128 {
            append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Two lower-case digits per byte, in one pass.
    mutating func appendHex(_ bytes: Span<UInt8>) {
        reserve(2 * bytes.count)
        func digit(_ nibble: UInt8) -> UInt8 { nibble &+ (nibble < 10 ? 48 : 87) }
        // Room for all is there, so the loop writes without looking at this buffer again.
        let digits = memory + end
        for index in bytes.indices {
            let byte = bytes[index]
            digits[2 * index] = digit(byte >> 4)
            digits[2 * index + 1] = digit(byte & 15)
        }
        end += 2 * bytes.count
    }
}

/// Frames that have a fixed form (RFC 9113 §6).
extension OutputBuffer {
    package mutating func appendHeader(length: Int, type: UInt8, flags: UInt8, stream: UInt32) {
        reserve(FrameHeader.count)
        append(UInt32(truncatingIfNeeded: length) << 8 | UInt32(type))
        append(flags)
        append(stream)
    }

    /// Fills in length and flags of a frame that began with a header at `position`, none of which has been taken.
    mutating func finishFrame(at position: UInt64, length: Int, flags: UInt8) {
        precondition(position >= taken && length <= FlowControl.frameSizeMax)
        let header = memory + start + Int(position - taken)
        header[0] = UInt8(truncatingIfNeeded: length >> 16)
        header[1] = UInt8(truncatingIfNeeded: length >> 8)
        header[2] = UInt8(truncatingIfNeeded: length)
        header[4] = flags
    }

    /// Removes everything from `position` on, none of which has been taken, and returns it.
    mutating func cut(from position: UInt64) -> [UInt8] {
        precondition(position >= taken)
        let from = start + Int(position - taken)
        defer { end = from }
        return Array(UnsafeBufferPointer(start: memory + from, count: end - from))
    }

    package mutating func appendSettings(_ settings: [(id: UInt16, value: UInt32)]) {
        appendHeader(length: 6 * settings.count, type: FrameType.settings, flags: 0, stream: 0)
        for setting in settings {
            append(setting.id)
            append(setting.value)
        }
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
