package import FanfareModel

/// How to read a feed.
package struct FeedOptions: Sendable {
    package static let lineBytesMaxDefault = 1 << 20

    /// `nil`: recognised by content.
    package var format: FeedFormat?
    /// When the first half of every Wyscout match, the first rally of every DataVolley match, or play in every PWHL game begins, whatever
    /// the files say of it or where they say nothing.
    package var kickoff: FeedTime?
    /// A longer line is rejected.
    package var lineBytesMax: Int
    /// A file of a single-document format (Wyscout, DFL, PWHL, DataVolley, a GTFS-Realtime poll) that is longer is an error.
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
