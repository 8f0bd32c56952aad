import FanfareFanOut
import FanfareHTTP2
import FanfareModel

/// The header fields of a push (spec §2.2), encoded as rarely as they change: topic, push type and priority once, the JWT
/// once per minting, expiration and collapse id once per second or payload. The path is the token's and made by the session.
///
/// There is no `apns-id`: APNs invents one, and nobody would read ours.
struct RequestFields {
    /// The JWT in the form it has in every request.
    struct Authorization {
        let serial: UInt64
        let field: LiteralFields
    }

    /// Everything about a request but the token: the same for all deliveries that carry one payload.
    struct Form {
        let shape: RequestShape
        let authorization: Authorization
        /// Those that belong to the payload.
        let fields: LiteralFields
        let body: [UInt8]
    }

    private let immediate: RequestShape
    private let conserving: RequestShape
    private var authorization: Authorization?
    private var perPayload: (expiration: Int64, collapseID: String?, fields: LiteralFields)?

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

    mutating func form(of payload: Payload, body: [UInt8], authorization: Authorization) -> Form {
        Form(
            shape: payload.priority == .immediate ? immediate : conserving, authorization: authorization,
            fields: fields(of: payload), body: body)
    }

    /// The expiration, and of a start its collapse id. Updates and ends have none: a stored one must not be collapsed away
    /// (spec §11).
    mutating func fields(of payload: Payload) -> LiteralFields {
        let expiration = PayloadEncoder.expiration(of: payload)
        let collapseID = payload.start?.collapseID
        if let perPayload, perPayload.expiration == expiration, perPayload.collapseID == collapseID {
            return perPayload.fields
        }
        var fields = LiteralFields()
        fields.append(HeaderField("apns-expiration", "\(expiration)"))
        if let collapseID { fields.append(HeaderField("apns-collapse-id", collapseID)) }
        perPayload = (expiration, collapseID, fields)
        return fields
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
