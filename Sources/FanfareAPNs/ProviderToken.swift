import FanfareLoop
package import FanfareModel

/// The JWT that proves to APNs who we are, shared by every connection of every shard.
///
/// One per key and process: APNs takes several JWTs on one connection for an attack (`TooManyProviderTokenUpdates`), wants
/// a new one no more often than every 20 minutes, and refuses one that is older than an hour (spec §9.1).
///
/// The key file is looked at again and again, and another key in it signs from then on. The new key's JWT must not meet
/// connections that know the old one (spec §9.2): `Issue.keySerial` tells them apart.
///
/// APNs judges `iat` by a clock of its own and bears an hour. So what it accepts and refuses shows which time it goes by: the wall's as
/// it is now, or one from before somebody set that, carried on by the monotonic clock. Of the two, JWTs are of the one that it accepts.
///
/// Any thread may ask; the lock is held for a field read, and every 45 minutes for one signature, so whatever is to be renewed
/// is renewed once. Files are read on a thread of their own: a file system that hangs stops nobody.
package final class ProviderToken: Sendable {
    /// What one minting made. A value: connections compare serials, never bytes.
    package struct Issue: Sendable {
        /// The whole value of `authorization`, `bearer …`. A secret, for the hour that it is good for.
        package let authorization: [UInt8]
        /// Counts mintings from 1.
        package let serial: UInt64
        /// Counts keys from 1. Connections belong to one key.
        package let keySerial: UInt64
        /// Why a changed key file is not used, for operators.
        package internal(set) var complaint: String?
        /// `iat`, Unix seconds.
        package let issuedAt: Int64
        /// Monotonic nanoseconds. Its age is measured by this: the wall's clock may step.
        let mintedAt: Int64
        /// `ProviderToken.provenOrigin`, when it was asked for.
        var provenOrigin: Int64?

        /// A moment by the clock that this was made by, where the one that was read is another: what is accepted with a JWT is to be
        /// stamped by a time that is accepted, whichever thread was the first to hear of it.
        func agreeing(with moment: Moment) -> Moment {
            let wall = issuedAt &* 1000 &+ (moment.monotonicNanoseconds &- mintedAt) / 1_000_000
            guard abs(wall &- moment.wallMilliseconds) > WallProof.tolerance.milliseconds else { return moment }
            return Moment(
                wallMilliseconds: wall, monotonicNanoseconds: moment.monotonicNanoseconds, stampEpoch: moment.stampEpoch
            )
        }

        func age(at moment: Moment) -> Int64 { (moment.monotonicNanoseconds - mintedAt) / 1_000_000_000 }
    }

    /// Seconds. In the middle of the 40 to 50 minutes the spec recommends.
    package static let refreshAge: Int64 = 45 * 60
    /// Seconds. Minting sooner than this after the last time makes APNs refuse the connection.
    package static let refreshAgeMin: Int64 = 20 * 60
    /// Two clocks that are no further apart are one: nobody mints for a step so small.
    static let stepMax = Duration.seconds(5 * 60)
    /// Of times that are all refused, how long each is kept to. Less than the minute between two tries of a pool whose pushes all fail.
    static let turnMin = Duration.seconds(30)

    /// How APNs refuses an issue.
    package enum Refusal: Sendable {
        /// It is too old, by APNs' clock.
        case expired
        /// Something about it is wrong: its time lies in the future, or the key is not known.
        case invalid
    }

    /// What there is instead of an issue that was refused.
    package enum Remedy: Sendable {
        case none
        case newIssue
        /// An issue, new or not, of another clock: this machine's was set.
        case anotherTime
    }

    /// Between two looks at the key file: one costs some ten microseconds, and nobody waits for a rotation.
    static let lookInterval = Duration.seconds(10)

    /// Has a look at the key file done, now or later, on whatever thread.
    typealias LookRunner = @Sendable (_ look: @escaping @Sendable () -> Void) throws(LoopError) -> Void

    /// A key under the name by which APNs knows it.
    struct Key {
        /// 10 characters.
        let id: String
        /// PEM; tells two keys apart. Empty where there is only one.
        var publicKey = ""
        /// ES256 over the given bytes: 64 bytes, R then S.
        let sign: @Sendable ([UInt8]) throws -> [UInt8]
    }

    /// What a clock said once, carried on by the monotonic one.
    private struct Time {
        /// Unix nanoseconds when the monotonic clock began.
        var origin: Int64
        /// The newest of this time.
        var issue: Issue?
        /// APNs has accepted an issue of it.
        var isProven = false
        /// Since APNs accepted one.
        var refusals = 0
        /// Monotonic nanoseconds; `nil`: APNs has refused none since it accepted one, or too few to be believed.
        var refusedAt: Int64?

        /// A server that is ill, or another endpoint's, is one of many: before a time that was proven has been refused so often, it has
        /// been accepted elsewhere.
        mutating func refuse(at now: Int64) {
            refusals += 1
            if !isProven || refusals >= SigningKeys.refusalsMin { refusedAt = now }
        }

        mutating func accept() { (isProven, refusals, refusedAt) = (true, 0, nil) }
    }

    private struct State {
        var keys: SigningKeys
        var minted: UInt64 = 0
        /// The one in use first.
        var times: [Time] = []
        /// Monotonic nanoseconds; how long the issue in use has been so.
        var usedSince: Int64 = 0
        /// Monotonic nanoseconds; the first refusal of the time in use since APNs accepted one of it. The last is no measure: of many
        /// shards that each try once a minute, one is refused every few seconds.
        var refusedSince: Int64 = 0
        /// Monotonic nanoseconds; `nil` before anybody has asked.
        var lookedAt: Int64?
        var isLooking = false
        var complaint: String?

        /// The wall, the time of stamps, and two that were proven before.
        private static let timesMax = 4

        var complaintForOperators: String? { complaint ?? keys.complaint }

        /// Minted anew, however young the last one is: that limit is a key's own. What time it is is not.
        mutating func forgetIssues() {
            for index in times.indices {
                (times[index].issue, times[index].refusals, times[index].refusedAt) = (nil, 0, nil)
            }
        }

        var provenOrigin: Int64? {
            // What is tried instead of a time that was refused is gone by from its first push on: that one is stamped, too.
            if let time = times.first, time.refusedAt == nil, times.contains(where: { $0.refusedAt != nil }) {
                return time.origin
            }
            return times.first { $0.isProven && $0.refusedAt == nil }?.origin
        }

        /// - Returns: where a clock's time is kept, from now on if it is a new one.
        @discardableResult
        mutating func meet(_ origin: Int64) -> Int {
            if let known = times.firstIndex(where: { $0.origin.isNear(origin, by: ProviderToken.stepMax) }) {
                return known
            }
            if times.count == State.timesMax {
                times.remove(at: times.indices.dropFirst().first { !times[$0].isProven } ?? 1)
            }
            times.append(Time(origin: origin))
            return times.count - 1
        }

        /// Whose time is to be gone by: the wall's as it is now, unless APNs has shown that it is wrong; then the other's that it has
        /// accepted. Where it refuses all that there are, they have their turns.
        mutating func choose(at moment: Moment) -> Int {
            if moment.stampLead > 0 { meet(moment.stampOrigin) }
            let wall = meet(moment.origin)
            let proven = times.firstIndex { $0.isProven && $0.refusedAt == nil }
            if let proven, !times[proven].origin.isNear(moment.origin, by: WallProof.tolerance) { return proven }
            if times[wall].refusedAt == nil { return wall }
            if let other = proven ?? times.firstIndex(where: { $0.refusedAt == nil }) { return other }
            let turn = max(usedSince, refusedSince)
            guard moment.monotonicNanoseconds - turn >= ProviderToken.turnMin.nanoseconds else { return 0 }
            return times.indices.min { times[$0].refusedAt ?? 0 < times[$1].refusedAt ?? 0 } ?? 0
        }

        /// - Returns: an issue of that time which is good for as long as a new one would have to be.
        mutating func use(_ index: Int, at moment: Moment) -> Issue? {
            var ageMax = ProviderToken.refreshAge
            if index > 0 {
                times.insert(times.remove(at: index), at: 0)
                usedSince = moment.monotonicNanoseconds
                // Of those that are tried in their turns none is to be minted for each try.
                if times[0].refusedAt == nil { ageMax -= ProviderToken.refreshAgeMin }
            }
            guard let issue = times[0].issue, issue.age(at: moment) < ageMax else { return nil }
            return issue
        }

        /// Whether a change from the issue in use to another one would come too soon for APNs.
        func mustStay(at moment: Moment) -> Bool {
            guard let time = times.first, time.refusedAt == nil, let issue = time.issue else { return false }
            return issue.age(at: moment) < ProviderToken.refreshAge
                && (moment.monotonicNanoseconds - usedSince) / 1_000_000_000 < ProviderToken.refreshAgeMin
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
    package convenience init(
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
        state = Locked(State(keys: SigningKeys(key)))
        filePath = file?.path ?? ""
        self.file = file.map { Locked($0) }
        self.runLook = runLook
    }

    /// The JWT to use now; minted when there is none, when the newest has reached `refreshAge`, when another time is to be gone by
    /// since and the newest is not too young or is refused, or when the key file held another key.
    package func current(at moment: Moment) throws -> Issue {
        lookIfDue(at: moment)
        return try state.withLock { state in
            let chosen = state.choose(at: moment)
            let known = state.use(state.mustStay(at: moment) ? 0 : chosen, at: moment)
            var issue = try known ?? mint(&state, at: moment)
            issue.complaint = state.complaintForOperators
            issue.provenOrigin = state.provenOrigin
            return issue
        }
    }

    /// Of the key that signs now. Asking makes sure that somebody looks at the key file now and then.
    func keySerial(at moment: Moment) -> UInt64 {
        lookIfDue(at: moment)
        return state.withLock { $0.keys.serial }
    }

    // MARK: Which time APNs goes by

    /// Before anything is sent: should somebody set the clock until then, this is the time before.
    package func note(_ moment: Moment) { state.withLock { _ = $0.meet(moment.origin) } }

    /// APNs has answered a push for what it was, so it believes its issue.
    package func accepted(serial: UInt64) {
        state.withLock { state in
            // An answer from before says nothing of now: APNs has refused that issue since, and a machine may have stood still.
            guard let time = state.times.first, time.issue?.serial == serial else { return }
            state.keys.accepted()
            state.times[0].accept()
            state.times.removeAll { !$0.isProven && $0.refusedAt == nil }
        }
    }

    /// What the clock said when the monotonic one began, by which APNs has taken JWTs and has refused none since, or that is tried
    /// instead of one that it refused: it is right to `WallProof.tolerance`, or its pushes are refused. Unix nanoseconds.
    package var provenOrigin: Int64? { state.withLock { $0.provenOrigin } }

    /// Whether an issue of the time in use was refused, and there is a time now of which none has been.
    package func knowsAnotherTime(at moment: Moment) -> Bool {
        state.withLock { state in
            guard let time = state.times.first, time.refusals > 0 else { return false }
            let chosen = state.choose(at: moment)
            // Of a proven time it takes several refusals to believe them, soon.
            if time.refusedAt == nil { return state.times.dropFirst().contains { $0.refusedAt == nil } }
            return state.times[chosen].refusedAt == nil
        }
    }

    /// APNs refuses an issue, perhaps for its time. The first connection to say so has another one made, if there is a way; those that
    /// used the same issue then find it replaced already.
    package func refused(serial: UInt64, as refusal: Refusal, at moment: Moment) throws -> Remedy {
        try state.withLock { state in
            guard let current = state.times.first?.issue, current.serial == serial else { return .newIssue }
            if state.times[0].refusedAt == nil { state.refusedSince = moment.monotonicNanoseconds }
            state.times[0].refuse(at: moment.monotonicNanoseconds)
            let isAged = refusal == .expired && current.age(at: moment) >= ProviderToken.refreshAgeMin
            let other = state.choose(at: moment)
            if other > 0, state.times[other].refusedAt == nil, state.times[other].isProven || !isAged {
                if state.use(other, at: moment) == nil { _ = try mint(&state, at: moment) }
                return .anotherTime
            }
            // Young and refused, another one of the same time would fare no better.
            guard isAged else {
                guard refusal == .invalid, state.keys.refused(at: moment.monotonicNanoseconds) else { return .none }
                state.forgetIssues()
                _ = try mint(&state, at: moment)
                return .newIssue
            }
            state.times[0].refusedAt = nil
            _ = try mint(&state, at: moment)
            return .newIssue
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
                if let key = try found.get(), state.keys.found(key, in: filePath) { state.forgetIssues() }
                state.complaint = nil
            } catch {
                state.complaint = "\(error); \(ProviderToken.goesOn)"
            }
        }
    }

    private static let goesOn = "the key read before stays in use"

    // MARK: Minting

    /// Of the time in use.
    private func mint(_ state: inout State, at moment: Moment) throws -> Issue {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(state.keys.current.id)"}"#.utf8))
        var claims = claimsBeforeTime
        var origin = state.times[0].origin
        // As the wall is now, to the second.
        if origin.isNear(moment.origin, by: ProviderToken.stepMax) { origin = moment.origin }
        let issuedAt = (moment.monotonicNanoseconds &+ origin) / 1_000_000_000
        claims.append(decimal: issuedAt)
        claims.append("}")
        let signed = header + [UInt8(ascii: ".")] + Base64URL.encode(claims)
        let signature = try state.keys.current.sign(signed)
        let issue = Issue(
            authorization: Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + Base64URL.encode(signature),
            serial: state.minted + 1, keySerial: state.keys.serial, complaint: state.complaintForOperators,
            issuedAt: issuedAt, mintedAt: moment.monotonicNanoseconds)
        state.minted = issue.serial
        state.times[0].origin = origin
        state.times[0].issue = issue
        state.usedSince = moment.monotonicNanoseconds
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
package struct CredentialsFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension Moment {
    /// What the wall, or the time of stamps, said when the monotonic clock began: Unix nanoseconds.
    fileprivate var origin: Int64 { wallMilliseconds &* 1_000_000 &- monotonicNanoseconds }
    fileprivate var stampOrigin: Int64 { stampMilliseconds &* 1_000_000 &- monotonicNanoseconds }
}

extension Int64 {
    /// Nanoseconds.
    fileprivate func isNear(_ other: Int64, by distance: Duration) -> Bool {
        (self &- other).magnitude <= distance.nanoseconds.magnitude
    }
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
