package import FanfareModel

/// Options for reading a feed.
package struct FeedOptions: Sendable {
    package static let lineBytesMaxDefault = 1 << 20

    /// Format of all files; `nil`: recognised by content.
    package var format: FeedFormat?
    /// Start of the first half of every Wyscout match, of the first rally of every DataVolley match, and of play in every PWHL
    /// game. Overrides the files, and replaces times that they lack.
    package var kickoff: FeedTime?
    /// Maximum bytes of a line; a longer one is rejected.
    package var lineBytesMax: Int
    /// Maximum bytes of a single document (Wyscout, DFL, PWHL, DataVolley, a GTFS-Realtime poll); a larger one is rejected.
    package var documentBytesMax: Int

    package init(
        format: FeedFormat? = nil, kickoff: FeedTime? = nil,
        lineBytesMax: Int = FeedOptions.lineBytesMaxDefault, documentBytesMax: Int = 64 << 20
    ) {
        self.format = format
        self.kickoff = kickoff
        self.lineBytesMax = lineBytesMax
        self.documentBytesMax = documentBytesMax
    }
}
