/// A content state in short, for places with room for a few characters (rules M3, M4).
public struct ShortForms: Sendable, Hashable {
    public var compactLeading: String
    public var compactTrailing: String
    public var minimal: String

    public init(compactLeading: String, compactTrailing: String, minimal: String) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
    }
}

/// How much a version of a topic matters beside the others of a lineup.
public struct Prominence: Sendable, Hashable {
    /// The topic has begun; whether it is over the publication's event tells.
    public var hasBegun: Bool
    /// 0–100: the topic's own, whatever happens in it.
    public var importance: Int
    /// 0–100: of what this version brings; `nil` when nothing has happened that is worth a spotlight.
    public var news: Int?

    public init(hasBegun: Bool = true, importance: Int = 0, news: Int? = nil) {
        self.hasBegun = hasBegun
        self.importance = importance
        self.news = news
    }
}
