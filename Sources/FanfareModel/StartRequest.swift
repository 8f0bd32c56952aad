/// Request to start an activity on a phone by a push (push-to-start). A request is immutable and shared.
public final class StartRequest: Sendable, Hashable {
    /// Id of the activity in the app. The attributes contain it, so that the app can report the update token under it.
    public let activity: String
    /// Start token, raw bytes (not hex), at most 512. The token addresses a device and the attributes' type, and is a secret.
    public let token: [UInt8]
    /// Name of the app's attributes struct, exactly as in the app.
    public let attributesType: String
    /// Static attributes; the engine adds the activity's id under `activityKey`.
    public let attributes: JSONObject
    /// Attribute in which the app finds `activity`.
    public let activityKey: String
    /// Alert shown at the start. Phones start no activity without an alert (spec §3.1, observed).
    public let alert: AlertText
    /// Number by which claims tell the request from others for the same activity: of another match, or after a card has gone. It is no part of
    /// the content.
    package let number: UInt32

    /// Time for which a start waits for something to show, or until it may be sent: as long as a topic may take to begin
    /// (`TopicRules.Lifetime.beginsWithin`).
    package static let patience = Duration.seconds(7 * 86_400)

    /// Creates a request without checks. The engine refuses an empty or too long token; an `ActivityEvent` reports attributes that do not fit into a
    /// push when the engine tries the start.
    ///
    /// - Parameters:
    ///   - activity: the app's id of the activity, used in all calls of the engine.
    ///   - token: raw bytes, not hex.
    ///   - attributesType: the struct's name, exactly as in the app.
    ///   - attributes: the static attributes. A member named `activityKey` is overwritten.
    ///   - activityKey: a `String` member of the app's attributes struct.
    ///   - alert: the alert shown at the start.
    public convenience init(
        activity: String, token: [UInt8], attributesType: String, attributes: JSONObject = [:],
        activityKey: String = "activity", alert: AlertText
    ) {
        self.init(
            activity: activity, token: token, attributesType: attributesType, attributes: attributes,
            activityKey: activityKey, alert: alert, number: .random(in: .min ... .max))
    }

    package init(
        activity: String, token: [UInt8], attributesType: String, attributes: JSONObject, activityKey: String,
        alert: AlertText, number: UInt32
    ) {
        self.activity = activity
        self.token = token
        self.attributesType = attributesType
        self.attributes = attributes
        self.activityKey = activityKey
        self.alert = alert
        self.number = number
    }

    /// Returns the request with another number.
    package func numbered(_ number: UInt32) -> StartRequest {
        StartRequest(
            activity: activity, token: token, attributesType: attributesType, attributes: attributes,
            activityKey: activityKey, alert: alert, number: number)
    }

    /// Returns `true` if all public properties are equal, the token included.
    public static func == (a: StartRequest, b: StartRequest) -> Bool {
        a === b
            || a.activity == b.activity && a.token == b.token && a.attributesType == b.attributesType
                && a.attributes == b.attributes && a.activityKey == b.activityKey && a.alert == b.alert
    }

    /// Combines the id and the token.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(activity)
        hasher.combine(token)
    }

    /// Returns the id of a renewed activity, which is a new one on the phone: the first activity's id, with a number from 2 on.
    public static func name(_ activity: String, edition: Int) -> String {
        edition == 1 ? activity : "\(activity)~\(edition)"
    }

    package func name(edition: Int) -> String { StartRequest.name(activity, edition: edition) }
}
