package import FanfareModel

/// Output of a decoder: an event, the rejection of something in the feed, or a notice for people.
package enum FeedItem: Sendable {
    case event(FeedEvent)
    case rejected(FeedRejection)
    /// A notice about input that was read in another way than its author may have meant. It changes nothing and is in no log.
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
package struct FeedNotice: Sendable, Equatable, CustomStringConvertible {
    /// Place of the notice: file and line, or only the file.
    package let place: String
    package let text: String

    package init(place: String, text: String) {
        self.place = place
        self.text = text
    }

    package var description: String { "\(place): \(text)" }
}

/// Decodes one provider's bytes into feed events, one at a time, in the provider's order. Holds parsing state only; the decision
/// core decides which events are late, duplicate or retracted.
package protocol FeedDecoder {
    /// Returns the next item, or `nil` from the end on.
    mutating func next() -> FeedItem?
}

/// Formats that Fanfare reads, with the names that `--format` accepts.
package enum FeedFormat: String, CaseIterable, Sendable {
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
package struct FeedError: Error, Equatable, CustomStringConvertible {
    /// Path of the file or folder.
    package let path: String
    /// Description of the fault, and of its remedy.
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path): \(reason)" }
}
