/// What an answer of APNs means for the push, its token, the connection and the pool.
package enum ResponseClass: Sendable, Equatable, CaseIterable {
    /// 200. It says nothing about the phone.
    case accepted
    /// The token will never work again.
    case deadToken
    /// Too many pushes to this token: it waits, then gets the newest state.
    case throttled
    /// APNs is in trouble, or a server of it, or it is with this token: nothing was processed, and whoever asked waits.
    case retryLater
    /// Not processed, and this connection is of no more use: drain it and open another one.
    case reconnect
    /// Not processed because our JWT is too old: mint another one.
    case refreshToken
    /// Not processed because the key, the topic or the environment is wrong: every push will fail alike until a person acts.
    case configurationFault
    /// This request is wrong (a bug of ours, or a state too large): sending it again does not mend it.
    case requestFault
    /// An answer that APNs does not give, so it may not be APNs who answers. A fault of the configuration where everybody gets it, of
    /// the request where it gets it again on another connection.
    case stranger
}

/// One row of APNs' table of answers (spec §7): which class it falls in, and what a person should do.
package struct ResponseRule: Sendable, Equatable {
    package let status: Int
    package let reason: String
    package let `class`: ResponseClass
    /// For configuration faults: what to look at.
    package let advice: String?

    init(_ status: Int, _ reason: String, _ class: ResponseClass, _ advice: String? = nil) {
        self.status = status
        self.reason = reason
        self.class = `class`
        self.advice = advice
    }

    /// APNs says so of a JWT from its future, as of one that was signed by an unknown key.
    var mayBeForTheTime: Bool { status == 403 && reason == "InvalidProviderToken" }

    /// Every status and reason Apple documents for the device path, and the spellings clients have met.
    package static let table: [ResponseRule] = [
        ResponseRule(400, "BadDeviceToken", .deadToken),
        ResponseRule(400, "DeviceTokenNotForTopic", .deadToken),
        ResponseRule(400, "BadTopic", .configurationFault, "check the bundle id"),
        ResponseRule(400, "MissingTopic", .configurationFault, "check the bundle id"),
        ResponseRule(400, "TopicDisallowed", .configurationFault, "check that the key may push to this bundle id"),
        ResponseRule(400, "BadCollapseId", .requestFault),
        ResponseRule(400, "BadExpirationDate", .requestFault),
        ResponseRule(400, "BadMessageId", .requestFault),
        ResponseRule(400, "BadPriority", .requestFault),
        ResponseRule(400, "DuplicateHeaders", .requestFault),
        ResponseRule(400, "InvalidPushType", .requestFault),
        ResponseRule(400, "MissingDeviceToken", .requestFault),
        ResponseRule(400, "PayloadEmpty", .requestFault),
        ResponseRule(400, "IdleTimeout", .reconnect),
        ResponseRule(403, "ExpiredProviderToken", .refreshToken),
        ResponseRule(
            403, "InvalidProviderToken", .configurationFault, "check key file, key id, team id and this machine's clock"
        ),
        ResponseRule(403, "MissingProviderToken", .configurationFault, "the request carried no JWT; this is our bug"),
        ResponseRule(403, "UnrelatedKeyIdInToken", .reconnect),
        ResponseRule(
            403, "BadEnvironmentKeyIdInToken", .configurationFault,
            "the key belongs to the other environment (production or sandbox)"),
        ResponseRule(
            403, "BadEnvironmentKeyInToken", .configurationFault,
            "the key belongs to the other environment (production or sandbox)"),
        ResponseRule(403, "BadCertificate", .configurationFault, "use a .p8 key"),
        ResponseRule(403, "BadCertificateEnvironment", .configurationFault, "use a .p8 key"),
        ResponseRule(403, "Forbidden", .configurationFault, "check what the key is allowed to do"),
        ResponseRule(404, "BadPath", .requestFault),
        ResponseRule(405, "MethodNotAllowed", .requestFault),
        ResponseRule(410, "ExpiredToken", .deadToken),
        ResponseRule(410, "Unregistered", .deadToken),
        ResponseRule(413, "PayloadTooLarge", .requestFault),
        // Several JWTs reached one connection: a fresh connection with the JWT all share is the cure (spec §9.2).
        ResponseRule(429, "TooManyProviderTokenUpdates", .reconnect),
        ResponseRule(429, "TooManyRequests", .throttled),
        ResponseRule(500, "InternalServerError", .retryLater),
        ResponseRule(503, "ServiceUnavailable", .retryLater),
        ResponseRule(503, "Service Unavailable", .retryLater),
        ResponseRule(503, "Shutdown", .reconnect),
    ]

    private static let byReason = Dictionary(grouping: table, by: \.reason)

    /// The row for an answer; for reasons that are not in the table, or came with another status, what the status alone
    /// says. The table has an open end: APNs adds reasons without asking. But to a bad request it always gives one.
    package static func rule(status: Int, reason: String?) -> ResponseRule {
        if status == 200 { return ResponseRule(200, "", .accepted) }
        if let reason, let known = byReason[reason]?.first(where: { $0.status == status }) { return known }
        let reason = reason ?? ""
        return switch status {
        case 403:
            ResponseRule(status, reason, .configurationFault, "check key file, key id, team id and bundle id")
        case 410: ResponseRule(status, reason, reason.isEmpty ? .retryLater : .deadToken)
        case 429: ResponseRule(status, reason, .throttled)
        case 500...: ResponseRule(status, reason, .retryLater)
        case 413: ResponseRule(status, reason, .requestFault)
        case 400 where !reason.isEmpty: ResponseRule(status, reason, .requestFault)
        default:
            ResponseRule(
                status, reason, .stranger, "APNs does not answer so; check the endpoint and what is on the way to it")
        }
    }
}
