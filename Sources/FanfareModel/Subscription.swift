/// An activity that is already on a phone when an engine starts, with its topic or lineup.
public struct Subscription: Sendable, Hashable {
    /// Topic or lineup that the activity shows.
    public var audience: AudienceKey
    /// Id of the activity in the app.
    public var activity: ActivityID
    /// `SubscriberID.key` of the subscriber.
    package var subscriber: UInt64
    /// Update token, raw bytes.
    public var token: [UInt8]
    /// Preferences of the person; `nil` stands for `Preferences()`: every alert, no quiet hours.
    public var preferences: Preferences?
    /// App of the activity if the engine pushes to several; `nil` stands for the first one.
    public var app: AppID?
    /// Time at which the activity appeared on the phone; `nil`: just now.
    public var startedAt: FeedTime?
    /// Log time at which the activity joined its audience in an earlier process; `nil` if unknown.
    package var joinedAt: FeedTime?
    /// Serial of the card in the engine's store; `nil` if it has none. Those of cards that were stored later are higher.
    package var serial: UInt64?

    /// Greatest size of an update token or a start token. Apple names none (spec §1); the longest seen is 80 bytes, and longer bytes than this are
    /// no token.
    package static let tokenSizeMax = ByteCount.bytes(512)

    /// Creates a subscription without checks. The engine leaves out subscriptions that it cannot take, such as one with an empty token, and reports
    /// their number.
    ///
    /// - Parameters:
    ///   - audience: topic or lineup that the activity shows.
    ///   - activity: id of the activity in the app.
    ///   - subscriber: the install, and its app.
    ///   - token: raw bytes, not hex; 1 to 512 of them.
    ///   - preferences: the person's preferences; `nil` stands for `Preferences()`.
    ///   - startedAt: time at which the activity appeared on the phone; `nil`: just now.
    public init(
        audience: AudienceKey, activity: ActivityID, subscriber: SubscriberID, token: [UInt8],
        preferences: Preferences? = nil, startedAt: FeedTime? = nil
    ) {
        self.init(
            audience: audience, activity: activity, subscriber: subscriber.key, token: token, preferences: preferences,
            app: subscriber.app, startedAt: startedAt)
    }

    /// - Parameter subscriber: `SubscriberID.key`.
    package init(
        audience: AudienceKey, activity: ActivityID, subscriber: UInt64, token: [UInt8],
        preferences: Preferences? = nil, app: AppID? = nil, startedAt: FeedTime? = nil, joinedAt: FeedTime? = nil
    ) {
        self.joinedAt = joinedAt
        self.audience = audience
        self.activity = activity
        self.subscriber = subscriber
        self.token = token
        self.preferences = preferences
        self.app = app
        self.startedAt = startedAt
    }
}
