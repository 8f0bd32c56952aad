public import FanfareModel

/// How to read a feed.
public struct FeedOptions: Sendable {
    public static let lineBytesMaxDefault = 1 << 20

    /// `nil`: recognised by content.
    public var format: FeedFormat?
    /// When the first half of every Wyscout match, the first rally of every DataVolley match, or play in every PWHL game begins, whatever
    /// the files say of it or where they say nothing.
    public var kickoff: FeedTime?
    /// A longer line is rejected.
    public var lineBytesMax: Int
    /// A file of a single-document format (Wyscout, DFL, PWHL, DataVolley, a GTFS-Realtime poll) that is longer is an error.
    public var documentBytesMax: Int

    public init(
        format: FeedFormat? = nil, kickoff: FeedTime? = nil,
        lineBytesMax: Int = FeedOptions.lineBytesMaxDefault, documentBytesMax: Int = 64 << 20
    ) {
        self.format = format
        self.kickoff = kickoff
        self.lineBytesMax = lineBytesMax
        self.documentBytesMax = documentBytesMax
    }
}
