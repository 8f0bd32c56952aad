import FanfareAPNs
import FanfareModel

/// A node's JWTs. The service judges them by its own clock, which is right, and bears an hour; what it accepts and refuses shows the
/// engine which time to go by. The JWTs are the engine's own; what is done with them here, its connections do. Where there are any, no
/// key is revoked: the service says the same of such a key and of a time to come.
struct Credentials {
    /// What a push carries, and why it is refused, where it is.
    struct JWT {
        let serial: UInt64
        var fault: ProviderToken.Refusal?
    }

    private let token: ProviderToken
    private var acceptedSerial: UInt64 = 0
    /// What the clocks follow.
    private(set) var provenOrigin: Int64?
    /// The service has shown which time is right.
    private(set) var hasBeenAccepted = false
    /// The clock has been right since then, monotonic nanoseconds.
    private var isRightSince: Int64?
    /// Refused for its time since then, though the engine could know better.
    private var isWrongSince: Int64?
    /// How often the engine has looked at its clock since then, once a step.
    private var looks = 0

    /// From the first refusal to the right time: a clock that is put right is doubted for five seconds, and a probe waits for ten.
    private static let patience: Int64 = 15_000_000_000
    /// What one ill server says is not believed at once: a time that was accepted before is given up after the tenth refusal, and a pool
    /// looks once a second meanwhile. A world's step may take ten.
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

    /// What is waited for may go at once.
    func knowsAnotherTime(at moment: Moment) -> Bool { token.knowsAnotherTime(at: moment) }

    mutating func note(isClockRight: Bool, at now: Int64) {
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

    /// - Returns: whether there is another one to try.
    mutating func refused(_ jwt: JWT, as refusal: ProviderToken.Refusal, at moment: Moment) -> Bool {
        acceptedSerial = 0
        let now = moment.monotonicNanoseconds
        let isKnown = hasBeenAccepted || isRightSince.map { now - $0 > 5_000_000_000 } ?? false
        isWrongSince = isKnown ? isWrongSince ?? now : nil
        if !isKnown { looks = 0 }
        let remedy = try? token.refused(serial: jwt.serial, as: refusal, at: moment)
        provenOrigin = token.provenOrigin
        return remedy.map { $0 != .none } ?? false
    }

    /// Of a push that leaves.
    func judge(_ jwt: JWT, at now: Int64) -> String? {
        guard jwt.fault != nil, let isWrongSince, now - isWrongSince > Credentials.patience,
            looks > Credentials.looksMax
        else { return nil }
        return "a JWT of the wrong time, \((now - isWrongSince) / 1_000_000) ms after one was refused (12)"
    }
}
