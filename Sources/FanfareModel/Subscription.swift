/// An activity that is on a phone already, and what it shows: one of many that an engine starts with.
public struct Subscription: Sendable, Hashable {
    /// The topic or lineup that the activity shows.
    public var audience: AudienceKey
    /// The app's id of it.
    public var activity: ActivityID
    /// `SubscriberID.key`.
    package var subscriber: UInt64
    /// The update token, raw bytes.
    public var token: [UInt8]
    /// The person's; `nil` stands for `Preferences()`: every alert, no quiet hours.
    public var preferences: Preferences?
    /// The one it belongs to where there are several; `nil`: the first.
    public var app: AppID?
    /// When it appeared on the phone; `nil`: just now.
    public var startedAt: FeedTime?

    /// Nothing is checked here. The engine leaves out what it cannot take, such as an empty token, and says how many in its reports.
    ///
    /// - Parameters:
    ///   - audience: what the activity shows.
    ///   - activity: the app's id of it.
    ///   - subscriber: the install, and its app.
    ///   - token: raw bytes, not hex; 1 to 512 of them.
    ///   - preferences: the person's; `nil` stands for `Preferences()`.
    ///   - startedAt: when it appeared on the phone; `nil`: just now.
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
        preferences: Preferences? = nil, app: AppID? = nil, startedAt: FeedTime? = nil
    ) {
        self.audience = audience
        self.activity = activity
        self.subscriber = subscriber
        self.token = token
        self.preferences = preferences
        self.app = app
        self.startedAt = startedAt
    }
}

/// An app as APNs knows it. A token of one is of no use to another, nor in the other environment.
public struct AppID: Sendable, Hashable, CustomStringConvertible {
    /// Which of APNs' two services an app's tokens are for: `development` for builds from Xcode, `production` for
    /// TestFlight and the App Store.
    public enum Environment: String, Sendable, CaseIterable { case production, development }

    /// Bare bundle id.
    public var bundleID: String
    /// The service that made the app's tokens.
    public var environment: Environment

    /// Whether the bundle id exists only APNs knows: it answers `BadTopic` or `TopicDisallowed` where not.
    public init(bundleID: String, environment: Environment = .production) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// Bundle id and environment, for reports.
    public var description: String { "\(bundleID), \(environment.rawValue)" }
}
