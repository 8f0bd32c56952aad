public import FanfareModel

/// Output of a decoder: an event, the rejection of something in the feed, or a notice for people.
public enum FeedItem: Sendable, Equatable {
    /// An event for `Engine.ingest` or `Engine.offer`. The engine decides if the event is late, a duplicate or not acceptable.
    case event(FeedEvent)
    /// A line or record that is not an event, for the people who run the feed. No engine gets it, and the feed continues.
    case rejected(FeedRejection)
    /// A notice about input that the decoder may have read differently from its author's intention. The notice changes nothing and is in no log.
    case noticed(FeedNotice)

    /// Time of an event; `nil` for other items.
    var at: FeedTime? {
        switch self {
        case .event(let event): event.at
        case .rejected, .noticed: nil
        }
    }
}

/// One line for the people who run a feed.
public struct FeedNotice: Sendable, Equatable, CustomStringConvertible {
    /// File and line, or only the file.
    public let location: String
    /// The input that may have been meant differently, and the decoder's reading of it.
    public let text: String

    /// Creates a notice as a decoder makes it, for tests of what a program does with one.
    ///
    /// - Parameters:
    ///   - location: file and line, or only the file.
    ///   - text: one line for people.
    public init(location: String, text: String) {
        self.location = location
        self.text = text
    }

    /// The notice in one line, with its location in front.
    public var description: String { "\(location): \(text)" }
}

/// Decodes one provider's bytes into feed events, one at a time, in the provider's order. Holds parsing state only; the decision
/// core decides which events are late, duplicate or retracted.
package protocol FeedDecoder {
    /// Returns the next item, or `nil` from the end on.
    mutating func next() -> FeedItem?
}

/// Formats that Fanfare reads, with the names that the command and its reports use for them.
public enum FeedFormat: String, CaseIterable, Sendable {
    /// Fanfare's own format: one JSON object per line.
    case native
    /// Wyscout match files (JSON, one document per match).
    case wyscout
    /// DFL/Sportec match events (XML, one document per match).
    case dfl
    /// PWHL games (HockeyTech's JSON, one document per game).
    case pwhl
    /// DataVolley scouting files (text, one per match).
    case dataVolley = "dvw"
    /// GTFS-Realtime polls (protobuf), with NYCT's extension.
    case gtfsRealtime = "gtfs-rt"
}

/// A fault of a feed that cannot be read at all. A fault of a single line or record is a `FeedRejection` instead.
public struct FeedError: Error, Equatable, CustomStringConvertible {
    /// Path of the file or folder, or the name of bytes that a program has passed.
    public let path: String
    /// Description of the fault, and of its remedy, for people.
    public let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    /// The fault in one line, with the path in front.
    public var description: String { "\(path): \(reason)" }
}
