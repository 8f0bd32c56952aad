/// One install of an app, by the id that the app's backend has for it. All that is asked for one subscriber is carried out in its order.
public struct SubscriberID: Hashable, Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// As the backend spells it. Any text will do.
    public let rawValue: String
    /// The app that is installed, where the engine pushes to several; `nil`: the first of them. The same id in two apps is two
    /// subscribers.
    public let app: AppID?

    /// Nothing is checked here. A call for an app that the engine does not push to is refused.
    public init(_ rawValue: String, app: AppID? = nil) {
        self.rawValue = rawValue
        self.app = app
    }

    /// A subscriber of the first app.
    public init(stringLiteral rawValue: String) { self.init(rawValue) }

    /// The `rawValue`.
    public var description: String { rawValue }

    /// What shards know of it. Another one in the next process.
    package var key: UInt64 { rawValue.utf8.keyedHash }
}

/// Whom an operator's order is about.
public enum Scope: Hashable, Sendable {
    /// One topic. An order for a topic outlives one for all: a match that was paused by itself stays so when everything resumes.
    case topic(TopicID)
    /// All topics of a kind, those to come included.
    case kind(TopicKind)
    /// The people of one app, whatever they follow; those of other apps go on.
    case app(AppID)
    /// All topics, those to come included.
    case all
}
