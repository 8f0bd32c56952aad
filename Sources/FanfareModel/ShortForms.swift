/// Short forms of a content state, for places with room for a few characters (rules M3, M4).
public struct ShortForms: Sendable, Hashable {
    /// Text left of the Dynamic Island's camera: `TOT 2`.
    public var compactLeading: String
    /// Text right of the Dynamic Island's camera: `1 LEI`.
    public var compactTrailing: String
    /// Text where several activities share the Dynamic Island: `2–1`.
    public var minimal: String

    /// Creates short forms without cutting them; about six characters fit in each place.
    public init(compactLeading: String, compactTrailing: String, minimal: String) {
        self.compactLeading = compactLeading
        self.compactTrailing = compactTrailing
        self.minimal = minimal
    }
}

/// Weight of a topic's version beside the others of a lineup.
package struct Prominence: Sendable, Hashable {
    /// Is `true` once the topic has begun. The publication's event tells whether it is over.
    package var hasBegun: Bool
    /// Importance of the topic itself, 0–100, whatever happens in it.
    package var importance: Int
    /// Weight of this version's occasion, 0–100; `nil` if nothing in it is worth a spotlight.
    package var news: Int?

    package init(hasBegun: Bool = true, importance: Int = 0, news: Int? = nil) {
        self.hasBegun = hasBegun
        self.importance = importance
        self.news = news
    }
}
