/// An app as APNs knows it. A token works only with its own app, in its own environment.
public struct AppID: Sendable, Hashable, CustomStringConvertible {
    /// APNs service for which an app's tokens are valid: `development` for builds from Xcode, `production` for TestFlight and the
    /// App Store.
    public enum Environment: String, Sendable, CaseIterable { case production, development }

    /// Bundle id of the app, without a suffix.
    public var bundleID: String
    /// APNs service of the app's tokens.
    public var environment: Environment

    /// Creates an id. Only APNs can check the bundle id: it answers `BadTopic` or `TopicDisallowed` to an unknown one.
    public init(bundleID: String, environment: Environment = .production) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// Bundle id and environment, for reports.
    public var description: String { "\(bundleID), \(environment.rawValue)" }
}
