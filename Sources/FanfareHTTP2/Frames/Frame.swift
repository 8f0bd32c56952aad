/// Nine-byte header in front of every frame (RFC 9113 §4.1).
package struct FrameHeader {
    package static let count = 9

    /// Length of the payload that follows, in bytes.
    package var length: Int
    package var type: UInt8
    package var flags: UInt8
    package var stream: UInt32

    /// Parses the first nine bytes and ignores the reserved bit, as §4.1 requires.
    package init(_ bytes: Span<UInt8>) {
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        type = bytes[3]
        flags = bytes[4]
        stream = bytes.bigEndian32(at: 5) & StreamID.max
    }

    package func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}

package enum FrameType {
    package static let data: UInt8 = 0x0
    package static let headers: UInt8 = 0x1
    package static let priority: UInt8 = 0x2
    package static let resetStream: UInt8 = 0x3
    package static let settings: UInt8 = 0x4
    package static let pushPromise: UInt8 = 0x5
    package static let ping: UInt8 = 0x6
    package static let goAway: UInt8 = 0x7
    package static let windowUpdate: UInt8 = 0x8
    package static let continuation: UInt8 = 0x9
}

package enum FrameFlag {
    package static let endStream: UInt8 = 0x1
    package static let acknowledgement: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8
    package static let priority: UInt8 = 0x20
}

package enum SettingID {
    package static let headerTableSize: UInt16 = 0x1
    package static let enablePush: UInt16 = 0x2
    package static let maxConcurrentStreams: UInt16 = 0x3
    package static let initialWindowSize: UInt16 = 0x4
    package static let maxFrameSize: UInt16 = 0x5
    package static let maxHeaderListSize: UInt16 = 0x6
}

package enum StreamID {
    package static let max: UInt32 = 0x7fff_ffff
}

/// Constants of RFC 9113.
package enum FlowControl {
    /// Initial flow-control window, in bytes, before SETTINGS and WINDOW_UPDATE (§6.9.2).
    package static let defaultWindow = 65_535
    package static let windowMax = 0x7fff_ffff
    /// SETTINGS_MAX_FRAME_SIZE until the peer raises it; also the largest frame that this client accepts, because answers
    /// are short (§4.2).
    package static let defaultFrameSize = 16_384
    package static let frameSizeMax = 0xff_ffff
}

/// Error code of RST_STREAM and GOAWAY (RFC 9113 §7). Not an enumeration, because peers may send other codes.
package struct ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = ErrorCode(rawValue: 0x0)
    package static let protocolError = ErrorCode(rawValue: 0x1)
    package static let internalError = ErrorCode(rawValue: 0x2)
    package static let flowControlError = ErrorCode(rawValue: 0x3)
    package static let settingsTimeout = ErrorCode(rawValue: 0x4)
    package static let streamClosed = ErrorCode(rawValue: 0x5)
    package static let frameSizeError = ErrorCode(rawValue: 0x6)
    package static let refusedStream = ErrorCode(rawValue: 0x7)
    package static let cancel = ErrorCode(rawValue: 0x8)
    package static let compressionError = ErrorCode(rawValue: 0x9)
    package static let connectError = ErrorCode(rawValue: 0xa)
    package static let enhanceYourCalm = ErrorCode(rawValue: 0xb)
    package static let inadequateSecurity = ErrorCode(rawValue: 0xc)
    package static let http11Required = ErrorCode(rawValue: 0xd)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    package var description: String {
        rawValue < ErrorCode.names.count ? ErrorCode.names[Int(rawValue)] : "error code \(rawValue)"
    }
}

/// Violation that ends the connection: the code for GOAWAY and a text for people.
package struct ConnectionError: Error {
    package let code: ErrorCode
    package let text: String

    package init(code: ErrorCode, text: String) {
        self.code = code
        self.text = text
    }
}

extension Span<UInt8> {
    package func bigEndian32(at index: Int) -> UInt32 {
        UInt32(self[index]) << 24 | UInt32(self[index + 1]) << 16 | UInt32(self[index + 2]) << 8
            | UInt32(self[index + 3])
    }

    package func bigEndian16(at index: Int) -> UInt16 { UInt16(self[index]) << 8 | UInt16(self[index + 1]) }
}
