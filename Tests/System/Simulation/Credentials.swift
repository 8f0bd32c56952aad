import FanfareAPNs
import FanfareModel

/// A node's JWTs. The service judges them by its own clock, which is right, and tolerates an hour; its answers show the engine which time
/// is right. The JWTs are the engine's own; this type handles them as the engine's connections do. No key is revoked in worlds with
/// credentials, because the service gives the same answer for a revoked key and for a time in the future.
struct Credentials {
    /// JWT of a push, and the reason for its refusal, if any.
    struct JWT {
        let serial: UInt64
        var fault: ProviderToken.Refusal?
    }

    private let token: ProviderToken
    private var acceptedSerial: UInt64 = 0
    /// Wall time at monotonic zero as proven by the service, which the clocks follow.
    private(set) var provenOrigin: Int64?
    /// Is `true` once the service has proven a time.
    private(set) var hasBeenAccepted = false
    /// Time since which the clock is right; `nil` while it is wrong.
    private var isRightSince: MonotonicTime?
    /// Time since which JWTs are refused for their time although the engine could know the right one.
    private var isWrongSince: MonotonicTime?
    /// Number of times that the engine has read its clock since then, once a step.
    private var looks = 0

    /// Longest time from the first refusal to the right time: a corrected clock is doubted for five seconds, and a probe waits for ten.
    private static let patience = Duration.seconds(15)
    /// Most readings before the right time. One faulty server is not believed at once: a time accepted before is given up after the tenth
    /// refusal, and meanwhile a pool checks once a second. A world's step may take ten.
    private static let looksMax = 20

    init(at moment: Moment) {
        guard let token = try? ProviderToken(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", sign: { _ in [] }) else {
            preconditionFailure("a key's id and a team's have ten characters")
        }
        self.token = token
        token.note(moment)
    }

    /// - Parameter truth: the service's time.
    mutating func current(at moment: Moment, truth: Moment) -> JWT? {
        guard let issue = try? token.current(at: moment) else { return nil }
        if let origin = token.provenOrigin { provenOrigin = origin }
        let age = truth.wallSeconds - issue.issuedAt
        var jwt = JWT(serial: issue.serial)
        if age > 3600 { jwt.fault = .expired }
        if age < -3600 { jwt.fault = .invalid }
        return jwt
    }

    /// Is `true` if another time can be tried at once.
    func knowsAnotherTime(at moment: Moment) -> Bool { token.knowsAnotherTime(at: moment) }

    mutating func note(isClockRight: Bool, at now: MonotonicTime) {
        isRightSince = isClockRight ? isRightSince ?? now : nil
        if isWrongSince != nil { looks += 1 }
    }

    mutating func accepted(_ jwt: JWT) {
        isWrongSince = nil
        looks = 0
        hasBeenAccepted = true
        guard jwt.serial != acceptedSerial else { return }
        acceptedSerial = jwt.serial
        token.accepted(serial: jwt.serial)
        if let origin = token.provenOrigin { provenOrigin = origin }
    }

    /// - Returns: `true` if there is another JWT to try.
    mutating func refused(_ jwt: JWT, as refusal: ProviderToken.Refusal, at moment: Moment) -> Bool {
        acceptedSerial = 0
        let now = moment.monotonic
        let isKnown = hasBeenAccepted || isRightSince.map { now - $0 > .seconds(5) } ?? false
        isWrongSince = isKnown ? isWrongSince ?? now : nil
        if !isKnown { looks = 0 }
        let remedy = try? token.refused(serial: jwt.serial, as: refusal, at: moment)
        provenOrigin = token.provenOrigin
        return remedy.map { $0 != .none } ?? false
    }

    /// Judges the JWT of a push that leaves.
    func judge(_ jwt: JWT, at now: MonotonicTime) -> String? {
        guard jwt.fault != nil, let isWrongSince, now - isWrongSince > Credentials.patience,
            looks > Credentials.looksMax
        else { return nil }
        return "a JWT of the wrong time, \((now - isWrongSince).milliseconds) ms after one was refused (12)"
    }
}
