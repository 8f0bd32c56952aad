import FanfareLoop

/// The JWT that proves to APNs who we are, shared by every connection of every shard.
///
/// One per key and process: APNs takes several JWTs on one connection for an attack (`TooManyProviderTokenUpdates`), wants
/// a new one no more often than every 20 minutes, and refuses one that is older than an hour (spec §9.1).
///
/// A key file that has changed is read again, and its key signs from then on. The new key's JWT must not meet connections
/// that know the old one (spec §9.2): `Issue.keySerial` tells them apart.
///
/// Any thread may ask; the lock is held for a field read, every ten seconds for a look at the key file, and every 45 minutes
/// for one signature. So whatever is to be renewed is renewed once.
public final class ProviderToken: Sendable {
    /// What one minting made. A value: connections compare serials, never bytes.
    public struct Issue: Sendable {
        /// The whole value of `authorization`, `bearer …`. A secret.
        public let authorization: [UInt8]
        /// Counts mintings from 1.
        public let serial: UInt64
        /// Counts keys from 1. Connections belong to one key.
        public let keySerial: UInt64
        /// Why a changed key file is not used, for operators.
        public let complaint: String?
        /// `iat`, Unix seconds.
        public let issuedAt: Int64
    }

    /// Seconds. In the middle of the 40 to 50 minutes the spec recommends.
    public static let refreshAge: Int64 = 45 * 60
    /// Seconds. Minting sooner than this after the last time makes APNs refuse the connection.
    public static let refreshAgeMin: Int64 = 20 * 60

    /// Seconds between two looks at the key file: one costs a microsecond, and nobody waits for a rotation.
    static let lookInterval: Int64 = 10

    /// A key under the name by which APNs knows it.
    struct Key {
        /// 10 characters.
        let id: String
        /// ES256 over the given bytes: 64 bytes, R then S.
        let sign: @Sendable ([UInt8]) throws -> [UInt8]
    }

    private struct State {
        var key: Key
        var keySerial: UInt64 = 1
        var minted: UInt64 = 0
        /// `nil` before the first, and after a change of key.
        var newest: Issue?
        var file: KeyFile?
        /// Unix seconds.
        var lookedAt: Int64?
        var complaint: String?
    }

    private let claimsBeforeTime: [UInt8]
    private let state: Locked<State>

    /// - Parameters:
    ///   - keyID: as Apple shows it beside the key; 10 characters.
    ///   - teamID: the developer team; 10 characters.
    ///   - sign: ES256 over the given bytes: 64 bytes, R then S.
    public convenience init(
        keyID: String, teamID: String, sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) throws(CredentialsFault) {
        try self.init(Key(id: keyID, sign: sign), teamID: teamID, file: nil)
    }

    /// - Parameter file: where the key came from, to be looked at for another one.
    init(_ key: Key, teamID: String, file: KeyFile?) throws(CredentialsFault) {
        try ProviderToken.check(key.id, is: "key id")
        try ProviderToken.check(teamID, is: "team id")
        claimsBeforeTime = Array(#"{"iss":"\#(teamID)","iat":"#.utf8)
        state = Locked(State(key: key, file: file))
    }

    /// The JWT to use now; minted when there is none, when the newest has reached `refreshAge`, or when the key file holds
    /// another key.
    /// - Parameter wallSeconds: Unix seconds.
    public func current(wallSeconds: Int64) throws -> Issue {
        try state.withLock { state in
            look(&state, wallSeconds: wallSeconds)
            // The distance both ways: a clock set back by a second must not mint.
            if let newest = state.newest, abs(wallSeconds - newest.issuedAt) < ProviderToken.refreshAge {
                return newest
            }
            return try mint(&state, wallSeconds: wallSeconds)
        }
    }

    /// APNs says that an issue has expired. The first connection to say so mints the next one; those that used the same
    /// issue then find it replaced already.
    /// - Returns: `false` when the issue is too young to have expired: minting more would make it worse, and this machine's
    ///   clock is the likely cause.
    public func expired(serial: UInt64, wallSeconds: Int64) throws -> Bool {
        try state.withLock { state in
            guard let current = state.newest, current.serial == serial else { return true }
            guard abs(wallSeconds - current.issuedAt) >= ProviderToken.refreshAgeMin else { return false }
            _ = try mint(&state, wallSeconds: wallSeconds)
            return true
        }
    }

    /// A key that cannot be used leaves the one before in use: it may be good for a while yet.
    private func look(_ state: inout State, wallSeconds: Int64) {
        guard state.file != nil else { return }
        if let last = state.lookedAt, abs(wallSeconds - last) < ProviderToken.lookInterval { return }
        state.lookedAt = wallSeconds
        let before = state.complaint
        do {
            if let key = try state.file?.readIfChanged() {
                try ProviderToken.check(key.id, is: "key id")
                state.key = key
                state.keySerial += 1
                // Minted anew, however young the last one is: that limit is a key's own.
                state.newest = nil
            }
            state.complaint = nil
        } catch {
            state.complaint = "\(error); the key read before stays in use"
        }
        if state.complaint != before, let newest = state.newest {
            state.newest = Issue(
                authorization: newest.authorization, serial: newest.serial, keySerial: newest.keySerial,
                complaint: state.complaint, issuedAt: newest.issuedAt)
        }
    }

    private func mint(_ state: inout State, wallSeconds: Int64) throws -> Issue {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(state.key.id)"}"#.utf8))
        var claims = claimsBeforeTime
        claims.append(decimal: wallSeconds)
        claims.append("}")
        let signed = header + [UInt8(ascii: ".")] + Base64URL.encode(claims)
        let signature = try state.key.sign(signed)
        let issue = Issue(
            authorization: Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + Base64URL.encode(signature),
            serial: state.minted + 1, keySerial: state.keySerial, complaint: state.complaint, issuedAt: wallSeconds)
        state.minted = issue.serial
        state.newest = issue
        return issue
    }

    /// Both ids are spliced into JSON, so nothing that would need escaping may pass.
    private static func check(_ id: String, is name: String) throws(CredentialsFault) {
        let letters = id.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
        }
        guard letters, (1...64).contains(id.utf8.count) else {
            throw CredentialsFault(
                "the \(name) \"\(id.prefix(64))\" should be the letters and digits Apple shows (10 characters)")
        }
    }
}

/// Why credentials cannot be used; the text says what to do.
public struct CredentialsFault: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// RFC 4648 §5 without padding, as JOSE wants it.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= 8 * UInt32(3 - group.count)
            // n bytes fill n + 1 characters.
            for index in 0...group.count { text.append(alphabet[Int(bits >> (18 - 6 * UInt32(index)) & 63)]) }
        }
        return text
    }
}
