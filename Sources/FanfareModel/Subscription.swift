/// An activity that is on a phone already, and what it shows: one of many that an engine starts with.
public struct Subscription: Sendable, Hashable {
    public var audience: AudienceKey
    public var activity: ActivityID
    /// Made from the subscriber's id, as an `ActivityID` from the activity's.
    public var subscriber: UInt64
    /// The update token, raw bytes.
    public var token: [UInt8]
    public var preferences: Preferences?
    /// The one it belongs to where there are several; `nil`: the first.
    public var app: AppID?
    /// When it appeared on the phone; `nil`: just now.
    public var startedAt: FeedTime?

    public init(
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
    public enum Environment: String, Sendable, CaseIterable { case production, development }

    /// Bare bundle id.
    public var bundleID: String
    public var environment: Environment

    public init(bundleID: String, environment: Environment = .production) {
        self.bundleID = bundleID
        self.environment = environment
    }

    public var description: String { "\(bundleID), \(environment.rawValue)" }
}
