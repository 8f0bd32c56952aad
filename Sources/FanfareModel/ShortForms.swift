/// A content state in short, for places with room for a few characters (rules M3, M4).
public struct ShortForms: Sendable, Hashable {
    /// Left of the Dynamic Island's camera: `TOT 2`.
    public var compactLeading: String
    /// Right of the camera: `1 LEI`.
    public var compactTrailing: String
    /// All that is left where several activities share the island: `2–1`.
    public var minimal: String

    /// Nothing is cut here; about six characters fit each place.
    public init(compactLeading: String, compactTrailing: String, minimal: String) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
    }
}

/// How much a version of a topic matters beside the others of a lineup.
package struct Prominence: Sendable, Hashable {
    /// The topic has begun; whether it is over the publication's event tells.
    package var hasBegun: Bool
    /// 0–100: the topic's own, whatever happens in it.
    package var importance: Int
    /// 0–100: of what this version brings; `nil` when nothing has happened that is worth a spotlight.
    package var news: Int?

    package init(hasBegun: Bool = true, importance: Int = 0, news: Int? = nil) {
        self.hasBegun = hasBegun
        self.importance = importance
        self.news = news
    }
}
