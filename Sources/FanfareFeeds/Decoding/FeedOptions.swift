public import FanfareModel

/// Options for reading a feed. The two sizes bound each line and each document, and values outside 1 to 2^30 bytes are clamped. A feed has the
/// documents of all its files in memory at once, decoded, until their events have been taken; a program that reads many documents divides them among
/// several feeds.
public struct FeedOptions: Sendable {
    /// Limit that holds for a line unless the options give another one.
    public static let lineSizeMaxDefault = ByteCount.mebibytes(1)
    /// Limit that holds for a document unless the options give another one.
    public static let documentSizeMaxDefault = ByteCount.mebibytes(64)

    /// Format of all files; `nil`: the feed recognises each file by its content.
    public var format: FeedFormat?
    /// Start of the first half of every Wyscout match, of the first rally of every DataVolley match, and of play in every PWHL
    /// game. Overrides the files, and replaces times that they lack. A feed with a kick-off outside 1970 to 2100 is not opened.
    public var kickoff: FeedTime?
    /// Maximum size of a line; a longer one is rejected.
    public var lineSizeMax: ByteCount { didSet { lineSizeMax = FeedOptions.bounded(lineSizeMax) } }
    /// Maximum size of a single document (Wyscout, DFL, PWHL, DataVolley, a GTFS-Realtime poll); a larger one is rejected.
    public var documentSizeMax: ByteCount { didSet { documentSizeMax = FeedOptions.bounded(documentSizeMax) } }

    /// Creates options; the defaults suit a feed whose files contain all information.
    ///
    /// - Parameters:
    ///   - format: `nil` recognises each file by its content.
    ///   - kickoff: between 1970 and 2100; `nil` keeps the times of the files.
    ///   - lineSizeMax: maximum size of a line.
    ///   - documentSizeMax: maximum size of a document that is read as a whole.
    public init(
        format: FeedFormat? = nil, kickoff: FeedTime? = nil, lineSizeMax: ByteCount = FeedOptions.lineSizeMaxDefault,
        documentSizeMax: ByteCount = FeedOptions.documentSizeMaxDefault
    ) {
        self.format = format
        self.kickoff = kickoff
        self.lineSizeMax = FeedOptions.bounded(lineSizeMax)
        self.documentSizeMax = FeedOptions.bounded(documentSizeMax)
    }

    /// Returns the nearest size that readers can compute with: multiples of it do not overflow.
    static func bounded(_ size: ByteCount) -> ByteCount { min(max(size, .bytes(1)), .mebibytes(1 << 10)) }
}
