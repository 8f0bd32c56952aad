internal import LoadJSON

/// Checks `authorization: bearer <JWT>` (spec §9.1). Each signature is verified once; later requests with the same value cost one
/// comparison of bytes, because real senders use one token for many pushes.
struct ProviderTokenCheck {
    /// Age from which a token is expired, as documented.
    static let ageMaxSeconds: Int64 = 3600
    /// Number of values remembered; enough for a sender that signs one token per worker.
    private static let rememberedMax = 8
    private static let valueBytesMax = 2048

    private struct Remembered {
        let value: [UInt8]
        let fingerprint: UInt64
        /// Time of issue; `nil` if the token is invalid at any time.
        let issuedAt: Int64?
    }

    private let keyID: String?
    private let teamID: String?
    private var verify: (_ message: [UInt8], _ signature: [UInt8]) -> Bool
    /// Checked values, latest first.
    private var remembered: [Remembered] = []
    /// Number of signatures verified.
    private(set) var verifications = 0

    /// - `keyID`, `teamID`: compared with `kid` and `iss` if given.
    /// - `verify`: verifies ES256; the signature is raw R‖S, 64 bytes.
    init(keyID: String?, teamID: String?, verify: @escaping (_ message: [UInt8], _ signature: [UInt8]) -> Bool) {
        self.keyID = keyID
        self.teamID = teamID
        self.verify = verify
    }

    /// Replaces the key; tokens signed by the old key are no longer good.
    mutating func trust(_ verify: @escaping (_ message: [UInt8], _ signature: [UInt8]) -> Bool) {
        self.verify = verify
        remembered = []
    }

    /// Returns the refusal, or `nil` if the token is good at `now` (Unix seconds).
    /// - Parameter past: tokens of the connection; a good token is added.
    mutating func check(
        _ value: UnsafeRawBufferPointer, after past: inout ProviderTokenPast, now: Int64
    ) -> Answer? {
        guard value.count <= ProviderTokenCheck.valueBytesMax else { return .invalidProviderToken }
        if let latest = remembered.first, value.equals(latest.value) { return verdict(latest, after: &past, now: now) }
        if let index = remembered.firstIndex(where: { value.equals($0.value) }) {
            remembered.swapAt(0, index)
        } else {
            let bytes = Array(value)
            guard bytes.starts(with: "bearer ".utf8) || bytes.starts(with: "Bearer ".utf8) else {
                return .missingProviderToken
            }
            if remembered.count == ProviderTokenCheck.rememberedMax { remembered.removeLast() }
            let issuedAt = issuedAt(Array(bytes.dropFirst(7)))
            remembered.insert(
                Remembered(value: bytes, fingerprint: Fingerprint(value).low, issuedAt: issuedAt), at: 0)
        }
        return verdict(remembered[0], after: &past, now: now)
    }

    private func verdict(_ token: Remembered, after past: inout ProviderTokenPast, now: Int64) -> Answer? {
        guard let issuedAt = token.issuedAt, issuedAt - now <= ProviderTokenCheck.ageMaxSeconds else {
            return .invalidProviderToken
        }
        guard now - issuedAt <= ProviderTokenCheck.ageMaxSeconds else { return .expiredProviderToken }
        return past.admit(token.fingerprint, now: now) ? nil : .tooManyProviderTokenUpdates
    }

    private mutating func issuedAt(_ jwt: [UInt8]) -> Int64? {
        let parts = jwt.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = base64url(parts[0]).flatMap({ try? JSON(parsing: $0) }),
            let claims = base64url(parts[1]).flatMap({ try? JSON(parsing: $0) }),
            let signature = base64url(parts[2]), signature.count == 64,
            header["alg"]?.stringValue == "ES256",
            let kid = header["kid"]?.stringValue, keyID == nil || kid == keyID,
            let issuer = claims["iss"]?.stringValue, teamID == nil || issuer == teamID,
            let issuedAt = claims["iat"]?.intValue, (0..<unixSecondsEnd).contains(issuedAt)
        else { return nil }
        verifications += 1
        let message = jwt[..<(parts[1].endIndex)]
        return verify(Array(message), signature) ? issuedAt : nil
    }
}

/// Good provider tokens of one connection: APNs accepts a new one only now and then (spec §9.1).
struct ProviderTokenPast {
    /// Least time between two updates of the token, as documented.
    static let updateMinSeconds: Int64 = 20 * 60

    private var newest: UInt64?
    private var since: Int64 = 0

    /// - Parameter fingerprint: identifies the token.
    /// - Returns: `true` if the connection may use the token now.
    mutating func admit(_ fingerprint: UInt64, now: Int64) -> Bool {
        guard fingerprint != newest else { return true }
        guard newest == nil || now - since >= ProviderTokenPast.updateMinSeconds else { return false }
        newest = fingerprint
        since = now
        return true
    }
}

/// Decodes base64 with `-` and `_` and without padding; `nil` for any other text.
func base64url(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    for character in text {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character + 4
        case UInt8(ascii: "-"): value = 62
        case UInt8(ascii: "_"): value = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(value)
        bitCount += 6
        if bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
        }
    }
    return bytes
}
