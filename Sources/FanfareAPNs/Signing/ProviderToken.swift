import FanfareLoop
package import FanfareModel

/// JWT that authenticates us to APNs, shared by every connection of every shard.
///
/// A process has one JWT per key. APNs considers several JWTs on one connection an attack (`TooManyProviderTokenUpdates`),
/// wants a new one at most every 20 minutes, and refuses one that is older than an hour (spec §9.1).
///
/// The key file is checked regularly, and another key in it signs from then on. The new key's JWT must not reach connections
/// that know the old one (spec §9.2): `Issue.keySerial` distinguishes them.
///
/// APNs compares `iat` with its own clock and tolerates an hour. Its answers therefore show which time it uses: the present wall clock, or the wall
/// clock before it was set, continued by the monotonic clock. JWTs use the one that APNs accepts.
///
/// Any thread may call it. The lock is held for a field read, and for one signature every 45 minutes, so all threads share
/// one renewal. Files are read on a separate thread, so a hanging file system blocks nothing.
package final class ProviderToken: Sendable {
    /// A minted JWT. A value: connections compare serials, never bytes.
    package struct Issue: Sendable {
        /// Complete value of `authorization`, `bearer …`. A secret for the hour of its validity.
        package let authorization: [UInt8]
        /// Number of the minting, counted from 1.
        package let serial: UInt64
        /// Number of the key, counted from 1. A connection belongs to one key.
        package let keySerial: UInt64
        /// Reason why a changed key file is not used, for operators.
        package internal(set) var complaint: String?
        /// `iat`, in Unix seconds.
        package let issuedAt: Int64
        /// Time of the minting. The age is measured by it, because the wall clock may step.
        let mintedAt: MonotonicTime
        /// `ProviderToken.provenOrigin` at the time of the call that returned this issue.
        var provenOrigin: Int64?

        /// Returns the moment by the clock of this JWT, if the clock that was read differs from it: pushes that APNs accepts
        /// with a JWT must be stamped by an accepted time, whichever thread learnt of it first.
        func agreeing(with moment: Moment) -> Moment {
            let wall = issuedAt &* 1000 &+ moment.monotonic.nanoseconds(since: mintedAt) / 1_000_000
            guard abs(wall &- moment.wallMilliseconds) > WallProof.tolerance.milliseconds else { return moment }
            return Moment(
                wallMilliseconds: wall, monotonicNanoseconds: moment.monotonic.nanoseconds,
                stampEpoch: moment.stampEpoch)
        }

        func age(at moment: Moment) -> Duration { moment.monotonic - mintedAt }
    }

    /// Age at which a JWT is renewed: the middle of the 40 to 50 minutes that the spec recommends.
    package static let refreshAge = Duration.seconds(45 * 60)
    /// Minimum time between two mintings. APNs refuses the connection if a new JWT comes sooner.
    package static let refreshAgeMin = Duration.seconds(20 * 60)
    /// Difference up to which two clocks count as one, so that so small a step mints no JWT.
    static let stepMax = Duration.seconds(5 * 60)
    /// Time for which each of several refused times is used: as long as a refused key.
    static let turnMin = SigningKeys.patience

    /// Kind of APNs' refusal of an issue.
    package enum Refusal: Sendable {
        /// The issue is too old by APNs' clock.
        case expired
        /// The issue is wrong: its time lies in the future, or APNs does not know its key.
        case invalid
    }

    /// Replacement for a refused issue.
    package enum Remedy: Sendable {
        case none
        case newIssue
        /// An issue, new or not, by another clock, because this machine's clock was set.
        case anotherTime
    }

    /// Interval between two checks of the key file: a check costs some ten microseconds, and a rotation is not urgent.
    static let lookInterval = Duration.seconds(10)

    /// Runs a check of the key file, now or later, on any thread.
    typealias LookRunner = @Sendable (_ look: @escaping @Sendable () -> Void) throws(LoopError) -> Void

    /// The time of a clock, read once and continued by the monotonic clock.
    private struct Time {
        /// Unix nanoseconds at which the monotonic clock began.
        var origin: Int64
        /// Newest issue of this time.
        var issue: Issue?
        /// `true` once APNs has accepted an issue of this time.
        var isProven = false
        /// Refusals since APNs last accepted an issue of this time.
        var refusals = 0
        /// Time of the last refusal; `nil` if APNs has refused none since it accepted an issue, or too few to be believed.
        var refusedAt: MonotonicTime?

        /// Records a refusal. A proven time counts as refused only after several refusals: a server that is broken, or
        /// belongs to another endpoint, is one of many, and another server would have accepted the time before.
        mutating func refuse(at now: MonotonicTime) {
            refusals += 1
            if !isProven || refusals >= SigningKeys.refusalsMin { refusedAt = now }
        }

        mutating func accept() { (isProven, refusals, refusedAt) = (true, 0, nil) }
    }

    private struct State {
        var keys: SigningKeys
        var minted: UInt64 = 0
        /// Known times; the one in use is first.
        var times: [Time] = []
        /// Time since which the current issue has been in use.
        var usedSince = MonotonicTime.always
        /// Time of the first refusal of the time in use since APNs last accepted one of its issues. The last refusal is no
        /// measure: one is refused every few seconds if many shards each try once a minute.
        var refusedSince = MonotonicTime.always
        /// Time of the last check of the key file; `nil` before the first.
        var lookedAt: MonotonicTime?
        var isLooking = false
        var complaint: String?

        /// Maximum number of times: the wall's, the stamps', and two that were proven before.
        private static let timesMax = 4

        var complaintForOperators: String? { complaint ?? keys.complaint }

        /// Discards all issues, so that a new key mints at once: the minimum time between mintings holds per key. The
        /// knowledge of times remains.
        mutating func forgetIssues() {
            for index in times.indices {
                (times[index].issue, times[index].refusals, times[index].refusedAt) = (nil, 0, nil)
            }
        }

        var provenOrigin: Int64? {
            // A time that is tried instead of a refused one is used from its first push on, also for stamps.
            if let time = times.first, time.refusedAt == nil, times.contains(where: { $0.refusedAt != nil }) {
                return time.origin
            }
            return times.first { $0.isProven && $0.refusedAt == nil }?.origin
        }

        /// Adds a clock's time, unless it is known.
        ///
        /// - Returns: index of the time.
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

        /// Returns the index of the time to use: the present wall clock's, unless APNs has shown that it is wrong; otherwise
        /// another one that APNs has accepted. Times that are all refused are used in turn.
        mutating func choose(at moment: Moment) -> Int {
            if moment.stampLead > 0 { meet(moment.stampOrigin) }
            let wall = meet(moment.origin)
            let proven = times.firstIndex { $0.isProven && $0.refusedAt == nil }
            if let proven, !times[proven].origin.isNear(moment.origin, by: WallProof.tolerance) { return proven }
            if times[wall].refusedAt == nil { return wall }
            if let other = proven ?? times.firstIndex(where: { $0.refusedAt == nil }) { return other }
            let turn = max(usedSince, refusedSince)
            guard moment.monotonic - turn >= ProviderToken.turnMin else { return 0 }
            return times.indices.min { times[$0].refusedAt ?? .always < times[$1].refusedAt ?? .always } ?? 0
        }

        /// Uses the time at this index from now on.
        ///
        /// - Returns: its issue, if that is young enough to serve instead of a new one.
        mutating func use(_ index: Int, at moment: Moment) -> Issue? {
            var ageMax = ProviderToken.refreshAge
            if index > 0 {
                times.insert(times.remove(at: index), at: 0)
                usedSince = moment.monotonic
                // Times that are tried in turn mint no issue for each try.
                if times[0].refusedAt == nil { ageMax -= ProviderToken.refreshAgeMin }
            }
            guard let issue = times[0].issue, issue.age(at: moment) < ageMax else { return nil }
            return issue
        }

        /// Returns `true` if a change from the issue in use to another one would come too soon for APNs.
        func mustStay(at moment: Moment) -> Bool {
            guard let time = times.first, time.refusedAt == nil, let issue = time.issue else { return false }
            return issue.age(at: moment) < ProviderToken.refreshAge
                && moment.monotonic - usedSince < ProviderToken.refreshAgeMin
        }
    }

    private let claimsBeforeTime: [UInt8]
    private let state: Locked<State>
    /// The key file, locked by the only check at a time, for as long as it takes, and never while `state` is locked.
    private let file: Locked<KeyFile>?
    private let filePath: String
    private let runLook: LookRunner

    /// - Parameters:
    ///   - keyID: the id that Apple shows beside the key; 10 characters.
    ///   - teamID: the id of the developer team; 10 characters.
    ///   - sign: signs the given bytes with ES256: 64 bytes, R then S.
    package convenience init(
        keyID: String, teamID: String, sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) throws(CredentialsFault) {
        try self.init(SigningKey(id: keyID, sign: sign), teamID: teamID, watching: nil) { _ in }
    }

    /// - Parameter file: source of the key, which is checked for another key.
    init(
        _ key: SigningKey, teamID: String, watching file: KeyFile?, runLook: @escaping LookRunner
    ) throws(CredentialsFault) {
        try CredentialsFault.check(key.id, is: "key id")
        try CredentialsFault.check(teamID, is: "team id")
        claimsBeforeTime = Array(#"{"iss":"\#(teamID)","iat":"#.utf8)
        state = Locked(State(keys: SigningKeys(key)))
        filePath = file?.path ?? ""
        self.file = file.map { Locked($0) }
        self.runLook = runLook
    }

    /// Returns the JWT to use now. It mints one if there is none, if the newest has reached `refreshAge`, if another time is
    /// to be used and the newest is old enough or refused, or if the key file held another key.
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

    /// Returns the serial of the key that signs now, and checks the key file if a check is due.
    func keySerial(at moment: Moment) -> UInt64 {
        lookIfDue(at: moment)
        return state.withLock { $0.keys.serial }
    }

    // MARK: APNs' time

    /// Records the present time before anything is sent; it remains known if the clock is set afterwards.
    package func note(_ moment: Moment) { state.withLock { _ = $0.meet(moment.origin) } }

    /// Records that APNs has judged a push on its merits, and so accepts its issue.
    package func accepted(serial: UInt64) {
        state.withLock { state in
            // An answer to an earlier issue says nothing about now: APNs has refused that issue since, or the machine was suspended.
            guard let time = state.times.first, time.issue?.serial == serial else { return }
            state.keys.accepted()
            state.times[0].accept()
            state.times.removeAll { !$0.isProven && $0.refusedAt == nil }
        }
    }

    /// Unix nanoseconds of the accepted clock when the monotonic clock began. APNs has accepted JWTs by this clock and refused none
    /// since, or it is tried instead of a clock that APNs refused. It is right to `WallProof.tolerance`, or its pushes are refused.
    package var provenOrigin: Int64? { state.withLock { $0.provenOrigin } }

    /// Returns `true` if an issue of the time in use was refused and another time is known that was not.
    package func knowsAnotherTime(at moment: Moment) -> Bool {
        state.withLock { state in
            guard let time = state.times.first, time.refusals > 0 else { return false }
            let chosen = state.choose(at: moment)
            // Refusals of a proven time are believed only if there are several, and those come soon.
            if time.refusedAt == nil { return state.times.dropFirst().contains { $0.refusedAt == nil } }
            return state.times[chosen].refusedAt == nil
        }
    }

    /// Handles APNs' refusal of an issue, perhaps for its time. The first connection that reports it makes a replacement, if
    /// there is a way; other connections with that issue find it already replaced.
    package func refused(serial: UInt64, as refusal: Refusal, at moment: Moment) throws -> Remedy {
        try state.withLock { state in
            guard let current = state.times.first?.issue, current.serial == serial else { return .newIssue }
            if state.times[0].refusedAt == nil { state.refusedSince = moment.monotonic }
            state.times[0].refuse(at: moment.monotonic)
            let isAged = refusal == .expired && current.age(at: moment) >= ProviderToken.refreshAgeMin
            let other = state.choose(at: moment)
            if other > 0, state.times[other].refusedAt == nil, state.times[other].isProven || !isAged {
                if state.use(other, at: moment) == nil { _ = try mint(&state, at: moment) }
                return .anotherTime
            }
            // The refused issue is young, and another one of its time would be refused, too.
            guard isAged else {
                guard refusal == .invalid, state.keys.refused(at: moment.monotonic) else { return .none }
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
            let now = moment.monotonic
            if let last = state.lookedAt, now - last < ProviderToken.lookInterval { return false }
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

    /// Takes the result of a check. The previous key stays in use if the new one is unusable: it may be valid for a while yet.
    private func take(_ found: Result<SigningKey?, any Error>) {
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

    /// Mints an issue of the time in use.
    private func mint(_ state: inout State, at moment: Moment) throws -> Issue {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(state.keys.current.id)"}"#.utf8))
        var claims = claimsBeforeTime
        var origin = state.times[0].origin
        // The wall clock's present value is exact to the second.
        if origin.isNear(moment.origin, by: ProviderToken.stepMax) { origin = moment.origin }
        let issuedAt = (moment.monotonic.nanoseconds &+ origin) / 1_000_000_000
        claims.append(decimal: issuedAt)
        claims.append("}")
        let signed = header + [UInt8(ascii: ".")] + Base64URL.encode(claims)
        let signature = try state.keys.current.sign(signed)
        let issue = Issue(
            authorization: Array("bearer ".utf8) + signed + [UInt8(ascii: ".")] + Base64URL.encode(signature),
            serial: state.minted + 1, keySerial: state.keys.serial, complaint: state.complaintForOperators,
            issuedAt: issuedAt, mintedAt: moment.monotonic)
        state.minted = issue.serial
        state.times[0].origin = origin
        state.times[0].issue = issue
        state.usedSince = moment.monotonic
        return issue
    }
}

extension Moment {
    /// Unix nanoseconds of the wall clock when the monotonic clock began.
    fileprivate var origin: Int64 { wallMilliseconds &* 1_000_000 &- monotonic.nanoseconds }
    /// Unix nanoseconds of stamp time when the monotonic clock began.
    fileprivate var stampOrigin: Int64 { stampMilliseconds &* 1_000_000 &- monotonic.nanoseconds }
}

extension Int64 {
    /// Returns `true` if two times in nanoseconds differ by at most `distance`.
    fileprivate func isNear(_ other: Int64, by distance: Duration) -> Bool {
        (self &- other).magnitude <= distance.nanoseconds.magnitude
    }
}

/// Base64url without padding (RFC 4648 §5), as JOSE requires.
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
