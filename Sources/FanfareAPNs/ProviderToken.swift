public import FanfareCore
import FanfareLoop

/// The JWT that proves to APNs who we are, shared by every connection of every shard.
///
/// One per key and process: APNs takes several JWTs on one connection for an attack (`TooManyProviderTokenUpdates`), wants
/// a new one no more often than every 20 minutes, and refuses one that is older than an hour (spec §9.1).
///
/// The key file is looked at again and again, and another key in it signs from then on. The new key's JWT must not meet
/// connections that know the old one (spec §9.2): `Issue.keySerial` tells them apart.
///
/// Any thread may ask; the lock is held for a field read, and every 45 minutes for one signature, so whatever is to be renewed
/// is renewed once. Files are read on a thread of their own: a file system that hangs stops nobody.
public final class ProviderToken: Sendable {
    /// What one minting made. A value: connections compare serials, never bytes.
    public struct Issue: Sendable {
        /// The whole value of `authorization`, `bearer …`. A secret, for the hour that it is good for.
        public let authorization: [UInt8]
        /// Counts mintings from 1.
        public let serial: UInt64
        /// Counts keys from 1. Connections belong to one key.
        public let keySerial: UInt64
        /// Why a changed key file is not used, for operators.
        public internal(set) var complaint: String?
        /// `iat`, Unix seconds.
        public let issuedAt: Int64
        /// Monotonic nanoseconds. Its age is measured by this: the wall's clock may step.
        let mintedAt: Int64
        /// APNs has refused it: a new one cannot make it worse.
        var isRefused = false

        func age(at moment: Moment) -> Int64 { (moment.monotonicNanoseconds - mintedAt) / 1_000_000_000 }

        /// Seconds by which another clock would have the issue made later than it says.
        func step(to clock: Int64, at moment: Moment) -> Int64 { clock - issuedAt - age(at: moment) }
    }

    /// Seconds. In the middle of the 40 to 50 minutes the spec recommends.
    public static let refreshAge: Int64 = 45 * 60
    /// Seconds. Minting sooner than this after the last time makes APNs refuse the connection.
    public static let refreshAgeMin: Int64 = 20 * 60
    /// Seconds by which the clock may have been set since the minting. APNs compares `iat` with a clock of its own and bears an hour,
    /// so after a greater step either the old `iat` is wrong or the new one. Which of them, APNs knows: a new one is minted once it
    /// refuses the old one, or when that has reached `refreshAgeMin`.
    static let stepMax: Int64 = 5 * 60

    /// Between two looks at the key file: one costs some ten microseconds, and nobody waits for a rotation.
    static let lookInterval = Duration.seconds(10)

    /// Has a look at the key file done, now or later, on whatever thread.
    typealias LookRunner = @Sendable (_ look: @escaping @Sendable () -> Void) throws(LoopError) -> Void

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
        /// APNs has called the wall clock's time expired: the clock was set back, and the time of stamps did not go with it.
        var goesByStamps = false
        /// Monotonic nanoseconds; `nil` before anybody has asked.
        var lookedAt: Int64?
        var isLooking = false
        var complaint: String?

        /// Unix seconds.
        func clock(at moment: Moment) -> Int64 {
            goesByStamps ? moment.stampMilliseconds / 1000 : moment.wallSeconds
        }
    }

    private let claimsBeforeTime: [UInt8]
    private let state: Locked<State>
    /// Locked for as long as a look takes, by the one look that there is at a time, and never while `state` is.
    private let file: Locked<KeyFile>?
    private let filePath: String
    private let runLook: LookRunner

    /// - Parameters:
    ///   - keyID: as Apple shows it beside the key; 10 characters.
    ///   - teamID: the developer team; 10 characters.
    ///   - sign: ES256 over the given bytes: 64 bytes, R then S.
    public convenience init(
        keyID: String, teamID: String, sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) throws(CredentialsFault) {
        try self.init(Key(id: keyID, sign: sign), teamID: teamID, watching: nil) { _ in }
    }

    /// - Parameter file: where the key came from, to be looked at for another one.
    init(
        _ key: Key, teamID: String, watching file: KeyFile?, runLook: @escaping LookRunner
    ) throws(CredentialsFault) {
        try ProviderToken.check(key.id, is: "key id")
        try ProviderToken.check(teamID, is: "team id")
        claimsBeforeTime = Array(#"{"iss":"\#(teamID)","iat":"#.utf8)
        state = Locked(State(key: key))
        filePath = file?.path ?? ""
        self.file = file.map { Locked($0) }
        self.runLook = runLook
    }

    /// The JWT to use now; minted when there is none, when the newest has reached `refreshAge`, when the clock has been set since
    /// and the newest is not too young or is refused, or when the key file held another key.
    public func current(at moment: Moment) throws -> Issue {
        lookIfDue(at: moment)
        return try state.withLock { state in
            if var newest = state.newest, newest.age(at: moment) < ProviderToken.refreshAge,
                abs(newest.step(to: state.clock(at: moment), at: moment)) <= ProviderToken.stepMax
                    || newest.age(at: moment) < ProviderToken.refreshAgeMin && !newest.isRefused
            {
                newest.complaint = state.complaint
                return newest
            }
            return try mint(&state, at: moment)
        }
    }

    /// Of the key that signs now. Asking makes sure that somebody looks at the key file now and then.
    func keySerial(at moment: Moment) -> UInt64 {
        lookIfDue(at: moment)
        return state.withLock { $0.keySerial }
    }

    /// APNs says that an issue has expired. The first connection to say so mints the next one; those that used the same
    /// issue then find it replaced already.
    /// - Returns: `false` when the issue is too young to have expired: minting more would make it worse, and this machine's
    ///   clock is the likely cause.
    public func expired(serial: UInt64, at moment: Moment) throws -> Bool {
        try state.withLock { state in
            guard let current = state.newest, current.serial == serial else { return true }
            if current.age(at: moment) < ProviderToken.refreshAgeMin {
                guard current.step(to: moment.stampMilliseconds / 1000, at: moment) > ProviderToken.stepMax else {
                    state.newest?.isRefused = true
                    return false
                }
                state.goesByStamps = true
            }
            _ = try mint(&state, at: moment)
            return true
        }
    }

    /// APNs does not believe an issue, perhaps for its time.
    func refused(serial: UInt64) {
        state.withLock { state in
            guard state.newest?.serial == serial else { return }
            state.newest?.isRefused = true
            state.goesByStamps = false
        }
    }

    // MARK: The key file

    private func lookIfDue(at moment: Moment) {
        guard let file else { return }
        let isDue = state.withLock { state in
            let now = moment.monotonicNanoseconds
            if let last = state.lookedAt, now - last < ProviderToken.lookInterval.nanoseconds { return false }
            state.lookedAt = now
            guard !state.isLooking else {
                state.complaint = "key file \(filePath): its file system does not answer; \(ProviderToken.goesOn)"
                return false
            }
            state.isLooking = true
            return true
        }
        guard isDue else { return }
        do throws(LoopError) {
            try runLook { [self] in take(Result { try file.withLock { try $0.readIfChanged() } }) }
        } catch {
            take(.failure(error))
        }
    }

    /// A key that cannot be used leaves the one before in use: it may be good for a while yet.
    private func take(_ found: Result<Key?, any Error>) {
        state.withLock { state in
            state.isLooking = false
            do {
                if let key = try found.get() {
                    state.key = key
                    state.keySerial += 1
                    // Minted anew, however young the last one is: that limit is a key's own.
                    state.newest = nil
                }
                state.complaint = nil
            } catch {
                state.complaint = "\(error); \(ProviderToken.goesOn)"
            }
        }
    }

    private static let goesOn = "the key read before stays in use"

    // MARK: Minting

    private func mint(_ state: inout State, at moment: Moment) throws -> Issue {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(state.key.id)"}"#.utf8))
        var claims = claimsBeforeTime
        let issuedAt = state.clock(at: moment)
        claims.append(decimal: issuedAt)
        claims.append("}")
        let signed = header + [UInt8(ascii: ".")] + Base64URL.encode(claims)
        let signature = try state.key.sign(signed)
        let issue = Issue(
            authorization: Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + Base64URL.encode(signature),
            serial: state.minted + 1, keySerial: state.keySerial, complaint: state.complaint,
            issuedAt: issuedAt, mintedAt: moment.monotonicNanoseconds)
        state.minted = issue.serial
        state.newest = issue
        return issue
    }

    /// Both ids are spliced into JSON, so nothing that would need escaping may pass.
    static func check(_ id: String, is name: String) throws(CredentialsFault) {
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
