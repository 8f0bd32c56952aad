import FanfareFanOut
import FanfareHTTP2
import FanfareModel

/// Header fields of a push (spec §2.2), encoded as rarely as they change: topic, push type and priority once, the JWT once
/// per minting, expiration and collapse id once per second or payload. The session makes the path from the token.
///
/// There is no `apns-id`, because APNs generates one and no code would read ours.
struct RequestFields {
    /// The JWT in the encoded form that all requests share.
    struct Authorization {
        let serial: UInt64
        let field: LiteralFields
    }

    /// All parts of a request except the token, equal for all deliveries that carry one payload.
    struct Form {
        let shape: RequestShape
        let authorization: Authorization
        /// Fields that belong to the payload.
        let fields: LiteralFields
        let body: [UInt8]
    }

    private let immediate: RequestShape
    private let conserving: RequestShape
    private var authorization: Authorization?
    /// The body of the last joined payload; its memory is reused.
    private var joinedBody: [UInt8] = []
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

    /// - Throws: the fault for which the payload must not be sent.
    mutating func form(
        of payload: JoinedPayload, in batch: DeliveryBatch, authorization: Authorization
    ) throws(PayloadFault.Problem) -> Form {
        try PayloadEncoder.encode(payload, of: batch, into: &joinedBody)
        let expiration = PayloadEncoder.updateExpiration(staleDate: payload.staleDate, stamp: payload.stamp)
        return Form(
            shape: payload.priority == .immediate ? immediate : conserving, authorization: authorization,
            fields: fields(expiration, collapseID: nil), body: joinedBody)
    }

    /// Returns the expiration, and the collapse id of a start. Updates and ends have no collapse id, so that a stored one is
    /// not collapsed away (spec §11).
    mutating func fields(of payload: Payload) -> LiteralFields {
        fields(PayloadEncoder.expiration(of: payload), collapseID: payload.start?.collapseID)
    }

    private mutating func fields(_ expiration: Int64, collapseID: String?) -> LiteralFields {
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
