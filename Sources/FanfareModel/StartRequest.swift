/// How an activity is made to appear on a phone by a push (push-to-start). Immutable and shared.
public final class StartRequest: Sendable, Hashable {
    /// The app's id of the activity. It stands in the attributes, so that the app can report the update token under it.
    public let activity: String
    /// Start token, raw bytes (not hex), at most 512: addresses a device and the attributes' type. A secret.
    public let token: [UInt8]
    /// Name of the app's attributes struct, as it is spelt there.
    public let attributesType: String
    /// The static attributes; the activity's id is added under `activityKey`.
    public let attributes: JSONObject
    /// The attribute under which the app finds `activity`.
    public let activityKey: String
    /// What the person is told. Without an alert phones start nothing (spec §3.1, observed).
    public let alert: AlertText

    /// Nothing is checked here. The engine refuses a token that is empty or too long; of attributes that do not fit a push
    /// an `ActivityEvent` tells when the start is tried.
    ///
    /// - Parameters:
    ///   - activity: the app's id of the activity; all calls of the engine know it by that.
    ///   - token: raw bytes, not hex.
    ///   - attributesType: the struct's name, spelt as in the app.
    ///   - attributes: the static attributes. A member named `activityKey` is overwritten.
    ///   - activityKey: one that the app's attributes struct has as a `String`.
    ///   - alert: what the person is told.
    public init(
        activity: String, token: [UInt8], attributesType: String, attributes: JSONObject = [:],
        activityKey: String = "activity", alert: AlertText
    ) {
        self.activity = activity
        self.token = token
        self.attributesType = attributesType
        self.attributes = attributes
        self.activityKey = activityKey
        self.alert = alert
    }

    /// Whether the two ask for the same, token included.
    public static func == (a: StartRequest, b: StartRequest) -> Bool {
        a === b
            || a.activity == b.activity && a.token == b.token && a.attributesType == b.attributesType
                && a.attributes == b.attributes && a.activityKey == b.activityKey && a.alert == b.alert
    }

    /// Feeds the id and the token to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(activity)
        hasher.combine(token)
    }

    /// A renewed activity is another one on the phone, so it has an id of its own: the first one's, with a number from 2 on.
    public static func name(_ activity: String, edition: Int) -> String {
        edition == 1 ? activity : "\(activity)~\(edition)"
    }

    package func name(edition: Int) -> String { StartRequest.name(activity, edition: edition) }
}
