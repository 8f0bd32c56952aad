/// Install of an app, identified by the backend's own id. The engine carries out the commands for one subscriber in their order.
public struct SubscriberID: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Id as the backend spells it; any text is valid.
    public let rawValue: String
    /// App of the install if the engine pushes to several; `nil` stands for the first one. The same id in two apps means two subscribers. For
    /// `nil`, a store keeps the app that was the first one when the card was followed or started.
    public let app: AppID?

    /// Creates an id without checks. The engine refuses calls for an app that it does not push to.
    public init(_ rawValue: String, app: AppID? = nil) {
        self.rawValue = rawValue
        self.app = app
    }

    /// Creates an id of a subscriber of the first app.
    public init(stringLiteral rawValue: String) { self.init(rawValue) }

    /// The `rawValue`.
    public var description: String { rawValue }

    /// Hash by which shards know the subscriber; differs from process to process.
    package var key: UInt64 { rawValue.utf8.keyedHash }
}

/// Topics or people that an operator's order concerns.
public enum Scope: Hashable, Sendable {
    /// One topic. Only the opposite order for the same topic lifts an order: a match that was paused alone stays paused when all topics resume.
    case topic(TopicID)
    /// All topics of a kind, including later ones.
    case kind(TopicKind)
    /// People of one app, whichever topics they follow; other apps are unaffected.
    case app(AppID)
    /// All topics, including later ones.
    case all
}
