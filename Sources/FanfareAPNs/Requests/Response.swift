/// Meaning of an APNs answer for the push, its token, the connection and the pool.
package enum ResponseClass: Sendable, Equatable, CaseIterable {
    /// The push was accepted with 200, which says nothing about the phone.
    case accepted
    /// The token will never work again.
    case deadToken
    /// There were too many pushes to this token: its activity waits, then gets the newest state.
    case throttled
    /// APNs or one of its servers is in trouble, perhaps with this token only: nothing was processed, and the activity waits.
    case retryLater
    /// The push was not processed, and this connection is useless: it is drained and another one opened.
    case reconnect
    /// The push was not processed because our JWT is too old: another one is minted.
    case refreshToken
    /// The push was not processed because the key, the topic or the environment is wrong: every push fails alike until a person acts.
    case configurationFault
    /// The request is wrong (a bug of ours, or a state too large): sending it again does not help.
    case requestFault
    /// APNs does not give this answer, so another server may be answering. It is a fault of the configuration if all
    /// activities get it, and of the request if one gets it again on another connection.
    case stranger
}

/// A row of APNs' table of answers (spec §7), with its class and the advice for people.
package struct ResponseRule: Sendable, Equatable {
    package let status: Int
    package let reason: String
    package let `class`: ResponseClass
    /// Advice on what to check, for configuration faults.
    package let advice: String?

    init(_ status: Int, _ reason: String, _ class: ResponseClass, _ advice: String? = nil) {
        self.status = status
        self.reason = reason
        self.class = `class`
        self.advice = advice
    }

    /// `true` for the answer that APNs gives to a JWT from its future, and also to one that was signed by an unknown key.
    var mayBeForTheTime: Bool { status == 403 && reason == "InvalidProviderToken" }

    /// All statuses and reasons that Apple documents for the device path, and further spellings that clients have met.
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
        // Several JWTs reached one connection; a fresh connection with the shared JWT is the cure (spec §9.2).
        ResponseRule(429, "TooManyProviderTokenUpdates", .reconnect),
        ResponseRule(429, "TooManyRequests", .throttled),
        ResponseRule(500, "InternalServerError", .retryLater),
        ResponseRule(503, "ServiceUnavailable", .retryLater),
        ResponseRule(503, "Service Unavailable", .retryLater),
        ResponseRule(503, "Shutdown", .reconnect),
    ]

    private static let byReason = Dictionary(grouping: table, by: \.reason)

    /// Returns the row of an answer. The status alone decides for a reason that is not in the table, or came with another
    /// status, because APNs adds reasons without notice. But APNs always gives a reason for a bad request.
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
