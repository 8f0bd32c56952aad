package import FanfareModel

/// What a decoder hands out: an event, why something in the feed could not become one, or what people should know of the feed.
package enum FeedItem: Sendable {
    case event(FeedEvent)
    case rejected(FeedRejection)
    /// Changes nothing and stands in no log: something was read otherwise than its author may have meant.
    case noticed(FeedNotice)

    /// Of an event.
    var at: FeedTime? {
        switch self {
        case .event(let event): event.at
        case .rejected, .noticed: nil
        }
    }
}

/// One line for the people behind a feed.
package struct FeedNotice: Sendable, Equatable, CustomStringConvertible {
    /// File and line, or the file alone.
    package let place: String
    package let text: String

    package init(place: String, text: String) {
        self.place = place
        self.text = text
    }

    package var description: String { "\(place): \(text)" }
}

/// Turns one provider's bytes into feed events, one at a time, in the order the provider wrote them. Holds parsing state
/// only; late, duplicate and retracted are the decision core's to judge.
package protocol FeedDecoder {
    /// The next event or rejection; `nil` at the end, and from then on.
    mutating func next() -> FeedItem?
}

/// The formats Fanfare reads, under the names that `--format` takes.
package enum FeedFormat: String, CaseIterable, Sendable {
    /// Fanfare's own: one JSON object per line.
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

/// A feed that cannot be read at all. What is wrong with single lines and records is a `FeedRejection` instead.
package struct FeedError: Error, Equatable, CustomStringConvertible {
    /// The file or folder.
    package let path: String
    /// What is wrong, and what to do about it.
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path): \(reason)" }
}
