/// Header fields of one request, checked as they arrive. Only a verdict per field and the token's bytes are kept, never a `String`.
struct RequestHead {
    private enum Path { case absent, foreign, withoutToken, badToken, device }

    private var seen: Set = []
    private var faults: Set = []
    private var path = Path.absent
    private var isBareTopic = false
    private var isDuplicate = false
    private(set) var priority: UInt8 = 10
    private(set) var authorization: Answer? = .missingProviderToken
    /// Decoded token in a buffer that is reused; only the first `tokenCount` bytes are valid.
    private var tokenSpace = [UInt8](repeating: 0, count: DevicePath.tokenBytesMax)
    private var tokenCount = 0
    /// The client's `apns-id`, to be echoed; empty if it sent none.
    private(set) var apnsID: [UInt8] = []

    var token: ArraySlice<UInt8> { tokenSpace[..<tokenCount] }

    /// Clears the head for the next request and keeps its buffers.
    mutating func reset() {
        seen = []
        faults = []
        path = .absent
        isBareTopic = false
        isDuplicate = false
        priority = 10
        authorization = .missingProviderToken
        tokenCount = 0
        apnsID.removeAll(keepingCapacity: true)
    }

    /// Takes one field. `expected` holds the values that do not change between requests.
    mutating func field(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, expected: Expected,
        providerToken: (UnsafeRawBufferPointer) -> Answer?
    ) {
        // The length distinguishes nearly all names; nghttp2 has already refused upper case.
        switch name.count {
        case 5 where name.equals(":path"):
            readPath(value)
        case 7 where name.equals(":method"):
            if !value.equals("POST") { faults.insert(.method) }
        case 7 where name.equals("apns-id"):
            note(.messageID)
            if RequestHead.isUUID(value) {
                apnsID.removeAll(keepingCapacity: true)
                apnsID.append(contentsOf: value)
            } else {
                faults.insert(.messageID)
            }
        case 10 where name.equals("apns-topic"):
            note(.topic)
            if !value.equals(expected.topic) {
                faults.insert(.topic)
                isBareTopic = value.equals(expected.bundleID)
            }
        case 13 where name.equals("apns-priority"):
            note(.priority)
            switch RequestHead.number(value) {
            case 5: priority = 5
            case 10: priority = 10
            default: faults.insert(.priority)
            }
        case 13 where name.equals("authorization"):
            note(.authorization)
            authorization = providerToken(value)
        case 14 where name.equals("apns-push-type"):
            note(.pushType)
            if !value.equals("liveactivity") { faults.insert(.pushType) }
        case 15 where name.equals("apns-expiration"):
            note(.expiration)
            // A number beyond 2100 is milliseconds or nonsense.
            if let seconds = RequestHead.number(value), seconds < unixSecondsEnd {} else { faults.insert(.expiration) }
        case 16 where name.equals("apns-collapse-id"):
            note(.collapseID)
            if value.isEmpty || value.count > 64 { faults.insert(.collapseID) }
        default: break
        }
    }

    /// The first fault of the head, in the order in which a server can detect faults; `nil` without a fault.
    var refusal: Answer? {
        if faults.contains(.method) { return .methodNotAllowed }
        switch path {
        case .absent, .foreign: return .badPath
        case .withoutToken: return .missingDeviceToken
        case .badToken, .device: break
        }
        if isDuplicate { return .duplicateHeaders }
        if let authorization { return authorization }
        if path == .badToken { return .badDeviceToken }
        if !seen.contains(.pushType) || faults.contains(.pushType) { return .invalidPushType }
        if !seen.contains(.topic) { return .missingTopic }
        if faults.contains(.topic) { return isBareTopic ? .deviceTokenNotForTopic : .badTopic }
        if faults.contains(.priority) { return .badPriority }
        if faults.contains(.expiration) { return .badExpirationDate }
        if faults.contains(.collapseID) { return .badCollapseId }
        if faults.contains(.messageID) { return .badMessageId }
        return nil
    }

    private mutating func note(_ field: Set) {
        if seen.contains(field) { isDuplicate = true }
        seen.insert(field)
    }

    private mutating func readPath(_ value: UnsafeRawBufferPointer) {
        switch DevicePath.read(value, into: &tokenSpace) {
        case .foreign: path = .foreign
        case .withoutToken: path = .withoutToken
        case .badToken: path = .badToken
        case .device(let tokenBytes):
            path = .device
            tokenCount = tokenBytes
        }
    }

    /// Reads at most 18 decimal digits and nothing else.
    private static func number(_ value: UnsafeRawBufferPointer) -> Int64? {
        guard !value.isEmpty, value.count <= 18 else { return nil }
        var number: Int64 = 0
        for byte in value {
            guard byte >= 48, byte <= 57 else { return nil }
            number = number * 10 + Int64(byte - 48)
        }
        return number
    }

    /// Checks for 8-4-4-4-12 hex digits. Apple asks for lower case; its servers are not known to insist.
    private static func isUUID(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count == 36 else { return false }
        var faults: UInt16 = 0
        for (index, byte) in value.enumerated() {
            switch index {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return false }
            default: _ = hexValue(byte, &faults)
            }
        }
        return faults == 0
    }

    private struct Set: OptionSet {
        let rawValue: UInt16
        static let method = Set(rawValue: 1)
        static let messageID = Set(rawValue: 2)
        static let topic = Set(rawValue: 4)
        static let priority = Set(rawValue: 8)
        static let authorization = Set(rawValue: 16)
        static let pushType = Set(rawValue: 32)
        static let expiration = Set(rawValue: 64)
        static let collapseID = Set(rawValue: 128)
    }
}

/// Values that a request's fields are compared with. A class, because a reference to it is passed with each field.
final class Expected: Sendable {
    let bundleID: [UInt8]
    let topic: [UInt8]

    init(bundleID: String) {
        self.bundleID = Array(bundleID.utf8)
        topic = Array("\(bundleID).push-type.liveactivity".utf8)
    }
}

/// 2100-01-01: a time in Unix seconds is below, a time in milliseconds (any since 1970-02-17) is above.
let unixSecondsEnd: Int64 = 4_102_444_800

/// Returns a hex digit's value. Sets a bit of `faults` for any other character. Has no branches, because digits are random
/// and every second branch prediction would fail.
@inline(__always)
private func hexValue(_ byte: UInt8, _ faults: inout UInt16) -> UInt8 {
    // The upper byte is all ones for characters in the range, else zero.
    let digit = UInt16(byte &- UInt8(ascii: "0")) &- 10
    let letter = UInt16((byte | 0x20) &- UInt8(ascii: "a")) &- 6
    faults |= ~(digit | letter) & 0x8000
    // Bit 6 distinguishes digits (0x30…) from letters (0x41… or 0x61…).
    return (byte & 15) &+ (byte >> 6 & 1) &* 9
}
