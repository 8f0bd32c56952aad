import FanfareCore
import FanfareHTTP2

/// The header fields of a push (spec §2.2), encoded as rarely as they change: topic, push type and priority once, the JWT
/// once per minting, the expiration once per second. The path is the token's and made by the session.
///
/// There is no `apns-id`: APNs invents one, and nobody would read ours.
struct RequestFields {
    /// The JWT in the form it has in every request.
    struct Authorization {
        let serial: UInt64
        let field: LiteralFields
    }

    private let immediate: RequestShape
    private let conserving: RequestShape
    private var authorization: Authorization?
    private var expiration: (seconds: Int64, field: LiteralFields)?

    init(endpoint: Endpoint, bundleID: String) {
        func shape(_ priority: Priority) -> RequestShape {
            RequestShape(
                authority: endpoint.authority,
                fields: [
                    HeaderField("apns-topic", "\(bundleID).push-type.liveactivity"),
                    HeaderField("apns-push-type", "liveactivity"),
                    HeaderField("apns-priority", "\(priority.rawValue)"),
                ])
        }
        immediate = shape(.immediate)
        conserving = shape(.conserving)
    }

    func shape(of payload: Payload) -> RequestShape { payload.priority == .immediate ? immediate : conserving }

    mutating func expiration(of payload: Payload) -> LiteralFields {
        let seconds = PayloadEncoder.expiration(of: payload)
        if let expiration, expiration.seconds == seconds { return expiration.field }
        var field = LiteralFields()
        field.append(HeaderField("apns-expiration", "\(seconds)"))
        expiration = (seconds, field)
        return field
    }

    mutating func authorization(_ issue: ProviderToken.Issue) -> Authorization {
        if let authorization, authorization.serial == issue.serial { return authorization }
        var field = LiteralFields()
        field.append(HeaderField(name: Array("authorization".utf8), value: issue.authorization), secret: true)
        let fresh = Authorization(serial: issue.serial, field: field)
        authorization = fresh
        return fresh
    }
}
