import FanfareModel
import HTTP2TestSupport

@testable import FanfareHTTP2

extension SplitMix64 {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    mutating func field(longest: Int) -> HeaderField {
        HeaderField(
            name: bytes(Int.random(in: 0...longest, using: &self)),
            value: bytes(Int.random(in: 0...longest, using: &self)))
    }
}

func bytes(hex: String) -> [UInt8] {
    let digits = hex.utf8.map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func sizeUpdate(_ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    PrefixInteger.write(size, prefix: 5, pattern: 0x20, into: &bytes)
    return bytes
}

extension HeaderList {
    var all: [HeaderField] { fields.map { HeaderField(name: Array(name($0)), value: Array(value($0))) } }
}

extension DynamicTable {
    var all: [HeaderField] {
        (0..<count).compactMap { index in
            field(index).map { HeaderField(name: Array(storage[$0.name]), value: Array(storage[$0.value])) }
        }
    }
}

/// A frame, written by hand.
func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + big(stream) + payload
}

func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

func settings(_ pairs: [(UInt16, UInt32)] = []) -> [UInt8] {
    frame(FrameType.settings, pairs.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 255)] + big($0.1) })
}

/// A frame that our session has written.
struct Sent: Equatable {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8]

    /// Of a WINDOW_UPDATE.
    var increment: Int { Int(payload.span.bigEndian32(at: 0)) }

    var code: ErrorCode? {
        switch type {
        case FrameType.resetStream: ErrorCode(rawValue: payload.span.bigEndian32(at: 0))
        case FrameType.goAway: ErrorCode(rawValue: payload.span.bigEndian32(at: 4))
        default: nil
        }
    }
}

extension ClientSession {
    /// Takes the whole output as frames; the preface is left out.
    mutating func drainFrames() -> [Sent] {
        var rest = drain()[...]
        if rest.starts(with: Array("PRI * ".utf8)) { rest = rest.dropFirst(24) }
        var frames: [Sent] = []
        while !rest.isEmpty {
            let bytes = Array(rest.prefix(9))
            let header = FrameHeader(bytes.span)
            frames.append(
                Sent(
                    type: header.type, flags: header.flags, stream: header.stream,
                    payload: Array(rest.dropFirst(9).prefix(header.length))))
            rest = rest.dropFirst(9 + header.length)
        }
        return frames
    }

    mutating func takeEvents() -> [Event] {
        var batch = EventBatch()
        takeEvents(into: &batch)
        return batch.events
    }
}
