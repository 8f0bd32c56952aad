import FanfareModel

/// Use of the provider's tokens by one pool: the key that its connections belong to, the JWTs that are sent and accepted, and the time
/// that APNs accepts with them.
final class TokenUse {
    /// Relation of a JWT that is about to be sent to the one sent before.
    enum Step {
        case same
        /// No connection has had this JWT yet.
        case another
        /// The JWT belongs to another key than the connections, which belong to the former key.
        case anotherKey
    }

    /// A repair of the key or the time from which the refused JWTs were made.
    enum Repair: Equatable {
        /// Another key signs.
        case key(UInt64)
        /// Another time is known, which has not been refused.
        case time
    }

    /// Remedy to try after the refusal of a JWT.
    enum Remedy: Equatable {
        case none
        case newIssue
        case anotherTime
        case anotherKey(UInt64)
    }

    private let credentials: ProviderToken
    private let proof: WallProof
    // Unchecked for the reason given in `Connection`.
    @safe @exclusivity(unchecked) private var serials = TokenSerials()
    /// Time at which pushes changed to another wall time. Pushes need a later reading of the clocks: stamped by the former time,
    /// they would now be accepted by APNs and dropped by phones.
    @safe @exclusivity(unchecked) private var timeChangedAt = MonotonicTime.always

    /// - Parameter proof: receives the time that APNs accepts.
    init(of credentials: ProviderToken, _ proof: WallProof) {
        self.credentials = credentials
        self.proof = proof
    }

    /// Notes the time before anything is sent.
    func begin(at moment: Moment) { credentials.note(moment) }

    /// Returns `true` if pushes may be stamped by a clock that was read at this time.
    func maySend(at now: MonotonicTime) -> Bool { now > timeChangedAt }

    // MARK: Sending

    /// Returns the JWT to use now.
    func current(at moment: Moment) throws -> ProviderToken.Issue { try credentials.current(at: moment) }

    /// Notes that a JWT is about to be sent, unless it is another key's.
    func advance(to issue: ProviderToken.Issue) -> Step {
        guard !serials.belong(toOtherThan: issue.keySerial) else { return .anotherKey }
        return serials.send(issue.serial, of: issue.keySerial) ? .another : .same
    }

    /// Notes that a JWT is sent.
    func noteSent(_ issue: ProviderToken.Issue) {
        serials.noteSent(issue.serial)
        // A refusal clears the proven time; a pool with another key may have cleared it, so it is set here again.
        if let origin = issue.provenOrigin { proof.origin = origin }
    }

    /// Notes that the connections belong to another key from now on.
    func changeKey(to serial: UInt64) { serials.changeKey(to: serial) }

    /// Looks for a repair. Nothing else would notice it while nothing is sent, because no JWT is requested then.
    func repair(at moment: Moment) -> Repair? {
        // No key has been used before the first push.
        guard serials.key != 0 else { return nil }
        let serial = credentials.keySerial(at: moment)
        if serial != serials.key { return .key(serial) }
        return credentials.knowsAnotherTime(at: moment) ? .time : nil
    }

    // MARK: Answers

    /// Notes that APNs accepts a request's JWT, and with it the JWT's time.
    func noteAccepted(_ serial: UInt64) {
        guard serial != serials.accepted else { return }
        serials.noteAccepted(serial)
        credentials.accepted(serial: serial)
        if let origin = credentials.provenOrigin { proof.origin = origin }
    }

    /// Returns `true` if a JWT was signed by the key before the present one, so that its refusal says nothing about the present key.
    func isOfFormerKey(_ serial: UInt64) -> Bool { serial <= serials.newestOfFormerKey }

    /// Handles APNs' refusal of a request's JWT.
    func refused(_ serial: UInt64, as refusal: ProviderToken.Refusal, at moment: Moment) throws -> Remedy {
        serials.noteRefusal()
        defer { proof.origin = credentials.provenOrigin }
        // A repaired key takes effect at once, without waiting for a connection to ask for it.
        let key = credentials.keySerial(at: moment)
        guard key == serials.key else { return .anotherKey(key) }
        switch try credentials.refused(serial: serial, as: refusal, at: moment) {
        case .none: return .none
        case .newIssue: return .newIssue
        case .anotherTime:
            timeChangedAt = moment.monotonic
            return .anotherTime
        }
    }

    // MARK: For tests

    /// Describes a contradiction in the serials; `nil` if there is none.
    func violation() -> String? { serials.violation() }
}
