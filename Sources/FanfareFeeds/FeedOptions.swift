public import FanfareModel

/// Options for reading a feed. The two sizes bound each line and each document, and values outside 1 to 2^30 are clamped. A feed has the
/// documents of all its files in memory at once, decoded, until their events have been taken; a program that reads many divides them.
public struct FeedOptions: Sendable {
    /// Bytes of a line unless the options say otherwise: a mebibyte.
    public static let lineBytesMaxDefault = 1 << 20
    /// Bytes of a document unless the options say otherwise: 64 mebibytes.
    public static let documentBytesMaxDefault = 64 << 20

    /// Format of all files; `nil`: recognised by content.
    public var format: FeedFormat?
    /// Start of the first half of every Wyscout match, of the first rally of every DataVolley match, and of play in every PWHL
    /// game. Overrides the files, and replaces times that they lack. A feed with a kick-off outside 1970 to 2100 is not opened.
    public var kickoff: FeedTime?
    /// Maximum bytes of a line; a longer one is rejected.
    public var lineBytesMax: Int { didSet { lineBytesMax = FeedOptions.bounded(lineBytesMax) } }
    /// Maximum bytes of a single document (Wyscout, DFL, PWHL, DataVolley, a GTFS-Realtime poll); a larger one is rejected.
    public var documentBytesMax: Int { didSet { documentBytesMax = FeedOptions.bounded(documentBytesMax) } }

    /// Creates options, by default those of a feed whose files explain themselves.
    ///
    /// - Parameters:
    ///   - format: `nil` recognises each file by its content.
    ///   - kickoff: between 1970 and 2100; `nil` believes the files.
    ///   - lineBytesMax: maximum bytes of a line.
    ///   - documentBytesMax: maximum bytes of a document that is read as a whole.
    public init(
        format: FeedFormat? = nil, kickoff: FeedTime? = nil, lineBytesMax: Int = FeedOptions.lineBytesMaxDefault,
        documentBytesMax: Int = FeedOptions.documentBytesMaxDefault
    ) {
        self.format = format
        self.kickoff = kickoff
        self.lineBytesMax = FeedOptions.bounded(lineBytesMax)
        self.documentBytesMax = FeedOptions.bounded(documentBytesMax)
    }

    /// Returns the nearest size that readers can compute with: multiples of it do not overflow.
    static func bounded(_ bytes: Int) -> Int { min(max(bytes, 1), 1 << 30) }
}
